//! Errors of a configuration, and their display: position, line, caret and help.
//!
//! A fault is self-contained: it contains its line of the file, with secrets already removed.

use std::fmt;
use std::sync::Arc;

/// The maximum number of faults, and of notes, that are reported at once.
pub const MAX_REPORTED: usize = 100;

/// The severity of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The configuration is refused.
    Fault,
    /// The configuration is accepted unchanged.
    Note,
}

/// One fault or note with its position. `Display` shows it as a compiler would, over several lines and without a
/// final newline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The severity: a fault or a note.
    pub severity: Severity,
    /// The file, as the caller named it.
    pub file: Arc<str>,
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The position of the character in the line, counted from 1.
    pub column: usize,
    /// The path to the value: `mcpServers.docs.url`, `endpoints[0].path`; empty for the document as a whole.
    pub path: String,
    /// The text at fault in the file, on one line and without secrets.
    pub offending: String,
    /// The problem, in words.
    pub message: String,
    /// The suggested fix, in words.
    pub help: String,
    pub(crate) excerpt: Excerpt,
}

/// A part of one source line, with the highlighted characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// The number of characters before the highlighted ones.
    pub(crate) before: usize,
    /// The number of highlighted characters; at least one caret is drawn.
    pub(crate) width: usize,
}

impl Fault {
    /// The line of the file with the fault, without secrets.
    pub fn line_text(&self) -> &str {
        &self.excerpt.text
    }
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

/// All faults of a configuration, in the order of the file; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    /// The faults for which the configuration was rejected, at most [`MAX_REPORTED`].
    pub faults: Vec<Fault>,
    /// The additional notes, at most [`MAX_REPORTED`].
    pub notes: Vec<Fault>,
    /// The total number of faults.
    pub total: usize,
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.faults {
            writeln!(f, "{fault}\n")?;
        }
        let file = self.faults.first().map_or("the configuration", |fault| &*fault.file);
        match self.total {
            1 => write!(f, "1 error in {file}")?,
            total => write!(f, "{total} errors in {file}")?,
        }
        match self.total.saturating_sub(self.faults.len()) {
            0 => Ok(()),
            hidden => write!(f, ", {hidden} of them not shown"),
        }
    }
}

impl std::error::Error for Faults {}
