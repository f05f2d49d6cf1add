//! HTTP headers that mirror parts of a message (MCP, Streamable HTTP: "Request Metadata").
//!
//! Contains the names of the headers, the encoding of values, and the comparison of a value with the mirrored part. This module
//! must not know which headers a message needs or which protocol versions have them.

mod annotation;
mod decimal;
mod mirror;
mod value;

#[cfg(test)]
mod tests;

pub use annotation::{AnnotationError, check_annotations, param_header};
pub use mirror::{mirrors, value_of};
pub use value::{decode_value, encode_value, trim};

/// The protocol version of a message.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The JSON-RPC method of a message. Never encoded.
pub const METHOD: &str = "mcp-method";
/// The subject of a message: `params.name`, `params.uri` or `params.taskId`, depending on the method.
pub const NAME: &str = "mcp-name";
/// The prefix of headers that each mirror one argument of a tool call.
pub const PARAM_PREFIX: &str = "mcp-param-";
/// The session id, in versions that have sessions.
pub const SESSION_ID: &str = "mcp-session-id";
/// The last event that a client received before it resumes a stream.
pub const LAST_EVENT_ID: &str = "last-event-id";

/// The reason why a header value cannot be decoded or created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The value has a byte that is not visible ASCII, space or tab.
    #[error("the value has a character that a header cannot carry")]
    Character,
    /// The text between `=?base64?` and `?=` is not Base64 with the standard alphabet and padding.
    #[error("the value is marked as Base64 but is not valid Base64")]
    Base64,
    /// The decoded bytes are not UTF-8.
    #[error("the decoded value is not UTF-8")]
    Utf8,
    /// The JSON value to mirror is not a string that UTF-8 can hold, an integer from −2⁵³+1 to 2⁵³−1, or a boolean.
    #[error("only strings, safe integers and booleans can be sent in a header")]
    NotMirrored,
}
