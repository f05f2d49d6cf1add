//! Reasons why a call fails: a kind that the layer for clients can map, and a message.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::server::NativeRefusal;

/// The kinds of failures. Their names appear in an error's `data.condition`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// No tool has this name.
    UnknownTool,
    /// The arguments are invalid.
    InvalidArguments,
    /// The arguments contain something unreadable.
    UnreadableArguments,
    /// The tool could not complete its task.
    ToolFailed,
    /// The site or service answered with an error.
    UpstreamError,
    /// The site or service cannot be reached, or did not answer.
    UpstreamDown,
    /// No site or no account was given.
    NoCredentials,
    /// The credentials are wrong, or the URL does not lead to a site.
    BadCredentials,
    /// Too many requests in too short a time.
    RateLimited,
    /// The plugin that the tool needs is not installed.
    PlatformMissing,
}

impl Condition {
    /// The name of this kind in an error's `data.condition`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknownTool",
            Self::InvalidArguments | Self::UnreadableArguments => "invalidArguments",
            Self::ToolFailed => "toolFailed",
            Self::UpstreamError => "upstreamError",
            Self::UpstreamDown => "upstreamDown",
            Self::NoCredentials => "noCredentials",
            Self::BadCredentials => "badCredentials",
            Self::RateLimited => "rateLimited",
            Self::PlatformMissing => "platformMissing",
        }
    }

    /// Returns true if the failure concerns the request or the server's setup rather than the tool's task.
    pub(crate) fn is_about_the_server(self) -> bool {
        matches!(
            self,
            Self::UnknownTool | Self::UnreadableArguments | Self::NoCredentials | Self::BadCredentials
        )
    }

    /// The JSON-RPC code for a failure that has no more specific code: -32602 for a client's mistake, otherwise
    /// -32000, which JSON-RPC 2.0 (section 5.1) reserves for servers.
    fn code(self) -> i32 {
        match self {
            Self::UnknownTool | Self::InvalidArguments | Self::UnreadableArguments => {
                proto::rpc::code::INVALID_PARAMS
            }
            _ => -32000,
        }
    }
}

/// The maximum length of a service's error code in a message, in bytes.
const LONGEST_CODE: usize = 100;

/// The failure of a call: its kind, its message and further members.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallFailure {
    /// The kind of failure.
    pub(crate) condition: Condition,
    /// The message for the caller.
    pub(crate) message: String,
    /// Further members of the error's `data`.
    pub(crate) detail: Vec<(&'static str, Value)>,
}

impl CallFailure {
    /// A failure with a message.
    pub(crate) fn new(condition: Condition, message: impl Into<Cow<'static, str>>) -> Self {
        Self { condition, message: message.into().into_owned(), detail: Vec::new() }
    }

    /// A failure because of invalid arguments.
    pub(crate) fn arguments(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Condition::InvalidArguments, message)
    }

    /// Adds a member to the error's `data`.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.detail.push((name, value.into()));
        self
    }

    /// The message, extended by the status and the code of the service's answer unless it contains them. They help
    /// a model to decide whether to try again, to ask for rights, or to look for another item.
    pub(crate) fn with_status(self) -> String {
        let of = |name: &str| self.detail.iter().find(|(member, _)| *member == name).map(|(_, value)| value);
        let status = of("status").and_then(Value::as_u64).map(|status| format!("HTTP {status}"));
        let code = of("body").and_then(|body| body.get("code")?.as_str()).map(str::to_owned);
        let named = |text: &String| !self.message.contains(text.as_str()) && text.len() <= LONGEST_CODE;
        let parts: Vec<String> = status.into_iter().chain(code).filter(named).collect();
        if parts.is_empty() { self.message } else { format!("{} [{}]", self.message, parts.join(", ")) }
    }

    /// Converts the failure to a JSON-RPC error.
    pub(crate) fn refusal(self) -> NativeRefusal {
        let mut data = Map::new();
        data.insert("condition".to_owned(), Value::from(self.condition.word()));
        data.extend(self.detail.into_iter().map(|(name, value)| (name.to_owned(), value)));
        NativeRefusal {
            code: self.condition.code(),
            message: self.message,
            data: Some(Value::Object(data).to_string()),
        }
    }
}
