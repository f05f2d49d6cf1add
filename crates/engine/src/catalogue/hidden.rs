//! Invisible characters, and characters that reorder visible text, in the items that servers list. People do not notice these
//! characters, but models read them. So a description can tell a person and a model different things, and two different names
//! can look alike.
//!
//! Removing a character from a name would change the name, so an item with such a character in its name, URI or
//! property name is rejected. Other texts are cleaned. Items without such characters remain unchanged to the byte. This
//! module must not know eras, or what the items are used for.

use std::borrow::Cow;
use std::fmt::Write as _;

use bytes::Bytes;
use proto::json::{Span, Splice, unquote};

use super::{Item, ListKind};

/// The result of screening an item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ScreeningResult {
    /// Nothing has to be removed.
    Clean,
    /// The item, with the hidden characters removed from its texts.
    Cleaned(Bytes),
    /// One of the item's names contains this character.
    Refused(char),
}

/// Screens the JSON text of an item, which was validated before.
pub(super) fn screen(kind: ListKind, text: &[u8]) -> ScreeningResult {
    if is_plain(text) {
        return ScreeningResult::Clean;
    }
    let mut edits: Vec<(Span, Vec<u8>)> = Vec::new();
    let (mut at, mut depth) = (0, 0_u32);
    let mut key: Option<&[u8]> = None;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => (depth, key) = (depth + 1, None),
            b'}' | b']' => (depth, key) = (depth.saturating_sub(1), None),
            b',' => key = None,
            b'"' => {
                let end = end_of_string(text, at);
                let inside = Span::new(at, end);
                let written = inside.of(text);
                at = end + 1;
                let role = role(kind, depth, key.take(), &text[at.min(text.len())..]);
                match judge(written, role) {
                    TextVerdict::Sound => {}
                    TextVerdict::Refused(found) => return ScreeningResult::Refused(found),
                    TextVerdict::Rewritten(with) => edits.push((inside, with)),
                }
                if matches!(role, Role::Key) {
                    key = Some(written);
                }
            }
            _ => {}
        }
    }
    if edits.is_empty() {
        return ScreeningResult::Clean;
    }
    let mut splice = Splice::new(text);
    for (span, with) in &edits {
        splice.replace(*span, with);
    }
    ScreeningResult::Cleaned(splice.finish())
}

/// The results of screening a server's lists, collected for one note.
#[derive(Debug, Default)]
pub(super) struct ScreeningNote {
    /// The number of items with cleaned texts, by kind.
    cleaned: [usize; 4],
    /// The number of rejected items, and descriptions of the first ones.
    refused: usize,
    examples: Vec<String>,
    instructions: bool,
}

/// The number of rejected items that a note names.
const EXAMPLES: usize = 3;

impl ScreeningNote {
    pub(super) fn instructions(&mut self) {
        self.instructions = true;
    }

    pub(super) fn cleaned(&mut self, kind: ListKind) {
        self.cleaned[kind.index()] += 1;
    }

    /// Records a rejected item; `text` is the item, `found` the character in one of its names.
    pub(super) fn refused(&mut self, kind: ListKind, text: &[u8], found: char) {
        self.refused += 1;
        if self.examples.len() < EXAMPLES {
            let key = Item::read(kind, Bytes::copy_from_slice(text)).map(|item| item.key).unwrap_or_default();
            let short: String = key.chars().take(100).collect();
            let of = kind.member();
            self.examples.push(format!("{short:?} in {of} (U+{:04X} in one of its names)", u32::from(found)));
        }
    }

    /// The note; `None` if nothing was found.
    pub(super) fn text(&self) -> Option<String> {
        let counted = ListKind::ALL.iter().zip(self.cleaned).filter(|(_, count)| *count > 0);
        let mut lost: Vec<String> =
            counted.map(|(kind, count)| format!("{count} in {}", kind.member())).collect();
        if self.instructions {
            lost.push("the instructions".to_owned());
        }
        let mut parts = Vec::new();
        if self.refused > 0 {
            let more = self.refused - self.examples.len();
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            parts.push(format!("rejected: {}{more}", self.examples.join(", ")));
        }
        if !lost.is_empty() {
            parts.push(format!("cleaned: {}", lost.join(", ")));
        }
        (!parts.is_empty()).then(|| format!("hidden or control characters were found; {}", parts.join("; ")))
    }
}

/// Cleans a text for people, such as a server's instructions, in the same way as [`screen`]; borrowed if nothing is
/// removed.
pub(super) fn screen_text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter(|c| !is_hidden(*c)).collect())
}

/// Returns true for characters that are removed from texts: controls other than tab and line breaks, overrides and
/// isolates of the writing direction, zero-width spaces, invisible operators, the byte order mark, and tags, which
/// can carry a whole hidden text.
///
/// Joiners (U+200C, U+200D) are kept, because Persian words and emoji need them. The direction marks U+200E, U+200F
/// and U+061C of Arabic and Hebrew are kept as well: each acts like a letter and cannot reorder other text.
fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
        || matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns true for characters that are not allowed in a name, a URI or a property name: hidden characters and line
/// breaks.
fn is_hidden_in_identifier(c: char) -> bool {
    c.is_control() || is_hidden(c)
}

/// Returns true for characters that are not allowed in the name of a tool or prompt. These include invisible joiners
/// and marks, because with them two different names could look alike.
fn is_hidden_in_name(c: char) -> bool {
    is_hidden_in_identifier(c) || matches!(c, '\u{200c}'..='\u{200f}' | '\u{61c}')
}

