//! Refusals: what became of a credential, and how that is told a client. It must not know credentials.

use std::time::Duration;

use engine::fault::Condition;
use http::StatusCode;

/// Why a request is not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Denied {
    /// What kind of refusal: [`Condition::NoCredentials`], [`Condition::BadCredentials`], [`Condition::Forbidden`], or
    /// [`Condition::AuthUnavailable`] when whoever knows the credential cannot be asked.
    pub(crate) condition: Condition,
    /// For a person; holds nothing of what the client showed.
    pub(crate) message: String,
    /// The value of `WWW-Authenticate` (RFC 9110, 11.6.1).
    pub(crate) challenge: Option<String>,
    /// When trying again may help.
    pub(crate) retry_after: Option<Duration>,
}

impl Denied {
    /// The HTTP status where the endpoint's dialect has no own.
    pub(crate) fn status(&self) -> StatusCode {
        match self.condition {
            Condition::NoCredentials | Condition::BadCredentials => StatusCode::UNAUTHORIZED,
            Condition::Forbidden => StatusCode::FORBIDDEN,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// What one way of authentication makes of a credential that it does not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is not true, no longer, or not for this gateway.
    Bad(&'static str),
    /// It is true, but whoever shows it may not come in.
    Forbidden(String),
    /// It is true, but allows less than everybody here needs.
    TooLittle,
    /// Whoever knows cannot be asked, or too many ask.
    Unavailable(String, Duration),
}
