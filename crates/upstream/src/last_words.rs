//! The last output of a server's processes on stderr: as the reason for the server's state, and for those who look for
//! the cause. This module must not know how processes are started.

use parking_lot::Mutex;
use transport::child::{ChildError, LastOutput};

use crate::health::HealthCause;
use crate::mask::Mask;

/// The number of lines from the end of stderr that a reason contains. Many programs write what went wrong first, and what
/// they do about it last.
const LINES: usize = 2;

/// The maximum number of characters that a reason contains of each line.
const LINE: usize = 300;

/// The stderr of the server's process that ended last; empty if none has ended.
#[derive(Debug, Default)]
pub(crate) struct LastWords(Mutex<LastOutput>);

impl LastWords {
    /// Returns the last part of stderr, without control characters, but with secrets.
    pub(crate) fn output(&self) -> LastOutput {
        self.0.lock().clone()
    }

    /// Notes the end of a process. Returns the reason: how it ended, and the last lines of its stderr.
    pub(crate) fn note(&self, why: &ChildError, mask: &Mask) -> HealthCause {
        let brief = why.in_brief();
        let Some(stderr) = why.stderr() else { return HealthCause::of_process(brief.clone(), brief) };
        *self.0.lock() = stderr.clone();
        // Secrets are masked before lines are cut, because half a secret would not be recognized.
        let shown = mask.show(&stderr.text);
        let lines: Vec<&str> = shown.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LINES)..];
        let last: Vec<String> = last.iter().map(|line| clipped(line)).collect();
        let detail = if last.is_empty() { brief.clone() } else { format!("{brief}: {}", last.join(" | ")) };
        HealthCause::of_process(brief, detail)
    }
}

fn clipped(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
