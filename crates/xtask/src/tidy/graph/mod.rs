//! The imports between the files of a crate: the graph for the rule about circles. This module must not know any
//! rule.
//!
//! | file | is for |
//! |---|---|
//! | [`paths`] | the `use` lines and the inline paths of one file |
//! | [`modules`] | a crate's modules, and the meaning of a path in one of them |
//! | `components` | strongly connected components of a graph |
//!
//! Re-exports are followed: importing a name means importing the file that defines it. `mod` and `pub use` lines do
//! not count as imports, and neither do the imports of tests.

mod components;
mod modules;
mod paths;

pub(super) use components::components;

use super::{Repo, Source};
use modules::Modules;
use std::collections::BTreeMap;

/// One import: a name in one file that another file of the crate defines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Import {
    /// The path of the importing file, relative to the top of the checkout.
    pub(super) from: String,
    /// The path of the file that defines the name.
    pub(super) to: String,
    /// The line of the import, from 1.
    pub(super) line: usize,
    /// The path as written in the importing file.
    pub(super) path: String,
}

/// All imports between files of one crate, by crate.
pub(super) fn imports(repo: &Repo) -> BTreeMap<String, Vec<Import>> {
    let mut crates: BTreeMap<String, Vec<&Source>> = BTreeMap::new();
    for source in &repo.sources {
        // Files outside of `src` are tests, and the imports of files that only contain tests do not count.
        if source.path.starts_with(&format!("crates/{}/src/", source.krate())) && !source.is_test_code(0) {
            crates.entry(source.krate().to_owned()).or_default().push(source);
        }
    }
    crates.into_iter().map(|(name, sources)| (name, of_crate(&sources))).collect()
}

fn of_crate(sources: &[&Source]) -> Vec<Import> {
    let modules = Modules::new(sources);
    let mut imports = Vec::new();
    for (source, uses) in modules.files() {
        for written in uses.imports().filter(|written| modules.counts(source, written)) {
            let Some(to) = modules.defining_file(source, &written.segments) else { continue };
            if to != source.path {
                imports.push(Import {
                    from: source.path.clone(),
                    to: to.to_owned(),
                    line: source.line(written.at),
                    path: written.segments.join("::"),
                });
            }
        }
    }
    imports.sort();
    imports.dedup();
    imports
}

#[cfg(test)]
mod tests {
    use super::imports;
    use crate::tidy::Repo;

    fn edges(files: &[(&str, &str)]) -> Vec<(String, String, usize)> {
        let texts = files
            .iter()
            .map(|(path, text)| (format!("crates/proto/src/{path}"), (*text).to_owned()))
            .collect();
        let short = |path: &str| path.trim_start_matches("crates/proto/src/").to_owned();
        imports(&Repo::from_texts(texts))
            .remove("proto")
            .unwrap_or_default()
            .into_iter()
            .map(|import| (short(&import.from), short(&import.to), import.line))
            .collect()
    }

    fn edge(from: &str, to: &str, line: usize) -> (String, String, usize) {
        (from.to_owned(), to.to_owned(), line)
    }

    #[test]
    fn uses_and_inline_paths_lead_to_the_file_that_defines_the_name() {
        let found = edges(&[
            ("lib.rs", "mod a;\nmod b;"),
            (
                "a.rs",
                "use crate::b::c::{self, D as E};\nuse super::b::f;\nfn g() { crate::b::h(); c::i(); f() }",
            ),
            ("b/mod.rs", "mod c;\npub fn f() {}\npub fn h() {}"),
            ("b/c.rs", "pub struct D;\npub fn i() {}"),
        ]);
        assert_eq!(
            found,
            [
                edge("a.rs", "b/c.rs", 1),
                edge("a.rs", "b/c.rs", 3),
                edge("a.rs", "b/mod.rs", 2),
                edge("a.rs", "b/mod.rs", 3),
            ]
        );
    }

    #[test]
    fn re_exports_are_looked_through_and_are_no_imports_themselves() {
        let found = edges(&[
            ("lib.rs", "pub mod a;\npub mod b;\npub use a::One;\npub use b::*;"),
            ("a.rs", "pub use self::deep::One;\nmod deep;"),
            ("a/deep.rs", "use crate::Two;\npub struct One;"),
            ("b.rs", "use super::One;\npub struct Two;"),
        ]);
        assert_eq!(found, [edge("a/deep.rs", "b.rs", 1), edge("b.rs", "a/deep.rs", 1)]);
    }

    #[test]
    fn tests_texts_and_other_crates_do_not_count() {
        let found = edges(&[
            ("lib.rs", "mod a;\nmod b;"),
            (
                "a.rs",
                "//! [`crate::b::x`]\nuse std::b::c;\nuse serde::b;\nfn f() { \"crate::b::x\"; Some::b(x.b::<u8>()) }\n\
                 #[cfg(test)]\nmod tests { use crate::b::x; }",
            ),
            ("b.rs", "pub fn x() {}\n#[cfg(test)]\nmod tests;"),
            ("b/tests.rs", "use crate::a::f;"),
        ]);
        assert_eq!(found, []);
    }
}
