//! The shape of one era's row.

use crate::json::quote;
use crate::mcp::Method;
use crate::rpc::code;

/// The way in which two peers start a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifecycle {
    /// `initialize`, then a session.
    Handshake,
    /// No session: each request identifies its sender and declares its capabilities.
    Stateless,
}

/// The way in which a server asks its client for input while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// Through JSON-RPC requests.
    Requests,
    /// Through a result that names the required input; the client repeats the request with the answers.
    InputRequired,
}

/// The answer to arguments that do not match a tool's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidArguments {
    /// A JSON-RPC error.
    Error,
    /// A tool result with `isError`, so that a model can correct its call.
    ToolResult,
}

/// The transport of an era's messages over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Web {
    /// Two endpoints: an event stream for the server's messages, and one to POST to (HTTP+SSE).
    EventStream,
    /// One endpoint (Streamable HTTP).
    Streamable,
}

/// The structured part of a tool result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Structured {
    /// Tool results have no structured part.
    None,
    /// A JSON object.
    Object,
    /// Any JSON value.
    Any,
}

/// The ways in which a server can ask a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Elicitation {
    /// A server cannot ask users.
    None,
    /// A form; titled choices are `enum` with `enumNames`, and only booleans have defaults.
    PlainForm,
    /// A form with defaults, titled choices (`oneOf`) and multiple choice; or a URL with an id.
    UrlWithId,
    /// Like `UrlWithId`, but a URL has no id, and no notification reports the completion of the visit.
    Url,
}

/// The form in which calls run as tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tasks {
    /// Calls do not run as tasks.
    None,
    /// The experimental form: a `task` parameter, `tasks/result`.
    Experiment,
    /// The extension `io.modelcontextprotocol/tasks`: a result of type `task`.
    Extension,
}

/// The content that messages of an era may have.
#[expect(clippy::struct_excessive_bools, reason = "a row of independent facts, not a state")]
#[derive(Debug, PartialEq, Eq)]
pub struct Shapes {
    /// The types of content blocks in tool results.
    pub tool_content: &'static [&'static str],
    /// The types of content blocks in prompts.
    pub prompt_content: &'static [&'static str],
    /// The types of content blocks in sampling.
    pub sampling_content: &'static [&'static str],
    /// True if tool results have the member `toolResult`.
    pub tool_result: bool,
    /// The structured part of tool results, and with it the `outputSchema` of tools.
    pub structured: Structured,
    /// True if peers may reject members that their version does not define; those are then removed.
    pub strict: bool,
    /// True if a server's introduction may contain a description, a website and icons, and listed items may have icons.
    pub described: bool,
    /// True if content and resources have `annotations`, and resources a `size`.
    pub annotations: bool,
    /// The ways in which servers can ask users.
    pub elicitation: Elicitation,
    /// True if sampling may use tools, and its content may be an array.
    pub sampling_tools: bool,
    /// True if a server can state which model it prefers.
    pub model_preferences: bool,
    /// The reasons that a model may give for stopping, the usual one first. One of them is required. Empty if any
    /// reason is allowed.
    pub stop_reasons: &'static [&'static str],
    /// True if servers can ask clients for their roots (`roots/list`).
    pub roots: bool,
    /// True if a server declares the completion of arguments as a capability.
    pub completions_declared: bool,
    /// True if a completion has a `context`.
    pub completion_context: bool,
    /// True if `resources/list` also contains the templates, for which there is no separate list.
    pub templates_in_resources: bool,
    /// True if lists have pages.
    pub pages: bool,
    /// The levels of log messages, the least important first.
    pub levels: &'static [&'static str],
    /// True if requests can be cancelled (`notifications/cancelled`).
    pub cancellation: bool,
    /// True if capabilities have a member `extensions`.
    pub extensions: bool,
    /// True if a server's introduction may contain instructions.
    pub instructions: bool,
    /// The form in which calls run as tasks.
    pub tasks: Tasks,
    /// True if a server may reject a call with an error that names URLs to visit first.
    pub url_error: bool,
}

/// The properties of one protocol version that differ between versions.
#[expect(clippy::struct_excessive_bools, reason = "a row of independent facts, not a state")]
#[derive(Debug)]
pub struct Era {
    /// The version string on the wire.
    pub version: &'static str,
    /// Other strings with the same meaning.
    pub aliases: &'static [&'static str],
    /// True if the version is written as a JSON number.
    pub numeric: bool,
    /// The version string to request from a server on behalf of a client of this era. This string differs from `version` for
    /// the oldest eras. Newer servers reject a number, and may reject a version that was never published, while old servers
    /// answer with their own version regardless of the request.
    pub offered: &'static str,
    /// The way in which peers start a conversation.
    pub lifecycle: Lifecycle,
    /// The transport of this era's messages over HTTP.
    pub web: Web,
    /// True if arrays of messages may be sent.
    pub batches: bool,
    /// True if each HTTP request after the handshake names the version in a header.
    pub version_header: bool,
    /// True if HTTP requests mirror the method, the name and annotated arguments in headers.
    pub mirrored_headers: bool,
    /// True if an event stream opens with an event that has an id and no data, which makes it resumable.
    pub primes_streams: bool,
    /// True if event streams carry ids and can be resumed.
    pub resumable: bool,
    /// True if closing the connection cancels the client's request.
    pub disconnect_cancels: bool,
    /// The way in which a server asks for input.
    pub asks: Asks,
    /// The answer to arguments that do not match a tool's schema.
    pub invalid_arguments: InvalidArguments,
    /// The code for a resource that does not exist.
    pub resource_not_found: i32,
    /// True if results carry `resultType`, and lists carry cache hints.
    pub typed_results: bool,
    /// The requests that a client can send.
    pub methods: &'static [Method],
    /// HTTP statuses of error codes; all others are 200.
    pub statuses: &'static [(i32, u16)],
    /// The content that messages of this era may have.
    pub shapes: &'static Shapes,
}

impl Era {
    /// Returns true if this version is older than the other.
    pub fn is_older_than(&self, other: &Self) -> bool {
        let index = |era: &Self| super::ERAS.iter().position(|one| *one == era);
        index(self) < index(other)
    }

    /// Returns true if clients may send this request.
    pub fn knows(&self, method: Method) -> bool {
        self.methods.contains(&method)
    }

    /// The HTTP status for a response with this error code.
    pub fn status(&self, error: i32) -> u16 {
        self.statuses.iter().find(|(code, _)| *code == error).map_or(200, |(_, status)| *status)
    }

    /// The HTTP status with which a server's error with this code is passed on; `given` is the status that the
    /// server sent. In a session, a status describes the session or the message as a whole, and clients ignore the
    /// body of a failed response. So an error about an accepted request is sent with 200.
    pub fn relayed_status(&self, error: i32, given: Option<u16>) -> u16 {
        match given {
            _ if self.has_sessions() => 200,
            Some(status @ 400..=499) => status,
            _ => self.status(error),
        }
    }

    /// The version as written in messages of this era, JSON.
    pub fn version_json(&self) -> String {
        if self.numeric { self.version.to_owned() } else { quote(self.version) }
    }

    /// Returns true if the era has sessions.
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

/// In the handshake eras, a JSON-RPC error is a normal answer, except for input that is not a message.
pub(super) const HANDSHAKE_STATUSES: &[(i32, u16)] =
    &[(code::PARSE_ERROR, 400), (code::INVALID_REQUEST, 400)];
