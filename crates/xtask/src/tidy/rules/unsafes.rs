//! Every `unsafe` is listed with its reason in a table of docs/security.md, and the table has no other
//! entries.

use std::collections::BTreeMap;

use super::{Fault, Repo};
use crate::tidy::lexer::is_word;

const PAGE: &str = "docs/security.md";
const HEAD: &str = "| file | `unsafe` | what for, and why it is sound |";
const HELP: &str =
    "list each `unsafe` in the table of docs/security.md: file, how many, what for and why it is sound";

/// Checks that the table states the same number of `unsafe` for each file as the code contains.
pub(super) fn listed(repo: &Repo) -> Vec<Fault> {
    let mut listed = table(repo);
    let mut faults = Vec::new();
    for source in &repo.sources {
        let places = uses(&source.masked.code);
        let (line, count) = listed.remove(source.path.as_str()).unwrap_or((0, 0));
        if let Some(first) = places.first().filter(|_| count != places.len()) {
            let what = format!("{} times `unsafe`, and {count} in the table", places.len());
            faults.push(Fault::at(source, *first, "unsafe", what, HELP));
        } else if places.is_empty() && line > 0 {
            faults.push(stale(line, &source.path));
        }
    }
    faults.extend(listed.into_iter().map(|(path, (line, _))| stale(line, path)));
    faults
}

fn stale(line: usize, path: &str) -> Fault {
    let what = format!("{path} has no `unsafe`");
    Fault { path: PAGE.to_owned(), line, rule: "unsafe", what, help: HELP }
}

/// For each file in the table: the line of its first row, and the sum of the numbers in its rows. Rows without a
/// reason are not counted.
fn table(repo: &Repo) -> BTreeMap<&str, (usize, usize)> {
    let mut listed = BTreeMap::new();
    let page = repo.texts.iter().find(|(path, _)| path == PAGE).map_or("", |(_, text)| text.as_str());
    let lines = page.lines().enumerate().skip_while(|(_, line)| *line != HEAD).skip(2);
    for (index, line) in lines.take_while(|(_, line)| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [path, count, reason] = cells[..] else { continue };
        let count = count.parse().ok().filter(|_| reason.len() > 20).unwrap_or(0);
        listed.entry(path.trim_matches('`')).or_insert((index + 1, 0)).1 += count;
    }
    listed
}

/// The positions of the word in the code.
fn uses(code: &str) -> Vec<usize> {
    let whole = |at: usize| {
        let around = [code[..at].bytes().next_back(), code.as_bytes().get(at + 6).copied()];
        !around.into_iter().flatten().any(is_word)
    };
    code.match_indices("unsafe").map(|(at, _)| at).filter(|at| whole(*at)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::{HEAD, PAGE};

    #[test]
    fn the_table_and_the_code_say_the_same() {
        let reason = "calls a function that takes no pointers";
        let page = format!(
            "# Security\n\n{HEAD}\n|---|--:|---|\n| `crates/a/src/x.rs` | 1 | {reason} |\n| `crates/a/src/x.rs` | 1 | {reason} |\n\
             | `crates/a/src/y.rs` | 1 | none |\n| `crates/a/src/gone.rs` | 1 | {reason} |\n\n| `crates/a/src/z.rs` | 1 | {reason} |\n"
        );
        let files = [
            (PAGE, page.as_str()),
            (
                "crates/a/src/x.rs",
                "#![allow(unsafe_code)]\nunsafe { a() };\n// unsafe\nunsafe { b(\"unsafe\") };\n",
            ),
            ("crates/a/src/y.rs", "\nunsafe fn f() {}\n"),
            ("crates/a/src/z.rs", "unsafe impl A for B {}\n"),
        ];
        assert_eq!(
            places(super::listed, &files),
            ["crates/a/src/y.rs:2", "crates/a/src/z.rs:1", "docs/security.md:8"]
        );
    }
}
