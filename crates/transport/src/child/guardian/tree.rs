//! All descendants of a process, as `/proc` shows them, and signals that cannot reach any other process. It must not
//! know why a tree is ended.

use std::{collections::BTreeSet, os::fd::OwnedFd};

use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
};

use super::super::stat::ProcessStat;

/// A process that was seen earlier; another process may have taken its id since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process(ProcessStat);

impl Process {
    /// Calls `act` if this very process is still alive or waits to be reaped. First, a descriptor pins the process.
    /// Then its start time, group and parent are compared, because the id may have been reused before. If the process
    /// has become an orphan, this process is now its parent; if another process adopted it, the next check of the tree
    /// finds it there.
    fn if_same(&self, act: impl FnOnce(Option<&OwnedFd>)) {
        let held = match pidfd_open(self.0.pid, PidfdFlags::empty()) {
            Ok(held) => Some(held),
            // The kernel does not support such descriptors.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => None,
            Err(_) => return,
        };
        let Some(now) = ProcessStat::read(self.0.pid.as_raw_nonzero()) else { return };
        let parents = [self.0.parent, getpid().as_raw_nonzero().get()];
        let same = now.started == self.0.started && now.group == self.0.group;
        if same && parents.contains(&now.parent) {
            act(held.as_ref());
        }
    }

    fn signal(&self, signal: Signal) {
        // A process that has just ended needs no signal.
        self.if_same(|held| {
            let _ = match held {
                Some(held) => pidfd_send_signal(held, signal),
                None => kill_process(self.0.pid, signal),
            };
        });
    }
}

/// Returns true if this process can see all other processes. Some systems have no `/proc`, or mount it with `hidepid`.
pub(super) fn is_visible() -> bool {
    ProcessStat::read("self").is_some() && ProcessStat::read(1).is_some()
}

/// Returns the processes in `all` that descend from `root`, without those in `except` and their descendants.
fn below(all: &[ProcessStat], root: Pid, except: &[Pid]) -> Vec<Process> {
    let mut parents = BTreeSet::from([root.as_raw_nonzero().get()]);
    let mut found = Vec::new();
    loop {
        let before = found.len();
        for process in all {
            let id = process.pid.as_raw_nonzero().get();
            if parents.contains(&process.parent) && !except.contains(&process.pid) && parents.insert(id) {
                found.push(Process(*process));
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Returns all descendants of this process, without those in `except` and their descendants. Zombies are included: if
/// the first thread of a program has ended, its other threads may still run.
pub(super) fn descendants(except: &[Pid]) -> Vec<Process> {
    let all: Vec<ProcessStat> = ProcessStat::all().map(Iterator::collect).unwrap_or_default();
    below(&all, getpid(), except)
}

/// Returns the memory that these processes use, in bytes. Pages that they share with files or with one another are not
/// counted.
pub(super) fn memory(processes: &[Process]) -> u64 {
    let page = rustix::param::page_size() as u64;
    let own = |process: &Process| {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", process.0.pid.as_raw_nonzero())).ok()?;
        let mut pages = text.split_ascii_whitespace().skip(1).map_while(|field| field.parse::<u64>().ok());
        Some(pages.next()?.saturating_sub(pages.next()?).saturating_mul(page))
    };
    processes.iter().filter_map(own).sum()
}

/// Asks processes to end, and resumes those that are stopped, which could not react otherwise.
pub(super) fn terminate(processes: &[Process]) {
    for process in processes {
        process.signal(Signal::TERM);
        if matches!(process.0.state, b'T' | b't') {
            process.signal(Signal::CONT);
        }
    }
}

/// Kills processes, whole groups first. The system signals all members of a group at the same moment, between two
/// forks. So this also catches processes that start their successors faster than `/proc` can be read.
pub(super) fn kill(processes: &[Process]) {
    // The guardian and the holders lead their own groups.
    let mut groups = BTreeSet::from([getpid().as_raw_nonzero().get()]);
    for process in processes {
        if groups.insert(process.0.group)
            && let Some(group) = Pid::from_raw(process.0.group)
        {
            process.if_same(|_| {
                let _ = kill_process_group(group, Signal::KILL);
            });
        }
        process.signal(Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> ProcessStat {
        let pid = Pid::from_raw(pid).unwrap();
        ProcessStat { pid, parent, group: 1, session: 1, state: b'S', threads: 1, started: 1 }
    }

    #[test]
    fn descendants_are_found_in_any_order_and_without_exceptions() {
        let all =
            [(9, 8), (8, 5), (5, 1), (6, 5), (7, 6), (3, 1), (1, 0), (4, 3)].map(|(a, b)| process(a, b));
        let ids = |root: i32, except: &[i32]| {
            let except: Vec<Pid> = except.iter().filter_map(|pid| Pid::from_raw(*pid)).collect();
            let found = below(&all, Pid::from_raw(root).unwrap(), &except);
            let mut ids: Vec<i32> =
                found.iter().map(|process| process.0.pid.as_raw_nonzero().get()).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(ids(5, &[]), [6, 7, 8, 9]);
        assert_eq!(ids(5, &[6]), [8, 9]);
        assert_eq!(ids(9, &[]), [] as [i32; 0]);
        assert_eq!(ids(1, &[5, 3]), [] as [i32; 0]);
    }

    #[test]
    fn a_circle_has_an_end() {
        let all = [process(5, 6), process(6, 5)];
        assert_eq!(below(&all, Pid::from_raw(5).unwrap(), &[]).len(), 1);
    }
}
