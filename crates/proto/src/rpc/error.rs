//! JSON-RPC error objects, and the gateway's own responses.

use bytes::Bytes;

use super::Id;
use crate::json::{Members, Span, quote_into};

/// Error codes with a meaning in JSON-RPC 2.0 section 5.1 or in an MCP revision.
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i32 = -32700;
    /// The text is JSON, but not a valid message.
    pub const INVALID_REQUEST: i32 = -32600;
    /// The method does not exist.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The parameters are invalid.
    pub const INVALID_PARAMS: i32 = -32602;
    /// Something failed in the receiver, or in a system on which it depends.
    pub const INTERNAL_ERROR: i32 = -32603;
    /// A rejection by the transport, as used by the SDKs.
    pub const REFUSED: i32 = -32000;
    /// A session that is unknown or has ended, as used by the SDKs.
    pub const SESSION_NOT_FOUND: i32 = -32001;
    /// A resource that does not exist, in versions with sessions.
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// The user has to visit URLs first (MCP 2025-11-25 only).
    pub const URL_ELICITATION_REQUIRED: i32 = -32042;
    /// A mirrored header is missing or differs from the body.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The request needs a capability that the client did not declare.
    pub const MISSING_CAPABILITY: i32 = -32021;
    /// The protocol version is not served.
    pub const UNSUPPORTED_VERSION: i32 = -32022;
}

/// The spans of the members of an error object that another peer sent.
#[derive(Debug, Clone, Copy)]
pub struct RpcError {
    /// The code; 0 if it is missing or not an integer.
    pub code: i32,
    /// The message as written, if there is one.
    pub message: Option<Span>,
    /// The data as written, if there is any.
    pub data: Option<Span>,
}

impl RpcError {
    /// Reads the error object at `span` of validated text.
    pub fn of_value(text: &[u8], span: Span) -> Option<Self> {
        let members = Members::of_value(text, span)?;
        let code = members.get(text, "code").and_then(|c| std::str::from_utf8(c.of(text)).ok()?.parse().ok());
        Some(Self {
            code: code.unwrap_or(0),
            message: members.get(text, "message"),
            data: members.get(text, "data"),
        })
    }
}

/// A response that carries an error; the id is null if the request's id could not be read.
pub fn error_response(id: Option<&Id>, code: i32, message: &str, data: Option<&[u8]>) -> Bytes {
    let mut out = Vec::with_capacity(96 + message.len() + data.map_or(0, <[u8]>::len));
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.map_or(b"null".as_slice(), |id| id.json()));
    out.extend_from_slice(b",\"error\":{\"code\":");
    out.extend_from_slice(code.to_string().as_bytes());
    out.extend_from_slice(b",\"message\":");
    quote_into(&mut out, message);
    if let Some(data) = data {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data);
    }
    out.extend_from_slice(b"}}");
    Bytes::from(out)
}

/// A response that carries a long result, in pieces. The pieces share the bytes of the pieces in `result`.
pub fn result_pieces(id: &Id, result: impl IntoIterator<Item = Bytes>) -> Vec<Bytes> {
    let mut head = Vec::with_capacity(40 + id.json().len());
    head.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    head.extend_from_slice(id.json());
    head.extend_from_slice(b",\"result\":");
    // A list consists of three pieces around its time to live.
    let mut pieces = Vec::with_capacity(5);
    pieces.push(Bytes::from(head));
    pieces.extend(result);
    pieces.push(Bytes::from_static(b"}"));
    pieces
}

/// A response that carries a result, which must be JSON text.
pub fn result_response(id: &Id, result: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(40 + id.json().len() + result.len());
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.json());
    out.extend_from_slice(b",\"result\":");
    out.extend_from_slice(result);
    out.push(b'}');
    Bytes::from(out)
}
