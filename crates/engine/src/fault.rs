//! What the gateway itself refuses or cannot do, in the one form that reaches a client.
//!
//! Modules raise their own errors; at the edge they become a [`Fault`]. It must not know transports beyond a status.

use bytes::Bytes;
use proto::era::{Era, EraFault};
use proto::json::{Duplicate, JsonError, Problem, quote};
use proto::rpc::{FrameError, FrameFault, Id, code, error_response};

/// Whose doing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The request is at fault.
    Client,
    /// The gateway is.
    Gateway,
    /// A server behind it is.
    Upstream,
}

/// What kind of thing went wrong, whatever code an endpoint's dialect has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The message is not JSON.
    ParseError,
    /// The message is not a request of JSON-RPC 2.0.
    InvalidRequest,
    /// The method is not known here.
    UnknownMethod,
    /// The params do not fit the method.
    InvalidParams,
    /// A call names no tool.
    MissingToolName,
    /// No tool has this name.
    UnknownTool,
    /// The arguments do not fit the tool's input schema.
    InvalidArguments,
    /// The tool is there for who asks, but a rule does not allow these arguments.
    DeniedArguments,
    /// The tool ran and failed.
    ToolFailed,
    /// A server answered with an error of its own.
    UpstreamError,
    /// A server cannot be reached, or gave no answer.
    UpstreamDown,
    /// No resource has this URI.
    UnknownResource,
    /// No prompt has this name.
    UnknownPrompt,
    /// No profile has this name.
    UnknownProfile,
    /// Nobody said who asks.
    NoCredentials,
    /// What was said of who asks is not true.
    BadCredentials,
    /// Whoever asks may not.
    Forbidden,
    /// Whoever knows the credential cannot be asked now.
    AuthUnavailable,
    /// Too many requests in too short a time.
    RateLimited,
    /// The session was not begun with `initialize`.
    NotInitialized,
    /// What the tools stand on is not there.
    PlatformMissing,
    /// Anything else that is not the client's fault.
    Internal,
}

impl Condition {
    /// What an error code of JSON-RPC 2.0 (section 5.1) says by itself.
    fn of_code(code: i32) -> Self {
        match code {
            code::PARSE_ERROR => Self::ParseError,
            code::INVALID_REQUEST => Self::InvalidRequest,
            code::METHOD_NOT_FOUND => Self::UnknownMethod,
            code::INVALID_PARAMS => Self::InvalidParams,
            _ => Self::Internal,
        }
    }
}

/// An error as a client gets it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The JSON-RPC code.
    pub code: i32,
    /// The HTTP status; `None` where the era's table decides.
    pub status: Option<u16>,
    /// Whose doing it is.
    pub blame: Blame,
    /// True if the same request may succeed if it is sent again.
    pub retry: bool,
    /// What happened, where, and what to do.
    pub message: String,
    /// The error's `data` as JSON text.
    pub data: Option<String>,
    /// What kind of thing went wrong.
    pub condition: Condition,
    /// What it is about: the name of a tool, a server, a method, a profile.
    pub subject: Option<String>,
    /// True if what is missing is there, only not for who asks. For the record of calls alone: no client learns of it.
    pub hidden: bool,
    /// Where a user can give the consent that the server wants first.
    pub consent: Option<Box<str>>,
}

impl Fault {
    /// A fault of the client, with the status that the era's table has for the code.
    pub fn client(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            status: None,
            blame: Blame::Client,
            retry: false,
            message: message.into(),
            data: None,
            condition: Condition::of_code(code),
            subject: None,
            hidden: false,
            consent: None,
        }
    }

    /// A fault of the gateway, or one that it cannot blame on anybody.
    pub fn gateway(message: impl Into<String>) -> Self {
        Self { blame: Blame::Gateway, ..Self::client(code::INTERNAL_ERROR, message) }
    }

    /// A fault of the server `name`, whose name goes into `data`.
    pub fn upstream(name: &str, retry: bool, message: impl Into<String>) -> Self {
        let data = Some(format!("{{\"server\":{},\"retry\":{retry}}}", quote(name)));
        let fault =
            Self { blame: Blame::Upstream, retry, data, ..Self::client(code::INTERNAL_ERROR, message) };
        fault.about(Condition::UpstreamDown, name)
    }

    /// The server `name` wants a user's consent first, which is given at `page`.
    pub fn wants_consent(name: &str, page: &str) -> Self {
        let data =
            format!("{{\"server\":{},\"retry\":true,\"authorizationUrl\":{}}}", quote(name), quote(page));
        let fault = Self::upstream(name, true, consent_message(name, page)).with_data(data);
        Self { consent: Some(page.into()), ..fault }
    }

    /// The method is not one of this era, or of what this endpoint offers.
    pub fn unknown_method(method: &str, why: &str) -> Self {
        Self::client(code::METHOD_NOT_FOUND, format!("method {method:?} {why}"))
            .about(Condition::UnknownMethod, method)
    }

    /// The same fault under another HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// The same fault with `data`, JSON text.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<String>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// The same fault, of this kind and about this.
    #[must_use]
    pub fn about(mut self, condition: Condition, subject: impl Into<String>) -> Self {
        self.condition = condition;
        self.subject = Some(subject.into());
        self
    }

    /// The same fault, when what is missing is there or not for others.
    #[must_use]
    pub fn hiding(mut self, hidden: bool) -> Self {
        self.hidden = hidden;
        self
    }

    /// The HTTP status under `era`.
    pub fn http_status(&self, era: &Era) -> u16 {
        self.status.unwrap_or_else(|| era.status(self.code))
    }

    /// The response to the request with this id.
    pub fn response(&self, id: Option<&Id>) -> Bytes {
        error_response(id, self.code, &self.message, self.data.as_deref().map(str::as_bytes))
    }
}

/// What is said of a resource that nobody has, or nobody for who asks.
pub(crate) fn no_resource(uri: &str) -> String {
    format!("no server of this profile has the resource {uri}")
}

/// What a person does about a server that wants consent first.
pub(crate) fn consent_message(server: &str, page: &str) -> String {
    format!(
        "server {server:?} wants the consent of its user first: open {page} in a browser, agree there, then ask again"
    )
}

impl From<&FrameError> for Fault {
    fn from(e: &FrameError) -> Self {
        let limit = match &e.fault {
            FrameFault::Json(JsonError { problem: Problem::Depth, .. }) => {
                " (`limits.jsonDepth` in the configuration)"
            }
            FrameFault::BatchSize(_) => " (`limits.batch` in the configuration)",
            _ => "",
        };
        Self::client(e.code(), format!("{e}{limit}")).with_status(400)
    }
}

impl From<EraFault> for Fault {
    fn from(e: EraFault) -> Self {
        Self { data: e.data(), ..Self::client(e.code(), e.to_string()).with_status(400) }
    }
}

impl From<Duplicate> for Fault {
    fn from(e: Duplicate) -> Self {
        Self::client(code::INVALID_PARAMS, e.to_string())
    }
}
