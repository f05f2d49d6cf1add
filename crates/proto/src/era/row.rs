//! The shape of one era's row.

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

/// What one protocol version does where versions differ.
#[expect(clippy::struct_excessive_bools, reason = "a row of independent facts, not a state")]
#[derive(Debug)]
pub struct Era {
    /// The version string on the wire.
    pub version: &'static str,
    /// How peers meet.
    pub lifecycle: Lifecycle,
    /// Whether arrays of messages may be sent.
    pub batches: bool,
    /// Whether each HTTP request after the handshake names the version in a header.
    pub version_header: bool,
    /// Whether HTTP requests mirror method, name and annotated arguments in headers.
    pub mirrored_headers: bool,
    /// Whether an event stream opens with an event that has an id and no data, so that it can be resumed.
    pub primes_streams: bool,
    /// Whether event streams carry ids and can be resumed.
    pub resumable: bool,
    /// Whether a client that closes its connection has cancelled its request.
    pub disconnect_cancels: bool,
    /// How a server asks back.
    pub asks: Asks,
    /// How ill-fitting arguments are answered.
    pub invalid_arguments: InvalidArguments,
    /// The code for a resource that does not exist.
    pub resource_not_found: i32,
    /// Whether results carry `resultType`, and lists cache hints.
    pub typed_results: bool,
    /// The requests of a client that exist.
    pub methods: &'static [Method],
    /// HTTP statuses of error codes; all others are 200.
    pub statuses: &'static [(i32, u16)],
}

impl Era {
    /// Whether clients may send this request.
    pub fn knows(&self, method: Method) -> bool {
        self.methods.contains(&method)
    }

    /// The HTTP status for a response with this error code.
    pub fn status(&self, error: i32) -> u16 {
        self.statuses.iter().find(|(code, _)| *code == error).map_or(200, |(_, status)| *status)
    }

    /// Whether a session is kept.
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

/// The requests that all handshake eras from 2025-03-26 on share.
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
