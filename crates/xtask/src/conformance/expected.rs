//! Expected-failures files: `tests/conformance/UPSTREAM-VERSION.yml`, each entry with its reason as a comment.
//!
//! The suite reads them too and refuses stale entries; here they only tell known failures from new ones.

use std::fs;
use std::path::{Path, PathBuf};

/// The failures that one run is known to have.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// The file, when there is one.
    pub(super) file: Option<PathBuf>,
    entries: Vec<String>,
}

impl Expected {
    /// Reads the file of a run; without one, nothing is expected to fail.
    pub(super) fn of(folder: &Path, run: &str) -> Result<Self, String> {
        let file = folder.join(format!("{run}.yml"));
        if !file.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Self { file: Some(file), entries: entries(&text) })
    }

    /// Whether each of these failed checks of a scenario is expected.
    pub(super) fn covers(&self, scenario: &str, failed: &[(String, String)]) -> bool {
        let listed = |entry: &str| self.entries.iter().any(|known| known == entry);
        listed(scenario)
            || (!failed.is_empty() && failed.iter().all(|(check, _)| listed(&format!("{scenario}:{check}"))))
    }
}

fn entries(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
    lines.map(|entry| entry.split(" #").next().unwrap_or(entry).trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Expected, entries};

    #[test]
    fn a_listed_scenario_or_check_is_expected() {
        let text = "server:\n  # why\n  - whole\n  - one:check # why\n";
        let expected = Expected { file: None, entries: entries(text) };
        let failed = |id: &str| vec![(id.to_owned(), String::new())];
        assert!(expected.covers("whole", &failed("any")));
        assert!(expected.covers("one", &failed("check")));
        assert!(!expected.covers("one", &failed("other")));
        assert!(!expected.covers("one", &[]));
    }
}
