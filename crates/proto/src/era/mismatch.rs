//! Rejections in the middle of a conversation that may mean more than a failed request: the server may have been
//! restarted with another version or replaced by another server at the same address, or it may have lost the session.
//! Servers report this with codes that tools use as well, so a rejection alone proves nothing. This module must not know
//! the content of a request, or how a possible mismatch is confirmed.

use super::Era;
use crate::rpc::{Frame, FrameKind, RpcError, code};

/// Texts in the messages of stateless servers when the envelope of a request is missing.
const ENVELOPE: [&str; 4] = ["io.modelcontextprotocol/", "_meta", "protocolVersion", "clientCapabilities"];

/// A possible second meaning of a rejection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mismatch {
    /// The server may no longer support the era.
    Era,
    /// The server may have lost the session.
    Session,
}

/// The mismatch that an answer with this HTTP status suggests in a conversation of `era`. In eras with sessions, an
/// error suggests a mismatch if servers use its code or its status for a missing session, with few exceptions. In eras
/// without sessions, an error suggests a mismatch only if its status is 4xx: a request that is answered with 200 was
/// accepted.
pub fn mismatch(era: &Era, answer: &Frame, status: u16) -> Option<Mismatch> {
    if answer.kind() != FrameKind::Error {
        return None;
    }
    let error = answer.payload().and_then(|span| RpcError::of_value(answer.text(), span))?;
    let is_refused = (400..500).contains(&status);
    let names_envelope = || {
        let message = error.message.and_then(|span| answer.string(span)).unwrap_or_default();
        ENVELOPE.iter().any(|name| message.contains(name))
    };
    match (error.code, era.has_sessions()) {
        // If the server lists this very version as supported, the request asked for another version, or the error comes
        // from another server.
        (code::UNSUPPORTED_VERSION, _) if is_refused => {
            (!super::refused_but_supported(answer, era)).then_some(Mismatch::Era)
        }
        (code::INVALID_PARAMS, true) if is_refused && names_envelope() => Some(Mismatch::Era),
        // "No session", in the forms that servers use.
        (code::REFUSED | code::SESSION_NOT_FOUND | code::INVALID_REQUEST, true) => Some(Mismatch::Session),
        (code::REFUSED | code::SESSION_NOT_FOUND | code::INVALID_REQUEST, false)
        // These codes exist only in eras without sessions (MCP 2026-07-28, error codes).
        | (code::HEADER_MISMATCH | code::MISSING_CAPABILITY, true)
            if is_refused => Some(Mismatch::Era),
        // An unknown method is unknown in every session.
        (code::METHOD_NOT_FOUND, true) => None,
        (_, true) => is_session_status(status).then_some(Mismatch::Session),
        _ => None,
    }
}

/// The mismatch that an HTTP status without a message suggests in a conversation of `era`.
pub fn mismatch_of_status(era: &Era, status: u16) -> Option<Mismatch> {
    if era.has_sessions() {
        return is_session_status(status).then_some(Mismatch::Session);
    }
    matches!(status, 400 | 404..=406 | 410 | 415 | 422).then_some(Mismatch::Era)
}

/// Returns true for the statuses with which servers reject sessions: 404 by the specification (2025-11-25, Streamable
/// HTTP, session management), the others by custom.
fn is_session_status(status: u16) -> bool {
    matches!(status, 400 | 401 | 403 | 404 | 410)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::{newest_handshake, newest_stateless};
    use crate::rpc::FrameLimits;

    #[test]
    fn only_what_the_era_does_not_have_raises_a_doubt() {
        let (era, session) = (Some(Mismatch::Era), Some(Mismatch::Session));
        for (code, message, status, with_sessions, without) in [
            (-32022, "version", 400, era, era),
            (-32022, "somebody else's version", 200, None, None),
            (-32020, "header", 400, era, None),
            (-32020, "header", 200, None, None),
            (-32021, "capability", 400, era, None),
            (-32602, "params._meta is required", 400, era, None),
            (-32602, "a is required", 400, session, None),
            (-32602, "a is required", 200, None, None),
            (-32602, "params._meta is required", 200, None, None),
            (-32000, "Bad Request: Server not initialized", 400, session, era),
            (-32001, "Session not found", 404, session, era),
            (-32600, "Missing session ID", 400, session, era),
            (-32000, "no such session, or the tool's own", 200, session, None),
            (-32001, "Session expired", 200, session, None),
            (1, "who are you", 403, session, None),
            (-32601, "no such method", 404, None, None),
            (-32603, "no luck", 500, None, None),
        ] {
            let text = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{{\"code\":{code},\"message\":\"{message}\"}}}}"
            );
            let answer = Frame::parse(text.into(), FrameLimits::default()).unwrap();
            assert_eq!(mismatch(newest_handshake(), &answer, status), with_sessions, "{code} {message}");
            assert_eq!(mismatch(newest_stateless(), &answer, status), without, "{code} {message}");
        }
        let result =
            Frame::parse("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}".into(), FrameLimits::default());
        assert_eq!(mismatch(newest_stateless(), &result.unwrap(), 400), None);
    }

    #[test]
    fn a_bare_status_raises_a_doubt_of_what_the_era_has() {
        let (era, session) = (Some(Mismatch::Era), Some(Mismatch::Session));
        for (status, with_sessions, without) in [
            (404, session, era),
            (400, session, era),
            (410, session, era),
            (405, None, era),
            (401, session, None),
            (429, None, None),
            (503, None, None),
        ] {
            assert_eq!(mismatch_of_status(newest_handshake(), status), with_sessions, "{status}");
            assert_eq!(mismatch_of_status(newest_stateless(), status), without, "{status}");
        }
    }
}
