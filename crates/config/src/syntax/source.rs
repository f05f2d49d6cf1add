//! The text of a configuration file: positions in it, and lines that may be shown to people.

use std::ops::Range;

use super::fault::Excerpt;

/// The number of characters of a long line that are shown around a position.
const EXCERPT_CHARS: usize = 100;
/// The number of characters of an excerpt that precede the position.
const EXCERPT_BEFORE: usize = 40;
/// The number of characters of the offending text that are quoted.
const OFFENDING_CHARS: usize = 80;

/// A range of the file, in bytes.
pub(crate) type Span = Range<usize>;

/// The text of the file, and its secret parts.
pub(crate) struct Source<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
    secrets: Vec<Span>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let after_newline = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let line_starts = std::iter::once(0).chain(after_newline).collect();
        Self { text, line_starts, secrets: Vec::new() }
    }

    /// Marks parts of the file as secret: from now on, these parts are shown as asterisks.
    pub(crate) fn hide(&mut self, mut secrets: Vec<Span>) {
        secrets.sort_by_key(|span| span.start);
        self.secrets.clear();
        for span in secrets {
            match self.secrets.last_mut() {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                _ => self.secrets.push(span),
            }
        }
    }

    /// The text of a part; empty if there is no such part.
    pub(crate) fn slice(&self, span: &Span) -> &'a str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The line and column of a byte, both counted from 1; columns are counted in characters.
    pub(crate) fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.line_of(offset);
        let start = self.line_starts[line];
        let before = self.text.get(start..offset).unwrap_or_default();
        (line + 1, before.chars().count() + 1)
    }

    /// The first line of a part with some context, and the part's position in it.
    pub(crate) fn excerpt(&self, span: &Span) -> Excerpt {
        let (first, line) = self.line_around(span.start);
        let before = line.get(..span.start - first).map_or(0, |text| text.chars().count());
        let inside = span.end.min(first + line.len()).max(span.start);
        let width = line.get(span.start - first..inside - first).map_or(0, |text| text.chars().count());
        let skipped =
            if line.chars().count() > EXCERPT_CHARS { before.saturating_sub(EXCERPT_BEFORE) } else { 0 };
        let mut text = String::new();
        let mut chars = line.char_indices().skip(skipped);
        for (at, char) in chars.by_ref().take(EXCERPT_CHARS) {
            text.push(self.visible(first + at, char));
        }
        let lead = if skipped > 0 { "… " } else { "" };
        let tail = if chars.next().is_some() { " …" } else { "" };
        Excerpt {
            text: format!("{lead}{}{tail}", text.trim_end()),
            before: before - skipped + lead.chars().count(),
            width: width.min(EXCERPT_CHARS.saturating_sub(before - skipped)),
        }
    }

    /// The part itself on one line, truncated if it is long.
    pub(crate) fn offending(&self, span: &Span) -> String {
        let mut chars = self.slice(span).char_indices();
        let mut text: String = chars
            .by_ref()
            .take(OFFENDING_CHARS)
            .map(|(at, char)| self.visible(span.start + at, char))
            .collect();
        if chars.next().is_some() {
            text.push('…');
        }
        text.trim_end().to_owned()
    }

    /// The start of the line that contains a byte, and the line without its line break.
    fn line_around(&self, offset: usize) -> (usize, &'a str) {
        let line = self.line_of(offset);
        let start = self.line_starts[line];
        let end = self.line_starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        (start, self.slice(&(start..end)))
    }

    fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    fn visible(&self, offset: usize, char: char) -> char {
        let candidates = self.secrets.partition_point(|span| span.start <= offset);
        let secret = candidates > 0 && self.secrets[candidates - 1].end > offset;
        match char {
            ' ' => ' ',
            _ if char.is_control() || is_bidi(char) => ' ',
            _ if secret => '*',
            _ => char,
        }
    }
}

/// Returns true for characters that would reorder the line on a terminal.
pub(crate) fn is_bidi(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
}
