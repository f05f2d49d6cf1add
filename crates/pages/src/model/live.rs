//! The live traffic.

use super::{Caller, CaptureState, ForeignText, Millis, Severity};

/// The live page. New events arrive as server-sent events.
#[derive(Debug, Clone, Default)]
pub struct LivePage {
    /// The latest events, the newest first.
    pub events: Vec<LiveEvent>,
    /// Only events that contain this text: the query parameter `q`.
    pub q: ForeignText,
    /// Only events of this kind: the query parameter `kind`.
    pub kind: Option<LiveEventKind>,
    /// The capture of messages: off, or until a time.
    pub capture: CaptureState,
}

/// A recent event.
#[derive(Debug, Clone, Default)]
pub struct LiveEvent {
    /// A number that always increases: the event id of the stream.
    pub id: u64,
    /// The time of the event.
    pub at: Millis,
    /// The kind.
    pub kind: LiveEventKind,
    /// The importance.
    pub severity: Severity,
    /// The caller or the server that caused the event.
    pub who: Caller,
    /// The subject of the event: a tool, a session or a state.
    pub what: ForeignText,
    /// Further details in a few words: `ok in 12 ms`.
    pub text: ForeignText,
    /// The page with more about the event.
    pub href: Option<String>,
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LiveEventKind {
    /// A call has ended.
    #[default]
    Call,
    /// A server has changed its state.
    Server,
    /// A person has made a change, such as the restart of a server.
    Change,
}

impl LiveEventKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Call, Self::Server, Self::Change];

    /// The value of the query parameter.
    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Server => "server",
            Self::Change => "change",
        }
    }

    /// The kind with this value of the query parameter.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
