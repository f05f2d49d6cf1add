//! The error messages of servers for an unknown session.

/// One way to refuse a session.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    /// The wording's name in the switches.
    pub name: &'static str,
    /// The HTTP status.
    pub status: &'static str,
    /// The code of a JSON-RPC error; `None` for a text.
    pub code: Option<i32>,
    /// The message of the error, or the text.
    pub words: &'static str,
    /// True if the error has the request's ID; otherwise its ID is null.
    pub names_request: bool,
}

const fn error(name: &'static str, status: &'static str, code: i32, words: &'static str) -> Wording {
    Wording { name, status, code: Some(code), words, names_request: false }
}

const fn text(name: &'static str, status: &'static str, words: &'static str) -> Wording {
    Wording { name, status, code: None, words, names_request: false }
}

const NOT_FOUND: &str = "404 Not Found";
const BAD: &str = "400 Bad Request";

/// All wordings, as real servers use them.
pub const WORDINGS: [Wording; 12] = [
    error("404-32001", NOT_FOUND, -32001, "Session not found"),
    error("404-32600", NOT_FOUND, -32600, "Not Found: Invalid or expired session ID"),
    text("404-empty", NOT_FOUND, ""),
    text("404-text", NOT_FOUND, "Session not found"),
    text("410-text", "410 Gone", "this session has ended"),
    error("400-32000-id", BAD, -32000, "Bad Request: No valid session ID provided"),
    error("400-32000-init", BAD, -32000, "Bad Request: Server not initialized"),
    text("400-text", BAD, "Invalid or missing session ID"),
    text("401-text", "401 Unauthorized", "{\"error\":\"invalid session\"}"),
    text("403-text", "403 Forbidden", "Forbidden: invalid session"),
    Wording { names_request: true, ..error("200-32001", "200 OK", -32001, "Session not found") },
    Wording { names_request: true, ..error("200-32600", "200 OK", -32600, "Session terminated") },
];

/// The wording with this name; the first one if there is no such name.
pub(super) fn named(name: Option<&str>) -> &'static Wording {
    WORDINGS.iter().find(|wording| Some(wording.name) == name).unwrap_or(&WORDINGS[0])
}
