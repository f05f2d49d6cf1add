//! Detects from a result that a tool has failed. This module must not know the other contents of a result.

use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::Finder;

use crate::json::{MAX_DEPTH, Members};

/// The member of a result that reports a failure.
const FLAG: &str = "isError";

/// The finder for [`FLAG`]. The finder is built only once, because building one costs more than most searches.
static FLAGS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(FLAG));

/// Returns true if a response (JSON text) has a result that reports a failed tool. Returns false for anything that is
/// not a response.
pub fn says_failure(response: &[u8]) -> bool {
    // Hardly any answer contains the name, not even in escaped form, so most answers need not be parsed.
    if FLAGS.find(response).is_none() && memchr(b'\\', response).is_none() {
        return false;
    }
    let said = || {
        let members = Members::of_document(response, MAX_DEPTH).ok()?;
        let result = Members::of_value(response, members.get(response, "result")?)?;
        Some(result.get(response, FLAG)?.of(response) == b"true")
    };
    said().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::says_failure;

    #[test]
    fn only_the_results_own_flag_counts() {
        for (response, failed) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#, true),
            (r#"{"result":{"is\u0045rror" : true}}"#, true),
            (r#"{"result":{"content":[],"isError":false}}"#, false),
            (r#"{"result":{"content":[]}}"#, false),
            (r#"{"result":{"content":[{"isError":true}]}}"#, false),
            (r#"{"isError":true,"result":{}}"#, false),
            (r#"{"result":{"text":"\\isError"}}"#, false),
            (r#"{"error":{"isError":true}}"#, false),
            ("isError", false),
            ("", false),
        ] {
            assert_eq!(says_failure(response.as_bytes()), failed, "{response}");
        }
    }
}
