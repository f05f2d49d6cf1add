//! An upstream's answer to an introduction. It must not know how the answer arrived.

use proto::era::{Era, ServerHello};
use proto::rpc::{Frame, FrameKind, RpcError, code};

use super::LinkError;

/// Reads the answer to an introduction in `era`.
///
/// # Errors
/// Returns [`LinkError::Refused`] if the answer is an error, and [`LinkError::Hello`] if the introduction is invalid.
pub fn read_hello(frame: &Frame, era: &'static Era) -> Result<ServerHello, LinkError> {
    if frame.kind() == FrameKind::Error {
        let error = frame.payload().and_then(|span| RpcError::of_value(frame.text(), span));
        let mut message = error.and_then(|e| frame.string(e.message?)).unwrap_or_default().into_owned();
        let versions = proto::era::supported_versions(frame);
        if !versions.is_empty() && !message.contains(&versions) {
            message = format!("{message} (it supports {versions})");
        }
        return Err(LinkError::Refused { code: error.map_or(code::INTERNAL_ERROR, |e| e.code), message });
    }
    Ok(proto::era::server_hello(frame, era)?)
}
