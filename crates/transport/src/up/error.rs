//! How a link to an upstream fails, in words for the one who waits for its answer.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use proto::era::HelloFault;

use super::Refusal;
use crate::child::{ChildError, SpawnError};
use crate::net::CollectError;
use crate::net::client::ClientError;

/// The reason why a message could not be delivered or its answer not be had.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// HTTP below MCP failed.
    #[error("{0}")]
    Http(#[from] ClientError),
    /// The upstream answered with a status that carries no message.
    #[error("answered HTTP {status}{}{body}", if body.is_empty() { "" } else { ": " })]
    Status {
        /// The status.
        status: u16,
        /// The beginning of the body, when it is text.
        body: String,
    },
    /// The upstream wants a credential, or a better one.
    #[error("answered HTTP {}{}{}", .0.status, if .0.body.is_empty() { "" } else { ": " }, .0.body)]
    Unauthorized(Box<Refusal>),
    /// The upstream no longer knows its session.
    #[error("has ended its session")]
    SessionGone,
    /// The answer is no message.
    #[error("sent something that is not a message: {0}")]
    NotAMessage(String),
    /// The answer is longer than this many bytes.
    #[error("sent more than {0} bytes in one message (`limits.result` in the configuration)")]
    TooLong(usize),
    /// The answer's stream ended before the answer.
    #[error("closed its stream before it answered")]
    Closed,
    /// The event stream that answers come on broke.
    #[error("lost its event stream: {0}")]
    Broken(Arc<str>),
    /// There is no event stream (HTTP+SSE) where one was looked for, or none that says where messages go.
    #[error("cannot be spoken to over HTTP+SSE: {0}")]
    EventStream(String),
    /// The answer did not come in time.
    #[error("did not answer within {0} s")]
    Late(u64),
    /// A child process was alive, and did not answer in the time that it has from its start.
    #[error("did not answer within {within:?} of its start (`startTimeout`){}", printed(.first_line.as_deref()))]
    NotStarted {
        /// The time that it has.
        within: Duration,
        /// The first line that it printed, made printable, where that was no message.
        first_line: Option<Arc<str>>,
    },
    /// The child process failed.
    #[error("{0}")]
    Child(ChildError),
    /// The child process could not be started.
    #[error("could not be started: {0}")]
    Spawn(#[from] SpawnError),
    /// The upstream refused the introduction.
    #[error("refused the introduction: error {code}: {message}")]
    Refused {
        /// The error's code.
        code: i32,
        /// The error's message.
        message: String,
    },
    /// The introduction does not fit.
    #[error("cannot be spoken to: {0}")]
    Hello(#[from] HelloFault),
    /// It speaks another era than when it was last asked for its lists.
    #[error(
        "speaks protocol version {speaks} now, and spoke {expected} before; its lists are being fetched again, so try again"
    )]
    OtherEra {
        /// The version that was expected.
        expected: &'static str,
        /// The version that it answered with.
        speaks: &'static str,
    },
    /// It refused a request as one of an era that it does not speak, though it did before.
    #[error("no longer speaks protocol version {0}; it is being asked what it speaks, so try again")]
    Foreign(&'static str),
    /// It failed again and again and is left alone for a while.
    #[error("is left alone for a while: {0}")]
    Resting(String),
    /// Too many exchanges on one link.
    #[error("has {0} calls open already")]
    Busy(usize),
}

/// A child's output that is no message, as the end of a sentence.
fn printed(first_line: Option<&str>) -> String {
    let said = |line| format!("; it prints lines on stdout that are no messages, the first is {line:?}");
    first_line.map(said).unwrap_or_default()
}

impl From<ChildError> for LinkError {
    fn from(e: ChildError) -> Self {
        match e {
            ChildError::LineTooLong { limit, .. } => Self::TooLong(limit),
            other => Self::Child(other),
        }
    }
}

impl<E: Display> From<CollectError<E>> for LinkError {
    fn from(e: CollectError<E>) -> Self {
        match e {
            CollectError::TooLarge { cap } => Self::TooLong(cap),
            other => Self::NotAMessage(format!("an answer that cannot be read: {other}")),
        }
    }
}

impl LinkError {
    /// Returns true if the upstream refused the request by a status alone.
    pub(super) fn is_status(&self) -> bool {
        matches!(self, Self::Status { .. })
    }

    /// Returns true if the request was certainly not acted on, so that sending it again does no harm.
    pub fn not_executed(&self) -> bool {
        match self {
            Self::Http(e) => e.is_unsent(),
            Self::SessionGone
            | Self::Unauthorized(_)
            | Self::OtherEra { .. }
            | Self::Foreign(_)
            | Self::Busy(_)
            | Self::Spawn(_)
            | Self::Resting(_) => true,
            _ => false,
        }
    }
}
