//! Only `proto::era` and `proto::bridge` know that protocol versions differ.

use super::{Fault, Repo};
use crate::tidy::lexer::is_word;

const HOME: &[&str] = &["crates/proto/src/era", "crates/proto/src/bridge"];
const HELP: &str =
    "ask proto::era for a constant or a property; put the difference itself into proto/src/era or bridge";

/// Forbids version literals, `is_modern` and `is_legacy` outside of `proto::era` and `proto::bridge`, except in
/// tests.
pub(super) fn versions(repo: &Repo) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in &repo.sources {
        if HOME.iter().any(|home| source.path.starts_with(home)) {
            continue;
        }
        for literal in source.masked.strings.iter().filter(|literal| !source.is_test(literal.at)) {
            if let Some(date) = version(&literal.text) {
                faults.push(Fault::at(
                    source,
                    literal.at,
                    "era-knowledge",
                    format!("the version literal {date}"),
                    HELP,
                ));
            }
        }
        for (at, word) in source
            .words()
            .filter(|(at, word)| matches!(*word, "is_modern" | "is_legacy") && !source.is_test(*at))
        {
            faults.push(Fault::at(source, at, "era-knowledge", format!("`{word}`"), HELP));
        }
    }
    faults
}

/// The first `20YY-MM-DD` that is not part of a longer word. A time stamp (`…T12:00`) is ignored.
fn version(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    (0..bytes.len().saturating_sub(9)).find_map(|at| {
        let date = text.get(at..at + 10)?;
        let shaped = date.starts_with("20")
            && date.bytes().enumerate().all(|(place, byte)| match place {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let alone = !bytes[..at].last().is_some_and(|byte| is_word(*byte))
            && !bytes.get(at + 10).is_some_and(|byte| is_word(*byte));
        (shaped && alone).then_some(date)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;

    #[test]
    fn versions_have_one_home() {
        let text = "//! since 2025-06-18\nconst A: &str = \"2025-06-18\";\nfn f() { if era.is_modern() {} }\nconst T: &str = \"2025-06-18T10:00\";\n\
                    #[cfg(test)]\nmod tests {\n const B: &str = \"2025-06-18\";\n}\n";
        let files = [
            ("crates/engine/src/a.rs", text),
            ("crates/proto/src/era/mod.rs", text),
            ("crates/proto/src/bridge/mod.rs", text),
            ("crates/testkit/src/a.rs", text),
            ("crates/server/tests/a.rs", text),
        ];
        assert_eq!(places(super::versions, &files), ["crates/engine/src/a.rs:2", "crates/engine/src/a.rs:3"]);
    }
}
