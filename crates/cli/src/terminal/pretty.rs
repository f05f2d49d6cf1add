//! JSON with line breaks and indentation; every number and string keeps its form.

/// The maximum indentation, in levels; without a maximum, hostile nesting would multiply the size of the text.
const DEEPEST: usize = 32;

/// Formats valid JSON text.
pub(crate) fn pretty(json: &[u8]) -> String {
    let mut out = Vec::with_capacity(json.len() + json.len() / 4);
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => {
                let end = string_end(json, at);
                out.extend_from_slice(&json[at..end]);
                at = end;
                continue;
            }
            b'{' | b'[' => {
                out.push(byte);
                let behind = json[at + 1..].iter().position(|b| !b.is_ascii_whitespace());
                let next = behind.map_or(json.len(), |step| at + 1 + step);
                if let Some(close @ (b'}' | b']')) = json.get(next) {
                    out.push(*close);
                    at = next;
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(b',');
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ if byte.is_ascii_whitespace() => {}
            _ => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the offset after the string that begins at `at`.
fn string_end(json: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(&byte) = json.get(end) {
        match byte {
            b'\\' => end += 2,
            b'"' => return end + 1,
            _ => end += 1,
        }
    }
    json.len()
}

fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + 2 * depth.min(DEEPEST), b' ');
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn lays_out_without_changing_a_value() {
        let text = br#"{"a": [1.2345678901234567890, 1e2,{}, [ ] ],"b":{"c":"x, {\"y\": [1]}\\"},"d":null}"#;
        let want = "{\n  \"a\": [\n    1.2345678901234567890,\n    1e2,\n    {},\n    []\n  ],\n  \"b\": {\n    \"c\": \"x, {\\\"y\\\": [1]}\\\\\"\n  },\n  \"d\": null\n}";
        assert_eq!(pretty(text), want);
    }

    #[test]
    fn deep_nesting_does_not_multiply_the_text() {
        let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
        assert!(pretty(deep.as_bytes()).len() < 100_000);
    }

    #[test]
    fn broken_text_is_no_danger() {
        for text in [&b"\"abc"[..], b"\"abc\\", b"{", b"}}}", b""] {
            pretty(text);
        }
    }
}
