//! Expected-failures files: `tests/conformance/UPSTREAM-VERSION.yaml`, each entry with its reason as a comment.
//!
//! The suite reads them, too, and rejects stale entries; here they only distinguish known failures from new ones.
//! Scenarios that the suite passes without having tested anything are listed in `untried.txt`, whose stale entries are
//! detected here.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The known failures of one run.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// The file, if there is one.
    pub(super) file: Option<PathBuf>,
    entries: Vec<String>,
    untried: Vec<String>,
}

impl Expected {
    /// Reads the files of a run; without one, no failure is expected.
    pub(super) fn of(folder: &Path, upstream: &str, version: &str) -> Result<Self, String> {
        let read = |file: &Path| match fs::read_to_string(file) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{}: {error}", file.display())),
        };
        let file = folder.join(format!("{upstream}-{version}.yaml"));
        let listed = read(&file)?;
        let untried = read(&folder.join("untried.txt"))?.unwrap_or_default();
        Ok(Self {
            entries: listed.as_deref().map(entries).unwrap_or_default(),
            file: listed.is_some().then_some(file),
            untried: [upstream, "any"]
                .iter()
                .flat_map(|upstream| untried_in(&untried, &format!("{upstream} {version} ")))
                .collect(),
        })
    }

    /// Returns true if the suite is known to test nothing in this scenario.
    pub(super) fn untried(&self, scenario: &str) -> bool {
        self.untried.iter().any(|known| known == scenario)
    }

    /// Returns true if all of these failed checks of a scenario are expected.
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

/// The scenarios in the lines that begin with the name of a run.
fn untried_in(text: &str, run: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| Some(line.strip_prefix(run)?.split(':').next()?.trim().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Expected, entries, untried_in};

    #[test]
    fn a_listed_scenario_or_check_is_expected() {
        let text = "server:\n  # why\n  - whole\n  - one:check # why\n";
        let expected = Expected { entries: entries(text), ..Expected::default() };
        let failed = |id: &str| vec![(id.to_owned(), String::new())];
        assert!(expected.covers("whole", &failed("any")));
        assert!(expected.covers("one", &failed("check")));
        assert!(!expected.covers("one", &failed("other")));
        assert!(!expected.covers("one", &[]));
    }

    #[test]
    fn untried_scenarios_are_those_of_their_run() {
        let text = "# UPSTREAM VERSION\nstdio 2025-11-25 one: why\nhttp 2025-11-25 two: why\n";
        assert_eq!(untried_in(text, "stdio 2025-11-25 "), ["one"]);
    }
}
