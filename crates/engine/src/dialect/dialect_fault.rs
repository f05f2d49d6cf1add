//! Faults in a neutral form, before a dialect renders them. This module must not know rows beyond their text for a
//! condition.

use bytes::Bytes;
use config::dialect_rows::fault_text::FaultText;
use config::dialect_rows::row::Errors;
use proto::json::{Members, unquote};
use proto::rpc::{Frame, FrameKind, RpcError};

use crate::fault::{Condition, Fault};

/// A fault in a neutral form.
#[derive(Debug, Clone)]
pub struct DialectFault {
    /// The kind of fault, which selects the row's text.
    pub condition: Condition,
    /// The message of the party that detected the fault: the gateway, a tool or a server.
    pub message: String,
    /// The subject: the name of a tool, a method, a URI or a profile.
    pub subject: Option<String>,
    /// The server behind the gateway.
    pub server: Option<String>,
    /// The server's error object, JSON.
    pub original: Option<Bytes>,
    /// The stack trace that the failed tool reported.
    pub stack: Option<String>,
    /// The page where a user can give the consent that the server requires.
    pub consent: Option<String>,
    /// The state of the rate limit that was exceeded.
    pub rate: Option<Rate>,
    /// The value of `WWW-Authenticate`, which asks for credentials.
    pub challenge: Option<String>,
}

/// The state of a rate limit, as reported to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// The maximum number of requests in the period.
    pub limit: u64,
    /// The number of requests that are still allowed now.
    pub remaining: u64,
    /// The number of seconds until the full number of requests is allowed again.
    pub reset: u64,
    /// The number of seconds until the next request is allowed; 0 if one is allowed now.
    pub retry_after: u64,
}

impl DialectFault {
    /// A fault of this kind, with a message.
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

    /// Sets the subject.
    #[must_use]
    pub fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    /// Sets the server behind the gateway.
    #[must_use]
    pub fn of(self, server: impl Into<String>) -> Self {
        Self { server: Some(server.into()), ..self }
    }

    /// The error in a server's answer; `None` if the answer is a result.
    pub fn of_answer(answer: &Frame, server: Option<&str>) -> Option<Self> {
        let text = answer.text();
        let payload = answer.payload().filter(|_| answer.kind() == FrameKind::Error)?;
        let message = RpcError::of_value(text, payload)
            .and_then(|error| answer.string(error.message?).map(std::borrow::Cow::into_owned));
        Some(Self {
            server: server.map(str::to_owned),
            original: Some(payload.share(text)),
            ..Self::new(Condition::UpstreamError, message.unwrap_or_default())
        })
    }

    /// The error in the answer of an embedded server, which names the condition in the error's `data`; otherwise the
    /// same as [`DialectFault::of_answer`].
    pub fn of_own_answer(answer: &Frame, server: Option<&str>) -> Option<Self> {
        let fault = Self::of_answer(answer, server)?;
        let word = fault
            .original_member("condition")
            .and_then(|word| string_at(word).map(std::borrow::Cow::into_owned));
        let condition = word.and_then(|word| named(&word));
        Some(Self { condition: condition.unwrap_or(fault.condition), ..fault })
    }

    /// The answer from a site or service behind the server, JSON.
    pub(super) fn body(&self) -> Option<&[u8]> {
        let (error, text) = self.original_error()?;
        // The error of an embedded server contains more than the body.
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

    /// The server's error object, and the text to which its spans refer.
    pub(super) fn original_error(&self) -> Option<(RpcError, &Bytes)> {
        let text = self.original.as_ref()?;
        let whole = proto::json::Span::new(0, text.len());
        RpcError::of_value(text, whole).map(|error| (error, text))
    }
}

/// The condition with this name, which equals the name of its column.
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

impl From<&Fault> for DialectFault {
    fn from(fault: &Fault) -> Self {
        let down = matches!(fault.condition, Condition::UpstreamDown | Condition::UpstreamError);
        let subject = fault.subject.as_deref().filter(|subject| !subject.is_empty()).map(str::to_owned);
        Self {
            server: subject.clone().filter(|_| down),
            subject,
            consent: fault.consent.as_deref().map(str::to_owned),
            ..Self::new(fault.condition, fault.message.clone())
        }
    }
}

/// The row's text for a condition.
pub(super) fn text_for(errors: &Errors, condition: Condition) -> &FaultText {
    match condition {
        Condition::ParseError => &errors.parse_error,
        Condition::InvalidRequest => &errors.invalid_request,
        Condition::UnknownMethod => &errors.unknown_method,
        Condition::InvalidParams => &errors.invalid_params,
        Condition::MissingToolName => &errors.missing_tool_name,
        // None of the systems that the rows describe withholds tools.
        Condition::UnknownTool | Condition::HeldTool => &errors.unknown_tool,
        // None of the systems that the rows describe has rules about arguments.
        Condition::InvalidArguments | Condition::DeniedArguments => &errors.invalid_arguments,
        Condition::ToolFailed => &errors.tool_failed,
        Condition::UpstreamError => &errors.upstream_error,
        Condition::UpstreamDown => &errors.upstream_down,
        Condition::UnknownResource => &errors.unknown_resource,
        Condition::UnknownPrompt => &errors.unknown_prompt,
        Condition::UnknownProfile => &errors.unknown_profile,
        Condition::NoCredentials => &errors.no_credentials,
        Condition::BadCredentials => &errors.bad_credentials,
        Condition::Forbidden => &errors.forbidden,
        Condition::AuthUnavailable => &errors.auth_unavailable,
        Condition::RateLimited => &errors.rate_limited,
        Condition::NotInitialized => &errors.not_initialized,
        Condition::PlatformMissing => &errors.platform_missing,
        Condition::Internal => &errors.internal,
    }
}

/// The text of a JSON string as written, quotes included.
pub(super) fn string_at(written: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    unquote(written.strip_prefix(b"\"")?.strip_suffix(b"\"")?)
}
