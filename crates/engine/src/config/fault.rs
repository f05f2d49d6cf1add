//! Errors of a configuration, and their display: place, line, caret and help.
//!
//! A fault is complete in itself: it carries its own line of the file, already without secrets.

use std::fmt;
use std::sync::Arc;

/// The most faults, and the most notes, that are reported at once.
pub const MAX_REPORTED: usize = 100;

/// Is the configuration refused, or is this only worth knowing?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The configuration is refused.
    Fault,
    /// The configuration is taken as it is.
    Note,
}

/// One thing that is wrong, or worth knowing, with its place. `Display` shows it as a compiler would, over several
/// lines and without a newline at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Fault or note.
    pub severity: Severity,
    /// The file, as the caller named it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The way to the value: `mcpServers.docs.url`, `endpoints[0].path`; empty for the document as a whole.
    pub path: String,
    /// The text in the file that is meant, on one line and without secrets.
    pub offending: String,
    /// The problem.
    pub message: String,
    /// The advice: what to do about it.
    pub help: String,
    pub(super) excerpt: Excerpt,
}

/// A piece of one source line with the characters that are pointed at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// The number of characters that come before the first that is pointed at.
    pub(super) before: usize,
    /// The number of characters that are pointed at; at least one caret is drawn.
    pub(super) width: usize,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = match self.severity {
            Severity::Fault => "error",
            Severity::Note => "note",
        };
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        writeln!(f, "{head}: {}", self.message)?;
        write!(f, "{gutter}--> {}:{}:{}", self.file, self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, " ({})", self.path)?;
        }
        writeln!(f, "\n{gutter} |")?;
        writeln!(f, "{number} | {}", self.excerpt.text)?;
        let carets = "^".repeat(self.excerpt.width.max(1));
        writeln!(f, "{gutter} | {}{carets}", " ".repeat(self.excerpt.before))?;
        write!(f, "{gutter} = help: {}", self.help)
    }
}

/// Everything that is wrong with a configuration, in the order of the file; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    /// The faults for which the configuration was refused, at most [`MAX_REPORTED`].
    pub faults: Vec<Fault>,
    /// The notes besides, at most [`MAX_REPORTED`].
    pub notes: Vec<Fault>,
    /// The number of faults that there are in all.
    pub total: usize,
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.faults {
            writeln!(f, "{fault}\n")?;
        }
        let file = self.faults.first().map_or("the configuration", |fault| &*fault.file);
        match self.total {
            1 => write!(f, "1 fault in {file}")?,
            total => write!(f, "{total} faults in {file}")?,
        }
        match self.total.saturating_sub(self.faults.len()) {
            0 => Ok(()),
            hidden => write!(f, ", {hidden} of them not shown"),
        }
    }
}

impl std::error::Error for Faults {}
