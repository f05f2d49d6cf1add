//! Checks of the whole installation.

use super::{ForeignText, Millis, Severity};

/// The results of the checks.
#[derive(Debug, Clone, Default)]
pub struct DoctorPage {
    /// The time of the last run; `None` if the checks have not run yet.
    pub ran: Option<Millis>,
    /// The checks by subject.
    pub groups: Vec<CheckGroup>,
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
