//! One program under test: started, watched, signalled, ended. Every process of a stage carries the stage's mark in
//! its environment, so all of them are found, whatever their parents are.

use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The variable that marks the processes of one stage.
pub(crate) const MARK: &str = "DRAGOMAN_CHAOS";
/// The interval at which a condition is checked.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// A running program; dropping it kills it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// The file with the program's output.
    pub(crate) log: PathBuf,
}

impl Process {
    /// Starts a program whose output goes to a file.
    pub(crate) fn start(command: &mut Command, log: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", command_name(log));
        let out = File::options().append(true).create(true).open(log).map_err(failed)?;
        let errors = out.try_clone().map_err(failed)?;
        let child = command.stdin(Stdio::null()).stdout(out).stderr(errors).spawn();
        let child = child.map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
        Ok(Self { child, log: log.to_owned() })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns true while the program has not ended.
    pub(crate) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Returns true if the program succeeded; `None` while it has not ended.
    pub(crate) fn success(&mut self) -> Option<bool> {
        self.child.try_wait().ok().flatten().map(|status| status.success())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        signal_to(self.child.id(), signal);
    }

    /// Kills the program, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks the program to end, and waits; returns false if it does not end in time.
    pub(crate) fn end(&mut self, within: Duration) -> bool {
        self.signal(Signal::TERM);
        until(within, || (!self.runs()).then_some(())).is_some()
    }

    /// The last part of the program's output.
    pub(crate) fn words(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&text[text.len().saturating_sub(4000)..]).into_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command_name(log: &Path) -> String {
    log.display().to_string()
}

/// Sends a signal to a process of this run.
pub(crate) fn signal_to(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // A process that has ended needs no signal.
        let _ = kill_process(pid, signal);
    }
}

/// Polls until `found` returns a value; returns `None` if it returns none in time.
pub(crate) fn until<T>(within: Duration, mut found: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + within;
    loop {
        if let Some(found) = found() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(LOOK);
    }
}

/// The living processes with this mark in their environment: each one's id and command line.
pub(crate) fn marked(mark: &str) -> Vec<(u32, String)> {
    let wanted = format!("{MARK}={mark}");
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let is_ours = environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes());
            // A killed process that was not reaped has no command line.
            let line =
                fs::read(entry.path().join("cmdline")).ok().filter(|line| is_ours && !line.is_empty())?;
            Some((pid, String::from_utf8_lossy(&line).replace('\0', " ").trim().to_owned()))
        })
        .collect()
}

/// The number of files that a process has open.
pub(crate) fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// The number of a process's threads.
pub(crate) fn threads(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

/// The resident memory of a process, in KiB.
pub(crate) fn resident(pid: u32) -> u64 {
    of_status(pid, "VmRSS:")
}

/// The resident memory of a process, in KiB, without the pages of its program, which the kernel loads whenever the process uses
/// new code.
pub(crate) fn own_memory(pid: u32) -> u64 {
    of_status(pid, "RssAnon:")
}

fn of_status(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{MARK, Process, descriptors, marked, own_memory, resident, until};
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn marked_processes_are_found_until_they_end() {
        let (mark, log) =
            (format!("unit-{}", std::process::id()), std::env::temp_dir().join("chaos-unit.log"));
        let mut process = Process::start(Command::new("sleep").arg("60").env(MARK, &mark), &log).unwrap();
        let found = until(Duration::from_secs(5), || Some(marked(&mark)).filter(|found| !found.is_empty()));
        assert_eq!(found.unwrap(), [(process.pid(), "sleep 60".to_owned())]);
        assert!(descriptors(process.pid()) > 0 && process.runs());
        let (own, all) = (own_memory(process.pid()), resident(process.pid()));
        assert!(0 < own && own < all, "{own} {all}");
        assert!(process.end(Duration::from_secs(5)));
        assert_eq!(marked(&mark), []);
    }
}
