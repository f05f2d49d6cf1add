//! Every module states its purpose in its first lines.

use super::{Fault, Repo};

/// Checks that every file under `src` opens with `//!`, except for files that contain only tests.
pub(super) fn documented(repo: &Repo) -> Vec<Fault> {
    let bare = repo.sources.iter().filter(|source| {
        let only_tests = source.path.ends_with("tests.rs") || source.path.contains("/tests/");
        !only_tests && !source.text.trim_start_matches('\u{feff}').trim_start().starts_with("//!")
    });
    bare.map(|source| Fault {
        path: source.path.clone(),
        line: 1,
        rule: "module-head",
        what: "the module does not open with `//!`".to_owned(),
        help: "say in a line or two what it is for and what it must not know",
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;

    #[test]
    fn a_module_without_a_head_is_found() {
        let files = [
            ("crates/proto/src/a.rs", "\n//! For this."),
            ("crates/proto/src/b.rs", "// no head\nuse x;"),
            ("crates/proto/src/tests.rs", "use super::*;"),
        ];
        assert_eq!(places(super::documented, &files), ["crates/proto/src/b.rs:1"]);
    }
}
