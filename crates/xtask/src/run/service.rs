//! A program in the background: started, awaited until it reports that it is ready, ended on drop.

use super::{Log, log::shown, tree};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const READY_WITHIN: Duration = Duration::from_secs(20);
const ENDS_WITHIN: Duration = Duration::from_secs(10);
/// The maximum number of lines of output that are kept, and the number of lines that are logged after a failure.
const KEPT_LINES: usize = 20_000;
const TOLD_LINES: usize = 400;

/// A running program; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Service {
    child: Child,
    what: String,
    words: Arc<Mutex<Vec<String>>>,
    /// True if this process must end the program's children, because the program does not.
    leaves_children: bool,
}

impl Service {
    /// Starts a program, and waits for the first line of its output for which `ready` returns a value.
    pub(crate) fn start(
        command: &mut Command,
        log: &Log,
        ready: impl Fn(&str) -> Option<String>,
    ) -> Result<(Self, String), String> {
        let what = shown(command);
        log.note(&format!("$ {what} &"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("`{what}` did not start: {error}"))?;
        let words = Arc::new(Mutex::new(Vec::new()));
        let (said, lines) = mpsc::channel();
        if let Some(out) = child.stdout.take() {
            follow(out, said.clone(), Arc::clone(&words));
        }
        if let Some(out) = child.stderr.take() {
            follow(out, said, Arc::clone(&words));
        }
        let service = Self { child, what, words, leaves_children: false };
        let until = Instant::now() + READY_WITHIN.min(log.left());
        loop {
            match lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some(found) = ready(&line) {
                        return Ok((service, found));
                    }
                }
                Err(cause) => {
                    service.tell(log);
                    let how =
                        if cause == RecvTimeoutError::Timeout { "was not ready in time" } else { "ended" };
                    return Err(format!("`{}` {how}, without saying that it is ready", service.what));
                }
            }
        }
    }

    /// Also ends the program's children when the program is ended; for programs that leave their children behind.
    pub(crate) fn with_children(mut self) -> Self {
        self.leaves_children = true;
        self
    }

    /// The program's output so far; if it is long, only the end.
    pub(crate) fn said(&self) -> String {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    /// Asks the program to end, as an operator does; waits for the end, and returns the exit status.
    pub(crate) fn ended(mut self) -> Result<ExitStatus, String> {
        tree::terminate(self.child.id());
        let until = Instant::now() + ENDS_WITHIN;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(20)),
                Ok(None) => return Err(format!("`{}` did not end in time", self.what)),
                Err(error) => return Err(format!("`{}`: {error}", self.what)),
            }
        }
    }

    /// Writes the program's output so far into a log.
    pub(crate) fn tell(&self, log: &Log) {
        log.note(&format!("--- said by `{}`:", self.what));
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        for line in words.iter().skip(words.len().saturating_sub(TOLD_LINES)) {
            log.note(line);
        }
        drop(words);
        log.note("---");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let pid = self.child.id();
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        if self.leaves_children {
            tree::terminate_all(pid);
        } else {
            tree::terminate(pid);
        }
        let (ended, end) = mpsc::channel::<()>();
        let watchdog = thread::spawn(move || {
            if end.recv_timeout(ENDS_WITHIN).is_err_and(|cause| cause == RecvTimeoutError::Timeout) {
                tree::kill(pid);
            }
        });
        let _ = self.child.wait();
        drop(ended);
        let _ = watchdog.join();
    }
}

fn follow(out: impl Read + Send + 'static, said: Sender<String>, words: Arc<Mutex<Vec<String>>>) {
    thread::spawn(move || {
        for line in BufReader::new(out).lines() {
            let Ok(line) = line else { break };
            let mut kept = words.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() == KEPT_LINES {
                kept.drain(..KEPT_LINES / 2);
            }
            kept.push(line.clone());
            drop(kept);
            // Nobody reads the channel anymore once the program is ready.
            let _ = said.send(line);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::Service;
    use crate::run::Log;
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    fn start(name: &str, script: &str) -> Result<(Service, String), String> {
        let log = Log::create(name, Duration::from_secs(30)).unwrap();
        let ready = |line: &str| line.strip_prefix("listening ").map(str::to_owned);
        Service::start(Command::new("sh").args(["-c", script]), &log, ready)
    }

    #[test]
    fn a_service_is_ready_when_it_says_so_and_ends_when_dropped() {
        let (service, found) =
            start("xtask-unit-ready", "echo x; echo listening here >&2; exec sleep 60").unwrap();
        assert_eq!(found, "here");
        let process = format!("/proc/{}", service.child.id());
        assert!(Path::new(&process).exists());
        drop(service);
        assert!(!Path::new(&process).exists());
    }

    #[test]
    fn a_service_that_ends_before_it_is_ready_is_an_error() {
        assert!(start("xtask-unit-ends", "echo broken").unwrap_err().contains("ended"));
    }
}
