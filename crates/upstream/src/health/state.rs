//! The states of a server, and their reasons. This module must not know the events that lead to them.

use std::fmt::{self, Display};

use transport::net::client::ClientError;
use transport::up::LinkError;

use super::reason_class::ReasonClass;

/// The state of a server, as one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HealthWord {
    /// A link to the server is being opened, or the server has not been contacted yet.
    Starting,
    /// The server's lists are being fetched for the first time.
    Listing,
    /// The server's lists are confirmed, and the last exchange succeeded.
    Ready,
    /// The server's process was stopped because nobody used it.
    Resting,
    /// The server can be used, but something is missing.
    Degraded,
    /// The server's process keeps ending, or cannot be started.
    BackingOff,
    /// The server cannot be reached.
    Unreachable,
    /// The server requires a credential that nobody has provided.
    AuthRequired,
    /// The server is no longer configured.
    Leaving,
}

impl HealthWord {
    /// Returns the name of the state in logs, answers and documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Listing => "listing",
            Self::Ready => "ready",
            Self::Resting => "resting",
            Self::Degraded => "degraded",
            Self::BackingOff => "backing_off",
            Self::Unreachable => "unreachable",
            Self::AuthRequired => "auth_required",
            Self::Leaving => "leaving",
        }
    }

    /// Returns true if calls to the server will probably be answered.
    pub fn is_usable(self) -> bool {
        matches!(self, Self::Ready | Self::Resting | Self::Degraded)
    }

    /// Returns true if the state needs an operator's attention.
    pub fn is_trouble(self) -> bool {
        matches!(self, Self::Degraded | Self::BackingOff | Self::Unreachable | Self::AuthRequired)
    }
}

impl Display for HealthWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The reason for a state, in two forms: one for readers who may see the server's messages, and one for everybody.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HealthCause {
    /// The type of fault, in the gateway's own words.
    pub brief: String,
    /// The whole reason, including the server's own message and its address.
    pub detail: String,
    /// The class of the reason.
    pub class: ReasonClass,
}

impl HealthCause {
    /// Creates a reason that everybody may see.
    pub fn plain(text: impl Into<String>) -> Self {
        let brief = text.into();
        Self { detail: brief.clone(), brief, class: ReasonClass::None }
    }

    /// Creates the reason that lists are missing or incomplete, in both forms.
    pub fn of_lists(brief: String, detail: String) -> Self {
        Self { brief, detail, class: ReasonClass::Lists }
    }

    /// Creates the reason that a process has ended, in both forms.
    pub(crate) fn of_process(brief: String, detail: String) -> Self {
        Self { brief, detail, class: ReasonClass::Process }
    }

    /// Creates the reason for a failure with this description, which contains none of the server's secrets.
    pub fn of(error: &LinkError, description: String) -> Self {
        Self { brief: brief(error).into_owned(), detail: description, class: ReasonClass::of(error) }
    }

    /// Returns the same reason with the given text in front of it.
    pub(super) fn after(&self, beginning: &str) -> Self {
        let join =
            |end: &str| if end.is_empty() { beginning.to_owned() } else { format!("{beginning}: {end}") };
        Self { brief: join(&self.brief), detail: join(&self.detail), class: self.class }
    }
}

/// Returns the type of a failure, without the server's message or its address.
fn brief(error: &LinkError) -> std::borrow::Cow<'static, str> {
    match error {
        LinkError::Http(e) => connection(e).into(),
        LinkError::Status { status, .. } => format!("the server answered HTTP {status}").into(),
        LinkError::Ambiguous(refusal) => format!("the server answered HTTP {}", refusal.status).into(),
        LinkError::Unauthorized(refusal) => format!("the server answered HTTP {}", refusal.status).into(),
        LinkError::SessionNotKept { .. } => "the server does not keep the sessions that it opens".into(),
        LinkError::SessionGone => "the server ended its session".into(),
        LinkError::NotAMessage(_) | LinkError::BrokeOff(_) | LinkError::TooLong(_) | LinkError::Hello(_) => {
            "the server sent something unusable".into()
        }
        LinkError::OutOfMemory(_) => "no memory was left for the server's message".into(),
        LinkError::Closed | LinkError::Broken(_) => "the server closed its stream".into(),
        LinkError::EventStream(_) => "the server has no event stream".into(),
        LinkError::Late(_) | LinkError::NotStarted { .. } => "the server did not answer in time".into(),
        LinkError::Child(_) => "the server's process failed".into(),
        LinkError::Spawn(_) => "the server's process could not be started".into(),
        LinkError::Refused { .. } => "the server refused the handshake".into(),
        LinkError::OtherEra { .. } | LinkError::Foreign(_) => {
            "the server changed its protocol version".into()
        }
        LinkError::Resting { .. } => "the server failed repeatedly".into(),
        LinkError::TooMany(_) => "the server answered HTTP 429".into(),
        LinkError::Unsent(why) => brief(why),
        LinkError::HeldBack(_) => "the server did not answer".into(),
        LinkError::Busy(_) => "too many calls are open".into(),
    }
}

fn connection(error: &ClientError) -> &'static str {
    match error {
        ClientError::Refused { .. } => "the connection was refused",
        ClientError::Dns { .. } => "the server's host name does not resolve",
        ClientError::ConnectTimeout { .. } => "no connection was made in time",
        ClientError::Unreachable { .. } => "there is no route to the server's host",
        ClientError::Tls { .. } => "no secure connection could be made",
        ClientError::Timeout { .. } => "the server did not answer in time",
        ClientError::Closed { .. } => "the server closed the connection",
        _ => "the connection failed",
    }
}
