//! Texts of transcripts: names in `‹…›` are placeholders, `‹1..9›` is a whole number in this range, and `…` is an
//! undetermined part.

use std::collections::BTreeMap;

/// The values of names in `‹…›`: set by the set-up, or first seen in an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(BTreeMap<String, String>);

impl Names {
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// The text with every name replaced by its value.
    pub(crate) fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = String::new();
        for piece in pieces(text) {
            match piece {
                Piece::Plain(text) => filled.push_str(text),
                Piece::Any => filled.push('…'),
                Piece::Name(name) => {
                    let value = self.0.get(name).ok_or_else(|| format!("nothing is named ‹{name}›"))?;
                    filled.push_str(value);
                }
            }
        }
        Ok(filled)
    }

    /// Returns true if `found` matches `expected`. A name without a value gets the text that was found as its
    /// value.
    pub(crate) fn fits(&mut self, expected: &str, found: &str) -> bool {
        let mut seen = Vec::new();
        let fits = self.walk(&pieces(expected), found, &mut seen);
        if fits {
            self.0.extend(seen);
        }
        fits
    }

    fn walk(&self, pieces: &[Piece<'_>], found: &str, seen: &mut Vec<(String, String)>) -> bool {
        let Some((first, rest)) = pieces.split_first() else { return found.is_empty() };
        let known = |seen: &[(String, String)], name: &str| {
            let seen = seen.iter().find(|(one, _)| one == name).map(|(_, value)| value.clone());
            seen.or_else(|| self.0.get(name).cloned())
        };
        if let Piece::Name(name) = first
            && let Some((least, most)) = name.split_once("..")
        {
            let digits = found.len() - found.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let is_in = |number: u64| {
                let bound = |text: &str| text.parse::<u64>().ok();
                bound(least).is_some_and(|least| least <= number)
                    && bound(most).is_some_and(|most| number <= most)
            };
            let fits = found[..digits].parse().is_ok_and(is_in);
            return fits && self.walk(rest, &found[digits..], seen);
        }
        let name = match first {
            Piece::Plain(text) => {
                return found.strip_prefix(text).is_some_and(|found| self.walk(rest, found, seen));
            }
            Piece::Name(name) => match known(seen, name) {
                Some(value) => {
                    return found.strip_prefix(&value).is_some_and(|found| self.walk(rest, found, seen));
                }
                None => Some(name),
            },
            Piece::Any => None,
        };
        // The shortest match counts; a name must match something.
        let ends = found.char_indices().map(|(at, _)| at).chain([found.len()]);
        for end in ends.skip(usize::from(name.is_some())) {
            let before = seen.len();
            seen.extend(name.map(|name| ((*name).to_owned(), found[..end].to_owned())));
            if self.walk(rest, &found[end..], seen) {
                return true;
            }
            seen.truncate(before);
        }
        false
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece<'a> {
    Plain(&'a str),
    Name(&'a str),
    Any,
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['‹', '…']) {
        if at > 0 {
            found.push(Piece::Plain(&rest[..at]));
        }
        let mark = &rest[at..];
        rest = if let Some(after) = mark.strip_prefix('…') {
            found.push(Piece::Any);
            after
        } else if let Some((name, after)) = mark.trim_start_matches('‹').split_once('›') {
            found.push(Piece::Name(name));
            after
        } else {
            found.push(Piece::Plain(mark));
            ""
        };
    }
    if !rest.is_empty() {
        found.push(Piece::Plain(rest));
    }
    found
}

#[test]
fn texts_are_compared_by_their_pieces() {
    let mut names = Names::default();
    names.set("site", "http://a");
    assert!(names.fits("‹site›/x?…=1", "http://a/x?y=1") && !names.fits("‹site›/x", "http://b/x"));
    assert!(!names.fits("/m?s=‹session›", "/m?s="));
    assert!(names.fits("/m?s=‹session›", "/m?s=17") && !names.fits("/m?s=‹session›", "/m?s=18"));
    assert_eq!(names.fill("‹site›: ‹session›").as_deref(), Ok("http://a: 17"));
    assert!(names.fill("‹other›").is_err());
    assert!(names.fits("in ‹5..10› s", "in 10 s") && names.fits("‹5..10›", "5"));
    assert!(!names.fits("‹5..10›", "11") && !names.fits("‹5..10›", "") && !names.fits("‹5..10›", "7s"));
}
