//! Calls of the suite's own command line.

use crate::run::Log;
use crate::tools::Node;
use std::path::Path;
use std::process::Command;

const MAIN: &str = "@modelcontextprotocol/conformance/dist/index.js";
/// The time limit per scenario; the longest take a few seconds.
const SCENARIO_MS: &str = "20000";

/// The installed suite.
#[derive(Debug, Clone, Copy)]
pub(super) struct Suite<'a> {
    pub(super) node: &'a Node,
    pub(super) log: &'a Log,
}

/// The scenarios of one call of the suite.
#[derive(Debug, Clone, Copy)]
pub(super) enum Selection<'a> {
    /// Every scenario of a protocol version, including pending ones.
    Sweep(&'a str),
    /// Exactly the scenarios that a revision requires.
    Requirements(&'a str),
    /// One scenario at one version.
    One(&'a str, &'a str),
    /// One scenario of an extension.
    Extension(&'a str),
}

impl Suite<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new(self.node.program());
        command.arg(self.node.module(MAIN));
        command
    }

    /// All server scenarios, with the protocol versions for which they exist.
    pub(super) fn server_scenarios(&self) -> Result<Vec<(String, Vec<String>)>, String> {
        let said = self.log.run(self.command().args(["list", "--server"]))?;
        Ok(said.lines().filter_map(listed).collect())
    }

    /// The server scenarios that a revision requires.
    pub(super) fn required(&self, revision: &str) -> Result<Vec<String>, String> {
        let said = self.log.run(self.command().args(["list", "--server", "--requirements", revision]))?;
        Ok(scored_for_servers(&said)
            .lines()
            .filter_map(|line| Some(line.trim().strip_prefix("- ")?.split(' ').next()?.to_owned()))
            .collect())
    }

    /// Runs server scenarios against a URL; returns true if the suite passed, and its output.
    pub(super) fn server(
        &self,
        url: &str,
        selection: Selection<'_>,
        expected: Option<&Path>,
        results: &Path,
    ) -> Result<(bool, String), String> {
        let mut command = self.command();
        command.args(["server", "--url", url, "--timeout", SCENARIO_MS, "--output-dir"]).arg(results);
        match selection {
            Selection::Sweep(version) => command.args(["--suite", "all", "--spec-version", version]),
            Selection::Requirements(revision) => command.args(["--requirements", revision]),
            Selection::One(scenario, version) => {
                command.args(["--scenario", scenario, "--spec-version", version])
            }
            Selection::Extension(scenario) => command.args(["--scenario", scenario]),
        };
        if let Some(file) = expected {
            command.arg("--expected-failures").arg(file);
        }
        self.log.status(&mut command)
    }

    /// Runs one client scenario with a command that gets the mock server's URL as its last argument.
    pub(super) fn client(
        &self,
        driver: &str,
        scenario: &str,
        version: &str,
        dragoman: &Path,
        results: &Path,
    ) -> Result<(bool, String), String> {
        let mut command = self.command();
        command.args(["client", "--command", driver, "--scenario", scenario, "--spec-version", version]);
        command.args(["--timeout", SCENARIO_MS, "--output-dir"]).arg(results).env("DRAGOMAN", dragoman);
        self.log.status(&mut command)
    }
}

/// The part of a list of requirements that contains the scored scenarios for servers.
fn scored_for_servers(said: &str) -> &str {
    ["Run and reported", "Client scenarios"]
        .iter()
        .fold(said, |said, end| said.split(end).next().unwrap_or(said))
}

/// Splits a line such as `  - tools-list [2025-06-18,2025-11-25]` into the name and the versions.
fn listed(line: &str) -> Option<(String, Vec<String>)> {
    let (name, versions) = line.trim().strip_prefix("- ")?.split_once(" [")?;
    let versions =
        versions.trim_end_matches(']').split(',').map(|version| version.trim().to_owned()).collect();
    Some((name.to_owned(), versions))
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn a_listed_scenario_names_its_versions() {
        let expected = ("tools-list".to_owned(), vec!["2025-06-18".to_owned(), "2025-11-25".to_owned()]);
        assert_eq!(listed("  - tools-list [2025-06-18,2025-11-25]"), Some(expected));
        assert_eq!(listed("Server scenarios:"), None);
    }
}
