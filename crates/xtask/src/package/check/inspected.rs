//! Visits a running package with the Inspector; contains the common parts of the checks of all packages. This
//! module must not know any package.

use super::traces::Traces;
use crate::package::release::emptied;
use crate::package::workshop::Workshop;
use crate::root;
use crate::run::Service;
use crate::tally::Tally;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Inspector's command line.
const INSPECTOR: &str = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";

/// A tool of the demo server, which Dragoman serves without a configuration.
pub(super) const TOOL: &str = "example-echo";

/// The data that users keep when they remove a package: their keys and records, and the caches of package managers.
pub(super) const OF_USERS: &[&str] = &["/.local/share/", "/.npm/", "/.cache/"];

impl Workshop<'_> {
    /// An empty folder for a check.
    pub(super) fn empty(name: &str) -> Result<PathBuf, String> {
        emptied(root::target().join("package/checks").join(name))
    }

    /// Starts a command that serves on a free port; the Inspector must see the demo's tools.
    pub(super) fn serves(&self, mut command: Command) -> Result<Tally, String> {
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        let (service, url) = Service::start(&mut command, self.log, endpoint)?;
        let seen = self.sees(&["--transport", "http", &url], TOOL);
        if !matches!(&seen, Ok(tally) if tally.good()) {
            service.tell(self.log);
        }
        seen
    }

    /// The Inspector's command line with a request to a target, in an empty home.
    pub(super) fn inspector(&self, target: &[&str], method: &str) -> Result<Command, String> {
        let home = Self::empty("inspector")?;
        let mut inspector = Command::new(self.node.program());
        inspector.arg(self.node.module(INSPECTOR)).arg("--cli").args(target).args(["--method", method]);
        inspector.env("HOME", &home).current_dir(&home);
        Ok(inspector)
    }

    /// Asks the Inspector for a target's tools; `tool` must be one of them.
    pub(super) fn sees(&self, target: &[&str], tool: &str) -> Result<Tally, String> {
        let mut inspector = self.inspector(target, "tools/list")?;
        let (good, said) = self.log.status(&mut inspector)?;
        Ok(self.judged(good && said.contains(tool), &format!("the Inspector sees {tool}")))
    }

    /// Runs a command, which must succeed.
    pub(super) fn passes(&self, command: &mut Command) -> Result<Tally, String> {
        Ok(Tally::one(self.log.status(command)?.0))
    }

    /// Checks that a program contains the list of its parts, which `cargo audit bin` reads.
    pub(super) fn lists_its_parts(&self, program: &Path) -> Result<Tally, String> {
        let mut readelf = Command::new("readelf");
        let sections = self.log.run(readelf.args(["--section-headers", "--wide"]).arg(program))?;
        Ok(self.judged(sections.contains(".dep-v0"), "the program contains the list of its parts"))
    }

    /// Checks that nothing is left of a package.
    pub(super) fn is_removed(&self, before: &Traces) -> Result<Tally, String> {
        let left = before.left()?;
        Ok(self.judged(left.is_empty(), &format!("nothing is left of the package: {left:?}")))
    }

    pub(super) fn judged(&self, good: bool, what: &str) -> Tally {
        self.log.note(&format!("{} {what}", if good { "ok" } else { "not ok" }));
        Tally::one(good)
    }
}

/// The endpoint in the line that a gateway prints when it serves.
pub(super) fn endpoint(line: &str) -> Option<String> {
    let start = line.find("serves http://")? + "serves ".len();
    let url = line[start..].split_whitespace().next()?;
    Some(if url.ends_with("/mcp") { url.to_owned() } else { format!("{url}/mcp") })
}

#[cfg(test)]
mod tests {
    use super::endpoint;

    #[test]
    fn the_endpoint_is_in_the_first_line() {
        let line = "Dragoman serves http://127.0.0.1:4711/mcp";
        assert_eq!(endpoint(line).as_deref(), Some("http://127.0.0.1:4711/mcp"));
        assert_eq!(endpoint("ready"), None);
    }
}
