//! Arguments of a call, matched against the conditions of a rule.
//!
//! Servers read JSON in different ways: some take the last of two members with the same name, some the first, and some
//! ignore case. Ambiguous input is therefore interpreted in the most restrictive way.

use std::borrow::Cow;

use indexmap::IndexMap;
use proto::json::{Elements, MAX_DEPTH, Members, Span, unquote};

use config::{Effect, Glob, ValuePath};

/// The conditions of one rule on arguments.
pub(super) type Conditions = IndexMap<ValuePath, Vec<Glob>>;

/// The marker for a value that another parser may read differently.
struct Ambiguous;

/// Returns true if all conditions match. For a denying rule, one matching item of a list is enough; for an allowing
/// rule, all items must match. A missing value matches nothing.
pub(super) fn hold(conditions: &Conditions, arguments: Option<&[u8]>, effect: Effect) -> bool {
    let text = arguments.unwrap_or(b"{}");
    let Ok(members) = Members::of_document(text, MAX_DEPTH) else { return effect == Effect::Deny };
    let mut all = true;
    for (path, globs) in conditions {
        let search = ValueSearch { text, globs, effect };
        match search.value(members.span(), path.steps()) {
            Ok(fits) => all &= fits,
            Err(Ambiguous) => return effect == Effect::Deny,
        }
    }
    all
}

/// Returns true if a pattern matches every value, even one that is not a text.
pub(super) fn fits_all(globs: &[Glob]) -> bool {
    globs.iter().any(|glob| glob.as_str().chars().all(|char| char == '*'))
}

struct ValueSearch<'t> {
    text: &'t [u8],
    globs: &'t [Glob],
    effect: Effect,
}

impl ValueSearch<'_> {
    fn value(&self, at: Span, steps: &[Box<str>]) -> Result<bool, Ambiguous> {
        if steps.is_empty() && fits_all(self.globs) {
            return Ok(true);
        }
        match (at.of(self.text).first(), steps) {
            (Some(b'['), steps) => self.items(at, steps),
            (Some(b'{'), [step, rest @ ..]) => match self.member(at, step)? {
                Some(value) => self.value(value, rest),
                None => Ok(false),
            },
            (_, [_, ..]) | (Some(b'{') | None, []) => Ok(false),
            (Some(_), []) => {
                let text = scalar(at.of(self.text)).ok_or(Ambiguous)?;
                Ok(self.globs.iter().any(|glob| glob.matches(&text)))
            }
        }
    }

    fn items(&self, at: Span, steps: &[Box<str>]) -> Result<bool, Ambiguous> {
        let items = Elements::of_value(self.text, at).ok_or(Ambiguous)?;
        let mut fitting = 0;
        for item in items.iter() {
            fitting += usize::from(self.value(item, steps)?);
        }
        Ok(match self.effect {
            Effect::Deny => fitting > 0,
            Effect::Allow => fitting > 0 && fitting == items.len(),
        })
    }

    fn member(&self, at: Span, name: &str) -> Result<Option<Span>, Ambiguous> {
        let members = Members::of_value(self.text, at).ok_or(Ambiguous)?;
        let mut found = None;
        for member in members.iter() {
            let key = unquote(member.key.of(self.text)).ok_or(Ambiguous)?;
            if key.eq_ignore_ascii_case(name) && found.replace((key == name, member.value)).is_some() {
                return Err(Ambiguous);
            }
        }
        // A name that differs only in case may be the intended name, or another one.
        Ok(found.filter(|(same, _)| *same || self.effect == Effect::Deny).map(|(_, value)| value))
    }
}

