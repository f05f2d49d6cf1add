//! The parts of a message that the upstream needs: a view of its bytes.

use crate::bench::json::{member, members, unquoted};

/// The version whose messages carry their own metadata instead of a session.
pub(super) const MODERN: &str = "2026-07-28";

/// The versions with a handshake that use Streamable HTTP.
pub(super) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// One message, with every part as it appears in the bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Request<'a> {
    /// The raw text of the ID; `None` for a notification.
    pub(super) id: Option<&'a [u8]>,
    /// The method; `None` for a response.
    pub(super) method: Option<&'a [u8]>,
    /// `params.name`.
    pub(super) name: Option<&'a [u8]>,
    /// `params.arguments`, raw.
    pub(super) arguments: Option<&'a [u8]>,
    /// The version that the message names: in its metadata, or as the version that `initialize` requests.
    pub(super) version: Option<&'a [u8]>,
    /// True if the message has metadata with a version, so it belongs to no session.
    pub(super) modern: bool,
}

impl<'a> Request<'a> {
    /// Reads a message; `None` if it is not a JSON-RPC object.
    pub(super) fn read(message: &'a [u8]) -> Option<Self> {
        let (mut request, mut params, mut is_rpc) = (Self::default(), None, false);
        for (key, value) in members(message) {
            match key {
                b"jsonrpc" => is_rpc = value == b"\"2.0\"",
                b"id" => request.id = Some(value),
                b"method" => request.method = Some(unquoted(value)?),
                b"params" => params = Some(value),
                _ => {}
            }
        }
        for (key, value) in params.into_iter().flat_map(members) {
            match key {
                b"name" => request.name = unquoted(value),
                b"arguments" => request.arguments = Some(value),
                b"protocolVersion" => request.version = unquoted(value),
                b"_meta" => {
                    if let Some(version) = member(value, b"io.modelcontextprotocol/protocolVersion") {
                        request.version = unquoted(version);
                        request.modern = true;
                    }
                }
                _ => {}
            }
        }
        is_rpc.then_some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::Request;

    #[test]
    fn reads_a_legacy_call() {
        let call = br#"{"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}},"id":"x","jsonrpc":"2.0"}"#;
        let request = Request::read(call).unwrap();
        assert_eq!(request.id, Some(&b"\"x\""[..]));
        assert_eq!(request.method, Some(&b"tools/call"[..]));
        assert_eq!(request.name, Some(&b"echo"[..]));
        assert_eq!(request.arguments, Some(&br#"{"text":"a"}"#[..]));
        assert!(!request.modern);
    }

    #[test]
    fn metadata_makes_it_modern() {
        let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let request = Request::read(call).unwrap();
        assert!(request.modern);
        assert_eq!(request.version, Some(&b"2026-07-28"[..]));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for text in ["", "[]", "{}", "7", r#"{"id":1,"method":"ping"}"#, r#"{"jsonrpc":"2.0","method":7}"#] {
            assert_eq!(Request::read(text.as_bytes()), None, "{text}");
        }
    }
}
