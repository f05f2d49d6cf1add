//! Names and doc comments that a newcomer can search for and read: at most two types have the same name, and a doc comment opens
//! with a noun or a verb, not with a question word.

use super::{Fault, Repo, Source};
use std::collections::BTreeMap;

/// The number of types of the product that may have the same name.
const MOST: usize = 2;

/// Names that each folder may use for its own type; CONTRIBUTING.md gives the reason.
const COMMON: &[&str] = &["Args", "Error"];

/// Words that open a question.
const QUESTIONS: &[&str] =
    &["Whether", "What", "Who", "Whose", "Whom", "How", "Where", "When", "Why", "Which"];

/// The crates whose doc comments are checked: those of the product.
const PRODUCT: &[&str] = &[
    "admin",
    "bundles",
    "cli",
    "clients",
    "cluster",
    "config",
    "engine",
    "gateway",
    "login",
    "native",
    "pages",
    "proto",
    "registry",
    "schema",
    "server",
    "store",
    "transport",
    "upstream",
];

const NAME_IT: &str = "give the type a name that nothing else has";
const SAY_IT: &str = "open with a noun phrase or a verb: `Returns true if …`, `The number of …`";

/// Checks that at most [`MOST`] types have the same name.
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
    let mut faults = Vec::new();
    for (name, places) in by_name {
        if let Some((source, at)) = places.get(MOST) {
            let what = format!("`{name}` names {} types, but at most {MOST} are allowed", places.len());
            faults.push(Fault::at(source, *at, "type-name", what, NAME_IT));
        }
    }
    faults
}

/// Returns true unless the type is an associated type in an `impl`, which must repeat the name in the trait.
fn is_own(source: &Source, at: usize) -> bool {
    let line_start = source.masked.code[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &source.masked.code[line_start..at];
    !(line.starts_with(' ') && line.trim_start().starts_with("type "))
}

/// Checks that no doc comment, of an item or of a module, opens with a question word.
pub(super) fn openings(repo: &Repo) -> Vec<Fault> {
    let product = repo.sources.iter().filter(|source| PRODUCT.contains(&source.krate()));
    let ask = |(source, at)| {
        Fault::at(source, at, "doc-opening", "a doc comment that opens with a question".to_owned(), SAY_IT)
    };
    product.flat_map(questions).map(ask).collect()
}

/// The doc comments of a source that open with a question word, outside of tests.
fn questions(source: &Source) -> Vec<(&Source, usize)> {
    let mut found = Vec::new();
    let mut line_before = None;
    for comment in &source.masked.comments {
        let line = source.line(comment.at);
        let continues = line_before == Some(line - 1);
        let text = comment.text.strip_prefix("///").or_else(|| comment.text.strip_prefix("//!"));
        let Some(text) = text else { continue };
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
    fn a_module_that_opens_with_a_question_is_found() {
        let asks = [("crates/proto/src/a.rs", "//! Which paths there are.\n//! What else.\n\nfn a() {}\n")];
        assert_eq!(places(openings, &asks), ["crates/proto/src/a.rs:1"]);
        let says =
            [("crates/proto/src/a.rs", "//! The paths that there are.\n//! Which of them.\n\nfn a() {}\n")];
        assert!(places(openings, &says).is_empty());
    }

    #[test]
    fn openings_that_ask_are_told_from_others() {
        let text = "/// Whether it is.\n/// What else.\nfn a() {}\n/// Returns true.\nfn b() {}\n// Why\n/// `How` it is.\nfn c() {}\n\
                    #[cfg(test)]\nmod tests {\n/// Who\nfn d() {}\n}\n";
        let source = Source::new("crates/proto/src/a.rs", text);
        assert_eq!(questions(&source).len(), 1);
        assert_eq!(places(openings, &[("crates/proto/src/a.rs", text)]), ["crates/proto/src/a.rs:1"]);
        assert!(places(openings, &[("crates/xtask/src/a.rs", text)]).is_empty());
    }
}
