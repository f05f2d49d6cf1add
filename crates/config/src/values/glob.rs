//! Patterns for names and URIs: `*` matches any characters, `?` matches one, and every other character
//! matches itself.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The longest pattern, in bytes.
pub const MAX_GLOB_BYTES: usize = 1024;

/// A checked pattern. Case matters, and `*` also matches `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: Box<str>,
    /// The number of bytes before the first `*` or `?`.
    plain: usize,
}

impl Glob {
    /// Checks a pattern.
    ///
    /// # Errors
    /// Returns a short description of the problem: empty, too long, negated with `!`, or with a control character.
    pub fn parse(pattern: &str) -> Result<Self, &'static str> {
        if pattern.is_empty() {
            return Err("a pattern cannot be empty");
        }
        if pattern.len() > MAX_GLOB_BYTES {
            return Err("a pattern can have at most 1024 bytes");
        }
        if pattern.starts_with('!') {
            return Err("a pattern cannot be negated with `!`");
        }
        if pattern.chars().any(char::is_control) {
            return Err("a pattern cannot contain control characters");
        }
        Ok(Self { text: pattern.into(), plain: pattern.find(['*', '?']).unwrap_or(pattern.len()) })
    }

    /// The pattern that matches everything.
    pub fn any() -> Self {
        Self { text: "*".into(), plain: 0 }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns true if the pattern matches all of `name`. Takes at most `pattern × name` steps and allocates no memory.
    pub fn matches(&self, name: &str) -> bool {
        let (plain, wild) = self.text.split_at(self.plain);
        let Some(rest) = name.strip_prefix(plain) else { return false };
        match wild {
            "" => rest.is_empty(),
            "*" => true,
            _ => matches(wild, rest),
        }
    }

    /// Returns true if some text matches both patterns. Takes at most `pattern × pattern` steps.
    pub fn meets(&self, other: &Self) -> bool {
        let (own, others): (Vec<char>, Vec<char>) =
            (self.text.chars().collect(), other.text.chars().collect());
        // For each position: true if the rest of `own` and the rest of `others` can match the same text.
        let mut after = vec![false; others.len() + 1];
        for at in (0..=own.len()).rev() {
            let mut row = vec![false; others.len() + 1];
            for beside in (0..=others.len()).rev() {
                row[beside] = match (own.get(at), others.get(beside)) {
                    (None, None) => true,
                    (Some('*'), None) => after[beside],
                    (Some('*'), _) => after[beside] || row[beside + 1],
                    (None, Some('*')) => row[beside + 1],
                    (_, Some('*')) => row[beside + 1] || after[beside],
                    (Some(own), Some(other)) => {
                        (own == other || *own == '?' || *other == '?') && after[beside + 1]
                    }
                    _ => false,
                };
            }
            after = row;
        }
        after[0]
    }

    /// Returns true if this pattern matches every text that the other one matches. Always false for a pattern with
    /// `?`.
    pub fn covers(&self, other: &Self) -> bool {
        // Only a `*` here can match the wildcards of the other pattern.
        !self.text.contains('?') && self.matches(&other.text)
    }
}

/// Returns true if a selection includes `name`: no pattern in `deny` matches `name`, and if `allow` is given, one of the patterns
/// in `allow` matches `name`.
pub(crate) fn admits(allow: Option<&[Glob]>, deny: &[Glob], name: &str) -> bool {
    allow.is_none_or(|globs| globs.iter().any(|glob| glob.matches(name)))
        && !deny.iter().any(|glob| glob.matches(name))
}

/// Returns true if the pattern matches all of `rest`.
fn matches(mut pattern: &str, mut rest: &str) -> bool {
    // The position to continue from if the last `*` has matched too little: it then matches one more character.
    let mut retry: Option<(&str, &str)> = None;
    loop {
        let mut pattern_chars = pattern.chars();
        let mut rest_chars = rest.chars();
        match (pattern_chars.next(), rest_chars.next()) {
            (Some('*'), _) => {
                pattern = pattern_chars.as_str();
                if pattern.is_empty() {
                    return true;
                }
                retry = Some((pattern, rest));
                continue;
            }
            (Some(want), Some(have)) if want == '?' || want == have => {
                (pattern, rest) = (pattern_chars.as_str(), rest_chars.as_str());
                continue;
            }
            (None, None) => return true,
            _ => {}
        }
        let Some((after_star, taken_from)) = retry else { return false };
        let mut longer = taken_from.chars();
        if longer.next().is_none() {
            return false;
        }
        (pattern, rest) = (after_star, longer.as_str());
        retry = Some((pattern, rest));
    }
}

impl JsonSchema for Glob {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A pattern: `*` stands for any characters, `?` for one.",
            "minLength": 1,
            "maxLength": MAX_GLOB_BYTES,
            "pattern": "^[^!]",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_characters() {
        let cases = [
            ("*", "", true),
            ("*", "anything/at all", true),
            ("a*", "abc", true),
            ("a*", "ba", false),
            ("*c", "abcbc", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("?", "é", true),
            ("?", "", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("blog__wp_*", "blog__wp_get_posts", true),
            ("blog__wp_*", "blog__bp_get", false),
            ("file:///{path}*", "file:///{path}/x", true),
            ("ABC", "abc", false),
            ("[a]", "a", false),
            ("**", "x", true),
            ("abc", "abc", true),
            ("abc", "ab", false),
            ("abc", "abcd", false),
            ("é*", "éa", true),
            ("é*", "e", false),
            ("ab?*", "ab", false),
            ("ab?*", "abcd", true),
        ];
        for (pattern, name, wanted) in cases {
            let glob = Glob::parse(pattern).unwrap();
            assert_eq!(glob.matches(name), wanted, "{pattern} on {name}");
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        let glob = Glob::parse(&"*a".repeat(200)).unwrap();
        assert!(!glob.matches(&"a".repeat(199)));
        assert!(!glob.matches(&format!("{}b", "a".repeat(20_000))));
    }

    #[test]
    fn patterns_meet_where_a_text_fits_both() {
        let glob = |text| Glob::parse(text).unwrap();
        for (one, other, meet) in [
            ("*", "a", true),
            ("a*", "*b", true),
            ("a*", "b*", false),
            ("*x*", "test://*/data", true),
            ("docs__*", "test://*", false),
            ("?", "*", true),
            ("??", "a", false),
            ("a?c", "abc", true),
            ("a*c*e", "*b*d*", true),
            ("ab", "a", false),
            ("*é", "x?", true),
        ] {
            assert_eq!(glob(one).meets(&glob(other)), meet, "{one} {other}");
            assert_eq!(glob(other).meets(&glob(one)), meet, "{other} {one}");
        }
    }

    #[test]
    fn a_pattern_covers_another_only_where_that_is_certain() {
        let glob = |text| Glob::parse(text).unwrap();
        for (one, other, covers) in [
            ("*", "a*", true),
            ("**", "*", true),
            ("a*", "ab*c", true),
            ("a*", "*", false),
            ("a", "a", true),
            ("a", "?", false),
            ("?", "*", false),
            ("*b", "a*", false),
        ] {
            assert_eq!(glob(one).covers(&glob(other)), covers, "{one} {other}");
        }
    }

    #[test]
    fn odd_patterns_are_refused() {
        for pattern in ["", "!x", "a\nb", &"a".repeat(MAX_GLOB_BYTES + 1)] {
            assert!(Glob::parse(pattern).is_err(), "{pattern:?}");
        }
    }
}
