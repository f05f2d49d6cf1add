//! The holder of one server: it is the server's parent, and reaps everything that the server leaves behind. It ends
//! the whole tree when the server ends, when the gateway requests this, or when the gateway is gone. The holder
//! exits when no process is left. This module must not know what the server reads or writes.
//!
//! A tree is gone exactly when this process has no children. A descendant whose parent has ended becomes a child of the
//! nearest ancestor that adopts orphans, which is this process.

use std::{
    io::{self, PipeReader},
    os::fd::{AsFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    param::clock_ticks_per_second,
    process::{Pid, Signal, WaitOptions, getpid, kill_process_group, set_child_subreaper, setpgid, wait},
};

use super::{
    super::caps::ChildCaps,
    kernel::{self, ForkedProcess},
    message::{HolderReport, HolderWord},
    server::{self, ServerParts},
    socket, tree,
};

/// The maximum time between SIGTERM and SIGKILL once the gateway is gone.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// The time between two checks of a tree's resource use, if it has caps.
const CAPS: Duration = Duration::from_millis(500);

/// The first and the longest pause between two checks of a tree that is being killed.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(250)];

/// Starts a server and watches it until it ends. If the forked process cannot become the server, that process returns
/// from this function as well.
///
/// Returns the process's exit code.
pub(super) fn run(server: ServerParts, control: OwnedFd, signals: OwnedFd, terms: HolderTerms) -> u8 {
    // The name only helps people who list processes.
    let _ = rustix::thread::set_name(c"child-holder");
    match begin(server) {
        Ok(HolderStart::Server(code)) => code,
        Ok(HolderStart::Holder { server, starting }) => {
            let holder = Holder {
                server,
                alive: true,
                starting: Some(starting),
                control: Some(control),
                signals,
                terms,
                look_at: terms.caps.are_any().then(Instant::now),
                kill_at: None,
                pause: None,
                code: 0,
            };
            holder.watch()
        }
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error());
            let _ = socket::send(&control, &HolderReport::Failed { errno }.encode(), &[]);
            1
        }
    }
}

enum HolderStart {
    /// This process should have become the server and could not; it exits with this code.
    Server(u8),
    Holder {
        server: Pid,
        /// The pipe that reports whether the server's program has started.
        starting: PipeReader,
    },
}

fn begin(server: ServerParts) -> io::Result<HolderStart> {
    let own = getpid();
    setpgid(None, None)?;
    set_child_subreaper(Some(own))?;
    let (starting, failure) = io::pipe()?;
    Ok(match kernel::fork()? {
        ForkedProcess::Child => HolderStart::Server(server::become_server(server, own, failure)),
        ForkedProcess::Parent(server) => HolderStart::Holder { server, starting },
    })
}

/// The conditions under which a holder runs its server.
#[derive(Clone, Copy, Debug)]
pub(super) struct HolderTerms {
    /// The time between SIGTERM and SIGKILL.
    pub(super) grace: Duration,
    /// True if descendants can be found in `/proc`.
    pub(super) sees_processes: bool,
    /// The caps of the whole tree.
    pub(super) caps: ChildCaps,
}

struct Holder {
    server: Pid,
    /// True until the server has been reaped.
    alive: bool,
    /// The pipe from the server's process; `None` once the program has started or has failed to start.
    starting: Option<PipeReader>,
    /// The socket to the gateway, until the gateway is gone.
    control: Option<OwnedFd>,
    signals: OwnedFd,
    terms: HolderTerms,
    /// The time of the next check of the tree's resource use; `None` if there are no caps.
    look_at: Option<Instant>,
    /// The time at which SIGKILL is sent, once the tree is being ended.
    kill_at: Option<Instant>,
    /// The pause before the next check, once the tree is being killed.
    pause: Option<Duration>,
    code: u8,
}

impl Holder {
    fn watch(mut self) -> u8 {
        loop {
            let ready = self.wait_for_event();
            if ready.starting {
                self.settle_start();
            }
            if ready.control {
                self.listen();
            }
            if ready.signals {
                drain(&self.signals);
            }
            if self.reap() {
                self.report(HolderReport::Gone { cpu: processor_time() });
                return self.code;
            }
            if self.look_at.is_some_and(|at| Instant::now() >= at) {
                self.look();
            }
            if self.pause.is_some() || self.kill_at.is_some_and(|at| Instant::now() >= at) {
                self.kill();
            }
        }
    }

    /// Waits until there is something to do.
    fn wait_for_event(&self) -> HolderEvents {
        let patience = match (self.pause, self.kill_at.or(self.look_at)) {
            (Some(pause), _) => Some(pause),
            (None, Some(at)) => Some(at.saturating_duration_since(Instant::now())),
            (None, None) => None,
        };
        let starting = self.starting.as_ref().map(AsFd::as_fd);
        let control = self.control.as_ref().map(AsFd::as_fd);
        let mut places = vec![self.signals.as_fd()];
        places.extend(starting.iter().chain(&control));
        let readable = readable(&places, patience);
        let mut rest = readable.iter().copied().skip(1);
        HolderEvents {
            signals: readable[0],
            starting: starting.is_some() && rest.next() == Some(true),
            control: control.is_some() && rest.next() == Some(true),
        }
    }

