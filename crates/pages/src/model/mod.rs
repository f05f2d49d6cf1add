//! The data that the pages show: plain structs, one file for each page. They must not know how they are gathered, or how they look.
//!
//! Text that Dragoman did not write itself (names, reasons, messages, configuration) is a [`ForeignText`]. Times are Unix milliseconds,
//! durations are microseconds where the name ends in `_us`.
//!
//! | file | page |
//! |---|---|
//! | `frame` | the parts of every page, and the login |
//! | `parts` | values that several pages show: paging, differences, state of a server |
//! | `overview` … `doctor` | the page of that name |

mod access;
mod calls;
mod configuration;
mod connect;
mod doctor;
mod frame;
mod keys;
mod limits;
mod live;
mod logins;
mod overview;
mod parts;
mod playground;
mod profiles;
mod replicas;
mod servers;
mod sessions;
mod tools;

pub use crate::foreign::ForeignText;
pub use access::{AccessForm, AccessPage, AccessReach, AccessRuleRow, AccessStep, AccessVerdict, RuleEffect};
pub use calls::{
    CallPage, CallRow, CallsFilter, CallsPage, CaptureState, ExchangeStep, MessageLane, RecordState,
    WireMessage,
};
pub use configuration::{ChangeRow, ConfigFault, ConfigurationPage};
pub use connect::{ClientSnippet, ConnectPage, SelfTest, SelfTestEvent, SelfTestState};
pub use doctor::{CheckGroup, CheckRow, DoctorPage, LogRow};
pub use frame::{ConfirmPage, ErrorPage, LoginPage, Notice, PageFrame, Severity};
pub use keys::{KeyForm, KeyRow, KeyStanding, KeysPage, NewKey};
pub use limits::{CapRow, LimitsPage, RateRow};
pub use live::{LiveEvent, LiveEventKind, LivePage};
pub use logins::{ConsentRow, ConsentStanding, LoginsPage, SignInRow};
pub use overview::{Advice, OverviewPage, RefusedRequestRow, TrafficPoint, TrafficTotals, UsageRow, Window};
pub use parts::{
    Caller, DefinedIn, DefinitionChange, DefinitionState, DiffLine, DiffMark, MOST_ROWS, Outcome, Paging,
    ROWS, ServerState, ToolHints,
};
pub use playground::{
    FieldKind, OpenQuestion, PlaygroundPage, PlaygroundRun, PlaygroundTool, ProgressMark, RunState,
    SchemaField,
};
pub use profiles::{ProfilePage, ProfileRow, ProfileServer, ProfilesPage, UnservedCaller};
pub use replicas::{CopiedEventsRow, ReplicaRow, ReplicasPage, StoreRow, StoreStanding};
pub use servers::{
    AddServer, ConnectionCounts, ProcessRow, ServerConfig, ServerLogin, ServerPage, ServerRow, ServersFilter,
    ServersPage, StateChange, StderrLine, ToolEventRow,
};
pub use sessions::{CallNowRow, CallNowStage, ParkedRow, QueueRow, SessionRow, SessionsPage, StreamRow};
pub use tools::{
    ApprovalRow, ArgumentRow, SchemaFindingRow, ToolAbsence, ToolAccessRow, ToolPage, ToolProfileRow,
    ToolRow, ToolsFilter, ToolsPage,
};

/// A point in time: milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = u64;
