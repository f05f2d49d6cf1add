//! Refusals: the reason why a credential was not accepted, and the refusal's form for clients. This module must not
//! know credentials.

use std::time::Duration;

use engine::fault::Condition;
use engine::rate::Verdict;
use http::StatusCode;

use super::challenge::{Challenges, CredentialProblem};

/// The reason why a request is not admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// The kind of refusal: [`Condition::NoCredentials`], [`Condition::BadCredentials`], [`Condition::Forbidden`],
    /// or [`Condition::AuthUnavailable`] if the server that checks the credential cannot be reached.
    pub(crate) condition: Condition,
    /// The message for people; it contains no part of the credential.
    pub message: String,
    /// The value of `WWW-Authenticate` (RFC 9110, 11.6.1).
    pub challenge: Option<String>,
    /// The time after which a retry may succeed.
    pub retry_after: Option<Duration>,
}

impl Denied {
    /// Returns the refusal of a request without a credential.
    pub(super) fn missing(challenges: &Challenges) -> Self {
        Self {
            condition: Condition::NoCredentials,
            message: "authentication is required: send the Authorization header".to_owned(),
            challenge: challenges.value(CredentialProblem::Missing),
            retry_after: None,
        }
    }

    /// Returns the refusal of a credential that was not accepted; `required` are the scopes that every token needs.
    pub(super) fn of(refused: CredentialDenial, challenges: &Challenges, required: &[Box<str>]) -> Self {
        let (condition, message, challenge, retry_after) = match refused {
            CredentialDenial::Bad(why) => (
                Condition::BadCredentials,
                why.to_owned(),
                challenges.value(CredentialProblem::Invalid(why)),
                None,
            ),
            CredentialDenial::Forbidden(why) => (Condition::Forbidden, why, None, None),
            CredentialDenial::TooLittle => (
                Condition::Forbidden,
                format!("the token does not have all required scopes: {}", required.join(" ")),
                challenges.value(CredentialProblem::Scope(required)),
                None,
            ),
            CredentialDenial::Unavailable(why, retry) => (Condition::AuthUnavailable, why, None, Some(retry)),
        };
        Self { condition, message, challenge, retry_after }
    }

    /// Returns the HTTP status, unless the endpoint's dialect uses its own.
    pub fn status(&self) -> StatusCode {
        match self.condition {
            Condition::NoCredentials | Condition::BadCredentials => StatusCode::UNAUTHORIZED,
            Condition::Forbidden => StatusCode::FORBIDDEN,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// The reason why a request is not admitted: the request's credential was refused, or was not checked at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAdmitted {
    /// The credential was refused.
    Denied(Denied),
    /// Too many attempts from this address have failed; no check was made.
    TooSoon(Verdict),
}

/// The reason why a method of authentication does not accept a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CredentialDenial {
    /// The credential is invalid, expired, or not meant for this gateway.
    Bad(&'static str),
    /// The credential is valid, but its principal is not admitted.
    Forbidden(String),
    /// The credential is valid, but lacks scopes that every caller needs.
    TooLittle,
    /// The server that checks the credential cannot be reached, or too many checks are waiting.
    Unavailable(String, Duration),
}