/// Converts a text, number or literal to the text that patterns are matched against; equal numbers yield equal texts.
fn scalar(written: &[u8]) -> Option<Cow<'_, str>> {
    if let Some(inner) = written.strip_prefix(b"\"") {
        return unquote(inner.strip_suffix(b"\"")?);
    }
    let text = std::str::from_utf8(written).ok()?;
    if !text.contains(['.', 'e', 'E']) {
        return Some(if text == "-0" { "0".into() } else { text.into() });
    }
    match text.parse::<f64>() {
        // 5.0 becomes 5, and -0.0 becomes 0; Rust writes no exponents.
        Ok(number) if number.is_finite() => Some((number + 0.0).to_string().into()),
        // `true` and `false` contain an `e`, too.
        _ => Some(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(all: &[(&str, &[&str])]) -> Conditions {
        let one = |(path, globs): &(&str, &[&str])| {
            (ValuePath::parse(path).unwrap(), globs.iter().map(|glob| Glob::parse(glob).unwrap()).collect())
        };
        all.iter().map(one).collect()
    }

    /// The results for a denying rule and for an allowing rule.
    fn both(all: &[(&str, &[&str])], arguments: &str) -> [bool; 2] {
        let all = conditions(all);
        [Effect::Deny, Effect::Allow].map(|effect| hold(&all, Some(arguments.as_bytes()), effect))
    }

    #[test]
    fn values_are_found_by_their_place() {
        let tmp: &[(&str, &[&str])] = &[("path", &["/tmp/*"])];
        assert_eq!(both(tmp, r#"{"path":"/tmp/x"}"#), [true; 2]);
        assert_eq!(both(tmp, r#"{"path":"\/t\u006dp/x","other":1}"#), [true; 2]);
        for absent in
            [r#"{"path":"/etc"}"#, "{}", r#"{"a":{"path":"/tmp/x"}}"#, r#"{"path":{"path":"/tmp/x"}}"#]
        {
            assert_eq!(both(tmp, absent), [false; 2], "{absent}");
        }
        let deep: &[(&str, &[&str])] = &[("a.b", &["1", "x"]), ("/c", &["true"])];
        assert_eq!(both(deep, r#"{"a":{"b":1.0},"c":true}"#), [true; 2]);
        assert_eq!(both(deep, r#"{"a":{"b":"x"},"c":"true"}"#), [true; 2]);
        assert_eq!(both(deep, r#"{"a":{"b":2},"c":true}"#), [false; 2]);
        assert_eq!(
            [Effect::Deny, Effect::Allow].map(|effect| hold(&conditions(tmp), None, effect)),
            [false; 2]
        );
    }

    #[test]
    fn of_lists_one_item_denies_and_all_allow() {
        let x: &[(&str, &[&str])] = &[("a.b", &["x*"])];
        for (arguments, wanted) in [
            (r#"{"a":{"b":["x1","x2"]}}"#, [true, true]),
            (r#"{"a":{"b":["x1","y"]}}"#, [true, false]),
            (r#"{"a":{"b":[["x1"],["y"]]}}"#, [true, false]),
            (r#"{"a":{"b":[]}}"#, [false, false]),
            (r#"{"a":[{"b":"x1"},{"b":"x2"}]}"#, [true, true]),
            (r#"{"a":[{"b":"x1"},{"c":"x2"}]}"#, [true, false]),
            (r#"{"a":[{"b":"x1"},"x2"]}"#, [true, false]),
            (r#"{"a":[]}"#, [false, false]),
        ] {
            assert_eq!(both(x, arguments), wanted, "{arguments}");
        }
    }

    #[test]
    fn a_star_fits_all_that_is_there() {
        let star: &[(&str, &[&str])] = &[("a", &["*"])];
        for there in [r#"{"a":[]}"#, r#"{"a":{"b":1}}"#, r#"{"a":null}"#, r#"{"a":""}"#, r#"{"a":[1,{}]}"#] {
            assert_eq!(both(star, there), [true; 2], "{there}");
        }
        assert_eq!(both(star, r#"{"b":1}"#), [false; 2]);
    }

    #[test]
    fn what_can_be_read_in_two_ways_counts_against_the_caller() {
        let tmp: &[(&str, &[&str])] = &[("path", &["/tmp/*"])];
        for odd in [
            r#"{"path":"/tmp/x","path":"/tmp/x"}"#,
            r#"{"path":"/etc","path":"/etc"}"#,
            r#"{"path":"/tmp/x","PATH":"/etc"}"#,
            r#"{"path":"/tmp/x","p\u0061th":"/etc"}"#,
            "[]",
            "7",
            "{",
            "",
        ] {
            assert_eq!(both(tmp, odd), [true, false], "{odd}");
        }
        assert_eq!(both(tmp, r#"{"Path":"/tmp/x"}"#), [true, false]);
        assert_eq!(both(tmp, r#"{"Path":"/etc"}"#), [false, false]);
    }

    #[test]
    fn equal_numbers_are_equal() {
        for (written, text) in [
            ("5", "5"),
            ("5.0", "5"),
            ("5e0", "5"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0.50", "0.5"),
            ("1E2", "100"),
            ("true", "true"),
            ("1e999", "1e999"),
        ] {
            assert_eq!(scalar(written.as_bytes()).as_deref(), Some(text), "{written}");
        }
    }
}
