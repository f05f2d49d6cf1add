//! `docs/dialects.md`, printed from the transcripts (each rule with the file that shows it) and from the table of columns.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::file::File;
use crate::systems::{OPEN, SYSTEMS};

/// The text before the tables.
const INTRODUCTION: &str = include_str!("introduction.md");

fn page(files: &[File]) -> String {
    let mut text = INTRODUCTION.to_owned();
    for system in SYSTEMS {
        let _ = write!(text, "\n## {}\n\n{}\n\n", system.preset, system.about);
        text.push_str("| | rule | shown by |\n|---|---|---|\n");
        let of = |prefix: String| files.iter().filter(move |file| file.name.starts_with(&prefix));
        for file in of(format!("S{}-", system.number)).chain(of(format!("D{}-", system.number))) {
            let File { name, rule, .. } = file;
            let path = format!("../crates/server/tests/dialects/transcripts/{name}.txt");
            let open = OPEN.iter().find(|(rule, _)| rule == name);
            let rule = open.map_or(rule.clone(), |(_, why)| format!("{rule} **Not in full: {why}.**"));
            let _ = writeln!(text, "| {name} | {} | [{name}.txt]({path}) |", rule.replace('|', "\\|"));
        }
    }
    text.push_str(&crate::own::print());
    text
}

/// The page matches the transcripts.
#[test]
fn the_page_shows_the_rules() {
    let (files, _) = File::all();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/dialects.md");
    let text = page(&files);
    if std::env::var_os("DRAGOMAN_BLESS").is_some() {
        fs::write(&path, text).expect("it can be written");
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let hint = "DRAGOMAN_BLESS=1 cargo test -p dragoman --test dialects page";
    assert!(kept == text, "{} is not what the transcripts say; if they are right: {hint}", path.display());
}
