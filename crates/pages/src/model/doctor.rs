//! Checks of the whole installation.

use super::{ForeignText, Millis, Severity};

/// The results of the checks.
#[derive(Debug, Clone, Default)]
pub struct DoctorPage {
    /// The moment of the last run; `None` if the checks have not run yet.
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
    /// The page where it can be done.
    pub href: Option<String>,
}
