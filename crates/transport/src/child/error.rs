//! Failures of a running child, worded so that a person can act on them.

use std::{fmt, os::unix::process::ExitStatusExt, process::ExitStatus, sync::Arc, time::Duration};

use super::caps::CapUse;
use super::stderr::LastOutput;

use bytes::Bytes;
use proto::codec::line::LineError;

use crate::budget::OutOfMemory;

/// The reason why a line could not be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChildError {
    /// A line was too long and was skipped. The child continues.
    #[error("{program} sent a line longer than the limit of {limit} bytes; it was skipped")]
    LineTooLong {
        /// The program's name.
        program: Arc<str>,
        /// The limit in bytes.
        limit: usize,
        /// The first bytes of the line.
        beginning: Bytes,
    },
    /// No memory became free for a line in time, so the line was skipped. The child continues.
    #[error("{program} sent a large message, which was skipped: {why}")]
    OutOfMemory {
        /// The program's name.
        program: Arc<str>,
        /// The reason.
        why: OutOfMemory,
        /// The first bytes of the line.
        beginning: Bytes,
    },
    /// The child does not read its stdin: no room for this line became free in the queue in time. The child continues.
    #[error(
        "{program} does not read its stdin: {queued} bytes are queued, and the queue stayed full for {waited:?}"
    )]
    Stalled {
        /// The program's name.
        program: Arc<str>,
        /// The number of bytes that wait to be written.
        queued: usize,
        /// The time for which the sender waited.
        waited: Duration,
    },
    /// The child closed its stdin or stdout while it was running, so it is being stopped.
    #[error("{program} closed its {stream} and was stopped{}", last_words(&.stderr.text))]
    Closed {
        /// The program's name.
        program: Arc<str>,
        /// `stdin` or `stdout`.
        stream: &'static str,
        /// The last lines of the child's stderr.
        stderr: LastOutput,
    },
    /// The child was asked to stop and has not exited yet.
    #[error("{program} is being stopped")]
    Stopping {
        /// The program's name.
        program: Arc<str>,
    },
    /// The child has exited.
    #[error(transparent)]
    Exited(#[from] Exit),
}

impl ChildError {
    /// Returns true if nothing can be sent to or received from this child anymore.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::Stopping { .. } | Self::Exited(_))
    }

    /// Returns a description of the failure that contains no output of the child.
    pub fn in_brief(&self) -> String {
        match self {
            Self::LineTooLong { .. } => "the server sent a line that is too long".to_owned(),
            Self::OutOfMemory { .. } => "no memory was left for the server's message".to_owned(),
            Self::Stalled { .. } => "the server does not read its stdin".to_owned(),
            Self::Closed { stream, .. } => format!("the server closed its {stream}"),
            Self::Stopping { .. } => "the server is being stopped".to_owned(),
            Self::Exited(exit) => exit.in_brief(),
        }
    }

    /// Returns the last part of the child's stderr, if the child has ended.
    pub fn stderr(&self) -> Option<&LastOutput> {
        match self {
            Self::Closed { stderr, .. } | Self::Exited(Exit { stderr, .. }) => Some(stderr),
            _ => None,
        }
    }

    /// Returns true if the child ended without being asked to.
    pub fn is_own_end(&self) -> bool {
        match self {
            Self::Closed { .. } => true,
            Self::Exited(exit) => !exit.asked,
            _ => false,
        }
    }

    pub(super) fn line(program: &Arc<str>, error: LineError) -> Self {
        let LineError::TooLong { limit, beginning } = error;
        Self::LineTooLong { program: program.clone(), limit, beginning }
    }
}

/// The end of a child. Its `Display` is a sentence that includes the last lines of stderr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The program's name.
    pub program: Arc<str>,
    /// The status that the system reported; `None` if the system never reported one (the process could not be ended, or another
    /// process reaped it).
    pub status: Option<ExitStatus>,
    /// True if the child ended because it was asked to.
    pub asked: bool,
    /// The cap that ended the child, or may have ended it.
    pub cap: Option<CapUse>,
    /// The last part of the child's stderr.
    pub stderr: LastOutput,
}

