//! Cuts the written form of a JSON string in two. Each part, put between quotes, is again a valid JSON string. This
//! module must not know what a text is about.

use std::borrow::Cow;

use memchr::memchr;

/// The length of `\uXXXX`.
const HEX_ESCAPE: usize = 6;

/// The maximum number of characters by which a cut moves back so that joined characters stay together.
const LOOK_BACK: usize = 32;

/// The character between two emojis that are shown as one.
const JOINER: char = '\u{200d}';

/// The offset at which a string, as written between its quotes, is cut so that the first part has at most `most` bytes.
/// Characters, escapes and surrogate pairs stay whole. Characters that are shown as one, such as a letter with accents, or
/// joined emojis, stay together if there are at most 32 of them. The cut is after a line break if one is in the last quarter.
pub fn cut_string(written: &[u8], most: usize) -> usize {
    if written.len() <= most {
        return written.len();
    }
    let (mut at, mut line) = (0, 0);
    let end = loop {
        let next = memchr(b'\\', &written[at..most]).map(|found| at + found);
        let Some(escape) = next else { break character_boundary(written, most) };
        let behind = escape + escape_length(&written[escape..]);
        if behind > most {
            break escape;
        }
        if written[escape + 1] == b'n' {
            line = behind;
        }
        at = behind;
    };
    let end = joined_boundary(written, end);
    if line >= end - end / 4 { line } else { end }
}

/// The number of bytes of a string's value in UTF-8; `written` is the text between its quotes. Half of a surrogate
/// pair is counted as three bytes.
pub fn string_length(written: &[u8]) -> usize {
    let (mut length, mut rest) = (0, written);
    while let Some(escape) = memchr(b'\\', rest) {
        let used = escape_length(&rest[escape..]).min(rest.len() - escape);
        length += escape + escape_value_length(&rest[escape..escape + used]);
        rest = &rest[escape + used..];
    }
    length + rest.len()
}

/// A string's value in UTF-8; `written` is the text between its quotes. If the string contains half of a surrogate pair, which no
/// `str` can hold, this is the text as it is written, with all escapes.
pub fn string_value(written: &[u8]) -> Cow<'_, str> {
    super::unquote(written).unwrap_or_else(|| Cow::Owned(String::from_utf8_lossy(written).into_owned()))
}

/// The length of the escape at the start of `text`; a surrogate pair is one escape.
fn escape_length(text: &[u8]) -> usize {
    if text.get(1) != Some(&b'u') {
        return 2;
    }
    let is_pair =
        is_half(text, b"89abAB") && is_half(text.get(HEX_ESCAPE..).unwrap_or_default(), b"cdefCDEF");
    if is_pair { 2 * HEX_ESCAPE } else { HEX_ESCAPE }
}

/// Returns true if `text` begins with an escaped half of a surrogate pair; `seconds` are the permitted values of
/// the escape's second digit.
fn is_half(text: &[u8], seconds: &[u8]) -> bool {
    matches!(text, [b'\\', b'u', b'd' | b'D', second, ..] if seconds.contains(second))
}

/// The length of an escape's value in UTF-8.
fn escape_value_length(escape: &[u8]) -> usize {
    match escape.len() {
        HEX_ESCAPE => match hexadecimal(&escape[2..]) {
            0..0x80 => 1,
            0x80..0x800 => 2,
            _ => 3,
        },
        2 => 1,
        _ => 4,
    }
}

fn hexadecimal(digits: &[u8]) -> u32 {
    std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .unwrap_or_default()
}

/// The greatest offset, at most `most`, at which no UTF-8 sequence is split.
fn character_boundary(text: &[u8], most: usize) -> usize {
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    (most.saturating_sub(3)..=most).rev().find(|at| !is_inside(*at)).unwrap_or(most)
}

/// The greatest offset, at most `end`, that does not separate characters that are shown as one; `end` if there is none within
/// reach.
fn joined_boundary(written: &[u8], end: usize) -> usize {
    let (mut at, mut next) = (end, first_character(&written[end..]));
    for _ in 0..LOOK_BACK {
        if at == 0 {
            return 0;
        }
        let start = last_start(&written[..at]);
        let last = first_character(&written[start..at]);
        if !are_joined(last, next) {
            return at;
        }
        (at, next) = (start, last);
    }
    end
}

/// Returns true if two neighbouring characters are shown as one.
fn are_joined(first: Option<char>, second: Option<char>) -> bool {
    first == Some(JOINER) || second.is_some_and(|second| second == JOINER || is_mark(second))
}

/// Returns true if a character changes the one before it: an accent, a variation selector, a skin tone, or a part of a flag's name.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}'
            | '\u{483}'..='\u{489}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}'
            | '\u{1f3fb}'..='\u{1f3ff}'
            | '\u{e0020}'..='\u{e007f}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

/// The first character of a string as written; `None` if there is none, or for half of a surrogate pair.
fn first_character(written: &[u8]) -> Option<char> {
    let length = match written.first()? {
        b'\\' => escape_length(written),
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    };
    super::unquote(written.get(..length)?)?.chars().next()
}

/// The offset of the last character of a string as written, which must not be empty.
fn last_start(written: &[u8]) -> usize {
    for length in [2 * HEX_ESCAPE, HEX_ESCAPE, 2] {
        let at = written.len().checked_sub(length).filter(|at| starts_escape(written, *at));
        if let Some(at) = at.filter(|at| escape_length(&written[*at..]) == length) {
            return at;
        }
    }
    character_boundary(written, written.len() - 1)
}

