//! Checks of the whole installation.

use super::{ForeignText, Millis, Severity};

/// The results of the checks.
#[derive(Debug, Clone, Default)]
pub struct DoctorPage {
    /// The time of the last run; `None` if the checks have not run yet.
    pub ran: Option<Millis>,
    /// The checks by subject.
    pub groups: Vec<CheckGroup>,
    /// The last lines of the gateway's log, the newest first.
    pub log: Vec<LogRow>,
    /// The level to which the lines are limited: empty for all lines, `warn` or `error`.
    pub log_level: &'static str,
}

/// A line of the gateway's log.
#[derive(Debug, Clone, Default)]
pub struct LogRow {
    /// The time of the line.
    pub at: Millis,
    /// The severity that the level stands for.
    pub severity: Severity,
    /// The level: `error`, `warn`, `info`, `debug` or `trace`.
    pub level: &'static str,
    /// The server that the line is about, and the address of its page.
    pub server: Option<(ForeignText, String)>,
    /// The message, without secrets.
    pub text: ForeignText,
}

/// The checks of one subject.
#[derive(Debug, Clone, Default)]
pub struct CheckGroup {
    /// The subject: `Configuration`, `Servers`, `Certificates`, `Clock`.
    pub title: &'static str,
    /// The checks.
    pub checks: Vec<CheckRow>,
}

/// A check.
#[derive(Debug, Clone, Default)]
pub struct CheckRow {
    /// The result.
    pub severity: Severity,
    /// The check and its finding.
    pub text: ForeignText,
    /// Advice: the next step.
    pub advice: Option<ForeignText>,
    /// The page on which to follow the advice.
    pub href: Option<String>,
}
