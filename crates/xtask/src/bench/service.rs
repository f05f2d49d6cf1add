//! Programs that run in the background in their own process groups, so a whole group can be stopped and ended at
//! once.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// The time that a program may take to end after it was asked to end.
const ENDS_WITHIN: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 5 });

/// The shell script that ends a group when this process ends for any reason: the script's stdin is then closed.
const WATCH: &str = "read line; kill -s CONT -- -$0; kill -s TERM $0; sleep $1; kill -s KILL -- -$0";

/// A running program; dropping it ends its whole group.
#[derive(Debug)]
pub(crate) struct Service {
    child: Child,
    guard: Child,
    what: String,
    log: PathBuf,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Service {
    /// Starts a program. Its stderr goes to the file `log`; stdin and stdout are available for communication.
    pub(crate) fn start(command: &mut Command, log: &Path) -> Result<Self, String> {
        let what = command.get_program().to_string_lossy().into_owned();
        let failed = |error: std::io::Error| format!("`{what}` did not start: {error}");
        let words = File::create(log).map_err(failed)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(words).process_group(0);
        let mut child = command.spawn().map_err(failed)?;
        let guard = Command::new("sh")
            .args(["-c", WATCH, &child.id().to_string(), &ENDS_WITHIN.as_secs().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        let guard = match guard {
            Ok(guard) => guard,
            Err(error) => {
                let _ = child.kill().and_then(|()| child.wait());
                return Err(format!("`sh` did not start: {error}"));
            }
        };
        let (said, lines) = mpsc::channel();
        if let Some(out) = child.stdout.take() {
            thread::spawn(move || {
                // This thread ends with the program; if the receiver is gone, no more lines are needed.
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    let _ = said.send(line);
                }
            });
        }
        let stdin = child.stdin.take();
        Ok(Self { child, guard, what, log: log.to_owned(), stdin, lines })
    }

    /// The process id, which is also the id of the group.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the next line on stdout.
    pub(crate) fn line(&self, within: Duration) -> Result<String, String> {
        self.lines.recv_timeout(within).map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => {
                self.fault(&format!("said nothing for {} s", within.as_secs()))
            }
            mpsc::RecvTimeoutError::Disconnected => self.fault("ended"),
        })
    }

    /// Sends an empty line to stdin, the signal to continue.
    pub(crate) fn go_on(&mut self) -> Result<(), String> {
        let sent = self.stdin.as_mut().map(|stdin| stdin.write_all(b"\n"));
        if matches!(sent, Some(Ok(()))) { Ok(()) } else { Err(self.fault("does not listen")) }
    }

    /// Waits until the program has ended by itself.
    pub(crate) fn ended(&mut self, within: Duration) -> bool {
        let until = Instant::now() + within;
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return true;
            }
            thread::sleep(Duration::from_millis(1));
        }
        false
    }

    /// An error about this program, with the end of its stderr.
    pub(crate) fn fault(&self, what: &str) -> String {
        let words = fs::read(&self.log).unwrap_or_default();
        let words = String::from_utf8_lossy(&words[words.len().saturating_sub(2000)..]).trim().to_owned();
        let words = if words.is_empty() { "it wrote nothing to stderr".to_owned() } else { words };
        format!("`{}` {what}: {words}", self.what)
    }

    /// Stops the group, so that it uses no CPU time.
    pub(crate) fn halt(&self) {
        self.signal(Signal::STOP);
    }

    /// Continues a stopped group.
    pub(crate) fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group() {
            // A group that has ended needs no signal.
            let _ = kill_process_group(group, signal);
        }
    }

    fn group(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.resume();
        drop(self.stdin.take());
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            // Only the first process is asked to end, because it ends the others in order.
            if let Some(first) = self.group() {
                let _ = kill_process(first, Signal::TERM);
            }
            self.ended(ENDS_WITHIN);
        }
        // Even if the first process has ended, other processes of its group may be left.
        self.signal(Signal::KILL);
        let _ = self.child.wait();
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::Service;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::time::{Duration, Instant};

    const SOON: Duration = Duration::from_secs(20);

    fn start(name: &str, script: &str) -> (Service, PathBuf) {
        let log = std::env::temp_dir().join(format!("xtask-bench-{}-{name}", std::process::id()));
        (Service::start(Command::new("sh").args(["-c", script]), &log).unwrap(), log)
    }

    #[test]
    fn a_group_is_ended_whole() {
        let (service, log) = start("group", "sleep 60 & echo $!; wait");
        let child = format!("/proc/{}", service.line(SOON).unwrap());
        assert!(Path::new(&child).exists());
        service.halt();
        drop(service);
        // A killed process that init has not reaped has no memory, and therefore no command line.
        let until = Instant::now() + SOON;
        while std::fs::read(format!("{child}/cmdline")).is_ok_and(|line| !line.is_empty()) {
            assert!(Instant::now() < until, "{child} still runs");
            std::thread::yield_now();
        }
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn the_guard_ends_a_halted_group_when_we_are_gone() {
        let (mut service, log) = start("guard", "trap '' TERM; sleep 60 & echo up; wait");
        assert_eq!(service.line(SOON).unwrap(), "up");
        service.halt();
        // This is what the kernel does when a process ends.
        drop(service.guard.stdin.take());
        assert!(service.ended(SOON));
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn lines_go_both_ways_and_faults_quote_stderr() {
        let (mut service, log) = start("lines", "echo one; read x; echo two; echo why >&2");
        assert_eq!(service.line(SOON).unwrap(), "one");
        service.go_on().unwrap();
        assert_eq!(service.line(SOON).unwrap(), "two");
        assert!(service.ended(SOON));
        assert!(service.line(SOON).unwrap_err().contains("ended: why"));
        std::fs::remove_file(log).unwrap();
    }
}