    /// Handles the outcome of the start: either the server's program now runs, or it never will.
    fn settle_start(&mut self) {
        let Some(pipe) = self.starting.take() else { return };
        let report = match server::failure(pipe) {
            Some(errno) => {
                // The process exits by itself, and its exit code must not be reported.
                self.alive = false;
                HolderReport::Failed { errno }
            }
            None => HolderReport::Started {
                pid: self.server.as_raw_nonzero().get().cast_unsigned(),
                holder: getpid().as_raw_nonzero().get().cast_unsigned(),
            },
        };
        self.report(report);
    }

    fn listen(&mut self) {
        let Some(control) = &self.control else { return };
        match socket::receive(control) {
            Ok(Some(packet)) => match HolderWord::decode(&packet.frame) {
                Some(HolderWord::End) => self.end(self.terms.grace),
                Some(HolderWord::Kill) => self.kill(),
                None => {}
            },
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::InvalidData) => {}
            Ok(None) | Err(_) => {
                self.control = None;
                self.end(self.terms.grace.min(ORPHAN_GRACE));
            }
        }
    }

    /// Reaps all children that have ended. Returns true if nothing is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.server => {
                    self.settle_start();
                    if std::mem::take(&mut self.alive) {
                        self.code = status.exit_status().map_or(1, |code| code.try_into().unwrap_or(1));
                        let memory = kernel::largest_child();
                        self.report(HolderReport::Exited { status: status.as_raw(), memory });
                    }
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return true,
            }
        }
        if !self.alive && self.starting.is_none() && self.kill_at.is_none() {
            self.end(self.terms.grace);
        }
        false
    }

    /// Asks the whole tree to end within `grace`.
    fn end(&mut self, grace: Duration) {
        let at = Instant::now() + grace;
        if let Some(sooner) = self.kill_at {
            self.kill_at = Some(sooner.min(at));
            return;
        }
        self.kill_at = Some(at);
        if self.terms.sees_processes {
            tree::terminate(&tree::descendants(&[]));
        } else {
            self.signal_group(Signal::TERM);
            self.signal_group(Signal::CONT);
        }
    }

    /// Ends the tree if it exceeds a cap.
    fn look(&mut self) {
        let tree = tree::descendants(&[]);
        let caps = self.terms.caps;
        let (processes, memory) = (tree.len() as u64, tree::memory(&tree));
        let report = if caps.processes.is_some_and(|most| processes > most.into()) {
            Some(HolderReport::TooManyProcesses(processes))
        } else {
            caps.memory.is_some_and(|most| memory > most).then_some(HolderReport::TooMuchMemory(memory))
        };
        // A tree that is already being ended needs no further checks.
        self.look_at = (report.is_none() && self.kill_at.is_none()).then(|| Instant::now() + CAPS);
        if let Some(report) = report {
            self.report(report);
            self.kill();
        }
    }

    /// Kills the tree. Processes that are started meanwhile are found at the next check.
    fn kill(&mut self) {
        self.kill_at.get_or_insert_with(Instant::now);
        if self.terms.sees_processes {
            tree::kill(&tree::descendants(&[]));
        } else {
            self.signal_group(Signal::KILL);
        }
        let [first, longest] = PAUSES;
        self.pause = Some(self.pause.map_or(first, |pause| (pause * 2).min(longest)));
    }

    /// Sends a signal to the server's own group. If this fails, the group is gone.
    fn signal_group(&self, signal: Signal) {
        let _ = kill_process_group(self.server, signal);
    }

    /// Sends a report to the gateway. If the gateway is gone, the next check of the socket shows this.
    fn report(&self, report: HolderReport) {
        if let Some(control) = &self.control {
            let _ = socket::send(control, &report.encode(), &[]);
        }
    }
}

struct HolderEvents {
    signals: bool,
    starting: bool,
    control: bool,
}

/// Waits, for at most `patience`, until one of these descriptors can be read or its other end is closed. Returns
/// true for each descriptor to which this applies.
pub(super) fn readable(places: &[std::os::fd::BorrowedFd<'_>], patience: Option<Duration>) -> Vec<bool> {
    let mut polled: Vec<PollFd<'_>> =
        places.iter().map(|place| PollFd::from_borrowed_fd(*place, PollFlags::IN)).collect();
    // A time that the system cannot represent counts as unlimited.
    let timeout = patience.and_then(|patience| Timespec::try_from(patience).ok());
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) => polled.iter().map(|place| !place.revents().is_empty()).collect(),
        // An unnecessary check does no harm.
        Err(_) => vec![true; places.len()],
    }
}

/// Reads all waiting signals from the descriptor. Their number means nothing, because the system merges signals.
pub(super) fn drain(signals: &OwnedFd) {
    let mut bytes = [0; 512];
    while rustix::io::read(signals, &mut bytes).is_ok_and(|count| count > 0) {}
}

/// Returns the processor time of all reaped children, and of the children that these had reaped, in milliseconds.
fn processor_time() -> u64 {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return 0 };
    let fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks.saturating_mul(1000) / clock_ticks_per_second().max(1)
}