/// Returns true if an escape starts at this offset. A backslash after an odd number of backslashes belongs to an escape before it.
fn starts_escape(written: &[u8], at: usize) -> bool {
    let backslashes = || written[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    written[at] == b'\\' && backslashes().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{quote, unquote};
    use super::*;

    fn cut_at(written: &str, most: usize) -> (&str, &str) {
        written.split_at(cut_string(written.as_bytes(), most))
    }

    #[test]
    fn escapes_pairs_and_characters_stay_whole() {
        for (written, most, first) in [
            ("abc", 3, "abc"),
            ("abc", 2, "ab"),
            ("aä€😀", 2, "a"),
            ("aä€😀", 5, "aä"),
            ("aä€😀", 9, "aä€"),
            (r"a\u00e4b", 6, "a"),
            (r"a\u00e4b", 7, r"a\u00e4"),
            (r"\ud83d\ude00x", 11, ""),
            (r"\ud83d\ude00x", 12, r"\ud83d\ude00"),
            (r"\ud83dx\ude00", 7, r"\ud83dx"),
            (r"\\\\\\", 3, r"\\"),
            (r#"ab\"c"#, 3, "ab"),
            ("", 0, ""),
        ] {
            assert_eq!(cut_at(written, most).0, first, "{written} at {most}");
        }
    }

    #[test]
    fn characters_that_are_shown_as_one_stay_together() {
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        let escaped = r"\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67";
        for (written, first) in [
            (format!("ab{family}"), "ab"),
            (format!("ab{escaped}"), "ab"),
            (format!(r"a\\{escaped}"), r"a\\"),
            (format!(r"a\n{escaped}"), r"a\n"),
            ("abe\u{301}\u{302}".to_owned(), "ab"),
            (r"abe\u0301\u0302".to_owned(), "ab"),
            ("ab\u{2764}\u{fe0f}".to_owned(), "ab"),
            (r"ab\u2764\ufe0f".to_owned(), "ab"),
            ("ab\u{1f44d}\u{1f3fd}".to_owned(), "ab"),
        ] {
            for most in first.len()..written.len() {
                assert_eq!(cut_at(&written, most).0, first, "{written} at {most}");
            }
            assert_eq!(cut_at(&format!("{written}cd"), written.len() + 1).0, format!("{written}c"));
        }
        assert_eq!(cut_at(r"ab\\u200d", 5).0, r"ab\\u", "a backslash and letters");
        assert_eq!(cut_at(r"\ud83d\u200dx", 7).0, "", "half of a pair is joined like any character");
        let many = format!("ab{}", "\u{301}".repeat(100));
        assert_eq!(cut_at(&many, 150).0.len(), 150, "the look-back is limited");
    }

    #[test]
    fn a_line_break_near_the_end_is_preferred() {
        assert_eq!(cut_at(r"123456\n78x", 10).0, r"123456\n");
        assert_eq!(cut_at(r"12\n3456789", 9).0, r"12\n34567", "that line is too far away");
        assert_eq!(cut_at(r"123456\\n78", 10).0, r"123456\\n7", "a backslash and the letter n");
    }

    #[test]
    fn lengths_are_those_of_the_value() {
        assert_eq!(string_length(r"a\n\u00e4\u20ac\ud83d\ude00".as_bytes()), "a\nä€😀".len());
        assert_eq!(string_length(br"\ud83d"), 3);
        assert_eq!(string_value(br"a\ud83d"), r"a\ud83d");
    }

    /// A string in various spellings of its characters.
    fn written() -> impl Strategy<Value = String> {
        let spelt = |(c, is_escaped): (char, bool)| {
            if is_escaped {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}"));
                units.collect::<Vec<_>>().concat()
            } else {
                let quoted = quote(&c.to_string());
                quoted[1..quoted.len() - 1].to_owned()
            }
        };
        let joined = prop::sample::select(vec![JOINER, '\u{fe0f}', '\u{301}', '\u{1f3fb}']);
        let character = prop_oneof![any::<char>(), Just('\n'), Just('\\'), Just('😀'), Just('a'), joined];
        prop::collection::vec((character, any::<bool>()).prop_map(spelt), 0..LOOK_BACK)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn both_parts_are_strings_and_together_the_whole(text in written(), most in 0_usize..120) {
            let (first, rest) = cut_at(&text, most);
            prop_assert!(first.len() <= most || first.len() == text.len());
            let [whole, first_value, rest_value] = [&text, first, rest].map(|part| unquote(part.as_bytes()));
            let (whole, first_value, rest_value) = (whole.unwrap(), first_value.unwrap(), rest_value.unwrap());
            prop_assert_eq!(format!("{first_value}{rest_value}"), &*whole);
            prop_assert_eq!(string_length(text.as_bytes()), whole.len());
            let is_after_line = first.len() == text.len() || first.ends_with("\\n");
            let neighbours = (first_value.chars().next_back(), rest_value.chars().next());
            prop_assert!(is_after_line || first.is_empty() || !are_joined(neighbours.0, neighbours.1));
            // The first part is shorter than allowed by at most the longest escape, unless it ends after a line break or
            // joined characters had to stay together.
            let has_joined = whole.chars().any(|c| c == JOINER || is_mark(c));
            prop_assert!(is_after_line || has_joined || first.len() + 12 > most);
        }
    }
}
