//! The reasons why a token stands for no account.

use std::time::Duration;

/// The reason why a token does not lead to an account.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccountFault {
    /// The token is unknown, has expired, or its sign-in has ended.
    #[error("this sign-in has ended: sign in again")]
    Ended,
    /// The site no longer accepts the password; the sign-in has ended.
    #[error("the site no longer accepts the application password of this sign-in: sign in again")]
    Revoked,
    /// The account lacks a required permission.
    #[error("{0}")]
    Forbidden(String),
    /// The account cannot be confirmed now.
    #[error("cannot confirm the account: {0}")]
    Unavailable(String, Duration),
}
