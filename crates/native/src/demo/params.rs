//! Params of requests to the demo server. This module must not know what is requested.

use proto::rpc::Frame;

use crate::server::NativeRefusal;

/// A required string of `params`.
pub(super) fn required(request: &Frame, key: &'static str) -> Result<String, NativeRefusal> {
    let span = request.param(key).map_err(|e| NativeRefusal::params(e.to_string()))?;
    let text = span.and_then(|span| request.string(span));
    text.map(std::borrow::Cow::into_owned)
        .ok_or_else(|| NativeRefusal::params(format!("\"{key}\" is required and must be a string")))
}
