//! Every test that docs/security.md names exists, and every row in a table of promises names one.

use std::collections::HashSet;

use super::{Fault, Repo};

const PAGE: &str = "docs/security.md";
const HELP: &str = "name the test that holds the promise, as its function is called";

/// Checks that the page names tests, and that these exist.
pub(super) fn held(repo: &Repo) -> Vec<Fault> {
    let page = repo.texts.iter().find(|(path, _)| path == PAGE).map_or("", |(_, text)| text.as_str());
    let functions: HashSet<&str> =
        repo.sources.iter().flat_map(|source| functions(&source.masked.code)).collect();
    let mut faults = Vec::new();
    let mut held_rows = false;
    for (index, line) in page.lines().enumerate() {
        let fault = |what: String| Fault {
            path: PAGE.to_owned(),
            line: index + 1,
            rule: "promises",
            what,
            help: HELP,
        };
        let names: Vec<&str> = line.split('`').skip(1).step_by(2).filter(|word| is_test(word)).collect();
        let gone = names.iter().filter(|name| !functions.contains(*name));
        faults.extend(gone.map(|name| fault(format!("there is no function {name}"))));
        if !line.starts_with('|') {
            held_rows = false;
        } else if line.ends_with("| held by |") {
            held_rows = true;
        } else if held_rows && !line.starts_with("|---") && names.is_empty() && !names_another(line) {
            faults.push(fault("this promise names no test".to_owned()));
        }
    }
    faults
}

/// Returns true if `word` can be the name of a test: such a name consists of at least three words.
fn is_test(word: &str) -> bool {
    word.matches('_').count() > 1
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Returns true for a row that names its test in another form: it refers to the row above, to a test whose name is
/// one word, or to a script.
fn names_another(line: &str) -> bool {
    let last = line.trim_end_matches('|').rsplit('|').next().unwrap_or_default().trim();
    last == "the same" || last.contains(".rs`: `") || last.contains(".mjs`")
}

fn functions(code: &str) -> impl Iterator<Item = &str> {
    code.split("fn ").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::PAGE;

    #[test]
    fn a_promise_names_a_test_that_is_there() {
        let page = "# S\n\nSee (`x.rs`: `a_test_that_is_there`, `a_test_that_is_not`).\n\n| what | held by |\n|---|---|\n\
                    | a | `x.rs`: `a_test_that_is_there` |\n| b | the same |\n| c | nobody |\n| d | `gone_with_the_wind` |\n\n| e | f |\n";
        let code = "//! X.\n#[test]\nfn a_test_that_is_there() {}\n";
        let found = places(super::held, &[(PAGE, page), ("crates/a/src/x.rs", code)]);
        assert_eq!(found, ["docs/security.md:3", "docs/security.md:9", "docs/security.md:10"]);
    }
}
