//! Arguments that a tool does not have: a call with such arguments is refused with the names that were probably meant.
//! This module must not know any tool.

use std::fmt::Write as _;

use config::nearest::nearest;
use engine::injected_arguments::INJECTED_ARGUMENTS;

/// The handling of arguments that a tool does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownArguments {
    /// Refuses the call.
    #[default]
    Reject,
    /// Ignores the arguments; they are not sent anywhere.
    Ignore,
}

/// The only one of the injected arguments that no tool declares, so it can be recognized without a schema.
pub(crate) const CALL_ID: &str = INJECTED_ARGUMENTS[0];

/// Names that models take from other APIs, and the names that tools here use for the same things.
const SYNONYMS: &[(&str, &str)] = &[
    ("query", "parameters"),
    ("query", "search"),
    ("params", "parameters"),
    ("q", "search"),
    ("limit", "per_page"),
    ("acf", "fields"),
    ("path", "route"),
    ("endpoint", "route"),
    ("data", "body"),
];

/// The maximum number of names that a message lists; the other names are only counted.
const SHOWN: usize = 5;
/// The maximum number of characters of a name that a message shows.
const LONGEST: usize = 64;

/// Returns true if clients add this argument by themselves.
pub(crate) fn is_injected(name: &str) -> bool {
    INJECTED_ARGUMENTS.contains(&name)
}

/// The fault of a call with arguments that are not in `known`; `None` if it has no such arguments, or only those that
/// clients add.
pub(crate) fn fault<'g>(given: impl Iterator<Item = &'g str>, known: &[&str]) -> Option<String> {
    let strange = given.filter(|name| !known.contains(name) && !is_injected(name));
    sentence(strange, known, "argument", "the tool")
}

/// The fault of an argument `name` whose value, an object, has members that are not in `known`. Clients add no members
/// there.
pub(crate) fn member_fault<'g>(
    given: impl Iterator<Item = &'g str>,
    known: &[&str],
    name: &str,
) -> Option<String> {
    sentence(given.filter(|name| !known.contains(name)), known, "member", &format!("the argument {name:?}"))
}

fn sentence<'g>(
    strange: impl Iterator<Item = &'g str>,
    known: &[&str],
    what: &str,
    whose: &str,
) -> Option<String> {
    let mut words = String::new();
    let mut count = 0_usize;
    for name in strange {
        count += 1;
        if count > SHOWN {
            continue;
        }
        let shown: String = name.chars().take(LONGEST).collect();
        let _ = write!(words, "{}unknown {what} {shown:?}", if words.is_empty() { "" } else { "; " });
        if let Some(near) = meant(name, known) {
            let _ = write!(words, ": did you mean {near:?}?");
        }
    }
    if count == 0 {
        return None;
    }
    if count > SHOWN {
        let _ = write!(words, "; and {} more", count - SHOWN);
    }
    let end = if words.ends_with('?') { " " } else { "; " };
    let takes = if known.is_empty() { format!("no {what}s") } else { known.join(", ") };
    let whose = if end == " " { capital(whose) } else { whose.to_owned() };
    Some(format!("{words}{end}{whose} takes {takes}"))
}

fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The known name that was probably meant: a similar name, a name with some words added or removed, or a synonym.
fn meant<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let has_all = |a: &str, b: &str| a.split('_').all(|word| b.split('_').any(|other| other == word));
    let lower = name.to_lowercase();
    nearest(name, known.iter().copied())
        .or_else(|| known.iter().copied().find(|known| has_all(known, &lower) || has_all(&lower, known)))
        .or_else(|| {
            let mut synonyms = SYNONYMS.iter().filter(|(from, _)| *from == lower);
            synonyms.find_map(|(_, to)| known.iter().copied().find(|known| known == to))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["id", "title", "categories", "search", "per_page", "fields"];

    fn told(given: &[&str]) -> Option<String> {
        fault(given.iter().copied(), KNOWN)
    }

    #[test]
    fn the_nearest_name_is_named() {
        for (name, near) in [
            ("catgories", "categories"),
            ("post_id", "id"),
            ("search_term", "search"),
            ("query", "search"),
            ("limit", "per_page"),
            ("acf", "fields"),
        ] {
            let wanted = format!(
                "unknown argument {name:?}: did you mean {near:?}? The tool takes id, title, categories, search, per_page, fields"
            );
            assert_eq!(told(&[name]), Some(wanted));
        }
        let words = told(&["colour", "titel"]).unwrap();
        let begins = "unknown argument \"colour\"; unknown argument \"titel\": did you mean \"title\"? The tool takes id, ";
        assert!(words.starts_with(begins), "{words}");
        assert!(told(&["colour"]).unwrap().starts_with("unknown argument \"colour\"; the tool takes id, "));
        let none = fault(["x"].into_iter(), &[]);
        assert_eq!(none.as_deref(), Some("unknown argument \"x\"; the tool takes no arguments"));
        let member = member_fault(["urls"].into_iter(), &["url", "mp4"], "media_gif");
        let wanted =
            "unknown member \"urls\": did you mean \"url\"? The argument \"media_gif\" takes url, mp4";
        assert_eq!(member.as_deref(), Some(wanted));
    }

    #[test]
    fn what_clients_add_is_no_fault() {
        assert_eq!(told(&["id", "toolCallId", "tool", "sessionId", "action", "chatInput"]), None);
        assert_eq!(told(&[]), None);
        assert!(told(&["toolcallid"]).is_some());
    }

    /// The answer is short, no matter what a call contains.
    #[test]
    fn a_message_is_short() {
        let many: Vec<String> = (0..10_000).map(|at| format!("{at}{}", "x".repeat(10_000))).collect();
        let words = fault(many.iter().map(String::as_str), KNOWN).unwrap();
        assert!(words.len() < 1000 && words.contains("; and 9995 more; the tool takes"), "{words}");
    }
}
