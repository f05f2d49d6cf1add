//! Values that several pages show.

use super::{ForeignText, Millis};

/// The maximum number of rows of a list that a page shows. Lists with [`Paging`] should come in parts of [`ROWS`].
pub const MOST_ROWS: usize = 500;
/// The number of rows in one part of a list.
pub const ROWS: usize = 100;

/// The position of the shown rows in a longer list. The values of `previous` and `next` go into the query parameter `at`.
#[derive(Debug, Clone, Default)]
pub struct Paging {
    /// The number of the first shown row, from 1; 0 if it is unknown.
    pub first: u64,
    /// The number of all rows that match the filter; `None` if counting them would take too long.
    pub total: Option<u64>,
    /// The value of `at` for the rows before these.
    pub previous: Option<String>,
    /// The value of `at` for the rows after these.
    pub next: Option<String>,
}

/// The state of a server, as `docs/reliability.md` describes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ServerState {
    /// A connection is being opened.
    #[default]
    Starting,
    /// The lists are being fetched for the first time.
    Listing,
    /// Everything works.
    Ready,
    /// The process was stopped because nobody used it.
    Resting,
    /// The server can be used, but something is missing.
    Degraded,
    /// The process does not start, or ends again and again.
    BackingOff,
    /// The server does not answer.
    Unreachable,
    /// The server requires a credential.
    AuthRequired,
    /// Each caller gives the server its own consent, and nothing else is missing.
    PerCaller,
    /// The server is no longer configured.
    Leaving,
    /// The server is switched off.
    Disabled,
}

impl ServerState {
    /// All states.
    pub const ALL: [Self; 11] = [
        Self::Starting,
        Self::Listing,
        Self::Ready,
        Self::Resting,
        Self::Degraded,
        Self::BackingOff,
        Self::Unreachable,
        Self::AuthRequired,
        Self::PerCaller,
        Self::Leaving,
        Self::Disabled,
    ];

    /// The name of the state in the management API.
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
            Self::PerCaller => "per_caller",
            Self::Leaving => "leaving",
            Self::Disabled => "disabled",
        }
    }

    /// The state with this name in the management API.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// The outcome of a call, as in the record of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Outcome {
    /// The call returned a result.
    #[default]
    Ok,
    /// The call returned an error, or a result that reports a failure.
    Error,
    /// A rule or a rate limit stopped the call.
    Denied,
    /// The call named something that does not exist.
    Unknown,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 4] = [Self::Ok, Self::Error, Self::Denied, Self::Unknown];

    /// The name of the outcome in the record of calls.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Unknown => "unknown",
        }
    }

    /// The outcome with this name in the record of calls.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

/// The place where something is defined. Only what was defined over the management API can be removed there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DefinedIn {
    /// The configuration file.
    #[default]
    File,
    /// The management API or these pages.
    Api,
    /// The preset that the configuration extends.
    Preset,
}

/// A caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// The id in the record of calls: `key:dgm_…`, `user:ann`, `anyone`.
    pub id: ForeignText,
    /// The name of the caller's API key.
    pub key: Option<ForeignText>,
}

impl Caller {
    /// Returns a caller whose key has this name.
    pub fn new(id: impl Into<ForeignText>, key: Option<String>) -> Self {
        Self { id: id.into(), key: key.map(Into::into) }
    }

    /// The unchanged id: for addresses, and for comparisons.
    pub fn raw(&self) -> &str {
        self.id.raw()
    }

    /// The texts that a filter searches.
    pub fn words(&self) -> [&str; 2] {
        [self.id.raw(), self.key.as_ref().map_or("", ForeignText::raw)]
    }
}

impl<T: Into<ForeignText>> From<T> for Caller {
    fn from(id: T) -> Self {
        Self::new(id, None)
    }
}

/// The annotations of a tool; `None` if the server does not state an annotation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// `readOnlyHint`
    pub read_only: Option<bool>,
    /// `destructiveHint`
    pub destructive: Option<bool>,
    /// `idempotentHint`
    pub idempotent: Option<bool>,
    /// `openWorldHint`
    pub open_world: Option<bool>,
}

/// The relation of a tool's definition to the approved one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DefinitionState {
    /// The definition differs from the approved one.
    #[default]
    Changed,
    /// The tool was never approved.
    New,
    /// An approved tool is no longer listed.
    Vanished,
}

/// A tool whose definition awaits approval.
#[derive(Debug, Clone, Default)]
pub struct DefinitionChange {
    /// The server's own name for the tool.
    pub tool: ForeignText,
    /// The relation to the approved definition.
    pub state: DefinitionState,
    /// The changed parts, such as `description`.
    pub parts: Vec<ForeignText>,
    /// The differences. For a new tool these are all lines of its definition; for one that vanished there may be none.
    pub lines: Vec<DiffLine>,
    /// True if `lines` leaves something out. Pages offer no approval then.
    pub cut: bool,
    /// The time at which the definition was first listed; `None` for a tool that vanished.
    pub since: Option<Millis>,
}

/// One line of a comparison.
#[derive(Debug, Clone, Default)]
pub struct DiffLine {
    /// The version of the text that contains the line.
    pub mark: DiffMark,
    /// The text without a mark.
    pub text: ForeignText,
}

/// The version of a text that contains a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DiffMark {
    /// Both.
    #[default]
    Same,
    /// Only the new one.
    Added,
    /// Only the old one.
    Removed,
}
