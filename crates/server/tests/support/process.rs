//! Linux's information about processes.

use std::collections::HashMap;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::DEADLINE;

/// The polling interval for conditions without events.
const LOOK: Duration = Duration::from_millis(10);

/// Waits until `done` returns true. Only for conditions without events, such as processes that are not our children.
pub(crate) async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let look = async {
        while !done() {
            tokio::time::sleep(LOOK).await;
        }
    };
    assert!(tokio::time::timeout(DEADLINE, look).await.is_ok(), "{what}: not within {DEADLINE:?}");
}

/// Returns true if the process exists and is not just waiting to be reaped.
pub(crate) fn is_running(pid: u32) -> bool {
    state(pid).is_some_and(|(state, _)| state != 'Z')
}

/// Sends a process a signal.
pub(crate) fn kill(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a small number")).expect("not 0");
    // It may have ended by itself.
    let _ = kill_process(pid, signal);
}

/// The state letter and the parent of a process.
fn state(pid: u32) -> Option<(char, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may contain any characters.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Returns true for the processes between the gateway and its servers.
pub(crate) fn is_guard(pid: u32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    matches!(name.trim_end(), GUARDIAN | HOLDER)
}

/// The name of the process that starts holders.
pub(crate) const GUARDIAN: &str = "child-guardian";

/// The name of a server's parent.
pub(crate) const HOLDER: &str = "child-holder";

/// The descendants of this process that have one of these names.
pub(crate) fn named(pid: u32, name: &str) -> Vec<u32> {
    let is = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|own| own.trim_end() == name)
    };
    family_of(pid).into_iter().filter(is).collect()
}

/// The running servers that this process has started.
pub(crate) fn children_of(pid: u32) -> Vec<u32> {
    let all = running();
    let mut found = children_among(&all, pid);
    let mut at = 0;
    while at < found.len() {
        if is_guard(found[at]) {
            found.extend(children_among(&all, found[at]));
        }
        at += 1;
    }
    found.retain(|pid| !is_guard(*pid));
    found
}

/// Those servers, and the processes that they have started.
pub(crate) fn descendants_of(pid: u32) -> Vec<u32> {
    let mut found = family_of(pid);
    found.retain(|pid| !is_guard(*pid));
    found
}

/// All running processes that descend from this one, from a single snapshot.
pub(crate) fn family_of(pid: u32) -> Vec<u32> {
    let all = running();
    let mut found = children_among(&all, pid);
    let mut at = 0;
    while at < found.len() {
        found.extend(children_among(&all, found[at]));
        at += 1;
    }
    found
}

fn children_among(all: &HashMap<u32, u32>, pid: u32) -> Vec<u32> {
    all.iter().filter(|(_, parent)| **parent == pid).map(|(child, _)| *child).collect()
}

/// All running processes with their parents.
fn running() -> HashMap<u32, u32> {
    let entries = std::fs::read_dir("/proc").expect("Linux");
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, state(pid).filter(|(state, _)| *state != 'Z')?.1)))
        .collect()
}

/// The peak memory of the process, in bytes. The system counts in batches of pages, so the value may be slightly lower than a
/// moment ago.
pub(crate) fn peak_memory(pid: u32) -> u64 {
    status(pid, "VmHWM:")
}

/// The current memory of the process, in bytes.
pub(crate) fn memory_now(pid: u32) -> u64 {
    status(pid, "VmRSS:")
}

fn status(pid: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(what)).expect("Linux says it");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}
