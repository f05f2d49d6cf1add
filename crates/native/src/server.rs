//! The interface between native servers and the rest of Dragoman, and the wire form of their refusals.
//!
//! This module must not know any particular server.

use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use proto::era::{Era, ServerHello, newest_handshake};
use proto::rpc::{Frame, code, error_response, result_response};
use secrecy::SecretString;

use crate::passing::FileTransfer;

/// A server that is embedded in the binary.
pub trait NativeServer: Send + Sync {
    /// The server's introduction in `era`.
    fn hello(&self, era: &'static Era) -> ServerHello;

    /// The whole JSON-RPC response to a request, in the form of its era. The host of the server answers introductions
    /// (`initialize`, `server/discover`) from [`NativeServer::hello`].
    fn answer(&self, call: NativeCall<'_>) -> Answering;

    /// The interpretations of a call's arguments (a JSON object) that the server may use, each as a JSON object.
    /// Empty if the server uses the arguments unchanged, or refuses them. Defaults of omitted arguments are not
    /// included.
    fn readings(&self, _tool: &str, _arguments: &[u8]) -> Vec<String> {
        Vec::new()
    }

    /// The message that refuses the members of `arguments` (a JSON object) that the tool does not declare; `None`
    /// if the server accepts all members.
    fn unknown_arguments(&self, _tool: &str, _arguments: &[u8]) -> Option<String> {
        None
    }
}

/// A request to a native server.
#[derive(Debug, Clone, Copy)]
pub struct NativeCall<'a> {
    /// The request itself.
    pub request: &'a Frame,
    /// The era of the request and of the response.
    pub era: &'static Era,
    /// Values of the client's request that the configuration maps to this server.
    pub mapped: Option<&'a Mapped>,
    /// True if the dialect of the client's endpoint documents the form of failures, and reads the kind of a failure
    /// from an error. False in endpoints of MCP itself, where a model reads failures of a tool as results.
    pub documented: bool,
    /// Counts the bytes of a file that the call passes on; `None` if nobody wants to know.
    pub transfer: Option<&'a FileTransfer>,
}

impl<'a> NativeCall<'a> {
    /// A request without mapped values.
    pub fn new(request: &'a Frame, era: &'static Era) -> Self {
        Self { request, era, mapped: None, documented: false, transfer: None }
    }
}

/// The response to a request: ready, or pending on other services.
pub enum Answering {
    /// The response is ready.
    Ready(Bytes),
    /// The response is pending. The caller decides how long to wait; dropping the future cancels the request.
    Soon(PendingResponse),
}

/// A response that depends on other services.
pub type PendingResponse = Pin<Box<dyn Future<Output = Bytes> + Send>>;

impl Answering {
    /// Waits for the response and returns its bytes.
    pub async fn bytes(self) -> Bytes {
        match self {
            Self::Ready(bytes) => bytes,
            Self::Soon(soon) => soon.await,
        }
    }
}

impl fmt::Debug for Answering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(bytes) => f.debug_tuple("Ready").field(bytes).finish(),
            Self::Soon(_) => f.write_str("Soon(..)"),
        }
    }
}

/// Credentials in a client's request for the sites that a native server uses. They are used for that request only.
#[derive(Debug, Clone, Default)]
pub struct Mapped {
    /// The site and the account there; `None` if the request names neither. If the request names only some of the
    /// parts, this is an error message about the missing part: the request is then refused, and no other site is
    /// used.
    pub site: Option<Result<SiteLogin, String>>,
    /// The key for an image host.
    pub image_key: Option<SecretString>,
}

/// A WordPress site and an account there.
#[derive(Debug, Clone)]
pub struct SiteLogin {
    /// The URL of the site: `http` or `https`, with its path if it has one.
    pub url: String,
    /// The name of the account.
    pub username: String,
    /// The account's Application Password, with or without its spaces.
    pub password: SecretString,
    /// True if the configuration names this site, which may therefore have a private address.
    pub is_fixed: bool,
}

/// The era in which a native server is asked on behalf of a client of `era`. The result is `era` itself, unless peers of `era` may
/// refuse features that are not in their version. In that case, the result is the newest era with a handshake, and Dragoman
/// translates.
pub fn spoken(era: &'static Era) -> &'static Era {
    if era.shapes.strict { newest_handshake() } else { era }
}

/// A request that is answered with a JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeRefusal {
    /// The JSON-RPC code.
    pub code: i32,
    /// The error message, with a suggestion where possible.
    pub message: String,
    /// The error's `data` as JSON text.
    pub data: Option<String>,
}

impl NativeRefusal {
    /// Params that do not fit (-32602).
    pub fn params(message: impl Into<String>) -> Self {
        Self { code: code::INVALID_PARAMS, message: message.into(), data: None }
    }

    /// A method that the server does not have in this era (-32601).
    pub fn method(name: &str) -> Self {
        Self { code: code::METHOD_NOT_FOUND, message: format!("unknown method {name:?}"), data: None }
    }
}

/// The response to `request`: a result as JSON text, or a refusal.
pub fn respond(request: &Frame, outcome: Result<Bytes, NativeRefusal>) -> Bytes {
    match (outcome, request.id()) {
        (Ok(result), Some(id)) => result_response(id, &result),
        (Ok(_), None) => error_response(None, code::INVALID_REQUEST, "the message is not a request", None),
        (Err(refusal), id) => {
            error_response(id, refusal.code, &refusal.message, refusal.data.as_deref().map(str::as_bytes))
        }
    }
}
