//! The playground, in which an operator calls a tool by hand.

use super::{AccessVerdict, ForeignText, Millis, ToolHints, ToolRow, WireMessage};

/// The playground.
#[derive(Debug, Clone, Default)]
pub struct PlaygroundPage {
    /// The profiles. The query parameter is `profile`.
    pub profiles: Vec<ForeignText>,
    /// The chosen profile.
    pub profile: ForeignText,
    /// The callers whose rules can be tested. The query parameter is `caller`.
    pub callers: Vec<ForeignText>,
    /// The caller whose rules apply; empty for the administrator. Its consents and credentials are never used.
    pub caller: ForeignText,
    /// The filter of the tools: the query parameter `q`.
    pub q: ForeignText,
    /// The tools that match the filter and that the chosen caller may use, at most 200.
    pub tools: Vec<ToolRow>,
    /// The other tools that match the filter, at most 200.
    pub denied: Vec<ToolRow>,
    /// The chosen tool. The query parameter is `tool`.
    pub tool: Option<PlaygroundTool>,
    /// The run that was started last.
    pub run: Option<PlaygroundRun>,
}

/// The tool to call.
#[derive(Debug, Clone, Default)]
pub struct PlaygroundTool {
    /// The name that clients see.
    pub name: ForeignText,
    /// The server.
    pub server: ForeignText,
    /// The title.
    pub title: ForeignText,
    /// The description.
    pub description: ForeignText,
    /// The annotations.
    pub hints: ToolHints,
    /// The fields of the form, from the input schema.
    pub fields: Vec<SchemaField>,
    /// The arguments as JSON, for schemas that no form can show; also the start of the form field `arguments`.
    pub arguments: ForeignText,
    /// True if the form shows one JSON field instead of `fields`.
    pub as_json: bool,
    /// The access decision for the chosen caller and the tool.
    pub verdict: Option<AccessVerdict>,
}

/// A field of a form that was made from a schema. Its name in the form is `arg.` and the name of the argument in percent-encoding.
#[derive(Debug, Clone, Default)]
pub struct SchemaField {
    /// The name of the argument.
    pub name: ForeignText,
    /// The title, or the name.
    pub label: ForeignText,
    /// The description.
    pub description: ForeignText,
    /// True if the argument is required.
    pub required: bool,
    /// The form of the value.
    pub kind: FieldKind,
    /// The value that was entered before, or the default. Several choices are written one per line.
    pub value: ForeignText,
    /// The reason why the value was refused.
    pub fault: Option<ForeignText>,
}

/// The form of a value.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum FieldKind {
    /// One line of text.
    #[default]
    Line,
    /// A text of several lines.
    Text,
    /// A whole number.
    Integer {
        /// The smallest value.
        minimum: Option<i64>,
        /// The largest value.
        maximum: Option<i64>,
    },
    /// A number.
    Number,
    /// Yes or no.
    Flag,
    /// One of these values.
    One(Vec<ForeignText>),
    /// Some of these values.
    Some(Vec<ForeignText>),
    /// A JSON text.
    Json,
    /// A date, as `format: date`.
    Date,
    /// An email address.
    Email,
    /// A URL.
    Url,
}

/// A call that was made in the playground.
#[derive(Debug, Clone, Default)]
pub struct PlaygroundRun {
    /// The id, for the stream of its events and for cancelling it.
    pub id: String,
    /// The tool.
    pub tool: ForeignText,
    /// The state.
    pub state: RunState,
    /// The time at which the call started.
    pub started: Millis,
    /// The duration so far.
    pub duration_us: u64,
    /// The reports of progress, the earliest first.
    pub progress: Vec<ProgressMark>,
    /// The question that the server asks.
    pub question: Option<OpenQuestion>,
    /// The result or the error, indented.
    pub answer: Option<ForeignText>,
    /// The messages of both sides, the earliest first.
    pub messages: Vec<WireMessage>,
}

/// The state of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunState {
    /// The call runs.
    #[default]
    Running,
    /// The server asks something.
    Asking,
    /// The call returned a result.
    Done,
    /// The call returned an error, or a result that reports a failure.
    Failed,
    /// The call was cancelled.
    Cancelled,
}

/// A report of progress.
#[derive(Debug, Clone, Default)]
pub struct ProgressMark {
    /// The time since the start.
    pub after_us: u64,
    /// The progress.
    pub value: f64,
    /// The value at the end, if it is known.
    pub total: Option<f64>,
    /// The server's message.
    pub text: ForeignText,
}

/// A question of a server.
#[derive(Debug, Clone, Default)]
pub struct OpenQuestion {
    /// The id, for the answer.
    pub id: String,
    /// The message.
    pub text: ForeignText,
    /// The fields of the form; none if the server asks to open a page.
    pub fields: Vec<SchemaField>,
    /// The page that the server asks to open. It is shown as text, never opened by itself.
    pub url: Option<ForeignText>,
}
