//! The transcripts in the repository: they are compared, written on request, and must all be needed.

use std::fs;
use std::path::PathBuf;

use crate::version::Pair;

/// The command that writes them again.
const BLESS: &str = "DRAGOMAN_BLESS=1 cargo test -p dragoman --test eras";

/// Returns true if the actual results are to be written as the expected ones.
pub(crate) fn blessing() -> bool {
    std::env::var_os("DRAGOMAN_BLESS").is_some()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/eras/transcripts")
}

/// Compares the results of both transports with each other and with the transcript of the pair.
pub(crate) fn check(pair: Pair, web: &str, pipes: &str) -> Result<(), String> {
    if web != pipes {
        return Err(format!("{pair}: - over HTTP, + over pipes\n{}", difference(web, pipes)));
    }
    same(&folder().join(format!("{pair}.txt")), web)
}

/// Compares a text with a file, or writes it there.
pub(crate) fn same(path: &PathBuf, text: &str) -> Result<(), String> {
    if blessing() {
        return fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()));
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    if kept == text {
        return Ok(());
    }
    let shown = difference(&kept, text);
    Err(format!("{}: - kept, + found; if that is right: {BLESS}\n{shown}", path.display()))
}

/// The lines in which two texts differ, section by section.
fn difference(old: &str, new: &str) -> String {
    let mut shown = String::new();
    let (old, new) = (sections(old), sections(new));
    let names: Vec<&str> = old.iter().chain(&new).map(|(name, _)| *name).collect();
    let mut done = Vec::new();
    for name in names {
        if done.contains(&name) {
            continue;
        }
        done.push(name);
        let of = |all: &[(&str, Vec<&str>)]| -> Vec<String> {
            let lines = all.iter().filter(|(known, _)| *known == name).flat_map(|(_, lines)| lines);
            lines.map(|line| (*line).to_owned()).collect()
        };
        let (before, after) = (of(&old), of(&new));
        if before == after {
            continue;
        }
        shown.push_str(name);
        shown.push('\n');
        let start = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
        let ends = before[start..].iter().rev().zip(after[start..].iter().rev());
        let end = ends.take_while(|(one, other)| one == other).count();
        let mut show = |sign: char, lines: &[String]| {
            for line in &lines[start..lines.len() - end] {
                shown.push(sign);
                shown.push_str(line);
                shown.push('\n');
            }
        };
        show('-', &before);
        show('+', &after);
    }
    shown
}

/// A text's parts, each with its heading.
fn sections(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = vec![("", Vec::new())];
    for line in text.lines() {
        if line.starts_with("## ") {
            found.push((line, Vec::new()));
        } else if let Some((_, lines)) = found.last_mut() {
            lines.push(line);
        }
    }
    found
}

/// Each pair has a transcript with each feature, and there are no others.
#[test]
fn each_cell_has_a_transcript() {
    if blessing() {
        // Other tests are just writing the other transcripts.
        return;
    }
    let mut files: Vec<String> = fs::read_dir(folder())
        .expect("there are transcripts")
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut wanted: Vec<String> = Pair::all().map(|pair| format!("{pair}.txt")).collect();
    wanted.sort();
    assert_eq!(files, wanted);
    let features: Vec<String> =
        crate::FEATURES.iter().copied().flatten().map(|feature| format!("## {}", feature.name)).collect();
    for file in files {
        let text = fs::read_to_string(folder().join(&file)).expect("it can be read");
        let found: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(found, features, "{file}");
    }
}
