//! Failures of a link to an upstream, worded for the caller that waits for an answer.

use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::exchange::Execution;
use proto::era::HelloFault;

use super::CredentialRefusal;
use crate::budget::OutOfMemory;
use crate::child::{ChildError, SpawnError};
use crate::net::CollectError;
use crate::net::client::ClientError;

/// The reason why a message could not be delivered, or why its answer did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The HTTP layer failed.
    #[error("failed: {0}")]
    Http(#[from] ClientError),
    /// The upstream answered with a status and without a message.
    #[error("answered HTTP {status}{}{body}", if body.is_empty() { "" } else { ": " })]
    Status {
        /// The status.
        status: u16,
        /// The beginning of the body, if it is text.
        body: String,
    },
    /// The upstream requires a credential, or a different one.
    #[error("answered HTTP {}{}{}", .0.status, if .0.body.is_empty() { "" } else { ": " }, .0.body)]
    Unauthorized(Box<CredentialRefusal>),
    /// The upstream no longer knows its session.
    #[error("has ended its session")]
    SessionGone,
    /// The upstream opened a session and then rejected the next message in this session. Either the upstream
    /// restarted in between, or several servers without shared session data use the same address.
    #[error("opened a session, but answered HTTP {status} to the next message in it{}{body}", if body.is_empty() { "" } else { ": " })]
    SessionNotKept {
        /// The status.
        status: u16,
        /// The beginning of the body, if it is text.
        body: String,
    },
    /// The answer is not a message.
    #[error("sent something that is not a message: {0}")]
    NotAMessage(String),
    /// The answer ended before it was complete.
    #[error("sent an incomplete answer: {0}")]
    BrokeOff(String),
    /// The answer is longer than this number of bytes.
    #[error("sent more than {0} bytes in one message (`limits.result` in the configuration)")]
    TooLong(usize),
    /// No memory became free for the answer.
    #[error("answered, but the answer was abandoned: {0}")]
    OutOfMemory(OutOfMemory),
    /// The stream ended before the answer arrived.
    #[error("closed its stream before it answered")]
    Closed,
    /// The event stream that carries the answers broke.
    #[error("lost its event stream: {0}")]
    Broken(Arc<str>),
    /// The address provides no event stream (HTTP+SSE), or none that names the address for POSTs.
    #[error("cannot be used over HTTP+SSE: {0}")]
    EventStream(String),
    /// The answer did not arrive within this number of seconds.
    #[error("did not answer within {0} s")]
    Late(u64),
    /// A child process was alive, but did not answer in the time allowed for its start.
    #[error("did not answer within {within:?} of its start (`startTimeout`){}", printed(.first_line.as_deref()))]
    NotStarted {
        /// The time allowed for the start.
        within: Duration,
        /// The first line that the child printed, made printable, if that line was not a message.
        first_line: Option<Arc<str>>,
    },
    /// The child process failed.
    #[error("failed: {0}")]
    Child(ChildError),
    /// The child process could not be started.
    #[error("could not be started: {0}")]
    Spawn(#[from] SpawnError),
    /// The upstream refused the introduction.
    #[error("refused the handshake: error {code}: {message}")]
    Refused {
        /// The error's code.
        code: i32,
        /// The error's message.
        message: String,
    },
    /// The introduction is invalid.
    #[error("sent an invalid answer to the handshake: {0}")]
    Hello(#[from] HelloFault),
    /// The upstream's answer uses a version other than the one with which the lists were last fetched.
    #[error(
        "now uses protocol version {speaks} instead of {expected}; its lists are being fetched again, so retry in a moment"
    )]
    OtherEra {
        /// The version that was expected.
        expected: &'static str,
        /// The version of the upstream's answer.
        speaks: &'static str,
    },
    /// The upstream rejected a request because it no longer supports the request's version.
    #[error(
        "no longer supports protocol version {0}; the version is being negotiated again, so retry in a moment"
    )]
    Foreign(&'static str),
    /// The upstream failed repeatedly, and is not started again before a certain time.
    #[error("failed repeatedly and is paused for a while: {why}")]
    Resting {
        /// The last failure.
        why: String,
        /// The earliest time of the next start.
        at: Instant,
        /// True if the next start may succeed without any change.
        heals: bool,
    },
    /// The request was not sent: a link could not be opened, or ended before the request was written to it.
    #[error("{0}")]
    Unsent(Box<Self>),
    /// The upstream rejected the request because there were too many requests, and stated when the next request may follow.
    #[error("answered HTTP 429{}{}", if .0.body.is_empty() { "" } else { ": " }, .0.body)]
    TooMany(Box<TooManyRequests>),
    /// The upstream rejected the request, possibly because it has restarted and lost the link's session. Its
    /// reaction to a harmless request on the same link left this open.
    #[error("answered HTTP {}{}{}", .0.status, if .0.body.is_empty() { "" } else { ": " }, .0.body)]
    Ambiguous(Box<AmbiguousRefusal>),
    /// Several requests to the upstream have failed in a row. Clients' requests are held back until the upstream
    /// has answered a request of the gateway itself.
    #[error("gets no requests until it answers again: {0}")]
    HeldBack(String),
    /// Too many exchanges are open on one link.
    #[error("already has {0} open calls")]
    Busy(usize),
}

