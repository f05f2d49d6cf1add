//! The configuration in force.

use super::{DiffLine, ForeignText, Millis};

/// The configuration.
#[derive(Debug, Clone, Default)]
pub struct ConfigurationPage {
    /// The file.
    pub path: ForeignText,
    /// The time at which the configuration took effect.
    pub loaded: Millis,
    /// The `ETag` of the configuration in force.
    pub etag: String,
    /// The errors of the last reload; none if it succeeded.
    pub faults: Vec<ConfigFault>,
    /// The time of the failed reload.
    pub failed: Option<Millis>,
    /// Keys whose new values take effect at the next start.
    pub needs_restart: Vec<ForeignText>,
    /// The effective configuration as YAML, with secrets masked.
    pub effective: ForeignText,
    /// The difference between the file and the configuration in force: the changes over the management API.
    pub difference: Vec<DiffLine>,
    /// The latest changes, the newest first.
    pub changes: Vec<ChangeRow>,
}

/// An error in the configuration file.
#[derive(Debug, Clone, Default)]
pub struct ConfigFault {
    /// The line.
    pub line: Option<u64>,
    /// The column.
    pub column: Option<u64>,
    /// The fault.
    pub text: ForeignText,
    /// The suggested fix.
    pub help: Option<ForeignText>,
    /// The line of the file, with secrets masked.
    pub excerpt: Option<ForeignText>,
}

/// A change to the configuration.
#[derive(Debug, Clone, Default)]
pub struct ChangeRow {
    /// The time of the change.
    pub at: Millis,
    /// The author of the change; `file` for a reload.
    pub by: ForeignText,
    /// The change: `added: server notion`.
    pub what: ForeignText,
    /// False if the change was refused.
    pub done: bool,
}
