//! The list of profiles, and one profile.

use super::{DefinedIn, ForeignText, Paging, ServerState, ToolRow};

/// The list of profiles.
#[derive(Debug, Clone, Default)]
pub struct ProfilesPage {
    /// All profiles.
    pub rows: Vec<ProfileRow>,
    /// The names of all servers, for the form that adds a profile.
    pub servers: Vec<ForeignText>,
    /// The reason why the last form was refused.
    pub fault: Option<ForeignText>,
}

/// A profile in a list.
#[derive(Debug, Clone, Default)]
pub struct ProfileRow {
    /// The id in addresses.
    pub slug: ForeignText,
    /// The title that clients display.
    pub title: ForeignText,
    /// The path for clients: `/mcp/office`.
    pub endpoint: ForeignText,
    /// The way in which clients find tools: `direct`, `search` or `hybrid`.
    pub mode: ForeignText,
    /// The number of servers.
    pub servers: u64,
    /// The servers that cannot be used now.
    pub failing: Vec<ForeignText>,
    /// The number of tools that clients list.
    pub listed: u64,
    /// The estimated tokens of these tools.
    pub tokens: u64,
    /// The estimated tokens of the instructions that clients get.
    pub instructions_tokens: u64,
    /// The number of tools that clients can only find by searching.
    pub searchable: u64,
    /// The estimated tokens of the searchable tools, if they were listed.
    pub searchable_tokens: u64,
    /// The estimated tokens of everything that clients would get at the beginning if they listed all tools.
    pub unsearched_cost: u64,
    /// The number of open sessions.
    pub sessions: u64,
    /// The place where the profile is defined.
    pub origin: DefinedIn,
}

impl ProfileRow {
    /// The estimated tokens of everything that clients get at the beginning.
    pub fn cost(&self) -> u64 {
        self.tokens.saturating_add(self.instructions_tokens)
    }
}

/// One profile.
#[derive(Debug, Clone, Default)]
pub struct ProfilePage {
    /// The row of the list.
    pub row: ProfileRow,
    /// The instructions that clients get, if there are some.
    pub instructions: Option<ForeignText>,
    /// The servers of the profile, in order.
    pub servers: Vec<ProfileServer>,
    /// The names of servers that can be added.
    pub others: Vec<ForeignText>,
    /// The patterns of `allow`.
    pub allow: Vec<ForeignText>,
    /// The patterns of `deny`.
    pub deny: Vec<ForeignText>,
    /// The filter of the effective list: the query parameter `q`.
    pub q: ForeignText,
    /// The effective list: the tools as clients see them, the most expensive first.
    pub tools: Vec<ToolRow>,
    /// The position of these tools in the whole list.
    pub paging: Paging,
    /// The servers with tools that clients do not get until somebody approves them, and the numbers of these tools.
    pub held: Vec<(ForeignText, u64)>,
    /// The keys and users whom the access rules leave without any tool.
    pub without_tools: Vec<UnservedCaller>,
    /// The keys that this profile accepts, and other ways to authenticate, as sentences.
    pub callers: Vec<ForeignText>,
}

/// A caller that a profile admits, but that may use none of its tools.
#[derive(Debug, Clone, Default)]
pub struct UnservedCaller {
    /// The name of the key or the user.
    pub name: ForeignText,
    /// The caller, as in the record of calls.
    pub caller: ForeignText,
    /// The number of tools that the profile lists.
    pub tools: u64,
    /// One of these tools, for the access check.
    pub tool: ForeignText,
    /// The reason.
    pub reason: ForeignText,
}

/// A server in a profile.
#[derive(Debug, Clone, Default)]
pub struct ProfileServer {
    /// The server.
    pub id: ForeignText,
    /// False if the server is switched off in this profile.
    pub active: bool,
    /// The state of the server.
    pub state: ServerState,
    /// The reason for the state, if there is one.
    pub reason: Option<ForeignText>,
    /// The number of tools that the profile shows.
    pub tools: u64,
    /// The number of tools that the server has.
    pub of: u64,
    /// The estimated tokens of the shown tools.
    pub tokens: u64,
}
