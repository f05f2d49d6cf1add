//! Refusals in the middle of a conversation that may be about more than their request: the server may have been started again
//! as another, stand behind the same address in another one's place, or have forgotten its session. Servers say this with
//! codes that tools use as well, so it is a doubt and no more. It must not know what was asked, nor how a doubt is settled.

use super::Era;
use crate::rpc::{Frame, Kind, RpcError, code};

/// What servers without sessions name when they miss the envelope of a request.
const ENVELOPE: [&str; 4] = ["io.modelcontextprotocol/", "_meta", "protocolVersion", "clientCapabilities"];

/// A refusal's second meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The server may not speak the era any more.
    Era,
    /// The server may not know the session any more.
    Session,
}

/// The doubt that an answer in a conversation of `era` raises, with its HTTP status. Only a refusal by HTTP raises one: what
/// is answered with 200 was taken.
pub fn doubt(era: &Era, answer: &Frame, status: u16) -> Option<Doubt> {
    if answer.kind() != Kind::Error || !(400..500).contains(&status) {
        return None;
    }
    let error = answer.payload().and_then(|span| RpcError::of_value(answer.text(), span))?;
    let names_envelope = || {
        let message = error.message.and_then(|span| answer.string(span)).unwrap_or_default();
        ENVELOPE.iter().any(|name| message.contains(name))
    };
    match (error.code, era.has_sessions()) {
        // A server that lists this very version has been asked for another one, or passes on what somebody else said.
        (code::UNSUPPORTED_VERSION, _) => (!super::refused_but_supported(answer, era)).then_some(Doubt::Era),
        (code::INVALID_PARAMS, true) if names_envelope() => Some(Doubt::Era),
        // "No session", in the ways in which servers say so.
        (code::REFUSED | code::SESSION_NOT_FOUND | code::INVALID_REQUEST, true) => Some(Doubt::Session),
        (code::REFUSED | code::SESSION_NOT_FOUND | code::INVALID_REQUEST, false)
        // These exist where there are no sessions only (MCP 2026-07-28, error codes).
        | (code::HEADER_MISMATCH | code::MISSING_CAPABILITY, true) => Some(Doubt::Era),
        _ => None,
    }
}

/// Returns true if an HTTP status without a message, in a conversation of `era`, raises the doubt that the server speaks it.
/// With sessions it says that the session is gone, at most.
pub fn is_doubtful_status(era: &Era, status: u16) -> bool {
    !era.has_sessions() && matches!(status, 400 | 404..=406 | 410 | 415 | 422)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::{newest_handshake, newest_stateless};
    use crate::rpc::FrameLimits;

    #[test]
    fn only_what_the_era_does_not_have_raises_a_doubt() {
        let (era, session) = (Some(Doubt::Era), Some(Doubt::Session));
        for (code, message, status, with_sessions, without) in [
            (-32022, "version", 400, era, era),
            (-32022, "somebody else's version", 200, None, None),
            (-32020, "header", 400, era, None),
            (-32020, "header", 200, None, None),
            (-32021, "capability", 400, era, None),
            (-32602, "params._meta is required", 400, era, None),
            (-32602, "a is required", 400, None, None),
            (-32602, "params._meta is required", 200, None, None),
            (-32000, "Bad Request: Server not initialized", 400, session, era),
            (-32001, "Session not found", 404, session, era),
            (-32600, "Missing session ID", 400, session, era),
            (-32000, "the tool's own", 200, None, None),
            (-32601, "no such method", 404, None, None),
            (-32603, "no luck", 500, None, None),
        ] {
            let text = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{{\"code\":{code},\"message\":\"{message}\"}}}}"
            );
            let answer = Frame::parse(text.into(), FrameLimits::default()).unwrap();
            assert_eq!(doubt(newest_handshake(), &answer, status), with_sessions, "{code} {message}");
            assert_eq!(doubt(newest_stateless(), &answer, status), without, "{code} {message}");
        }
        let result =
            Frame::parse("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}".into(), FrameLimits::default());
        assert_eq!(doubt(newest_stateless(), &result.unwrap(), 400), None);
    }

    #[test]
    fn a_bare_status_raises_it_only_where_there_are_no_sessions() {
        for (status, want) in
            [(404, true), (405, true), (400, true), (401, false), (429, false), (503, false)]
        {
            assert_eq!(is_doubtful_status(newest_stateless(), status), want, "{status}");
            assert!(!is_doubtful_status(newest_handshake(), status));
        }
    }
}
