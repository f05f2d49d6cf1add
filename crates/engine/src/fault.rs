//! Errors that the gateway reports, in the only form that reaches a client.
//!
//! Modules return their own errors, which become a [`Fault`] at the edge. All that this module may know about transports is the
//! HTTP status.

use bytes::Bytes;
use proto::era::{Era, EraFault};
use proto::json::{Duplicate, JsonError, Problem, quote};
use proto::rpc::{FrameError, FrameFault, Id, code, error_response};

/// The party at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The client, because of its request.
    Client,
    /// The gateway.
    Gateway,
    /// A server behind the gateway.
    Upstream,
}

/// The kind of fault, independent of the code that an endpoint's dialect uses for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The message is not JSON.
    ParseError,
    /// The message is not a request of JSON-RPC 2.0.
    InvalidRequest,
    /// The method is unknown in the era or at the endpoint.
    UnknownMethod,
    /// The params are invalid for the method.
    InvalidParams,
    /// A call names no tool.
    MissingToolName,
    /// No tool has this name.
    UnknownTool,
    /// The tool is withheld until somebody approves its definition.
    HeldTool,
    /// The arguments do not match the tool's input schema.
    InvalidArguments,
    /// The caller may use the tool, but a rule denies these arguments.
    DeniedArguments,
    /// The tool ran and failed.
    ToolFailed,
    /// A server answered with an error of its own.
    UpstreamError,
    /// A server cannot be reached, or did not answer.
    UpstreamDown,
    /// No resource has this URI.
    UnknownResource,
    /// No prompt has this name.
    UnknownPrompt,
    /// No profile has this name.
    UnknownProfile,
    /// Credentials are missing.
    NoCredentials,
    /// The credentials are invalid.
    BadCredentials,
    /// The caller has no permission.
    Forbidden,
    /// The service that checks the credentials is unavailable.
    AuthUnavailable,
    /// The caller has sent too many requests within too short a time.
    RateLimited,
    /// The session was not opened with `initialize`.
    NotInitialized,
    /// The platform that the tools need is missing.
    PlatformMissing,
    /// Anything else that is not the client's fault.
    Internal,
}

impl Condition {
    /// The condition that an error code of JSON-RPC 2.0 (section 5.1) implies.
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

/// An error in the form that a client gets.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The JSON-RPC error code.
    pub code: i32,
    /// The HTTP status; `None` to take it from the era's table.
    pub status: Option<u16>,
    /// The party at fault.
    pub blame: Blame,
    /// True if a retry of the same request may succeed.
    pub retry: bool,
    /// The description: what happened, where, and what to do.
    pub message: String,
    /// The error's `data` as JSON text.
    pub data: Option<Box<str>>,
    /// The kind of fault.
    pub condition: Condition,
    /// The subject: the name of a tool, a server, a method or a profile.
    pub subject: Option<Box<str>>,
    /// True if the missing item exists, but not for this caller. Only the audit log shows this difference; clients cannot see
    /// it.
    pub hidden: bool,
    /// The page where a user can give the consent that the server requires.
    pub consent: Option<Box<str>>,
    /// The server whose item was refused. Only the record of calls shows it.
    pub server: Option<Box<str>>,
}

impl Fault {
    /// A fault caused by the client; the status is taken from the era's table of codes.
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
            server: None,
        }
    }

    /// A fault caused by the gateway, or by an unknown party.
    pub fn gateway(message: impl Into<String>) -> Self {
        Self { blame: Blame::Gateway, ..Self::client(code::INTERNAL_ERROR, message) }
    }

    /// A fault caused by the server `name`; the name goes into `data`.
    pub fn upstream(name: &str, retry: bool, message: impl Into<String>) -> Self {
        let data = Some(format!("{{\"server\":{},\"retry\":{retry}}}", quote(name)));
        let fault = Self {
            blame: Blame::Upstream,
            retry,
            data: data.map(Into::into),
            ..Self::client(code::INTERNAL_ERROR, message)
        };
        fault.about(Condition::UpstreamDown, name)
    }

    /// A fault of the server `name`, for a request that was never sent to it.
    pub fn not_sent(name: &str, retry: bool, message: impl Into<String>) -> Self {
        let data = format!("{{\"server\":{},\"retry\":{retry},\"executed\":\"no\"}}", quote(name));
        Self::upstream(name, retry, message).with_data(data)
    }

    /// The fault for a request to the server `name`, which cannot be used before a user has given consent at
    /// `page`.
    pub fn wants_consent(name: &str, page: &str) -> Self {
        let data =
            format!("{{\"server\":{},\"retry\":true,\"authorizationUrl\":{}}}", quote(name), quote(page));
        let fault = Self::upstream(name, true, consent_message(name, page)).with_data(data);
        Self { consent: Some(page.into()), ..fault }
    }

    /// The fault for a method that does not exist in this era or at this endpoint.
    pub fn unknown_method(method: &str, why: &str) -> Self {
        Self::client(code::METHOD_NOT_FOUND, format!("method {method:?} {why}"))
            .about(Condition::UnknownMethod, method)
    }

    /// Replaces the HTTP status that the era's table gives.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Sets `data`, JSON text.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Box<str>>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// Sets the kind and the subject.
    #[must_use]
    pub fn about(mut self, condition: Condition, subject: impl Into<Box<str>>) -> Self {
        self.condition = condition;
        self.subject = Some(subject.into());
        self
    }

    /// Sets `hidden` if the missing item exists for other callers: `server` is its server, or empty if the server is unknown.
    #[must_use]
    pub fn hiding(mut self, server: Option<&str>) -> Self {
        self.hidden = server.is_some();
        self.server = server.filter(|server| !server.is_empty()).map(Into::into);
        self
    }

    /// Sets the server whose item was refused.
    #[must_use]
    pub fn of_server(mut self, server: &str) -> Self {
        self.server = Some(server.into());
        self
    }

    /// The HTTP status in the era `era`.
    pub fn http_status(&self, era: &Era) -> u16 {
        self.status.unwrap_or_else(|| era.status(self.code))
    }

    /// The response to the request with this id.
    pub fn response(&self, id: Option<&Id>) -> Bytes {
        error_response(id, self.code, &self.message, self.data.as_deref().map(str::as_bytes))
    }
}

/// The message for a resource that does not exist, or does not exist for this caller.
pub(crate) fn no_resource(uri: &str) -> String {
    format!("no server of this profile has the resource {uri}")
}

/// The message for a server that cannot be used before a user has given consent.
pub(crate) fn consent_message(server: &str, page: &str) -> String {
    format!(
        "server {server:?} requires the user's consent: open {page} in a browser, give consent, then retry"
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
        Self { data: e.data().map(Into::into), ..Self::client(e.code(), e.to_string()).with_status(400) }
    }
}

impl From<Duplicate> for Fault {
    fn from(e: Duplicate) -> Self {
        Self::client(code::INVALID_PARAMS, e.to_string())
    }
}
