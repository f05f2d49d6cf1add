//! The documentation says what is so: its configurations are accepted, and its table of limits is the one in the code.

#![expect(
    clippy::disallowed_methods,
    reason = "the test, not the engine, reads and writes the documentation"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use dragoman_engine::config::{Limits, Lookup, load};

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and everything below `docs`, with their names.
fn pages() -> Vec<(String, String)> {
    let docs = fs::read_dir(checkout().join("docs")).expect("there is a folder docs");
    let mut paths: Vec<PathBuf> = docs.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.push(checkout().join("README.md"));
    paths.sort();
    let page = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("it can be read");
        (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), text)
    };
    paths.into_iter().map(page).collect()
}

/// The fenced blocks of a language, with the line that each begins in.
fn blocks(page: &str, language: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut inside: Option<(usize, String)> = None;
    let mut lines = page.lines().enumerate();
    for (number, line) in &mut lines {
        match &mut inside {
            None if line.trim_start() == format!("```{language}") => {
                inside = Some((number + 2, String::new()));
            }
            None => {}
            Some(_) if line.trim_start().starts_with("```") => found.extend(inside.take()),
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    found
}

/// What stands for anything that is filled in: long enough for a token.
const VALUE: &str = "a-value-of-some-length";

#[test]
fn every_configuration_in_the_documentation_is_accepted() {
    let lookup = Lookup { env: &|_| Some(VALUE.to_owned()), file: &|_| Ok(VALUE.to_owned()) };
    let mut seen = 0;
    for (name, page) in pages() {
        for (line, text) in blocks(&page, "yaml") {
            seen += 1;
            match load(&text, &name, &lookup) {
                Ok(loaded) => {
                    assert!(loaded.notes.is_empty(), "{name}, block at line {line}: {:?}", loaded.notes);
                    assert!(
                        !loaded.config.mcp_servers.is_empty(),
                        "{name}, block at line {line}: no servers"
                    );
                }
                Err(faults) => panic!("{name}, block at line {line}:\n{faults}"),
            }
        }
    }
    assert!(seen >= 4, "only {seen} configurations were found");
}

#[test]
fn the_table_of_limits_is_up_to_date() {
    const BEGIN: &str = "--test docs -->\n";
    const END: &str = "<!-- end -->";
    let path = checkout().join("docs/configuration.md");
    let page = fs::read_to_string(&path).expect("it can be read");
    let (head, rest) = page.split_once(BEGIN).expect("the table's beginning is marked");
    let (table, tail) = rest.split_once(END).expect("the table's end is marked");
    let mut wanted = "| key | means | default | from | to |\n|---|---|--:|--:|--:|\n".to_owned();
    for row in Limits::ROWS {
        let show = |value| row.unit.show(value);
        let (about, default) = (row.about.trim().trim_end_matches('.'), show(row.default));
        let (least, most) = (show(row.least), show(row.most));
        let _ = writeln!(wanted, "| `{}` | {about} | {default} | {least} | {most} |", row.key);
    }
    if std::env::var_os("DRAGOMAN_BLESS").is_some() {
        fs::write(&path, format!("{head}{BEGIN}{wanted}{END}{tail}")).expect("it can be written");
    } else {
        assert!(
            table == wanted,
            "docs/configuration.md has another table of limits; run: DRAGOMAN_BLESS=1 cargo test -p dragoman-engine --test docs"
        );
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    for (name, page) in pages() {
        let folder = if name == "README.md" { checkout() } else { checkout().join("docs") };
        for target in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or_default();
            if !path.is_empty() && !path.contains("://") {
                assert!(folder.join(path).exists(), "{name} links to {target}, which is not there");
            }
        }
    }
}

#[test]
fn every_dependency_is_explained() {
    let page = fs::read_to_string(checkout().join("ARCHITECTURE.md")).expect("it can be read");
    let section = page.split("\n## Dependencies").nth(1).and_then(|rest| rest.split("\n## ").next());
    let table = section.expect("there is a section on dependencies");
    let explained: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .flat_map(|names| names.split(", "))
        .collect();
    let ours = ["engine", "native", "proto", "store", "testkit", "transport", "upstream"];
    for entry in fs::read_dir(checkout().join("crates")).expect("there are crates") {
        let path = entry.expect("it can be listed").path().join("Cargo.toml");
        let manifest = fs::read_to_string(&path).expect("it can be read");
        let mut listed = false;
        for line in manifest.lines() {
            if line.starts_with('[') {
                listed = line.ends_with("dependencies]");
                continue;
            }
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if listed && !name.is_empty() && !name.starts_with('#') && !ours.contains(&name) {
                assert!(
                    explained.contains(&name),
                    "{}: {name} is not explained in ARCHITECTURE.md",
                    path.display()
                );
            }
        }
    }
}
