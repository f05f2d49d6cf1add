//! The licences of everything in the program: each text once, with the crates to which it applies.

use crate::root;
use crate::run::Log;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The beginnings of the names of licence files, and of notices that must stay with the program.
const BEGINNINGS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

/// The parts of the program that are not crates, with their licence files.
const OTHERS: [(&str, &str); 2] =
    [("htmx", "crates/pages/assets/htmx.LICENSE"), ("Lucide icons", "crates/pages/icons/LICENSE")];

/// The text of the file `LICENSES.txt`.
pub(super) fn text(log: &Log) -> Result<String, String> {
    let linked = linked(log)?;
    let mut command = Command::new("cargo");
    command.args(["metadata", "--format-version", "1", "--locked"]).current_dir(root::checkout());
    let output = command.output().map_err(|error| format!("`cargo metadata` did not start: {error}"))?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut without = BTreeSet::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let field = |name: &str| package[name].as_str().unwrap_or_default();
        let id = format!("{} {}", field("name"), field("version"));
        if !linked.contains(&id) {
            continue;
        }
        let folder = Path::new(field("manifest_path")).with_file_name("");
        let found = files(&folder);
        if found.is_empty() {
            without.insert(format!("{id}: {}", field("license")));
        }
        for text in found {
            texts.entry(text).or_default().insert(id.clone());
        }
    }
    for (name, path) in OTHERS {
        texts.entry(crate::files::template(path)?.trim().to_owned()).or_default().insert(name.to_owned());
    }
    Ok(document(&texts, &without))
}

/// The crates that are linked into the program, as `NAME VERSION`. Crates that are used only during the build are
/// not in the program.
fn linked(log: &Log) -> Result<BTreeSet<String>, String> {
    let tree = ["tree", "--locked", "--package", "dragoman", "--edges", "normal", "--prefix", "none"];
    let mut command = Command::new("cargo");
    command
        .args(tree)
        .args(["--format", "{p}", "--target", super::release::TARGET])
        .current_dir(root::checkout());
    let said = log.run(&mut command)?;
    let id = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        Some(format!("{name} {}", words.next()?.strip_prefix('v')?))
    };
    // Our own crates have the licences of the whole.
    Ok(said.lines().filter_map(id).filter(|id| !id.starts_with("dragoman")).collect())
}

/// The licence texts in a crate's folder, and in the folders directly in it: a crate that contains C sources has
/// their licences there.
fn files(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    let below = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    for folder in below.chain([folder.to_path_buf()]) {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().to_uppercase();
            if BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) {
                texts.extend(fs::read_to_string(entry.path()).map(|text| text.trim().to_owned()));
            }
        }
    }
    texts
}

fn document(texts: &BTreeMap<String, BTreeSet<String>>, without: &BTreeSet<String>) -> String {
    let mut all = String::from(
        "Dragoman is licensed under MIT or Apache-2.0, at your option. It contains the following works of others, each under the licence \
         below its name.\n",
    );
    for line in without {
        all.extend(["\n", line]);
    }
    for (text, names) in texts {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        all.extend(["\n\n", &"=".repeat(80), "\n", &names.join(", "), "\n\n", text]);
    }
    all.push('\n');
    all
}

#[cfg(test)]
mod tests {
    use super::document;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn a_text_stands_once_with_all_its_works() {
        let works = BTreeSet::from(["a 1".to_owned(), "b 2".to_owned()]);
        let said = document(
            &BTreeMap::from([("The terms".to_owned(), works)]),
            &BTreeSet::from(["c 3: MIT".to_owned()]),
        );
        assert_eq!(said.matches("The terms").count(), 1);
        assert!(said.contains("a 1, b 2\n\nThe terms") && said.contains("c 3: MIT"), "{said}");
    }
}
