//! Ends a process with all of its descendants, without leaving our own terminal group (so that Ctrl-C reaches all
//! of them).

use std::fs;
use std::process::{Command, Stdio};

/// Kills a process and its descendants at once.
pub(super) fn kill(pid: u32) {
    signal("-KILL", &with_descendants(pid));
}

/// Asks one process to end.
pub(super) fn terminate(pid: u32) {
    signal("-TERM", &[pid]);
}

/// Asks a process and its descendants to end.
pub(super) fn terminate_all(pid: u32) {
    signal("-TERM", &with_descendants(pid));
}

fn signal(name: &str, pids: &[u32]) {
    let pids = pids.iter().map(ToString::to_string);
    // It is not an error if a process has already ended.
    let _ = Command::new("kill").arg(name).args(pids).stderr(Stdio::null()).status();
}

fn with_descendants(pid: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let child = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
            // The name in parentheses may contain any characters; the parent is the second field after it.
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
            Some((child, parent))
        })
        .collect();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, its)| *its == parent).map(|(child, _)| *child));
        next += 1;
    }
    found
}
