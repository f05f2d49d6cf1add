//! The shape of one era's row.

use crate::json::quote;
use crate::mcp::Method;
use crate::rpc::code;

/// How two peers meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifecycle {
    /// `initialize`, then a session.
    Handshake,
    /// No session: each request says who speaks and what they can do.
    Stateless,
}

/// How a server asks its client for something while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// By JSON-RPC requests of its own.
    Requests,
    /// By a result that names what it needs; the client asks again with the answers.
    InputRequired,
}

/// How arguments that do not fit a tool's schema are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidArguments {
    /// As a JSON-RPC error.
    Error,
    /// As a tool result with `isError`, so that a model can mend its call.
    ToolResult,
}

/// How HTTP carries an era's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Web {
    /// Two endpoints: an event stream for what the server says, and one to POST to (HTTP+SSE).
    EventStream,
    /// One endpoint (Streamable HTTP).
    Streamable,
}

/// What the structured part of a tool result may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Structured {
    /// There is none.
    None,
    /// A JSON object.
    Object,
    /// Any JSON value.
    Any,
}

/// How a user may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Elicitation {
    /// Not at all.
    None,
    /// By a form; titled choices are `enum` with `enumNames`, defaults stand on booleans only.
    PlainForm,
    /// By a form with defaults, titled choices (`oneOf`) and choices of several; by a URL with an id.
    UrlWithId,
    /// The same, but a URL has no id and there is no notice of its completion.
    Url,
}

/// The time for which work is told apart from a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tasks {
    /// Not at all.
    None,
    /// The experiment: a `task` parameter, `tasks/result`.
    Experiment,
    /// The extension `io.modelcontextprotocol/tasks`: a result of type `task`.
    Extension,
}

/// What the messages of an era may hold.
#[expect(clippy::struct_excessive_bools, reason = "a row of independent facts, not a state")]
#[derive(Debug, PartialEq, Eq)]
pub struct Shapes {
    /// The types of content blocks in tool results.
    pub tool_content: &'static [&'static str],
    /// The types of content blocks in prompts.
    pub prompt_content: &'static [&'static str],
    /// The types of content blocks in sampling.
    pub sampling_content: &'static [&'static str],
    /// True if a tool result is (also) in the member `toolResult`.
    pub tool_result: bool,
    /// The structured part of tool results, and with it `outputSchema` of tools.
    pub structured: Structured,
    /// True if peers may refuse members that their version does not know, so that those are taken out.
    pub strict: bool,
    /// True if content and resources have `annotations`, and resources a `size`.
    pub annotations: bool,
    /// How users are asked.
    pub elicitation: Elicitation,
    /// True if sampling may use tools, and its content be an array.
    pub sampling_tools: bool,
    /// True if a server says which model it would like.
    pub model_preferences: bool,
    /// The only reasons for which a model may have stopped, the usual one first, and one must be given; empty where
    /// any will do.
    pub stop_reasons: &'static [&'static str],
    /// True if `roots/list` exists.
    pub roots: bool,
    /// True if a server declares that it completes arguments.
    pub completions_declared: bool,
    /// True if a completion has a `context`.
    pub completion_context: bool,
    /// True if `resources/list` also carries the templates, which have no list of their own.
    pub templates_in_resources: bool,
    /// True if lists have pages.
    pub pages: bool,
    /// The levels of log messages, the least important first.
    pub levels: &'static [&'static str],
    /// True if `notifications/cancelled` exists.
    pub cancellation: bool,
    /// True if capabilities have `extensions`.
    pub extensions: bool,
    /// True if a server that introduces itself may add instructions.
    pub instructions: bool,
    /// Tasks.
    pub tasks: Tasks,
    /// True if a server may refuse a call with the error that names URLs to visit first.
    pub url_error: bool,
}

