//! Whether a refusal in the middle of a conversation says that the server does not speak its era: it was started again as
//! another, or another stands behind the same address. It must not know what was asked.

use super::Era;
use crate::rpc::{Frame, Kind, RpcError, code};

/// What servers without sessions name when they miss the envelope of a request.
const ENVELOPE: [&str; 4] = ["io.modelcontextprotocol/", "_meta", "protocolVersion", "clientCapabilities"];

/// Whether an answer in a conversation of `era`, with its HTTP status where there was HTTP, says that the server does not
/// speak that era. A request that is answered so was not acted on.
pub fn is_foreign(era: &Era, answer: &Frame, status: Option<u16>) -> bool {
    if answer.kind() != Kind::Error {
        return false;
    }
    let error = answer.payload().and_then(|span| RpcError::of_value(answer.text(), span));
    let Some(error) = error else { return false };
    let refused = status.is_none_or(|status| (400..500).contains(&status));
    let names_envelope = || {
        let message = error.message.and_then(|span| answer.string(span)).unwrap_or_default();
        ENVELOPE.iter().any(|name| message.contains(name))
    };
    match (error.code, era.has_sessions()) {
        // A server that lists this very version has been asked for another one, or passes on what somebody else said.
        (code::UNSUPPORTED_VERSION, _) => refused && !super::refused_but_supported(answer, era),
        // These exist where there are no sessions only (MCP 2026-07-28, error codes).
        (code::HEADER_MISMATCH | code::MISSING_CAPABILITY, has_sessions) => has_sessions,
        (code::INVALID_PARAMS, true) => refused && names_envelope(),
        // "No session", in the ways in which servers say so.
        (code::REFUSED | code::SESSION_NOT_FOUND | code::INVALID_REQUEST, false) => refused,
        _ => false,
    }
}

/// Whether an HTTP status without a message, in a conversation of `era`, says the same. With sessions it says that the
/// session is gone, at most.
pub fn is_foreign_status(era: &Era, status: u16) -> bool {
    !era.has_sessions() && matches!(status, 400 | 404..=406 | 410 | 415 | 422)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::{newest_handshake, newest_stateless};
    use crate::rpc::FrameLimits;

    #[test]
    fn only_what_the_era_does_not_have_is_foreign() {
        for (code, message, status, with_sessions, without) in [
            (-32022, "version", Some(400), true, true),
            (-32022, "somebody else's version", Some(200), false, false),
            (-32020, "header", Some(400), true, false),
            (-32021, "capability", Some(400), true, false),
            (-32602, "params._meta is required", Some(400), true, false),
            (-32602, "a is required", Some(400), false, false),
            (-32602, "params._meta is required", Some(200), false, false),
            (-32000, "Bad Request: Server not initialized", Some(400), false, true),
            (-32600, "Missing session ID", Some(400), false, true),
            (-32000, "the tool's own", Some(200), false, false),
            (-32601, "no such method", Some(404), false, false),
            (-32603, "no luck", Some(500), false, false),
        ] {
            let text = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{{\"code\":{code},\"message\":\"{message}\"}}}}"
            );
            let answer = Frame::parse(text.into(), FrameLimits::default()).unwrap();
            assert_eq!(is_foreign(newest_handshake(), &answer, status), with_sessions, "{code} {message}");
            assert_eq!(is_foreign(newest_stateless(), &answer, status), without, "{code} {message}");
        }
        let result =
            Frame::parse("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}".into(), FrameLimits::default());
        assert!(!is_foreign(newest_stateless(), &result.unwrap(), Some(400)));
    }

    #[test]
    fn a_bare_status_says_it_only_where_there_are_no_sessions() {
        for (status, want) in
            [(404, true), (405, true), (400, true), (401, false), (429, false), (503, false)]
        {
            assert_eq!(is_foreign_status(newest_stateless(), status), want, "{status}");
            assert!(!is_foreign_status(newest_handshake(), status));
        }
    }
}
