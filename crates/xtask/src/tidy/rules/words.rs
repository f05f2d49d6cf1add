//! Words that are meaningless as names, and unfinished code.

use super::{Fault, Repo, Source};

const EMPTY_NAMES: &[&str] = &["manager", "managers", "helper", "helpers", "util", "utils"];
const UNFINISHED: &[&str] = &["todo", "unimplemented", "dbg"];
const UNFINISHED_NOTES: &[&str] = &["TODO", "FIXME", "XXX"];
/// Keywords before the name of a new item. Other names are not checked, because they may come from other crates.
const GIVES_A_NAME: &[&str] = &["fn", "struct", "enum", "trait", "mod", "type", "const", "static", "let"];
const NAME_IT: &str = "name it by what it does or holds";
const FINISH_IT: &str = "finish it, or remove it";

/// Forbids meaningless names, unfinished code and skipped tests.
pub(super) fn checked(repo: &Repo) -> Vec<Fault> {
    repo.sources
        .iter()
        .flat_map(|source| [names(source), unfinished(source), notes(source)].concat())
        .collect()
}

fn names(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Some(word) = source.path.split(['/', '.', '_', '-']).find_map(empty) {
        faults.push(Fault::at(source, 0, "empty-name", format!("the path says `{word}`"), NAME_IT));
    }
    let mut before = "";
    for (at, word) in source.words() {
        if GIVES_A_NAME.contains(&before)
            && let Some(said) = parts(word).into_iter().find_map(empty)
        {
            faults.push(Fault::at(source, at, "empty-name", format!("`{word}` says `{said}`"), NAME_IT));
        }
        before = word;
    }
    faults
}

fn empty(word: &str) -> Option<&'static str> {
    EMPTY_NAMES.iter().find(|empty| word.eq_ignore_ascii_case(empty)).copied()
}

/// The words of a name in snake or camel case.
fn parts(name: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let bytes = name.as_bytes();
    starts.extend(
        (1..bytes.len()).filter(|&at| bytes[at].is_ascii_uppercase() && !bytes[at - 1].is_ascii_uppercase()),
    );
    starts.push(bytes.len());
    starts.windows(2).flat_map(|pair| name[pair[0]..pair[1]].split('_')).collect()
}

fn unfinished(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (at, word) in source.words() {
        if UNFINISHED.contains(&word) && source.after(at + word.len()).starts_with('!') {
            faults.push(Fault::at(source, at, "unfinished", format!("`{word}!`"), FINISH_IT));
        }
        if word == "ignore" && source.masked.code[..at].ends_with("#[") {
            faults.push(Fault::at(source, at, "unfinished", "a skipped test".to_owned(), FINISH_IT));
        }
    }
    faults
}

fn notes(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    for comment in &source.masked.comments {
        let mut words = comment.text.split(|c: char| !c.is_alphanumeric() && c != '`' && c != '_');
        if let Some(word) = words.find(|word| UNFINISHED_NOTES.contains(word)) {
            faults.push(Fault::at(source, comment.at, "unfinished", format!("a note `{word}`"), FINISH_IT));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;

    fn lines(text: &str) -> Vec<String> {
        places(super::checked, &[("crates/proto/src/a.rs", text)])
    }

    #[test]
    fn empty_names_are_found() {
        let text =
            "use hyper_util::rt;\nstruct PoolManager;\nfn read_helper() {}\nfn utilise() {}\nmod utils {}\n";
        assert_eq!(
            lines(text),
            ["crates/proto/src/a.rs:2", "crates/proto/src/a.rs:3", "crates/proto/src/a.rs:5"]
        );
        assert_eq!(
            places(super::checked, &[("crates/proto/src/json_utils.rs", "")]),
            ["crates/proto/src/json_utils.rs:1"]
        );
    }

    #[test]
    fn unfinished_code_is_found() {
        let text = "fn a() { todo!() }\nfn b() { dbg! (1); \"todo!\"; }\nfn c() { unimplemented!() }\n#[ignore = \"slow\"]\nfn d() {}\n// TODO: e\n";
        assert_eq!(lines(text).len(), 5, "{:?}", lines(text));
        assert_eq!(lines("fn todo() {} // `TODO` is banned\nlet dbg = ignore;"), Vec::<String>::new());
    }
}
