//! The text of the tool `payload`, which both ends must produce identically.

const PATTERN: &[u8] = b"The quick brown fox jumps over the lazy dog. 0123456789 ";

/// A text of exactly `bytes` bytes that needs no escapes in JSON.
pub fn payload_text(bytes: usize) -> Vec<u8> {
    PATTERN.iter().copied().cycle().take(bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::payload_text;

    #[test]
    fn has_the_asked_length_and_needs_no_escapes() {
        for bytes in [0, 1, 55, 56, 57, 100_000] {
            let text = payload_text(bytes);
            assert_eq!(text.len(), bytes);
            let text = String::from_utf8(text).unwrap();
            assert_eq!(serde_json::to_string(&text).unwrap().len(), bytes + 2);
        }
    }
}