/// What one protocol version does where versions differ.
#[expect(clippy::struct_excessive_bools, reason = "a row of independent facts, not a state")]
#[derive(Debug)]
pub struct Era {
    /// The version string on the wire.
    pub version: &'static str,
    /// Other strings that mean it.
    pub aliases: &'static [&'static str],
    /// True if the version is written as a JSON number.
    pub numeric: bool,
    /// The version string that a server is asked for on behalf of a client of this era. Not its own where that is older
    /// than what servers have types for: those refuse a number and may refuse a version that was never published, while
    /// the old ones answer with their own version whatever they are asked for.
    pub offered: &'static str,
    /// How peers meet.
    pub lifecycle: Lifecycle,
    /// How HTTP carries it.
    pub web: Web,
    /// True if arrays of messages may be sent.
    pub batches: bool,
    /// True if each HTTP request after the handshake names the version in a header.
    pub version_header: bool,
    /// True if HTTP requests mirror method, name and annotated arguments in headers.
    pub mirrored_headers: bool,
    /// True if an event stream opens with an event that has an id and no data, so that it can be resumed.
    pub primes_streams: bool,
    /// True if event streams carry ids and can be resumed.
    pub resumable: bool,
    /// True if a client that closes its connection has cancelled its request.
    pub disconnect_cancels: bool,
    /// How a server asks back.
    pub asks: Asks,
    /// How ill-fitting arguments are answered.
    pub invalid_arguments: InvalidArguments,
    /// The code for a resource that does not exist.
    pub resource_not_found: i32,
    /// True if results carry `resultType`, and lists cache hints.
    pub typed_results: bool,
    /// The requests of a client that exist.
    pub methods: &'static [Method],
    /// HTTP statuses of error codes; all others are 200.
    pub statuses: &'static [(i32, u16)],
    /// What its messages may hold.
    pub shapes: &'static Shapes,
}

impl Era {
    /// Returns true if clients may send this request.
    pub fn knows(&self, method: Method) -> bool {
        self.methods.contains(&method)
    }

    /// The HTTP status for a response with this error code.
    pub fn status(&self, error: i32) -> u16 {
        self.statuses.iter().find(|(code, _)| *code == error).map_or(200, |(_, status)| *status)
    }

    /// The HTTP status for a server's own error with this code, passed on; `given` is what the server answered with. In a
    /// session a status speaks of the session or the message as a whole, and clients look no further: what a server says
    /// of a request that was taken comes with 200.
    pub fn relayed_status(&self, error: i32, given: Option<u16>) -> u16 {
        match given {
            _ if self.has_sessions() => 200,
            Some(status @ 400..=499) => status,
            _ => self.status(error),
        }
    }

    /// The version as it stands in messages of this era, JSON.
    pub fn version_json(&self) -> String {
        if self.numeric { self.version.to_owned() } else { quote(self.version) }
    }

    /// Returns true if a session is kept.
    pub fn has_sessions(&self) -> bool {
        self.lifecycle == Lifecycle::Handshake
    }
}

impl PartialEq for Era {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

impl Eq for Era {}

impl std::hash::Hash for Era {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.version.hash(state);
    }
}

impl std::fmt::Display for Era {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.version)
    }
}

/// The eight levels of syslog, the least important first.
pub(super) const SYSLOG_LEVELS: &[&str] =
    &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The requests that all handshake eras from 2024-10-07 on share.
pub(super) const HANDSHAKE_METHODS: &[Method] = &[
    Method::Initialize,
    Method::Ping,
    Method::ToolsList,
    Method::ToolsCall,
    Method::PromptsList,
    Method::PromptsGet,
    Method::ResourcesList,
    Method::TemplatesList,
    Method::ResourcesRead,
    Method::Subscribe,
    Method::Unsubscribe,
    Method::Complete,
    Method::SetLevel,
];

/// In the handshake eras a JSON-RPC error is a normal answer, except for what is no message at all.
pub(super) const HANDSHAKE_STATUSES: &[(i32, u16)] =
    &[(code::PARSE_ERROR, 400), (code::INVALID_REQUEST, 400)];
