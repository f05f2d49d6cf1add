//! Detects the era of a message (MCP 2026-07-28, versioning: "a server that serves several revisions").

use super::{Era, Lifecycle, by_version, newest_stateless, stateless_versions};
use crate::json::{Duplicate, quote};
use crate::mcp::{Method, meta};
use crate::rpc::{Frame, code};

/// The information about its era that a message itself contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EraEvidence {
    /// The message is self-contained: read its envelope.
    Stateless,
    /// The message opens a session.
    Handshake,
    /// The message belongs to an open session, or to no session.
    Session,
}

/// The reason why a message's era cannot be determined or is not supported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EraFault {
    /// A required field of the envelope is missing or malformed.
    #[error("params._meta[\"{0}\"] {1}")]
    Envelope(&'static str, &'static str),
    /// A member occurs twice.
    #[error(transparent)]
    Duplicate(#[from] Duplicate),
    /// A mirrored header is missing, malformed or different from the body.
    #[error("the {0} header {1}")]
    Header(String, String),
    /// The version is not served.
    #[error("protocol version {requested} is not supported; this server supports {}", supported.join(", "))]
    Version {
        /// The requested version.
        requested: String,
        /// The versions that are served.
        supported: Vec<&'static str>,
    },
}

impl EraFault {
    /// The JSON-RPC error code with which this fault is reported.
    pub fn code(&self) -> i32 {
        match self {
            Self::Envelope(..) | Self::Duplicate(_) => code::INVALID_PARAMS,
            Self::Header(..) => code::HEADER_MISMATCH,
            Self::Version { .. } => code::UNSUPPORTED_VERSION,
        }
    }

    /// The error's `data`, as JSON text.
    pub fn data(&self) -> Option<String> {
        let Self::Version { requested, supported } = self else { return None };
        let list: Vec<String> = supported.iter().map(|v| quote(v)).collect();
        Some(format!("{{\"supported\":[{}],\"requested\":{}}}", list.join(","), quote(requested)))
    }

    pub(super) fn unsupported(requested: &str) -> Self {
        Self::Version { requested: requested.to_owned(), supported: stateless_versions().collect() }
    }
}

/// Detects the era of a message from its body and, over HTTP, the version header of its request.
///
/// # Errors
/// [`EraFault::Header`] for an `initialize` request whose header names a stateless version, and
/// [`EraFault::Duplicate`].
pub fn detect(frame: &Frame, header: Option<&str>) -> Result<EraEvidence, EraFault> {
    if frame.meta(meta::PROTOCOL_VERSION)?.is_some() {
        return Ok(EraEvidence::Stateless);
    }
    let stateless_header = header.is_some_and(names_stateless);
    if frame.method() == Method::Initialize.name() {
        if stateless_header {
            return Err(EraFault::Header(
                "MCP-Protocol-Version".to_owned(),
                "names a version without a handshake, but the body is an initialize request".to_owned(),
            ));
        }
        return Ok(EraEvidence::Handshake);
    }
    Ok(if stateless_header { EraEvidence::Stateless } else { EraEvidence::Session })
}

/// Returns true if a version string names a stateless era, or a version newer than all known ones: newer
/// versions must be stateless, too.
fn names_stateless(version: &str) -> bool {
    match by_version(version) {
        Some(Era { lifecycle, .. }) => *lifecycle == Lifecycle::Stateless,
        None => is_dated(version) && version > newest_stateless().version,
    }
}

/// Returns true if a version string is a date, as every published version is, even if it is not served.
pub fn is_dated(text: &str) -> bool {
    text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() })
}
