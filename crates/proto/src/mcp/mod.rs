//! The vocabulary of the Model Context Protocol: method names, reserved `_meta` keys, and the member by which a
//! result reports a failed tool.
//!
//! [`crate::era`] knows which of these names exist in which version.

mod behind;
mod failure;
mod method;

pub use behind::{THROUGH, marks_behind, with_marks};
pub use failure::says_failure;
pub use method::{Method, Notice};

/// Reserved keys of `_meta` (MCP, basic protocol).
pub mod meta {
    /// The protocol version of a stateless request.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// The capabilities of a stateless request's client.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The name and version of a stateless request's client.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The lowest severity of log messages that a stateless request wants.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// The name and version of the server that answered.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The listen request that a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The sender's span in a trace (W3C Trace Context).
    pub const TRACEPARENT: &str = "traceparent";
    /// Vendor-specific data about the trace (W3C Trace Context).
    pub const TRACESTATE: &str = "tracestate";
    /// Key-value pairs that are passed along with a trace (W3C Baggage).
    pub const BAGGAGE: &str = "baggage";
    /// The token under which progress of a request is reported.
    pub const PROGRESS_TOKEN: &str = "progressToken";
}
