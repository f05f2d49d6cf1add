//! The record of calls, and one call with its messages.

use super::{Caller, ForeignText, Millis, Outcome, Paging};

/// The record of calls.
#[derive(Debug, Clone, Default)]
pub struct CallsPage {
    /// The filter.
    pub filter: CallsFilter,
    /// The calls that match the filter, the newest first.
    pub rows: Vec<CallRow>,
    /// The position of these rows in the whole list.
    pub paging: Paging,
    /// The names of all servers, for the filter.
    pub servers: Vec<ForeignText>,
    /// The names of all profiles, for the filter.
    pub profiles: Vec<ForeignText>,
    /// The settings of the record.
    pub record: RecordState,
    /// The capture of messages: off, or until a time.
    pub capture: CaptureState,
    /// True if this gateway shares its calls with others, so that the calls of all gateways can be shown.
    pub is_shared: bool,
    /// The number of calls of all gateways that are missing, because they could not be sent to the store.
    pub missing: u64,
    /// The reason why the filter cannot be used, such as a time that cannot be read.
    pub fault: Option<ForeignText>,
}

/// The settings of the record.
#[derive(Debug, Clone, Default)]
pub struct RecordState {
    /// True if calls are recorded.
    pub on: bool,
    /// True if the arguments are recorded, too.
    pub arguments: bool,
    /// The time for which entries are kept: `30d`.
    pub keep: ForeignText,
    /// The number of entries; `None` if counting them would take too long.
    pub entries: Option<u64>,
    /// The number of entries that were lost because the file could not be written.
    pub lost: u64,
}

/// The filter of the record. The query parameters have the names of the fields; empty fields do not filter.
#[derive(Debug, Clone, Default)]
pub struct CallsFilter {
    /// The start: a duration before now (`1h`) or a time in UTC.
    pub since: ForeignText,
    /// The end, in the same format as `since`.
    pub until: ForeignText,
    /// A part of the tool's name or of the recorded arguments.
    pub q: ForeignText,
    /// A pattern for the tool's name.
    pub tool: ForeignText,
    /// A pattern for the caller.
    pub principal: ForeignText,
    /// A pattern for the client's name.
    pub client: ForeignText,
    /// The profile.
    pub profile: ForeignText,
    /// The server.
    pub server: ForeignText,
    /// The outcome.
    pub outcome: Option<Outcome>,
    /// True for calls of clients, false for changes by people; both if `None`.
    pub of_clients: Option<bool>,
    /// True for calls whose messages were captured.
    pub captured: bool,
    /// True for the calls of all gateways of the cluster.
    pub of_all: bool,
}

/// A call in a list.
#[derive(Debug, Clone, Default)]
pub struct CallRow {
    /// The id in the record; 0 for a call in the list of all gateways.
    pub id: u64,
    /// The gateway that recorded the call, in the list of all gateways.
    pub gateway: Option<ForeignText>,
    /// True if the messages of the call were captured, and are still kept.
    pub captured: bool,
    /// The time at which the call arrived.
    pub at: Millis,
    /// The outcome of the call.
    pub outcome: Outcome,
    /// The caller.
    pub principal: Caller,
    /// The profile.
    pub profile: ForeignText,
    /// The server.
    pub server: Option<ForeignText>,
    /// The tool by the name that the client used; for other requests the method.
    pub tool: ForeignText,
    /// The beginning of the recorded arguments, on one line.
    pub arguments: Option<ForeignText>,
    /// The method.
    pub method: ForeignText,
    /// The error code that the client got.
    pub code: Option<i64>,
    /// The duration.
    pub duration_us: u64,
    /// The part of the duration before the last attempt.
    pub waited_us: u64,
    /// The number of times that the request was sent.
    pub tries: u32,
    /// The size of the request.
    pub request_bytes: u64,
    /// The size of the answer.
    pub response_bytes: u64,
    /// True if a cached result answered the call.
    pub cached: bool,
    /// The client's address.
    pub address: Option<ForeignText>,
    /// The name and version that the client claims.
    pub client: Option<ForeignText>,
    /// The reason for the outcome, as it was recorded, or as far as the code reveals it.
    pub reason: Option<ForeignText>,
    /// The number of equal calls that the row stands for, if there are several.
    pub times: Option<u64>,
    /// The effect that today's rules would have on the call, if the call was stopped.
    pub today: Option<ForeignText>,
}

/// One call, from the client's request to the answer that the client gets.
#[derive(Debug, Clone, Default)]
pub struct CallPage {
    /// The entry of the record.
    pub row: CallRow,
    /// The arguments, indented and redacted; `None` if they were not recorded.
    pub arguments: Option<ForeignText>,
    /// True if arguments are recorded.
    pub records_arguments: bool,
    /// The protocol version between the client and Dragoman.
    pub client_era: Option<ForeignText>,
    /// The protocol version between Dragoman and the server.
    pub server_era: Option<ForeignText>,
    /// True if the access rules may have stopped the call.
    pub access: bool,
    /// The events, the earliest first.
    pub steps: Vec<ExchangeStep>,
    /// The capture of messages.
    pub capture: CaptureState,
    /// The captured messages, the earliest first.
    pub messages: Vec<WireMessage>,
    /// The server, and its own name of the tool, if the profile still has the tool.
    pub tool: Option<(ForeignText, ForeignText)>,
    /// The id of the call before this one.
    pub older: Option<u64>,
    /// The id of the call after this one.
    pub newer: Option<u64>,
}

/// The capture of messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CaptureState {
    /// Nothing is captured.
    #[default]
    Off,
    /// Messages are captured until this time.
    Until(Millis),
    /// This call was captured.
    Captured,
    /// This call was captured, but its messages have been dropped to make room for newer ones.
    Dropped,
}

/// An event during a call.
#[derive(Debug, Clone, Default)]
pub struct ExchangeStep {
    /// The time since the arrival of the call; `None` if it was not recorded.
    pub after_us: Option<u64>,
    /// The event.
    pub text: ForeignText,
}

/// The direction of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MessageLane {
    /// From the client to Dragoman.
    #[default]
    FromClient,
    /// From Dragoman to the server.
    ToServer,
    /// From the server to Dragoman.
    FromServer,
    /// From Dragoman to the client.
    ToClient,
}

/// A captured message.
#[derive(Debug, Clone, Default)]
pub struct WireMessage {
    /// The time since the arrival of the call.
    pub after_us: u64,
    /// The direction.
    pub lane: MessageLane,
    /// The protocol version that is used with the client or with the server, depending on the direction.
    pub era: ForeignText,
    /// The kind of the message: `tools/call`, `result`, `notifications/progress`.
    pub title: ForeignText,
    /// The message, indented and redacted.
    pub body: ForeignText,
    /// The size of the message in bytes.
    pub bytes: u64,
    /// True if `body` is only the beginning.
    pub cut: bool,
}
