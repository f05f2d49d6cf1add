//! One finding: its severity, its subject, what was found, and what to do. This module must not know what is checked.

use config::Fault;
use gateway::machine::{FindingLevel, MachineFinding};
use serde_json::{Value, json};

use crate::output::console::{Console, message as shortened};
use crate::output::failure::Failure;
use crate::output::layout::wrap;

/// The width of the columns for the severity and the subject.
const LEAD: usize = 9;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Nothing is wrong.
    Ok,
    /// The subject works, but perhaps not as the user intends.
    Warning,
    /// The subject does not work.
    Error,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A finding.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// The severity.
    pub(super) level: Level,
    subject: String,
    message: String,
    help: Option<String>,
}

impl From<MachineFinding> for Finding {
    fn from(found: MachineFinding) -> Self {
        let level = match found.level {
            FindingLevel::Ok => Level::Ok,
            FindingLevel::Warning => Level::Warning,
            FindingLevel::Error => Level::Error,
        };
        Self::new(level, found.subject, found.message, found.help)
    }
}

impl Finding {
    /// Creates a finding about a subject: `configuration`, `clock`, `server files`.
    pub(super) fn new(
        level: Level,
        subject: impl Into<String>,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Self {
        Self { level, subject: subject.into(), message: message.into(), help }
    }

    /// Creates a finding from a note that ends with a semicolon and a suggested fix.
    pub(super) fn told(level: Level, subject: &str, note: &str) -> Self {
        match note.rsplit_once("; ") {
            Some((message, help)) => Self::new(level, subject, message, Some(help.to_owned())),
            None => Self::new(level, subject, note, None),
        }
    }

    /// Creates a finding from an error or a note of the configuration.
    pub(super) fn of_fault(fault: &Fault, level: Level) -> Self {
        let message = format!("{}:{}: {}", fault.file, fault.line, fault.message);
        Self::new(level, "configuration", message, Some(fault.help.clone()))
    }

    /// Prints the finding.
    ///
    /// # Errors
    /// Fails if stdout cannot be written.
    pub(super) fn show(&self, console: &Console) -> Result<(), Failure> {
        let word = self.level.word();
        let paint = match self.level {
            Level::Ok => console.out.cyan(word),
            Level::Warning => console.out.yellow(word),
            Level::Error => console.out.red(word),
        };
        let text = format!("{word:LEAD$}{}: {}", self.subject, shortened(&self.message));
        let text = console.out_width.map_or(text.clone(), |width| wrap(&text, width, 0, LEAD));
        console.print(&text.replacen(word, &paint, 1))?;
        let Some(help) = &self.help else { return Ok(()) };
        let help = format!("{}= help: {}", " ".repeat(LEAD), shortened(help));
        console.print(&console.fitted(&help))
    }

    /// Returns the finding as JSON, for scripts.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "level": self.level.word(),
            "subject": self.subject,
            "message": self.message,
            "help": self.help,
        })
    }
}
