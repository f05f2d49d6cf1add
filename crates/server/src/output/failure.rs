//! How a command ends badly: what is said, in words or in JSON, and the exit code.

use engine::config::{Fault, Faults, Severity};
use serde_json::{Value, json};

use super::console::{Console, harmless};

/// The exit code of what did not work.
const FAILED: u8 = 1;
/// The exit code of a wrong command line or configuration, as clap has it.
const USAGE: u8 = 2;
/// The exit code after Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

/// The reason why a command ends badly.
#[derive(Debug)]
pub(crate) enum Failure {
    /// All has been said.
    Silent(u8),
    /// Something went wrong.
    Told {
        /// The exit code.
        exit: u8,
        /// What happened.
        message: String,
        /// What to do about it.
        mend: Option<String>,
    },
    /// The configuration is refused.
    Config(Box<Faults>),
    /// A server answered with an error.
    Refused {
        /// The error's code.
        code: i32,
        /// The error's message.
        message: String,
        /// The error's data, JSON text.
        data: Option<String>,
        /// What to do about it.
        mend: Option<String>,
    },
}

impl Failure {
    /// Something that did not work.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Told { exit: FAILED, message: message.into(), mend: None }
    }

    /// A command line or configuration that cannot be used.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Told { exit: USAGE, message: message.into(), mend: None }
    }

    /// An end of which nothing more has to be said.
    pub(crate) fn silent(exit: u8) -> Self {
        Self::Silent(exit)
    }

    /// The end after Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self::Silent(INTERRUPTED)
    }

    /// The same with what to do about it.
    #[must_use]
    pub(crate) fn mend(mut self, text: impl Into<String>) -> Self {
        if let Self::Told { mend, .. } | Self::Refused { mend, .. } = &mut self {
            *mend = Some(text.into());
        }
        self
    }

    /// The process's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Silent(exit) | Self::Told { exit, .. } => *exit,
            Self::Config(_) => USAGE,
            Self::Refused { .. } => FAILED,
        }
    }

    /// What happened and what to do about it, for the log.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Silent(_) => String::new(),
            Self::Told { message, mend: None, .. } | Self::Refused { message, .. } => message.clone(),
            Self::Told { message, mend: Some(mend), .. } => format!("{message}; {mend}"),
            Self::Config(faults) => faults.to_string(),
        }
    }

    /// Says it: in JSON on stdout where scripts read, else in words on stderr.
    pub(crate) fn show(&self, console: &Console) {
        if console.json {
            if let Some(value) = self.to_json() {
                // A reader that has gone need not be told.
                let _ = console.print(&value.to_string());
            }
            return;
        }
        let head = console.err.red("error:");
        match self {
            // The cursor stands behind what was typed, or behind a half-told progress.
            Self::Silent(INTERRUPTED) if console.err_is_terminal => console.complain(""),
            Self::Silent(_) => {}
            Self::Config(faults) => {
                for note in &faults.notes {
                    console.note(&format!("{note}\n"));
                }
                console.complain(&faults.to_string());
            }
            Self::Told { message, mend, .. } => {
                console.complain(&format!("{head} {}", harmless(message)));
                mend_line(console, mend.as_deref());
            }
            Self::Refused { code, message, data, mend } => {
                console.complain(&format!(
                    "{head} the server answered with error {code}: {}",
                    harmless(message)
                ));
                if let Some(data) = data {
                    console.complain(&format!("  = data: {}", harmless(data)));
                }
                mend_line(console, mend.as_deref());
            }
        }
    }

    fn to_json(&self) -> Option<Value> {
        match self {
            Self::Silent(_) => None,
            Self::Told { message, mend, .. } => Some(json!({"error": {"message": message, "mend": mend}})),
            Self::Config(faults) => Some(faults_json(faults)),
            Self::Refused { code, message, data, .. } => {
                let data: Option<Value> = data.as_deref().and_then(|text| serde_json::from_str(text).ok());
                Some(json!({"error": {"code": code, "message": message, "data": data}}))
            }
        }
    }
}

fn mend_line(console: &Console, mend: Option<&str>) {
    if let Some(mend) = mend {
        console.complain(&format!("  = mend: {}", harmless(mend)));
    }
}

fn faults_json(faults: &Faults) -> Value {
    let all: Vec<Value> = faults.faults.iter().chain(&faults.notes).map(fault_json).collect();
    json!({"ok": false, "total": faults.total, "faults": all})
}

/// A fault or a note for scripts.
pub(crate) fn fault_json(fault: &Fault) -> Value {
    json!({
        "severity": match fault.severity { Severity::Fault => "error", Severity::Note => "note" },
        "file": &*fault.file,
        "line": fault.line,
        "column": fault.column,
        "path": fault.path,
        "text": fault.offending,
        "message": fault.message,
        "mend": fault.mend,
    })
}
