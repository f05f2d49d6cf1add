//! The classes of reasons for a server's state: a few fixed words, for metrics. This module must not know states.

use transport::net::client::ClientError;
use transport::up::LinkError;

/// The class of a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ReasonClass {
    /// Nothing is wrong, or the reason has no class.
    #[default]
    None,
    /// No connection could be made, or the connection broke.
    Connection,
    /// The host name does not resolve.
    Dns,
    /// No secure connection could be made.
    Tls,
    /// The server did not answer in time.
    Timeout,
    /// The server answered with an HTTP status that reports an error.
    HttpStatus,
    /// The server requires credentials, or has rejected them.
    Credentials,
    /// The server's process ended, or could not be started.
    Process,
    /// The server sent something unusable, or changed its version.
    Protocol,
    /// Too many requests, too little memory, or a server that is given time to recover.
    Overload,
    /// Some of the server's lists are missing or incomplete.
    Lists,
}

impl ReasonClass {
    /// Returns the class of a failure.
    pub(super) fn of(error: &LinkError) -> Self {
        match error {
            LinkError::Http(e) => of_connection(e),
            LinkError::Status { .. } | LinkError::Ambiguous(_) => Self::HttpStatus,
            LinkError::Unauthorized(_) => Self::Credentials,
            LinkError::SessionGone
            | LinkError::SessionNotKept { .. }
            | LinkError::NotAMessage(_)
            | LinkError::BrokeOff(_)
            | LinkError::TooLong(_)
            | LinkError::Hello(_)
            | LinkError::EventStream(_)
            | LinkError::Refused { .. }
            | LinkError::OtherEra { .. }
            | LinkError::Foreign(_) => Self::Protocol,
            LinkError::Closed | LinkError::Broken(_) => Self::Connection,
            LinkError::Late(_) | LinkError::NotStarted { .. } | LinkError::HeldBack(_) => Self::Timeout,
            LinkError::Child(_) | LinkError::Spawn(_) => Self::Process,
            LinkError::OutOfMemory(_)
            | LinkError::Resting { .. }
            | LinkError::TooMany(_)
            | LinkError::Busy(_) => Self::Overload,
            LinkError::Unsent(why) => Self::of(why),
        }
    }

    /// Returns the class as one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Connection => "connection",
            Self::Dns => "dns",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::HttpStatus => "http_status",
            Self::Credentials => "credentials",
            Self::Process => "process",
            Self::Protocol => "protocol",
            Self::Overload => "overload",
            Self::Lists => "lists",
        }
    }
}

fn of_connection(error: &ClientError) -> ReasonClass {
    match error {
        ClientError::Dns { .. } => ReasonClass::Dns,
        ClientError::Tls { .. } => ReasonClass::Tls,
        ClientError::Timeout { .. } | ClientError::ConnectTimeout { .. } => ReasonClass::Timeout,
        ClientError::Busy { .. } => ReasonClass::Overload,
        _ => ReasonClass::Connection,
    }
}
