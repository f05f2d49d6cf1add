//! Challenges of servers in `WWW-Authenticate` (RFC 9110, 11.6.1; RFC 6750, 3; RFC 9728, 5.1). This module must not
//! know how they are answered.

/// A Bearer challenge, reduced to the parameters that matter here.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// The URL of the resource's metadata.
    pub resource_metadata: Option<String>,
    /// The scopes that would suffice.
    pub scopes: Vec<String>,
    /// True if a token with other scopes would suffice.
    pub wants_scopes: bool,
}

/// The maximum number of scopes taken from one source.
pub const MOST_SCOPES: usize = 64;

impl Challenge {
    /// Reads the values of the header, joined with commas. Other schemes and unreadable parts are skipped.
    pub fn read(text: &str) -> Self {
        let mut found = Self::default();
        let (mut rest, mut is_bearer) = (text, false);
        loop {
            rest = rest.trim_start_matches([' ', '\t', ',']);
            let (word, behind) = token(rest);
            if word.is_empty() {
                return found;
            }
            let Some(value) = behind.trim_start().strip_prefix('=').filter(|_| behind_scheme(text, rest))
            else {
                is_bearer = word.eq_ignore_ascii_case("bearer");
                rest = behind;
                continue;
            };
            let Some((value, behind)) = value_of(value.trim_start()) else { return found };
            if is_bearer {
                found.note(word, value);
            }
            rest = behind;
        }
    }

    fn note(&mut self, name: &str, value: String) {
        if name.eq_ignore_ascii_case("resource_metadata") {
            self.resource_metadata.get_or_insert(value);
        } else if name.eq_ignore_ascii_case("scope") && self.scopes.is_empty() {
            self.scopes = scopes(&value);
        } else if name.eq_ignore_ascii_case("error") {
            self.wants_scopes = value == "insufficient_scope";
        }
    }
}

/// The words of a `scope` (RFC 6749, 3.3); invalid words are skipped.
pub fn scopes(text: &str) -> Vec<String> {
    let is_scope = |word: &&str| {
        word.len() <= 256 && word.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\'))
    };
    text.split_ascii_whitespace().filter(is_scope).take(MOST_SCOPES).map(str::to_owned).collect()
}

/// Returns true if a scheme precedes `rest`, because parameters must belong to a scheme.
fn behind_scheme(text: &str, rest: &str) -> bool {
    rest.len() < text.trim_start().len()
}

/// Splits off the token at the start (RFC 9110, 5.6.2).
fn token(text: &str) -> (&str, &str) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/".contains(c);
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

/// Splits off the token or quoted string at the start.
fn value_of(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (word, behind) = token(text);
        // Base64 values of other schemes may end with `=`.
        return Some((word.to_owned(), behind.trim_start_matches('=')));
    };
    let (mut value, mut escaped) = (String::new(), false);
    for (at, c) in quoted.char_indices() {
        match c {
            _ if escaped => {
                value.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return Some((value, &quoted[at + 1..])),
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (Option<String>, String, bool) {
        let read = Challenge::read(text);
        (read.resource_metadata, read.scopes.join(" "), read.wants_scopes)
    }

    #[test]
    fn a_bearer_challenge_is_found_among_others() {
        let url = Some("https://h/.well-known/x".to_owned());
        for text in [
            r#"Bearer resource_metadata="https://h/.well-known/x", scope="a b", error="insufficient_scope""#,
            r#"bearer  Scope="a b",error=insufficient_scope ,resource_metadata = "https://h/.well-known/x""#,
            r#"Basic realm="a, Bearer scope=\"c\"", Bearer resource_metadata="https://h/.well-known/x", scope="a b", error="insufficient_scope""#,
            r#"Negotiate abc/+==, Bearer error="insufficient_scope", scope="a b", resource_metadata="https://h/\.well-known/x", DPoP algs="x""#,
        ] {
            assert_eq!(read(text), (url.clone(), "a b".to_owned(), true), "{text}");
        }
        for text in [
            "",
            "Bearer",
            "Basic scope=\"a\"",
            "scope=\"a\"",
            "Bearer scope=\"a",
            "DPoP error=insufficient_scope",
        ] {
            assert_eq!(read(text), (None, String::new(), false), "{text}");
        }
        assert_eq!(
            read("Bearer error=\"invalid_token\", scope=\"a \\\" b\u{7f}c ä\""),
            (None, "a".to_owned(), false)
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "[Bb]earer |.{0,40}|([a-z]{1,6}[=, \"\\\\]{0,3}){0,12}") {
            let read = Challenge::read(&text);
            prop_assert!(read.scopes.iter().all(|scope| !scope.contains([' ', '"'])));
        }
    }
}