/// The role of a string in an item.
#[derive(Debug, Clone, Copy)]
enum Role {
    /// The key of a member.
    Key,
    /// The name of a tool or prompt.
    Name,
    /// A URI, a resource's name or the name of a prompt's argument.
    Identifier,
    /// A regular expression.
    Pattern,
    /// Anything else.
    Text,
}

/// The role of a string at this depth whose key is `key`; `behind` is the text that follows the string.
fn role(kind: ListKind, depth: u32, key: Option<&[u8]>, behind: &[u8]) -> Role {
    if behind.trim_ascii_start().first() == Some(&b':') {
        return Role::Key;
    }
    let Some(key) = key.and_then(unquote) else { return Role::Text };
    let lists_uris = matches!(kind, ListKind::Resources | ListKind::Templates);
    match (&*key, depth) {
        ("name", 1) if !lists_uris => Role::Name,
        ("name" | "uri" | "uriTemplate", 1) => Role::Identifier,
        // `arguments: [{ name }]`
        ("name", 3) if kind == ListKind::Prompts => Role::Identifier,
        ("pattern", _) => Role::Pattern,
        _ => Role::Text,
    }
}

enum TextVerdict {
    Sound,
    Refused(char),
    /// The replacement for the text between the quotes.
    Rewritten(Vec<u8>),
}

fn judge(written: &[u8], role: Role) -> TextVerdict {
    if is_plain(written) {
        return TextVerdict::Sound;
    }
    let hidden = match role {
        Role::Text | Role::Pattern => is_hidden,
        Role::Identifier | Role::Key => is_hidden_in_identifier,
        Role::Name => is_hidden_in_name,
    };
    let (units, removed) = without(written, hidden, matches!(role, Role::Pattern));
    match (removed, role) {
        (None, _) => TextVerdict::Sound,
        (Some(found), Role::Key | Role::Name | Role::Identifier) => TextVerdict::Refused(found),
        (Some(_), Role::Text | Role::Pattern) => {
            TextVerdict::Rewritten(units.iter().flat_map(|unit| unit.written.iter().copied()).collect())
        }
    }
}

/// A character as written, or half of a surrogate pair of escapes.
#[derive(Debug)]
struct Unit<'t> {
    code: u32,
    written: Cow<'t, [u8]>,
}

/// The units of a string without hidden characters, and the first character that was removed. If two surrogate halves
/// become adjacent through a removal, they count as the character that they form. In a `pattern`, a hidden character
/// is replaced with the equivalent escape of a regular expression.
fn without(written: &[u8], hidden: impl Fn(char) -> bool, pattern: bool) -> (Vec<Unit<'_>>, Option<char>) {
    let mut units: Vec<Unit<'_>> = Vec::with_capacity(written.len());
    let mut lost = None;
    let mut at = 0;
    while at < written.len() {
        let (code, length) = unit(&written[at..]);
        let as_written = &written[at..at + length];
        at += length;
        let high = units.last().map(|unit| unit.code).filter(|_| is_low(code)).filter(|code| is_high(*code));
        let meant = high.map_or(code, |high| 0x1_0000 + ((high - 0xD800) << 10) + (code - 0xDC00));
        match char::from_u32(meant).filter(|c| hidden(*c)) {
            None => units.push(Unit { code, written: Cow::Borrowed(as_written) }),
            Some(found) => {
                if high.is_some() {
                    units.pop();
                }
                lost = lost.or(Some(found));
                if pattern {
                    // The code 0 is not that of a surrogate half, so no other unit can form a pair with this one.
                    units.push(Unit { code: 0, written: Cow::Owned(expression(found)) });
                }
            }
        }
    }
    (units, lost)
}

/// A character as a regular-expression escape inside a JSON string.
fn expression(c: char) -> Vec<u8> {
    let mut out = String::new();
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\\\u{unit:04X}");
    }
    out.into_bytes()
}

/// The first unit of the text inside a valid JSON string, and its length in bytes.
fn unit(written: &[u8]) -> (u32, usize) {
    match written {
        [b'\\', b'u', digits @ ..] => {
            let digits = digits.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
            let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            (code.unwrap_or_default(), written.len().min(6))
        }
        [b'\\', letter, ..] => {
            let code = match letter {
                b'b' => 0x8,
                b'f' => 0xC,
                b'n' => 0xA,
                b'r' => 0xD,
                b't' => 0x9,
                other => *other,
            };
            (u32::from(code), 2)
        }
        _ => {
            let longest = &written[..written.len().min(4)];
            let valid = longest.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
            // The text was validated, so the fallback is never used.
            valid.map_or((0, 1), |c| (u32::from(c), c.len_utf8()))
        }
    }
}

fn is_high(code: u32) -> bool {
    (0xD800..0xDC00).contains(&code)
}

fn is_low(code: u32) -> bool {
    (0xDC00..0xE000).contains(&code)
}

/// Returns true for text that cannot contain hidden characters: ASCII without escapes and without control characters other than
/// white space.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' '..=b'[' | b']'..=b'~' | b'\t' | b'\n' | b'\r'))
}

/// The offset of the closing quote of a string whose text starts at `at`.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        at += found;
        if text[at] == b'"' {
            return at;
        }
        at += 2;
    }
    text.len()
}

#[cfg(test)]
mod tests;
