//! A command's failure: its message as text or JSON, and the exit code.

use config::{Fault, Faults, Severity};
use serde_json::{Value, json};

use super::console::{Console, message as shortened};

/// The exit code of a failure.
const FAILED: u8 = 1;
/// The exit code for a wrong command line or configuration; clap uses the same code.
const USAGE: u8 = 2;
/// The exit code after Ctrl-C; shells use the same code.
const INTERRUPTED: u8 = 130;

/// The reason why a command fails.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Everything has been printed already.
    Silent(u8),
    /// An error with a message.
    Explained {
        /// The exit code.
        exit: u8,
        /// The error.
        message: String,
        /// The suggested fix.
        help: Option<String>,
    },
    /// The configuration is invalid.
    Config(Box<Faults>),
    /// A server answered with an error.
    Refused {
        /// The error's code.
        code: i32,
        /// The error's message.
        message: String,
        /// The error's data, as JSON text.
        data: Option<String>,
        /// The suggested fix.
        help: Option<String>,
    },
}

impl Failure {
    /// Converts a failure to read the configuration into the gateway's error type.
    pub(crate) fn into_unread(self) -> gateway::UnreadConfig {
        match self {
            Self::Config(faults) => (*faults).into(),
            other => other.describe().into(),
        }
    }

    /// Creates a failure with this message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Explained { exit: FAILED, message: message.into(), help: None }
    }

    /// Creates a failure of the command line or the configuration.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Explained { exit: USAGE, message: message.into(), help: None }
    }

    /// Creates a failure that prints nothing.
    pub(crate) fn silent(exit: u8) -> Self {
        Self::Silent(exit)
    }

    /// Returns the failure after Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self::Silent(INTERRUPTED)
    }

    /// Adds a suggested fix.
    #[must_use]
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        if let Self::Explained { help, .. } | Self::Refused { help, .. } = &mut self {
            *help = Some(text.into());
        }
        self
    }

    /// Returns the process's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Silent(exit) | Self::Explained { exit, .. } => *exit,
            Self::Config(_) => USAGE,
            Self::Refused { .. } => FAILED,
        }
    }

    /// Returns the error and the suggested fix, for the log.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Silent(_) => String::new(),
            Self::Explained { message, help: None, .. } | Self::Refused { message, .. } => message.clone(),
            Self::Explained { message, help: Some(help), .. } => format!("{message}; {help}"),
            Self::Config(faults) => faults.to_string(),
        }
    }

    /// Returns the error without the suggested fix.
    pub(crate) fn message_alone(&self) -> String {
        match self {
            Self::Explained { message, .. } | Self::Refused { message, .. } => message.clone(),
            other => other.describe(),
        }
    }

    /// Returns the suggested fix.
    pub(crate) fn help_alone(&self) -> Option<String> {
        match self {
            Self::Explained { help, .. } | Self::Refused { help, .. } => help.clone(),
            Self::Silent(_) | Self::Config(_) => None,
        }
    }

    /// Prints the failure: as JSON on stdout for scripts, otherwise as text on stderr.
    pub(crate) fn show(&self, console: &Console) {
        if console.json {
            if let Some(value) = self.to_json() {
                // If the reader of the pipe is gone, nobody needs the message.
                let _ = console.print(&value.to_string());
            }
            return;
        }
        match self {
            // The cursor is after typed text, or after an unfinished progress message.
            Self::Silent(INTERRUPTED) if console.err_is_terminal => console.complain(""),
            Self::Silent(_) => {}
            Self::Config(faults) => {
                for note in &faults.notes {
                    console.note(&format!("{note}\n"));
                }
                console.complain(&faults.to_string());
            }
            Self::Explained { message, help, .. } => {
                complain(console, &format!("error: {}", shortened(message)), 2);
                help_line(console, help.as_deref());
            }
            Self::Refused { code, message, data, help } => {
                let text = format!("error: the server answered with error {code}: {}", shortened(message));
                complain(console, &text, 2);
                if let Some(data) = data {
                    complain(console, &format!("  = data: {}", shortened(data)), 8);
                }
                help_line(console, help.as_deref());
            }
        }
    }

    fn to_json(&self) -> Option<Value> {
        match self {
            Self::Silent(_) => None,
            Self::Explained { message, help, .. } => {
                Some(json!({"error": {"message": message, "help": help}}))
            }
            Self::Config(faults) => Some(faults_json(faults)),
            Self::Refused { code, message, data, help } => {
                let data: Option<Value> = data.as_deref().and_then(|text| serde_json::from_str(text).ok());
                Some(json!({"error": {"code": code, "message": message, "data": data, "help": help}}))
            }
        }
    }
}

fn help_line(console: &Console, help: Option<&str>) {
    if let Some(help) = help {
        complain(console, &format!("  = help: {}", shortened(help)), 8);
    }
}

/// Prints a text on stderr in lines that fit; lines after the first are indented. The word `error:` at its beginning
/// is marked.
fn complain(console: &Console, text: &str, indent: usize) {
    let text = console.fitted_err(text, indent);
    match text.strip_prefix("error:") {
        Some(rest) => console.complain(&format!("{}{rest}", console.err.red("error:"))),
        None => console.complain(&text),
    }
}

fn faults_json(faults: &Faults) -> Value {
    let all: Vec<Value> = faults.faults.iter().chain(&faults.notes).map(fault_json).collect();
    json!({"ok": false, "total": faults.total, "faults": all})
}

/// Returns a fault or a note as JSON, for scripts.
pub(crate) fn fault_json(fault: &Fault) -> Value {
    json!({
        "severity": match fault.severity { Severity::Fault => "error", Severity::Note => "note" },
        "file": &*fault.file,
        "line": fault.line,
        "column": fault.column,
        "path": fault.path,
        "text": fault.offending,
        "message": fault.message,
        "help": fault.help,
    })
}
