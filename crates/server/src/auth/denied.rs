//! Refusals: what became of a credential, and how that is told a client. It must not know credentials.

use std::time::Duration;

use engine::fault::Condition;
use engine::rate::Verdict;
use http::StatusCode;

use super::challenge::{Challenges, Wrong};

/// The reason why a request is not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Denied {
    /// What kind of refusal: [`Condition::NoCredentials`], [`Condition::BadCredentials`], [`Condition::Forbidden`], or
    /// [`Condition::AuthUnavailable`] when whoever knows the credential cannot be asked.
    pub(crate) condition: Condition,
    /// For a person; holds nothing of what the client showed.
    pub(crate) message: String,
    /// The value of `WWW-Authenticate` (RFC 9110, 11.6.1).
    pub(crate) challenge: Option<String>,
    /// The time when trying again may help.
    pub(crate) retry_after: Option<Duration>,
}

impl Denied {
    /// The refusal of a request that shows no credential.
    pub(super) fn missing(challenges: &Challenges) -> Self {
        Self {
            condition: Condition::NoCredentials,
            message: "this server wants to know who asks: send the header Authorization".to_owned(),
            challenge: challenges.value(Wrong::Missing),
            retry_after: None,
        }
    }

    /// What a client is told where a credential was not accepted; `required` is what every token needs.
    pub(super) fn of(refused: Refused, challenges: &Challenges, required: &[Box<str>]) -> Self {
        let (condition, message, challenge, retry_after) = match refused {
            Refused::Bad(why) => {
                (Condition::BadCredentials, why.to_owned(), challenges.value(Wrong::Invalid(why)), None)
            }
            Refused::Forbidden(why) => (Condition::Forbidden, why, None, None),
            Refused::TooLittle => (
                Condition::Forbidden,
                format!("the token has not all the scopes that are needed: {}", required.join(" ")),
                challenges.value(Wrong::Scope(required)),
                None,
            ),
            Refused::Unavailable(why, retry) => (Condition::AuthUnavailable, why, None, Some(retry)),
        };
        Self { condition, message, challenge, retry_after }
    }

    /// The HTTP status where the endpoint's dialect has no own.
    pub(crate) fn status(&self) -> StatusCode {
        match self.condition {
            Condition::NoCredentials | Condition::BadCredentials => StatusCode::UNAUTHORIZED,
            Condition::Forbidden => StatusCode::FORBIDDEN,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// The reason why a request is not let in: its credential was refused, or nobody has looked at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    Denied(Denied),
    /// Too many attempts from there have failed.
    TooSoon(Verdict),
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
