//! The checkout as the rules see it: every file that is or will be tracked, read once.

use super::Source;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The maximum size of a checked file; larger files are data, to which no rule applies.
const LARGEST: u64 = 4 << 20;

/// All files that the rules check.
#[derive(Debug, Default)]
pub(crate) struct Repo {
    /// Rust files under `crates/`.
    pub(crate) sources: Vec<Source>,
    /// Every text file, as path and text.
    pub(crate) texts: Vec<(String, String)>,
}

impl Repo {
    /// Reads the files in `top` that git tracks or would track.
    pub(crate) fn read(top: &Path) -> Result<Self, String> {
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(top)
            .output()
            .map_err(|error| format!("git ls-files: {error}"))?;
        if !listed.status.success() {
            return Err(format!("git ls-files: {}", String::from_utf8_lossy(&listed.stderr).trim()));
        }
        let paths = String::from_utf8_lossy(&listed.stdout).into_owned();
        let mut texts = Vec::new();
        for path in paths.split('\0').filter(|path| !path.is_empty()) {
            let file = top.join(path);
            // The file is tracked but deleted in the work tree, a link, or plain data, so the rules do not
            // apply to it.
            if !file.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST) {
                continue;
            }
            let bytes = std::fs::read(&file).map_err(|error| format!("{path}: {error}"))?;
            if let Ok(text) = String::from_utf8(bytes) {
                texts.push((path.to_owned(), text));
            }
        }
        Ok(Self::from_texts(texts))
    }

    /// Creates a checkout from texts in memory.
    pub(crate) fn from_texts(texts: Vec<(String, String)>) -> Self {
        let is_rust = |path: &str| {
            path.starts_with("crates/") && Path::new(path).extension().is_some_and(|it| it == "rs")
        };
        let mut sources: Vec<Source> = texts
            .iter()
            .filter(|(path, _)| is_rust(path))
            .map(|(path, text)| Source::new(path, text))
            .collect();
        let test_files: BTreeSet<String> = sources.iter().flat_map(test_files).collect();
        for source in &mut sources {
            if test_files.contains(&source.path) {
                source.mark_as_test();
            }
        }
        Self { sources, texts }
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.texts.iter().find(|(name, _)| name == path).map(|(_, text)| text.as_str())
    }
}

/// The possible files of `#[cfg(test)] mod name;` in this source.
fn test_files(source: &Source) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let folder = match file {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        _ => format!("{folder}/{}", file.trim_end_matches(".rs")),
    };
    let both = |name: String| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")];
    source.test_modules().into_iter().flat_map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::Repo;

    #[test]
    fn a_module_declared_for_tests_is_a_test() {
        let text = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        let repo = Repo::from_texts(vec![
            text("crates/proto/src/a.rs", "#[cfg(test)]\nmod cases;\nmod b;"),
            text("crates/proto/src/a/b.rs", "fn b() {}"),
            text("crates/proto/src/a/cases.rs", "fn c() {}"),
            text("README.md", "# x"),
        ]);
        let tests: Vec<_> = repo
            .sources
            .iter()
            .filter(|source| source.is_test(0))
            .map(|source| source.path.as_str())
            .collect();
        assert_eq!(tests, ["crates/proto/src/a.rs", "crates/proto/src/a/cases.rs"]);
        assert_eq!(repo.text("README.md"), Some("# x"));
    }
}
