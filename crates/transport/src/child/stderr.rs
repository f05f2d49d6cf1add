//! The last output of a child: a ring buffer of the last bytes of its stderr, readable as harmless text, and the times of
//! its last lines.

use std::collections::VecDeque;
use std::sync::Arc;

/// The number of lines at the end whose times are kept.
const TIMED: usize = 64;

/// The last part of a child's stderr.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastOutput {
    /// The text, without control characters.
    pub text: Arc<str>,
    /// The times at which the last lines of the text began to arrive, in milliseconds since 1970, in the order of the lines.
    pub times: Arc<[u64]>,
}

impl LastOutput {
    /// Returns the lines of `shown`, which is the text with parts replaced, with the time of each line if it is known.
    pub fn timed<'t>(&self, shown: &'t str) -> impl DoubleEndedIterator<Item = (Option<u64>, &'t str)> {
        let count = shown.lines().count();
        // A replaced part that contained line breaks has moved the lines.
        let known = if count == self.text.lines().count() { &self.times[..] } else { &[] };
        let skipped = count.saturating_sub(known.len());
        let times = std::iter::repeat_n(None, skipped).chain(known.iter().copied().map(Some));
        let times: Vec<Option<u64>> = times.collect();
        times.into_iter().zip(shown.lines().collect::<Vec<_>>())
    }
}

/// A buffer that keeps the last `cap` bytes of its input.
#[derive(Debug)]
pub(super) struct Ring {
    bytes: VecDeque<u8>,
    cap: usize,
    /// True if bytes were dropped, so the first kept line may be incomplete.
    cut: bool,
    /// The times at which the last lines began, oldest first; at most [`TIMED`].
    times: VecDeque<u64>,
    /// True if the last byte did not end a line.
    is_inside_line: bool,
}

impl Ring {
    pub(super) fn new(cap: usize) -> Self {
        Self { bytes: VecDeque::new(), cap, cut: false, times: VecDeque::new(), is_inside_line: false }
    }

    /// Adds bytes that arrived at the time `now`, in milliseconds since 1970.
    pub(super) fn push(&mut self, chunk: &[u8], now: u64) {
        self.note_times(chunk, now);
        let last = &chunk[chunk.len().saturating_sub(self.cap)..];
        let excess = (self.bytes.len() + last.len()).saturating_sub(self.cap);
        self.cut |= excess > 0 || last.len() < chunk.len();
        self.bytes.drain(..excess);
        self.bytes.extend(last);
    }

    fn note_times(&mut self, chunk: &[u8], now: u64) {
        let lines = chunk.split_inclusive(|&byte| byte == b'\n').count();
        let begun = lines - usize::from(self.is_inside_line && lines > 0);
        let kept = begun.min(TIMED);
        self.times.drain(..(self.times.len() + kept).saturating_sub(TIMED));
        self.times.extend(std::iter::repeat_n(now, kept));
        self.is_inside_line = chunk.last().map_or(self.is_inside_line, |&byte| byte != b'\n');
    }

    /// Returns the kept text without escape sequences and control characters, starting with the first complete line.
    /// Bytes that are not UTF-8 become U+FFFD.
    pub(super) fn output(&self) -> LastOutput {
        let (front, back) = self.bytes.as_slices();
        let bytes = [front, back].concat();
        let whole = match bytes.iter().position(|&byte| byte == b'\n') {
            Some(end) if self.cut && end + 1 < bytes.len() => &bytes[end + 1..],
            _ => &bytes[..],
        };
        let mut text = plain(&String::from_utf8_lossy(whole));
        let count = text.lines().count();
        text.truncate(text.trim_end().len());
        let kept = text.lines().count();
        let known = self.times.len().saturating_sub(count - kept);
        let times = self.times.iter().take(known).skip(known.saturating_sub(kept)).copied().collect();
        LastOutput { text: text.into(), times }
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
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(cap: usize, chunks: &[&[u8]]) -> String {
        let mut ring = Ring::new(cap);
        for chunk in chunks {
            ring.push(chunk, 1);
            assert!(ring.bytes.len() <= cap && ring.times.len() <= TIMED);
        }
        ring.output().text.to_string()
    }

    #[test]
    fn lines_have_the_times_at_which_they_began() {
        let mut ring = Ring::new(40);
        for (now, chunk) in [(1, "a\nb"), (2, "b\n"), (3, "c\nd\n"), (4, ""), (5, "e"), (6, "\n \n\n")] {
            ring.push(chunk.as_bytes(), now);
        }
        let output = ring.output();
        let timed = |shown: &str| -> Vec<(Option<u64>, String)> {
            output.timed(shown).map(|(at, line)| (at, line.to_owned())).collect()
        };
        let want = [(1, "a"), (1, "bb"), (3, "c"), (3, "d"), (5, "e")];
        assert_eq!(timed(&output.text), want.map(|(at, line)| (Some(at), line.to_owned())));
        assert_eq!(timed("a\n***\ne")[2], (None, "e".to_owned()), "lines that were joined have no times");
        ring.push("x".repeat(35).as_bytes(), 7);
        assert_eq!(ring.output().times[..], [6, 6, 7], "{:?}", ring.output());
        for number in 0..500 {
            ring.push(b"\n\n.", number);
        }
        assert!(ring.times.len() == TIMED && ring.output().times.last() == Some(&499));
        let many = LastOutput { text: "1\n2\n3".into(), times: [8].into() };
        assert_eq!(many.timed("1\n2\n3").map(|(at, _)| at).collect::<Vec<_>>(), [None, None, Some(8)]);
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
