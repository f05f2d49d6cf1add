//! The last output of a child: a ring buffer of the last bytes of its stderr, readable as harmless text.

use std::collections::VecDeque;

/// A buffer that keeps the last `cap` bytes of its input.
#[derive(Debug)]
pub(super) struct Ring {
    bytes: VecDeque<u8>,
    cap: usize,
    /// True if bytes were dropped, so the first kept line may be incomplete.
    cut: bool,
}

impl Ring {
    pub(super) fn new(cap: usize) -> Self {
        Self { bytes: VecDeque::new(), cap, cut: false }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        let last = &chunk[chunk.len().saturating_sub(self.cap)..];
        let excess = (self.bytes.len() + last.len()).saturating_sub(self.cap);
        self.cut |= excess > 0 || last.len() < chunk.len();
        self.bytes.drain(..excess);
        self.bytes.extend(last);
    }

    /// Returns the kept text without escape sequences and control characters, starting with the first complete line.
    /// Bytes that are not UTF-8 become U+FFFD.
    pub(super) fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        let bytes = [front, back].concat();
        let whole = match bytes.iter().position(|&byte| byte == b'\n') {
            Some(end) if self.cut && end + 1 < bytes.len() => &bytes[end + 1..],
            _ => &bytes[..],
        };
        plain(&String::from_utf8_lossy(whole))
    }
}

/// Returns `text` without anything that a terminal or a page would interpret: escape sequences, control characters
/// other than LF and tab, and characters that change the writing direction.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.peek() {
                // A control sequence: parameters up to a final letter or sign.
                Some('[') => {
                    chars.next();
                    while chars.next_if(|c| !('\u{40}'..='\u{7e}').contains(c) && *c != '\n').is_some() {}
                    chars.next_if(|c| *c != '\n');
                }
                // A string sequence, such as a window title: up to BEL, an escape, or the end of the line.
                Some(']') => while chars.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\n')).is_some() {},
                _ => {}
            },
            '\n' | '\t' => out.push(c),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(cap: usize, chunks: &[&[u8]]) -> String {
        let mut ring = Ring::new(cap);
        for chunk in chunks {
            ring.push(chunk);
            assert!(ring.bytes.len() <= cap);
        }
        ring.text()
    }

    #[test]
    fn keeps_the_last_whole_lines() {
        assert_eq!(ring(100, &[b"one\n", b"two\n"]), "one\ntwo");
        assert_eq!(ring(10, &[b"one\ntwo\n", b"three\n"]), "three");
        assert_eq!(ring(8, &[b"one\ntwo three four"]), "ree four");
        assert_eq!(ring(0, &[b"one"]), "");
    }

    #[test]
    fn a_terminal_finds_nothing_to_obey() {
        assert_eq!(
            ring(200, &[b"\x1b[31mred\x1b[0m \x1b]0;title\x07end\r\n\x00\x08tab\there"]),
            "red end\ntab\there"
        );
        assert_eq!(ring(200, &["a\u{202e}b\u{9b}c".as_bytes()]), "abc");
        assert_eq!(ring(200, &[b"\xff\xfeok"]), "\u{fffd}\u{fffd}ok");
        assert_eq!(ring(200, &[b"cut \x1b[31"]), "cut");
    }
}
