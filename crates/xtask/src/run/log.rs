//! The log file and the deadline of a step, and commands that run with this log and deadline.

use super::tree;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The file for the output of commands, and the deadline by which the commands must have ended.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    until: Instant,
}

impl Log {
    /// Creates an empty log `target/test-logs/NAME.log`; all commands that use it end within `deadline`.
    pub(crate) fn create(name: &str, deadline: Duration) -> Result<Self, String> {
        let path = crate::root::target().join("test-logs").join(format!("{name}.log"));
        let folder = path.parent().ok_or("no folder for logs")?;
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, ""))
            .map_err(|error| said(&path, &error))?;
        Ok(Self { path, until: Instant::now() + deadline })
    }

    /// Creates an empty log with the same deadline, for commands that run at the same time as others.
    pub(crate) fn part(&self, name: &str) -> Result<Self, String> {
        Self::create(name, self.left())
    }

    /// Appends the text of a log that [`Log::part`] created.
    pub(crate) fn take(&self, part: &Self) {
        self.note(part.text().trim_end());
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The time that is left until the deadline.
    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// All logged text, in lossy UTF-8.
    pub(crate) fn text(&self) -> String {
        fs::read(&self.path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Appends a line that this program writes itself.
    pub(crate) fn note(&self, line: &str) {
        if let Ok(mut file) = OpenOptions::new().append(true).open(&self.path) {
            let _ = writeln!(file, "{line}");
        }
    }

    /// Runs a command to its end; returns its output if it succeeded, otherwise the reason.
    pub(crate) fn run(&self, command: &mut Command) -> Result<String, String> {
        match self.status(command)? {
            (true, text) => Ok(text),
            (false, _) => Err(format!("`{}` failed", shown(command))),
        }
    }

    /// Runs a command to its end; returns true if it succeeded, and its output. Fails only if the command did not
    /// start or did not end.
    pub(crate) fn status(&self, command: &mut Command) -> Result<(bool, String), String> {
        let what = shown(command);
        self.note(&format!("$ {what}"));
        let start = fs::metadata(&self.path).map_or(0, |meta| meta.len());
        let open =
            || OpenOptions::new().append(true).open(&self.path).map_err(|error| said(&self.path, &error));
        command.stdin(Stdio::null()).stdout(open()?).stderr(open()?);
        let mut child = command.spawn().map_err(|error| format!("`{what}` did not start: {error}"))?;
        let pid = child.id();
        let (ended, end) = mpsc::channel();
        let waiter = thread::spawn(move || ended.send(child.wait()));
        let Ok(status) = end.recv_timeout(self.left()) else {
            tree::kill(pid);
            let _ = waiter.join();
            return Err(format!("`{what}` did not end within the step's deadline and was killed"));
        };
        let status = status.map_err(|error| format!("`{what}`: {error}"))?;
        let said = self.text_from(start);
        if !status.success() {
            self.note(&format!("ended with {status}"));
        }
        Ok((status.success(), said))
    }

    fn text_from(&self, start: u64) -> String {
        let mut bytes = Vec::new();
        if let Ok(mut file) = File::open(&self.path) {
            let _ = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_to_end(&mut bytes));
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A command as a user would type it.
pub(super) fn shown(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for arg in command.get_args() {
        let _ = write!(line, " {}", arg.to_string_lossy());
    }
    line
}

fn said(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::Log;
    use std::process::Command;
    use std::time::{Duration, Instant};

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_a_command_says_is_returned_and_kept() {
        let log = Log::create("xtask-unit-says", Duration::from_secs(30)).unwrap();
        assert_eq!(log.run(&mut sh("echo one; echo two >&2")).unwrap(), "one\ntwo\n");
        assert_eq!(log.status(&mut sh("echo three; exit 3")).unwrap(), (false, "three\n".to_owned()));
        assert!(log.run(&mut sh("exit 1")).unwrap_err().contains("failed"));
        assert!(log.text().contains("one\ntwo\n$ sh -c echo three"), "{}", log.text());
    }

    #[test]
    fn a_command_that_does_not_end_is_killed_with_its_children() {
        let log = Log::create("xtask-unit-hangs", Duration::from_millis(200)).unwrap();
        let before = Instant::now();
        let why = log.run(&mut sh("sleep 60 & sleep 60; true")).unwrap_err();
        assert!(why.contains("deadline"), "{why}");
        assert!(before.elapsed() < Duration::from_secs(20));
    }
}
