//! What the gateway itself refuses or cannot do, in the one form that reaches a client.
//!
//! Modules raise their own errors; at the edge they become a [`Fault`]. It must not know transports beyond a status.

use bytes::Bytes;
use proto::era::{Era, EraFault};
use proto::json::{Duplicate, JsonError, Problem, quote};
use proto::rpc::{FrameError, FrameFault, Id, code, error_response};

/// Whose doing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The request is at fault.
    Client,
    /// The gateway is.
    Gateway,
    /// A server behind it is.
    Upstream,
}

/// An error as a client gets it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The JSON-RPC code.
    pub code: i32,
    /// The HTTP status; `None` where the era's table decides.
    pub status: Option<u16>,
    /// Whose doing it is.
    pub blame: Blame,
    /// Whether the same request may succeed if it is sent again.
    pub retry: bool,
    /// What happened, where, and what to do.
    pub message: String,
    /// The error's `data` as JSON text.
    pub data: Option<String>,
}

impl Fault {
    /// A fault of the client, with the status that the era's table has for the code.
    pub fn client(code: i32, message: impl Into<String>) -> Self {
        Self { code, status: None, blame: Blame::Client, retry: false, message: message.into(), data: None }
    }

    /// A fault of the gateway, or one that it cannot blame on anybody.
    pub fn gateway(message: impl Into<String>) -> Self {
        Self { blame: Blame::Gateway, ..Self::client(code::INTERNAL_ERROR, message) }
    }

    /// A fault of the server `name`, whose name goes into `data`.
    pub fn upstream(name: &str, retry: bool, message: impl Into<String>) -> Self {
        let data = Some(format!("{{\"server\":{},\"retry\":{retry}}}", quote(name)));
        Self { blame: Blame::Upstream, retry, data, ..Self::client(code::INTERNAL_ERROR, message) }
    }

    /// The method is not one of this era, or of what this endpoint offers.
    pub fn unknown_method(method: &str, why: &str) -> Self {
        Self::client(code::METHOD_NOT_FOUND, format!("method {method:?} {why}"))
    }

    /// The same fault under another HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// The same fault with `data`, JSON text.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<String>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// The HTTP status under `era`.
    pub fn http_status(&self, era: &Era) -> u16 {
        self.status.unwrap_or_else(|| era.status(self.code))
    }

    /// The response to the request with this id.
    pub fn response(&self, id: Option<&Id>) -> Bytes {
        error_response(id, self.code, &self.message, self.data.as_deref().map(str::as_bytes))
    }
}

impl From<&FrameError> for Fault {
    fn from(e: &FrameError) -> Self {
        let limit = match &e.fault {
            FrameFault::Json(JsonError { problem: Problem::Depth, .. }) => {
                " (`limits.jsonDepth` in the configuration)"
            }
            FrameFault::BatchSize(_) => " (`limits.batch` in the configuration)",
            _ => "",
        };
        Self::client(e.code(), format!("{e}{limit}")).with_status(400)
    }
}

impl From<EraFault> for Fault {
    fn from(e: EraFault) -> Self {
        Self { data: e.data(), ..Self::client(e.code(), e.to_string()).with_status(400) }
    }
}

impl From<Duplicate> for Fault {
    fn from(e: Duplicate) -> Self {
        Self::client(code::INVALID_PARAMS, e.to_string())
    }
}
