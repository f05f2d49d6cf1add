//! What went wrong, before any dialect has words for it. It must not know rows beyond how they say a condition.

use bytes::Bytes;
use proto::json::{Members, unquote};
use proto::rpc::{Frame, Kind, RpcError};

use crate::dialect_rows::row::Errors;
use crate::dialect_rows::say::Say;
use crate::fault::{Condition, Fault};

/// What went wrong.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// What kind of thing.
    pub condition: Condition,
    /// What happened, in the words of who found out: the gateway, a tool, a server.
    pub message: String,
    /// What it is about: the name of a tool, a method, a URI, a profile.
    pub subject: Option<String>,
    /// The server behind the gateway.
    pub server: Option<String>,
    /// That server's error object, JSON.
    pub original: Option<Bytes>,
    /// Where in a program it happened.
    pub stack: Option<String>,
    /// Where a user can give the consent that the server wants first.
    pub consent: Option<String>,
    /// The rate that was exceeded.
    pub rate: Option<Rate>,
    /// How to say who asks: the value of `WWW-Authenticate`.
    pub challenge: Option<String>,
}

/// A rate limit as it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// The number of requests that there may be in a time.
    pub limit: u64,
    /// The number that may be added now.
    pub remaining: u64,
    /// In how many seconds there may be as many as ever.
    pub reset: u64,
    /// In how many seconds there may be one more; 0 when there may be now.
    pub retry_after: u64,
}

impl Trouble {
    /// Trouble of a kind, in words.
    pub fn new(condition: Condition, message: impl Into<String>) -> Self {
        Self {
            condition,
            message: message.into(),
            subject: None,
            server: None,
            original: None,
            stack: None,
            consent: None,
            rate: None,
            challenge: None,
        }
    }

    /// The same trouble, about this.
    #[must_use]
    pub fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    /// The same trouble, with a server behind the gateway.
    #[must_use]
    pub fn of(self, server: impl Into<String>) -> Self {
        Self { server: Some(server.into()), ..self }
    }

    /// The error that a server answered with; `None` when it answered with a result.
    pub fn of_answer(answer: &Frame, server: Option<&str>) -> Option<Self> {
        let text = answer.text();
        let payload = answer.payload().filter(|_| answer.kind() == Kind::Error)?;
        let message = RpcError::of_value(text, payload)
            .and_then(|error| answer.string(error.message?).map(std::borrow::Cow::into_owned));
        Some(Self {
            server: server.map(str::to_owned),
            original: Some(payload.share(text)),
            ..Self::new(Condition::UpstreamError, message.unwrap_or_default())
        })
    }

    /// The same of a server in the gateway's own binary, which names the condition in the error's `data`.
    pub fn of_own_answer(answer: &Frame, server: Option<&str>) -> Option<Self> {
        let trouble = Self::of_answer(answer, server)?;
        let word = trouble
            .original_member("condition")
            .and_then(|word| string_at(word).map(std::borrow::Cow::into_owned));
        let condition = word.and_then(|word| named(&word));
        Some(Self { condition: condition.unwrap_or(trouble.condition), ..trouble })
    }

    /// What a site or service behind the server answered, JSON.
    pub(super) fn body(&self) -> Option<&[u8]> {
        let (error, text) = self.original_error()?;
        // A server of the gateway's own tells more than the body.
        self.original_member("body").or_else(|| {
            let own = self.original_member("condition").is_some();
            error.data.filter(|_| !own).map(|data| data.of(text))
        })
    }

    /// A member of the error's `data`, as written.
    fn original_member(&self, key: &str) -> Option<&[u8]> {
        let (error, text) = self.original_error()?;
        let data = Members::of_value(text, error.data?)?;
        data.get(text, key).map(|span| span.of(text))
    }

    /// The server's error object, and the text that its places are in.
    pub(super) fn original_error(&self) -> Option<(RpcError, &Bytes)> {
        let text = self.original.as_ref()?;
        let whole = proto::json::Span::new(0, text.len());
        RpcError::of_value(text, whole).map(|error| (error, text))
    }
}

/// The condition with this name, which is that of its column.
fn named(word: &str) -> Option<Condition> {
    Some(match word {
        "unknownTool" => Condition::UnknownTool,
        "invalidArguments" => Condition::InvalidArguments,
        "toolFailed" => Condition::ToolFailed,
        "upstreamError" => Condition::UpstreamError,
        "upstreamDown" => Condition::UpstreamDown,
        "noCredentials" => Condition::NoCredentials,
        "badCredentials" => Condition::BadCredentials,
        "rateLimited" => Condition::RateLimited,
        "platformMissing" => Condition::PlatformMissing,
        _ => return None,
    })
}

impl From<&Fault> for Trouble {
    fn from(fault: &Fault) -> Self {
        let down = matches!(fault.condition, Condition::UpstreamDown | Condition::UpstreamError);
        let subject = fault.subject.clone().filter(|subject| !subject.is_empty());
        Self {
            server: subject.clone().filter(|_| down),
            subject,
            consent: fault.consent.as_deref().map(str::to_owned),
            ..Self::new(fault.condition, fault.message.clone())
        }
    }
}

impl Errors {
    /// How a condition is said.
    pub fn say(&self, condition: Condition) -> &Say {
        match condition {
            Condition::ParseError => &self.parse_error,
            Condition::InvalidRequest => &self.invalid_request,
            Condition::UnknownMethod => &self.unknown_method,
            Condition::InvalidParams => &self.invalid_params,
            Condition::MissingToolName => &self.missing_tool_name,
            Condition::UnknownTool => &self.unknown_tool,
            // No system that a row repeats has rules about arguments.
            Condition::InvalidArguments | Condition::DeniedArguments => &self.invalid_arguments,
            Condition::ToolFailed => &self.tool_failed,
            Condition::UpstreamError => &self.upstream_error,
            Condition::UpstreamDown => &self.upstream_down,
            Condition::UnknownResource => &self.unknown_resource,
            Condition::UnknownPrompt => &self.unknown_prompt,
            Condition::UnknownProfile => &self.unknown_profile,
            Condition::NoCredentials => &self.no_credentials,
            Condition::BadCredentials => &self.bad_credentials,
            Condition::Forbidden => &self.forbidden,
            Condition::AuthUnavailable => &self.auth_unavailable,
            Condition::RateLimited => &self.rate_limited,
            Condition::NotInitialized => &self.not_initialized,
            Condition::PlatformMissing => &self.platform_missing,
            Condition::Internal => &self.internal,
        }
    }
}

/// The text of a JSON string as written, quotes included.
pub(super) fn string_at(written: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    unquote(written.strip_prefix(b"\"")?.strip_suffix(b"\"")?)
}
