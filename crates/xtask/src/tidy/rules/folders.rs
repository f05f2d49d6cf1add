//! Every source folder is in the code map of ARCHITECTURE.md.

use super::{Fault, Repo};
use std::collections::BTreeSet;

const MAP: &str = "ARCHITECTURE.md";

/// Checks that every folder `crates/CRATE/src/FOLDER` is named in the map, either as `CRATE/src/FOLDER`, or
/// as `FOLDER/` under a heading that names `CRATE`.
pub(super) fn mapped(repo: &Repo) -> Vec<Fault> {
    let fault = |what: String| Fault {
        path: MAP.to_owned(),
        line: 1,
        rule: "code-map",
        what,
        help: "add a line to the code map: what the folder is for and what it must not know",
    };
    let Some(map) = repo.text(MAP) else { return vec![fault("the file is missing".to_owned())] };
    let folders: BTreeSet<(&str, &str)> =
        repo.sources.iter().filter_map(|source| folder(&source.path)).collect();
    let missing = folders.into_iter().filter(|(krate, folder)| !names(map, krate, folder));
    missing.map(|(krate, folder)| fault(format!("crates/{krate}/src/{folder} is not named"))).collect()
}

fn folder(path: &str) -> Option<(&str, &str)> {
    let (krate, inside) = path.strip_prefix("crates/")?.split_once("/src/")?;
    Some((krate, inside.split_once('/')?.0))
}

fn names(map: &str, krate: &str, folder: &str) -> bool {
    if map.contains(&format!("{krate}/src/{folder}")) {
        return true;
    }
    let mut here = false;
    for line in map.lines() {
        if line.starts_with('#') {
            here = line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == krate);
        }
        let names_it = line
            .split(|c: char| c.is_whitespace() || "`|,│├└─()".contains(c))
            .any(|word| word == format!("{folder}/"));
        if here && names_it {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;

    const FILES: [(&str, &str); 3] = [
        ("crates/proto/src/lib.rs", ""),
        ("crates/proto/src/era/mod.rs", ""),
        ("crates/engine/src/era/x/mod.rs", ""),
    ];

    fn with(map: &str) -> usize {
        let mut files = FILES.to_vec();
        files.push((super::MAP, map));
        places(super::mapped, &files).len()
    }

    #[test]
    fn a_folder_missing_from_the_map_is_found() {
        assert_eq!(places(super::mapped, &FILES), ["ARCHITECTURE.md:1"]);
        assert_eq!(with("# Map"), 2);
        assert_eq!(with("### `proto`\n| `era/` | x |\n### engine\n"), 1);
        assert_eq!(with("`proto/src/era` and crates/engine/src/era"), 0);
    }
}