/// A rejection because of too many requests.
#[derive(Debug)]
pub struct TooManyRequests {
    /// The time to wait.
    pub after: Duration,
    /// The beginning of the body, if it is text.
    pub body: String,
    /// The message with which the server rejects the request, if the answer contains one.
    pub message: Option<Bytes>,
}

/// A rejection that may have any cause.
#[derive(Debug)]
pub struct AmbiguousRefusal {
    /// The status.
    pub status: u16,
    /// The beginning of the body, if it is text.
    pub body: String,
    /// The message with which the server rejects the request, if the answer contains one.
    pub message: Option<Bytes>,
}

/// Returns a suffix for a sentence, with the first line of a child's output if that line is not a message.
fn printed(first_line: Option<&str>) -> String {
    let said = |line| format!("; it prints lines on stdout that are not messages; the first one is {line:?}");
    first_line.map(said).unwrap_or_default()
}

impl From<ChildError> for LinkError {
    fn from(e: ChildError) -> Self {
        match e {
            ChildError::LineTooLong { limit, .. } => Self::TooLong(limit),
            ChildError::OutOfMemory { why, .. } => Self::OutOfMemory(why),
            other => Self::Child(other),
        }
    }
}

impl<E: Display> From<CollectError<E>> for LinkError {
    fn from(e: CollectError<E>) -> Self {
        match e {
            CollectError::TooLarge { cap } => Self::TooLong(cap),
            CollectError::OutOfMemory(why, _) => Self::OutOfMemory(why),
            CollectError::TimedOut { .. } => Self::NotAMessage(format!("an unreadable answer: {e}")),
            CollectError::Broken(why) => Self::BrokeOff(why.to_string()),
        }
    }
}

impl LinkError {
    /// Returns true if the upstream rejected the request with only a status.
    pub(super) fn is_status(&self) -> bool {
        matches!(self, Self::Status { .. })
    }

    /// Returns what is known about the request's execution, if the failure may soon resolve itself. Returns `None`
    /// for any other failure, because a retry would be useless.
    pub fn passing(&self) -> Option<Execution> {
        match self {
            Self::Http(e) if e.is_unsent() => e.is_passing().then_some(Execution::NotExecuted),
            Self::HeldBack(_) | Self::Resting { heals: true, .. } => Some(Execution::NotExecuted),
            Self::Spawn(e) => e.is_passing().then_some(Execution::NotExecuted),
            Self::Unsent(why) => why.passing().map(|_| Execution::NotExecuted),
            Self::Http(ClientError::Closed { .. } | ClientError::Body { .. })
            | Self::Status { status: 502..=504, .. }
            | Self::Ambiguous(_)
            | Self::BrokeOff(_)
            | Self::Closed
            | Self::Broken(_)
            | Self::Child(_) => Some(Execution::Unknown),
            _ => None,
        }
    }

    /// Returns true if the request was certainly not executed, so sending it again does no harm.
    pub fn not_executed(&self) -> bool {
        match self {
            Self::Http(e) => e.is_unsent(),
            Self::SessionGone
            | Self::SessionNotKept { .. }
            | Self::Unauthorized(_)
            | Self::OtherEra { .. }
            | Self::Foreign(_)
            | Self::Busy(_)
            | Self::HeldBack(_)
            | Self::Spawn(_)
            | Self::Unsent(_)
            | Self::TooMany(_)
            | Self::Status { status: 429, .. }
            | Self::Resting { .. } => true,
            _ => false,
        }
    }

    /// Returns what is known about the request's execution.
    pub fn execution(&self) -> Execution {
        if self.not_executed() { Execution::NotExecuted } else { Execution::Unknown }
    }

    /// Returns the time before which a retry is useless, if it is known.
    pub fn earliest(&self) -> Option<Instant> {
        match self {
            Self::Resting { at, .. } => Some(*at),
            Self::Unsent(why) => why.earliest(),
            _ => None,
        }
    }

    /// Returns the same failure, marked as the failure of a request that was not sent.
    #[must_use]
    pub fn unsent(self) -> Self {
        if self.not_executed() { self } else { Self::Unsent(Box::new(self)) }
    }

    /// Returns the failure itself, without the wrapper for unsent requests.
    pub fn cause(&self) -> &Self {
        match self {
            Self::Unsent(why) => why.cause(),
            other => other,
        }
    }
}