impl std::error::Error for Exit {}

impl Exit {
    fn in_brief(&self) -> String {
        let how = self.how();
        self.cap.map(|cap| format!("{how}: {cap}")).unwrap_or(how)
    }

    fn how(&self) -> String {
        match self.status.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) => format!("code {code}"),
            Some((None, Some(signal))) => format!("signal {signal}{}", signal_name(signal)),
            Some((None, None)) | None => "unknown exit status".to_owned(),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.program)?;
        if self.asked {
            f.write_str("was stopped: it ")?;
        }
        match self.status.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) => write!(f, "exited with code {code}")?,
            Some((None, Some(signal))) => {
                write!(f, "was ended by signal {signal}{}", signal_name(signal))?;
            }
            Some((None, None)) => f.write_str("ended in an unknown way")?,
            None => f.write_str("has ended, but its exit status was never reported")?,
        }
        if let Some(cap) = &self.cap {
            write!(f, "; {cap}")?;
        }
        f.write_str(&last_words(&self.stderr.text))
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        2 => " (SIGINT)",
        6 => " (SIGABRT)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

/// Returns the end of `stderr` as the tail of an error message: at most 5 lines and 600 characters.
fn last_words(stderr: &str) -> String {
    const LINES: usize = 5;
    const CHARS: usize = 600;
    let lines: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    let tail = lines[lines.len().saturating_sub(LINES)..].join(" | ");
    if tail.is_empty() {
        return String::new();
    }
    let start = tail.char_indices().rev().nth(CHARS - 1).map_or(0, |(start, _)| start);
    let dots = if start > 0 { "…" } else { "" };
    format!("; its last output on stderr: {dots}{}", &tail[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> LastOutput {
        LastOutput { text: text.into(), ..LastOutput::default() }
    }

    fn exit(raw: i32, asked: bool, stderr: &str) -> String {
        let status = Some(ExitStatus::from_raw(raw));
        Exit { program: "npx".into(), status, asked, cap: None, stderr: output(stderr) }.to_string()
    }

    #[test]
    fn an_exit_names_the_cap_that_it_has_hit() {
        let cap = Some(CapUse::Processes { used: 9, most: 8 });
        let exit = Exit {
            program: "npx".into(),
            status: Some(ExitStatus::from_raw(9)),
            asked: false,
            cap,
            stderr: output("bye"),
        };
        assert_eq!(
            exit.to_string(),
            "npx was ended by signal 9 (SIGKILL); the server had 9 processes, but `maxProcesses` allows 8; its last output on stderr: bye"
        );
        assert_eq!(
            exit.in_brief(),
            "signal 9 (SIGKILL): the server had 9 processes, but `maxProcesses` allows 8"
        );
    }

    #[test]
    fn an_exit_says_how_and_the_last_words() {
        assert_eq!(exit(3 << 8, false, ""), "npx exited with code 3");
        assert_eq!(exit(9, false, "\n"), "npx was ended by signal 9 (SIGKILL)");
        assert_eq!(exit(15, true, ""), "npx was stopped: it was ended by signal 15 (SIGTERM)");
        let ended = |asked, stderr: &str| {
            let status = Some(ExitStatus::from_raw(3 << 8));
            ChildError::Exited(Exit {
                program: "npx".into(),
                status,
                asked,
                cap: None,
                stderr: output(stderr),
            })
        };
        let own = ended(false, "first\n  last \n \n");
        assert_eq!(
            (own.in_brief().as_str(), own.stderr().map(|output| &*output.text)),
            ("code 3", Some("first\n  last \n \n"))
        );
        assert!(own.is_own_end() && !ended(true, "").is_own_end());
        let six = "1\n2\n\n3\n4\n5\n6";
        assert_eq!(
            exit(0, false, six),
            "npx exited with code 0; its last output on stderr: 2 | 3 | 4 | 5 | 6"
        );
        let long = exit(0, false, &"ä".repeat(1000));
        assert!(long.ends_with(&format!("stderr: …{}", "ä".repeat(600))), "{long}");
    }
}
