//! The list of servers, and one server.

use super::{
    CallRow, DefinedIn, DefinitionChange, DefinitionState, ForeignText, Millis, Paging, ServerState,
};

/// The list of servers, and the form that adds servers.
#[derive(Debug, Clone, Default)]
pub struct ServersPage {
    /// The filter of the list.
    pub filter: ServersFilter,
    /// The servers that match the filter.
    pub rows: Vec<ServerRow>,
    /// The beginning of the counted part of the last 24 hours, if there are too many calls to count all.
    pub counted_since: Option<Millis>,
    /// The position of these rows in the whole list.
    pub paging: Paging,
    /// The form that adds servers.
    pub add: AddServer,
}

/// The filter of the servers. The query parameters are `q` and `state`.
#[derive(Debug, Clone, Default)]
pub struct ServersFilter {
    /// A part of the name or the description.
    pub q: ForeignText,
    /// Only servers in this state.
    pub state: Option<ServerState>,
}

/// The content of the form that adds servers: a pasted `mcpServers` block, or the URL of one server.
#[derive(Debug, Clone, Default)]
pub struct AddServer {
    /// The text that was entered before.
    pub text: ForeignText,
    /// The name that was entered before; needed if the text is a URL.
    pub name: ForeignText,
    /// The reasons why the text was refused.
    pub faults: Vec<ForeignText>,
    /// The servers that the text would add, as sentences (`files: npx -y …`); shown for confirmation before anything starts.
    pub preview: Vec<ForeignText>,
    /// The token of the preview: sending it back confirms that these servers were shown.
    pub mark: String,
}

/// A server in a list.
#[derive(Debug, Clone, Default)]
pub struct ServerRow {
    /// The server's id in addresses.
    pub id: ForeignText,
    /// The server's description, if there is one.
    pub description: ForeignText,
    /// The state.
    pub state: ServerState,
    /// The reason for the state.
    pub reason: Option<ForeignText>,
    /// The time at which this state began.
    pub since: Millis,
    /// The time of the next attempt to reach the server.
    pub next_try: Option<Millis>,
    /// Advice: the next step.
    pub advice: Option<ForeignText>,
    /// The place where the server is defined.
    pub origin: DefinedIn,
    /// The transport: `stdio`, `http`, `sse`, `embedded`.
    pub transport: ForeignText,
    /// The protocol version of the connection, if one was opened.
    pub era: Option<ForeignText>,
    /// The number of tools.
    pub tools: u64,
    /// The estimated tokens of all tools.
    pub tokens: u64,
    /// The number of calls in the last 24 hours.
    pub calls: u64,
    /// The number of failed calls in the last 24 hours.
    pub errors: u64,
    /// The number of other calls without a result: refused, invalid, cancelled.
    pub refused: u64,
    /// The 95th percentile of the duration in the last 24 hours.
    pub p95_us: u64,
    /// The number of tools whose definitions await approval.
    pub pending: u64,
}

/// One server with everything that is known about it.
#[derive(Debug, Clone, Default)]
pub struct ServerPage {
    /// The row of the list.
    pub row: ServerRow,
    /// The address, or the program with its arguments; without secrets.
    pub destination: ForeignText,
    /// The number of prompts.
    pub prompts: u64,
    /// The number of resources and templates.
    pub resources: u64,
    /// `fresh`, `stale` or `unknown`, with the reason: `stale: connection lost`.
    pub freshness: ForeignText,
    /// The log-in at the server, if it needs one.
    pub login: Option<ServerLogin>,
    /// Open connections.
    pub connections: ConnectionCounts,
    /// The processes of a server that is a program.
    pub processes: Vec<ProcessRow>,
    /// The last states, the newest first.
    pub history: Vec<StateChange>,
    /// The last lines on stderr, the oldest first.
    pub stderr: Vec<StderrLine>,
    /// The policy for changed definitions: `allow`, `warn` or `hold`.
    pub policy: ForeignText,
    /// The times at which tools appeared, changed and vanished, the newest first.
    pub tool_events: Vec<ToolEventRow>,
    /// The definitions that await approval.
    pub changes: Vec<DefinitionChange>,
    /// The revision of these changes: an approval sends it back.
    pub revision: String,
    /// Families of clients that refuse tools of this server, as sentences.
    pub refusals: Vec<ForeignText>,
    /// The latest calls that failed.
    pub failures: Vec<CallRow>,
    /// The configuration, and whether it can be changed here.
    pub config: ServerConfig,
}

/// The configuration of a server, for the form that changes it.
#[derive(Debug, Clone, Default)]
pub struct ServerConfig {
    /// The entry as JSON, with secrets masked as `***`.
    pub text: ForeignText,
    /// The whole entry in force as JSON, with defaults, and with secrets masked.
    pub whole: ForeignText,
    /// The `ETag` of the entry: a change sends it back.
    pub etag: String,
    /// The reasons why the last change was refused; `text` is then the refused text.
    pub faults: Vec<ForeignText>,
    /// The profiles that use the server; it cannot be removed while a profile uses it.
    pub profiles: Vec<ForeignText>,
}

/// The log-in of the gateway at a server.
#[derive(Debug, Clone, Default)]
pub struct ServerLogin {
    /// True if a valid consent exists.
    pub valid: bool,
    /// The authorization server.
    pub issuer: ForeignText,
    /// The expiry time of the consent, if it is known.
    pub expires: Option<Millis>,
    /// The number of callers that gave consent.
    pub callers: u64,
    /// True if the log-in can be started on this page.
    pub can_start: bool,
}

/// The numbers of open connections to a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionCounts {
    /// The number of connections that clients share.
    pub shared: u64,
    /// The number of connections that belong to one client.
    pub dedicated: u64,
    /// The number of calls that wait for a connection or for their turn.
    pub waiting: u64,
    /// The number of calls that run.
    pub running: u64,
    /// The number of times that a client had to move to another connection.
    pub moves: u64,
}

/// A process of a server.
#[derive(Debug, Clone, Default)]
pub struct ProcessRow {
    /// The process id.
    pub pid: u32,
    /// The purpose: `shared` or `dedicated`.
    pub role: ForeignText,
    /// The time at which the process started.
    pub started: Millis,
    /// The memory of the process and its descendants, in bytes.
    pub memory: u64,
    /// The number of the process's descendants.
    pub children: u64,
}

/// A change in a server's state.
#[derive(Debug, Clone, Default)]
pub struct StateChange {
    /// The time of the change.
    pub at: Millis,
    /// The new state.
    pub state: ServerState,
    /// The reason for the new state.
    pub reason: Option<ForeignText>,
}

/// A past change in a server's tools.
#[derive(Debug, Clone, Default)]
pub struct ToolEventRow {
    /// The time of the change.
    pub at: Millis,
    /// The server's own name for the tool.
    pub tool: ForeignText,
    /// The kind of the change: the tool was new, changed or vanished.
    pub state: DefinitionState,
}

/// A line that a server wrote to stderr.
#[derive(Debug, Clone, Default)]
pub struct StderrLine {
    /// The time, if it is known.
    pub at: Option<Millis>,
    /// The line, without secrets.
    pub text: ForeignText,
}
