//! Names and openings that a newcomer can search for and read: no type name stands for many things, and a doc comment opens with
//! a noun or a verb, not with a question. What is there from before is counted, and may only become less.

use super::{Fault, Repo, Source};
use std::collections::BTreeMap;

/// How many types of the product may have one name.
const MOST: usize = 2;

/// Names that each room may have for its own.
const COMMON: &[&str] = &["Args", "Error"];

/// Names that more types have than [`MOST`], each with how many.
const SHARED: &[(&str, usize)] = &[
    ("Answer", 5),
    ("Argument", 3),
    ("Arguments", 3),
    ("Around", 3),
    ("Ask", 3),
    ("Asked", 6),
    ("Asking", 3),
    ("BoxError", 3),
    ("Busy", 3),
    ("Change", 4),
    ("Changes", 3),
    ("Counted", 3),
    ("Entry", 10),
    ("Fault", 4),
    ("Found", 7),
    ("Held", 4),
    ("Inner", 5),
    ("Item", 3),
    ("Kept", 8),
    ("Key", 5),
    ("Kind", 10),
    ("Known", 5),
    ("Limits", 3),
    ("Line", 4),
    ("Lines", 3),
    ("Member", 3),
    ("Names", 3),
    ("Offers", 3),
    ("Open", 6),
    ("Opened", 3),
    ("Outcome", 6),
    ("Part", 3),
    ("Phase", 4),
    ("Place", 7),
    ("Places", 3),
    ("Progress", 3),
    ("Reader", 3),
    ("Refusal", 3),
    ("Reply", 3),
    ("Request", 3),
    ("Rule", 4),
    ("Said", 4),
    ("Shared", 6),
    ("Shown", 3),
    ("Site", 3),
    ("Source", 7),
    ("State", 7),
    ("Stream", 3),
    ("Target", 3),
    ("Told", 3),
    ("Tool", 3),
    ("Unread", 4),
    ("Waiting", 4),
    ("Wanted", 3),
    ("Way", 4),
    ("When", 4),
    ("Wire", 3),
    ("Written", 6),
];

/// Words that open a question.
const QUESTIONS: &[&str] =
    &["Whether", "What", "Who", "Whose", "Whom", "How", "Where", "When", "Why", "Which"];

/// Doc comments that open so, by crate.
const OPENINGS: &[(&str, usize)] = &[
    ("engine", 404),
    ("native", 261),
    ("proto", 90),
    ("server", 297),
    ("store", 24),
    ("transport", 95),
    ("upstream", 125),
];

const NAME_IT: &str = "name the type for what it is, with a word that nothing else has";
const SAY_IT: &str = "open with a noun phrase or a verb: `Returns true if …`, `The number of …`";

/// No further type takes a name that others have.
pub(super) fn types(repo: &Repo) -> Vec<Fault> {
    let mut by_name: BTreeMap<&str, Vec<(&Source, usize)>> = BTreeMap::new();
    for source in &repo.sources {
        let mut before = "";
        for (at, word) in source.words() {
            if matches!(before, "struct" | "enum" | "trait" | "union" | "type")
                && word.starts_with(|first: char| first.is_ascii_uppercase())
                && !source.is_test(at)
                && is_own(source, at)
            {
                by_name.entry(word).or_default().push((source, at));
            }
            before = word;
        }
    }
    by_name.retain(|name, _| !COMMON.contains(name));
    let most = |name: &str| SHARED.iter().find(|(known, _)| *known == name).map_or(MOST, |(_, count)| *count);
    let mut faults = Vec::new();
    for (name, places) in by_name {
        if let Some((source, at)) = places.get(most(name)) {
            let what = format!("`{name}` is a type {} times, and may be {}", places.len(), most(name));
            faults.push(super::fault(source, *at, "type-name", what, NAME_IT));
        }
    }
    faults
}

/// Outside of an `impl`: a trait's type has its trait's name for it.
fn is_own(source: &Source, at: usize) -> bool {
    let line_start = source.masked.code[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &source.masked.code[line_start..at];
    !(line.starts_with(' ') && line.trim_start().starts_with("type "))
}

/// No further doc comment opens with a question.
pub(super) fn openings(repo: &Repo) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (krate, most) in OPENINGS {
        let all = repo.sources.iter().filter(|source| source.krate() == *krate);
        let open: Vec<(&Source, usize)> = all.flat_map(|source| questions(source)).collect();
        if let Some((source, at)) = open.get(*most) {
            let what =
                format!("{} doc comments of `{krate}` open with a question, and {most} may", open.len());
            faults.push(super::fault(source, *at, "doc-opening", what, SAY_IT));
        }
    }
    faults
}

/// The doc comments of a source that open with a question, outside of tests.
fn questions(source: &Source) -> Vec<(&Source, usize)> {
    let mut found = Vec::new();
    let mut line_before = None;
    for comment in &source.masked.comments {
        let line = source.line(comment.at);
        let continues = line_before == Some(line - 1);
        let Some(text) = comment.text.strip_prefix("///") else { continue };
        line_before = Some(line);
        let first = text
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .trim_end_matches(|end: char| !end.is_alphabetic());
        if !continues && QUESTIONS.contains(&first) && !source.is_test(comment.at) {
            found.push((source, comment.at));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::{openings, questions, types};
    use crate::tidy::Source;

    #[test]
    fn a_third_type_of_one_name_is_found() {
        let files = [
            ("crates/proto/src/a.rs", "struct Frame;\nstruct Args;\nimpl T for U {\n    type Frame = u8;\n}"),
            ("crates/proto/src/b.rs", "enum Frame {}\nstruct Args;"),
            ("crates/proto/src/c.rs", "fn f() {}\n#[cfg(test)]\nmod tests { struct Frame; }\nstruct Args;"),
            ("crates/proto/src/d.rs", "\ntrait Frame {}"),
        ];
        assert!(places(types, &files[..3]).is_empty());
        assert_eq!(places(types, &files), ["crates/proto/src/d.rs:2"]);
    }

    #[test]
    fn openings_that_ask_are_told_from_others() {
        let text = "/// Whether it is.\n/// What else.\nfn a() {}\n/// Returns true.\nfn b() {}\n// Why\n/// `How` it is.\nfn c() {}\n\
                    #[cfg(test)]\nmod tests {\n/// Who\nfn d() {}\n}\n";
        let source = Source::new("crates/proto/src/a.rs", text);
        assert_eq!(questions(&source).len(), 1);
        let many = "/// Which.\nfn a() {}\n\n".repeat(100);
        assert_eq!(places(openings, &[("crates/proto/src/a.rs", &many)]).len(), 1);
    }
}
