//! The list of tools, and one tool.

use super::{CallRow, DefinitionChange, DefinitionState, ForeignText, Millis, Paging, ToolHints};

/// The list of tools.
#[derive(Debug, Clone, Default)]
pub struct ToolsPage {
    /// The filter of the list.
    pub filter: ToolsFilter,
    /// The names of all servers, for the filter.
    pub servers: Vec<ForeignText>,
    /// The names of all profiles, for the filter.
    pub profiles: Vec<ForeignText>,
    /// The tools that match the filter.
    pub rows: Vec<ToolRow>,
    /// The position of these rows in the whole list.
    pub paging: Paging,
    /// The estimated tokens of all tools that match the filter.
    pub tokens: u64,
}

/// The filter of the tools. The query parameters have the names of the fields; `show` is `pending`, `findings`, `hidden` or `writes`.
#[derive(Debug, Clone, Default)]
pub struct ToolsFilter {
    /// Words in the name or the description.
    pub q: ForeignText,
    /// Only tools of this server.
    pub server: ForeignText,
    /// Names, costs and visibility as in this profile; tools can be allowed and denied only with a profile.
    pub profile: ForeignText,
    /// Only tools that await approval, that clients refuse, that the profile hides, or that change something.
    pub show: ForeignText,
}

/// A tool in a list.
#[derive(Debug, Clone, Default)]
pub struct ToolRow {
    /// The server.
    pub server: ForeignText,
    /// The server's own name for the tool.
    pub name: ForeignText,
    /// The name that clients see; empty if no profile shows the tool.
    pub client_name: ForeignText,
    /// The title, if there is one.
    pub title: ForeignText,
    /// The description.
    pub description: ForeignText,
    /// The annotations.
    pub hints: ToolHints,
    /// The estimated tokens of the definition.
    pub tokens: u64,
    /// The number of findings of the schema lint.
    pub findings: u64,
    /// The state of the tool's definition, if it awaits approval.
    pub pending: Option<DefinitionState>,
    /// The reason why clients of the profile do not see the tool: `denied by the profile`, `awaits approval`.
    pub hidden: Option<ForeignText>,
    /// True if clients do not see the tool until somebody approves its definition.
    pub held: bool,
    /// The number of calls in the last 24 hours.
    pub calls: u64,
    /// The number of failed calls in the last 24 hours.
    pub errors: u64,
}

/// One tool with everything that is known about it.
#[derive(Debug, Clone, Default)]
pub struct ToolPage {
    /// The row of the list.
    pub row: ToolRow,
    /// The reason why the tool is missing, if the server does not list it.
    pub absence: Option<ToolAbsence>,
    /// The time at which the server first listed the tool, if that is recorded.
    pub first_listed: Option<Millis>,
    /// The time at which the server last changed the definition.
    pub changed: Option<Millis>,
    /// The arguments at the root of the input schema.
    pub arguments: Vec<ArgumentRow>,
    /// The input schema, indented.
    pub input_schema: ForeignText,
    /// The output schema, indented.
    pub output_schema: Option<ForeignText>,
    /// The profiles with the tool.
    pub profiles: Vec<ToolProfileRow>,
    /// The keys and users that may use the tool, and those that may not, by profile and rule.
    pub access: Vec<ToolAccessRow>,
    /// True if there may be other callers, such as people with tokens, which are not listed.
    pub has_other_callers: bool,
    /// The findings of the schema lint.
    pub findings: Vec<SchemaFindingRow>,
    /// The change that awaits approval.
    pub change: Option<DefinitionChange>,
    /// The revision of the change: an approval sends it back.
    pub revision: String,
    /// The approvals of the tool, the newest first.
    pub approvals: Vec<ApprovalRow>,
    /// The latest calls.
    pub calls: Vec<CallRow>,
}

/// The facts about a tool that its server does not list.
#[derive(Debug, Clone, Default)]
pub struct ToolAbsence {
    /// The reason why the server's lists are not known; `None` if they are known, and the tool is not in them.
    pub unknown: Option<ForeignText>,
    /// The time of the last recorded call that reached the server.
    pub last_seen: Option<Millis>,
    /// The time at which its server first listed it.
    pub first_seen: Option<Millis>,
    /// The time at which its server stopped listing it.
    pub vanished: Option<Millis>,
    /// True if the page shows the last known definition.
    pub has_definition: bool,
    /// The pattern that finds the calls of the tool.
    pub calls: ForeignText,
}

/// An argument of a tool.
#[derive(Debug, Clone, Default)]
pub struct ArgumentRow {
    /// The name.
    pub name: ForeignText,
    /// The type: `string`, `integer[]`, `"a" | "b"`.
    pub kind: ForeignText,
    /// True if the argument is required.
    pub required: bool,
    /// The description.
    pub description: ForeignText,
}

/// A tool in a profile.
#[derive(Debug, Clone, Default)]
pub struct ToolProfileRow {
    /// The profile.
    pub profile: ForeignText,
    /// The tool's name there.
    pub client_name: ForeignText,
    /// The estimated tokens of the definition there.
    pub tokens: u64,
    /// The estimated tokens of everything that the profile lists.
    pub profile_tokens: u64,
    /// The way in which clients get the tool: `listed`, `searchable`, or the reason why they do not.
    pub visibility: ForeignText,
}

/// The callers for which the same rule decides about a tool in a profile.
#[derive(Debug, Clone, Default)]
pub struct ToolAccessRow {
    /// The profile.
    pub profile: ForeignText,
    /// The tool's name there.
    pub client_name: ForeignText,
    /// True if the callers may use the tool.
    pub allowed: bool,
    /// The rule that decides, counted from 1 in `access`.
    pub rule: Option<u64>,
    /// The reason, in words.
    pub reason: ForeignText,
    /// The callers; if every caller is meant, there is none.
    pub callers: Vec<ForeignText>,
    /// The number of further callers, which are not listed.
    pub more: u64,
}

/// A finding of the schema lint.
#[derive(Debug, Clone, Default)]
pub struct SchemaFindingRow {
    /// The family of clients that refuses the tool: `gemini`.
    pub family: ForeignText,
    /// The broken rule as a sentence.
    pub rule: ForeignText,
    /// The place in the schema, as a JSON pointer.
    pub place: ForeignText,
}

/// An approval of a tool's definition.
#[derive(Debug, Clone, Default)]
pub struct ApprovalRow {
    /// The time of the approval.
    pub at: Millis,
    /// The author of the approval: a principal, `first seen`, `cli`.
    pub by: ForeignText,
}
