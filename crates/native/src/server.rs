//! What a native server is to the rest of Dragoman, and how its refusals look on the wire.
//!
//! It must not know any particular server.

use bytes::Bytes;
use proto::era::{Era, ServerHello, newest_handshake};
use proto::rpc::{Frame, code, error_response, result_response};

/// A server that lives in the binary.
pub trait NativeServer: Send + Sync {
    /// What the server says of itself in `era`.
    fn hello(&self, era: &'static Era) -> ServerHello;

    /// The whole JSON-RPC response to `request`, dressed for `era`. Introductions (`initialize`, `server/discover`) are
    /// answered by whoever hosts the server, from [`NativeServer::hello`].
    fn answer(&self, request: &Frame, era: &'static Era) -> Bytes;
}

/// The era in which a native server is asked on behalf of a client of `era`: the same, unless its peers may refuse what their
/// version does not have. For those it is translated from the newest era that has sessions, too.
pub fn spoken(era: &'static Era) -> &'static Era {
    if era.shapes.strict { newest_handshake() } else { era }
}

/// A request that is answered with a JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The JSON-RPC code.
    pub code: i32,
    /// What is wrong, and where it helps, what would be right.
    pub message: String,
    /// The error's `data` as JSON text.
    pub data: Option<String>,
}

impl Refusal {
    /// Params that do not fit (-32602).
    pub fn params(message: impl Into<String>) -> Self {
        Self { code: code::INVALID_PARAMS, message: message.into(), data: None }
    }

    /// A method that the server does not have in this era (-32601).
    pub fn method(name: &str) -> Self {
        Self {
            code: code::METHOD_NOT_FOUND,
            message: format!("method {name:?} is not known here"),
            data: None,
        }
    }
}

/// The response to `request`: a result as JSON text, or a refusal.
pub fn respond(request: &Frame, outcome: Result<Bytes, Refusal>) -> Bytes {
    match (outcome, request.id()) {
        (Ok(result), Some(id)) => result_response(id, &result),
        (Ok(_), None) => error_response(None, code::INVALID_REQUEST, "the message is not a request", None),
        (Err(refusal), id) => {
            error_response(id, refusal.code, &refusal.message, refusal.data.as_deref().map(str::as_bytes))
        }
    }
}
