//! An estimate of the tokens that a tool takes in a model's context, without a tokenizer: a tokenizer's tables would add 3.6 MB
//! to the binary. The estimate counts the pieces into which the pattern of o200k (GPT-4o and later) cuts a text, and the tokens
//! that a piece of each kind has on average. `cargo xtask corpus` compares the estimate with that tokenizer; docs/many-tools.md
//! says how exact the estimate is. This module must not know what a text means.

use proto::json::{Members, Span};

/// Hundredths of a token.
type Hundredths = u64;

/// The members of a tool that models receive, and the tokens for their keys and the braces around them.
const MEMBERS: [&str; 2] = ["description", "inputSchema"];
const AROUND: Hundredths = 870;

/// The estimated number of tokens of a tool. The estimate covers a JSON object with the tool's name, description and input
/// schema, because clients pass these on to models. `text` is the listed object, validated JSON text.
pub fn tokens_of_tool(name: &str, text: &[u8]) -> u64 {
    let members = Members::of_value(text, Span::new(0, text.len()));
    let values = MEMBERS.iter().filter_map(|key| members.as_ref()?.get(text, key));
    let values = values.map(|span| hundredths(compact(&String::from_utf8_lossy(span.of(text)))));
    rounded(AROUND + hundredths(name.chars()) + values.sum::<Hundredths>())
}

/// The estimated number of tokens of a text, such as instructions.
pub fn tokens_of_text(text: &str) -> u64 {
    rounded(hundredths(text.chars()))
}

/// The characters of JSON text without the spaces between its members.
fn compact(text: &str) -> impl Iterator<Item = char> {
    let (mut inside, mut escaped) = (false, false);
    text.chars().filter(move |c| {
        let is_quote = *c == '"' && !escaped;
        escaped = inside && *c == '\\' && !escaped;
        inside ^= is_quote;
        inside || is_quote || !c.is_whitespace()
    })
}

fn rounded(sum: Hundredths) -> u64 {
    sum.div_ceil(100)
}

/// The class of a character, which determines where a piece ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Small,
    Capital,
    /// A letter of a script that does not separate words, or that needs one token for every one or two letters.
    Dense,
    Digit,
    Sign,
    Space,
}

impl CharClass {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Small,
            'A'..='Z' => Self::Capital,
            '0'..='9' => Self::Digit,
            _ if c.is_whitespace() => Self::Space,
            _ if c.is_ascii() => Self::Sign,
            '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{e00}'..='\u{eff}' => Self::Dense,
            _ if c.is_uppercase() => Self::Capital,
            _ if c.is_alphabetic() => Self::Small,
            _ if c.is_numeric() => Self::Digit,
            _ => Self::Sign,
        }
    }

    /// Returns true for letters of words.
    fn is_letter(self) -> bool {
        matches!(self, Self::Small | Self::Capital)
    }

    /// Returns true if a character of this class continues a piece that ends in a character of class `before`.
    fn continues(self, before: Self) -> bool {
        match (before, self) {
            (Self::Capital, Self::Small) => true,
            (Self::Space, _) => false,
            _ => before == self,
        }
    }
}

fn hundredths(text: impl Iterator<Item = char>) -> Hundredths {
    let mut sum = 0;
    let mut chars = text.map(|c| (CharClass::of(c), c)).peekable();
    while let Some((class, first)) = chars.next() {
        let (mut last, mut length, mut wide) = (class, 1, u64::from(!first.is_ascii()));
        while let Some((next, c)) = chars.next_if(|(next, _)| next.continues(last)) {
            (last, length, wide) = (next, length + 1, wide + u64::from(!c.is_ascii()));
        }
        sum += match class {
            CharClass::Small | CharClass::Capital => word(length, wide),
            CharClass::Dense => length * 70,
            CharClass::Digit => length.div_ceil(3) * 100,
            // A single punctuation mark becomes a part of the word after it.
            CharClass::Sign
                if length == 1 && wide == 0 && chars.peek().is_some_and(|(next, _)| next.is_letter()) =>
            {
                if first == '_' {
                    10
                } else {
                    50
                }
            }
            CharClass::Sign => signs(length) + wide * 100,
            CharClass::Space => 0,
        };
    }
    sum
}

/// The tokens of a word of `length` letters; `wide` of these are not ASCII.
fn word(length: u64, wide: u64) -> Hundredths {
    let ascii = match length {
        0..=8 => 102,
        9..=11 => 108,
        _ => 130 + (length - 12) * 20,
    };
    ascii + wide * 12
}

/// The tokens of consecutive punctuation marks.
fn signs(length: u64) -> Hundredths {
    if length < 4 { 100 } else { 130 + (length - 4) * 70 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_close_to_the_counts_of_the_tokenizer() {
        // Counted with o200k.
        for (text, counted) in [
            ("List WordPress posts", 4),
            ("wp_upload_media_from_base64", 6),
            ("getPullRequestReviewComments", 5),
            ("Moves a post to the trash, or deletes it permanently with `force`.", 15),
            ("2025-11-25T14:30:00Z", 13),
            ("Zeigt die Änderungen seit gestern an und größere Überschriften.", 13),
            ("漢字かな交じり文を検索します", 10),
            ("Покажи последние комментарии", 6),
            (
                r#"{"type":"object","properties":{"id":{"type":"integer","minimum":1,"description":"The ID of the post"}},"required":["id"]}"#,
                31,
            ),
            ("", 0),
        ] {
            let estimate = rounded(hundredths(text.chars()));
            assert!(estimate.abs_diff(counted) <= 1 + counted / 12, "{text}: {estimate} for {counted}");
        }
    }

    #[test]
    fn spaces_between_members_do_not_count() {
        let compact = br#"{"name":"x","description":"Adds.","inputSchema":{"type":"object"},"icons":[1]}"#;
        let spread = b"{ \"name\" : \"x\",\n  \"description\": \"Adds.\",\n  \"inputSchema\": {\n    \"type\" : \"object\"\n  } }";
        let (compact, spread) = (tokens_of_tool("x", compact), tokens_of_tool("x", spread));
        assert_eq!(compact, spread);
        assert!(tokens_of_tool("x", b"{}") > 5 && tokens_of_tool("x", b"not JSON") > 5);
    }
}
