//! Whether a refusal of an upstream says that it has forgotten the session. Knows statuses and words, nothing of links.

use http::StatusCode;

/// Returns true if a refusal means that the session is unknown: 404 by the specification, but servers also say it with
/// 410, or with another status and in words. What is merely invalid may be the request, and would be so in a new
/// session too.
pub(super) fn says_session_gone(status: StatusCode, text: &[u8]) -> bool {
    let text = text.to_ascii_lowercase();
    let says = |words: &str| text.windows(words.len()).any(|w| w == words.as_bytes());
    match status.as_u16() {
        404 | 410 => !says("-32601"),
        400 | 401 | 403 => {
            says("session") && ["not found", "expired", "unknown", "no longer"].into_iter().any(says)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_gone_only_when_the_server_says_so() {
        for (status, text, want) in [
            (404, "", true),
            (410, "gone", true),
            (404, r#"{"error":{"code":-32601,"message":"Method not found"}}"#, false),
            (400, "Session not found", true),
            (400, "Bad Request: unknown session ID", true),
            (401, "SESSION EXPIRED", true),
            (403, "this session is no longer open", true),
            (400, "invalid arguments for tool session_start", false),
            (400, "Invalid session", false),
            (400, "tool not found", false),
            (401, "token expired", false),
            (500, "session not found", false),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(says_session_gone(status, text.as_bytes()), want, "{status} {text}");
        }
    }
}
