//! Words of names and texts, normalized for comparison: lower case, without common endings. This module must not
//! know where a text comes from.

/// The longest word that is kept, in bytes; longer ones are hashes or encoded data.
const MAX_WORD: usize = 32;

/// Words that say nothing about a tool, in alphabetical order.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could",
    "do", "does", "each", "every", "for", "from", "has", "have", "how", "if", "in", "into", "is", "it",
    "its", "let", "me", "my", "need", "not", "of", "on", "one", "or", "our", "out", "please", "so", "some",
    "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to",
    "us", "want", "was", "we", "were", "what", "when", "where", "which", "who", "will", "with", "would",
    "you", "your",
];

/// Calls `each` with every word of a text. Names are split as programmers write them: `getPosts`, `HTTPServer`, `top_10`.
pub(super) fn words(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    for part in parts(text) {
        if normalize(part, &mut word) {
            each(&word);
        }
    }
}

/// Normalizes a word for comparison; returns false if the word is not kept.
fn normalize(part: &str, word: &mut String) -> bool {
    word.clear();
    if part.len() > MAX_WORD {
        return false;
    }
    word.extend(part.chars().flat_map(char::to_lowercase));
    if STOP_WORDS.binary_search(&word.as_str()).is_ok() {
        return false;
    }
    stem(word);
    word.len() > 1 || !word.is_ascii() || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The maximum length, in bytes, of letters that form one word with the digits after them: `s3`, `ec2`.
const SHORT_PREFIX: usize = 2;

/// The kind of a character in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharKind {
    Lower,
    Upper,
    Digit,
    Other,
}

impl CharKind {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            _ if c.is_ascii() => Self::Other,
            _ if c.is_uppercase() => Self::Upper,
            _ if c.is_alphabetic() => Self::Lower,
            _ if c.is_numeric() => Self::Digit,
            _ => Self::Other,
        }
    }
}

/// Splits a text at separators, and splits names where a capitalized word or a number begins or ends.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c| CharKind::of(c) == CharKind::Other);
        let end = end_of_part(rest);
        let (part, after) = rest.split_at(end);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// The length of the first part of a text, in bytes.
fn end_of_part(text: &str) -> usize {
    let mut before: Option<CharKind> = None;
    // The start of the last capital letter, if another capital letter precedes it.
    let mut hump = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let kind = CharKind::of(c);
        match (before, kind) {
            (_, CharKind::Other)
            | (Some(CharKind::Lower), CharKind::Upper)
            | (Some(CharKind::Digit), CharKind::Lower | CharKind::Upper) => return at,
            (Some(CharKind::Lower | CharKind::Upper), CharKind::Digit) if at > SHORT_PREFIX => return at,
            (Some(CharKind::Upper), CharKind::Lower) => {
                // In `HTTPServer` the second word begins with the last capital letter; `URLs` is one word.
                let ends = chars.peek().is_none_or(|(_, next)| CharKind::of(*next) != CharKind::Lower);
                if let Some(hump) = hump.filter(|_| c != 's' || !ends) {
                    return hump;
                }
            }
            (Some(CharKind::Upper), CharKind::Upper) => hump = Some(at),
            _ => {}
        }
        before = Some(kind);
    }
    text.len()
}

/// Removes the endings of plurals and of common verb forms. The result need not be a word, but must be the same for all forms
/// of a word.
fn stem(word: &mut String) {
    if !word.is_ascii() || word.len() < 3 {
        return;
    }
    if word.ends_with("ies") && word.len() > 4 {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        word.truncate(word.len() - 1);
    }
    for (ending, least) in [("ing", 6), ("ed", 5)] {
        if word.len() >= least && word.ends_with(ending) && has_vowel(&word[..word.len() - ending.len()]) {
            word.truncate(word.len() - ending.len());
            undouble(word);
            break;
        }
    }
    if word.len() > 3 && word.ends_with('e') {
        word.truncate(word.len() - 1);
    } else if word.len() > 3 && word.ends_with('y') {
        word.truncate(word.len() - 1);
        word.push('i');
    }
}

fn has_vowel(word: &str) -> bool {
    word.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// Removes one of two equal consonants at the end: `tagg` becomes `tag`, but `fill` and `pass` stay unchanged.
fn undouble(word: &mut String) {
    let bytes = word.as_bytes();
    if let [.., before, last] = bytes
        && before == last
        && !matches!(last, b'a' | b'e' | b'i' | b'o' | b'u' | b'l' | b's' | b'z')
    {
        word.truncate(word.len() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        words(text, |word| all.push(word.to_owned()));
        all
    }

    #[test]
    fn names_are_split_where_a_reader_would_split_them() {
        for (name, wanted) in [
            ("wp_get_posts", "wp get posts"),
            ("getPostById", "get Post By Id"),
            ("HTTPServer2Go", "HTTP Server 2 Go"),
            ("list-URLs", "list URLs"),
            ("IDs", "IDs"),
            ("s3.put/objectV2", "s3 put object V2"),
            ("oauth2", "oauth 2"),
            ("ÄnderungAnzeigen", "Änderung Anzeigen"),
            ("--", ""),
        ] {
            assert_eq!(parts(name).collect::<Vec<_>>().join(" "), wanted, "{name}");
        }
    }

    #[test]
    fn all_forms_of_a_word_are_alike() {
        for forms in [
            "category categories",
            "class classes",
            "box boxes",
            "status statuses",
            "delete deletes deleted deleting",
            "tag tags tagged tagging",
            "approve approves approved approving",
            "reply replies",
            "movie movies",
            "id ids IDs",
        ] {
            let all = all(forms);
            assert!(all.iter().all(|word| *word == all[0]), "{forms}: {all:?}");
        }
        for different in ["string strong", "thing thin", "feed fee", "bus bu"] {
            let all = all(different);
            assert!(all.len() < 2 || all[0] != all[1], "{different}: {all:?}");
        }
    }

    #[test]
    fn words_without_meaning_and_long_ones_are_dropped() {
        assert!(STOP_WORDS.is_sorted());
        assert_eq!(all("Please show me all of the posts"), ["show", "post"]);
        assert_eq!(all(&"x".repeat(MAX_WORD + 1)), [""; 0]);
        assert_eq!(all("e 7 é"), ["7", "é"]);
    }
}
