//! A server that was found in a registry or in a bundle, with the information that a person needs before it is
//! added.

use std::path::PathBuf;

use serde_json::Value;

use crate::output::console::{Console, one_line};
use crate::output::failure::Failure;

/// A server to be added.
#[derive(Debug, Default)]
pub(super) struct Proposal {
    /// The server's mapping in the configuration.
    pub(super) entry: Value,
    /// Titles and texts that describe the server and its command. The texts are untrusted.
    pub(super) about: Vec<(&'static str, String)>,
    /// The variables that must be set, and their meanings.
    pub(super) variables: Vec<(String, String)>,
    /// The names of the optional settings.
    pub(super) optional: Vec<String>,
    /// Warnings.
    pub(super) warnings: Vec<String>,
    /// A file that is removed if the server is not added.
    pub(super) downloaded: Option<PathBuf>,
}

impl Proposal {
    /// Prints the description of the server, its variables, and the warnings.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub(super) fn show(&self, console: &Console) -> Result<(), Failure> {
        for (title, text) in self.about.iter().filter(|(_, text)| !text.is_empty()) {
            console.print(&console.fitted(&format!("{title:<9} {}", one_line(text))))?;
        }
        for (name, about) in &self.variables {
            let about = if about.is_empty() { String::new() } else { format!("  {}", one_line(about)) };
            console.print(&console.fitted(&format!("{:<9} {}{about}", "Needs", one_line(name))))?;
        }
        if !self.optional.is_empty() {
            let names: Vec<String> = self.optional.iter().map(|name| one_line(name)).collect();
            console.print(&console.fitted(&format!("{:<9} {}", "Optional", names.join(", "))))?;
        }
        for warning in &self.warnings {
            console.note(&console.fitted_err(&format!("warning: {}", one_line(warning)), 2));
        }
        Ok(())
    }

    /// Removes what was downloaded, because the server is not added.
    pub(super) fn discard(&self) {
        if let Some(path) = &self.downloaded {
            let _ = std::fs::remove_file(path);
            // The folder stays if it contains other bundles.
            let _ = path.parent().map(std::fs::remove_dir);
        }
    }
}
