//! The guardian: forks a holder for each server, and ends all processes that a killed holder left behind. It exits
//! once the gateway is gone and no process is left. This module must not know what a server is.

use std::{
    os::fd::{AsFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Pid, Resource, Rlimit, WaitOptions, getpid, set_child_subreaper, setrlimit, setsid, wait},
};

use super::{
    super::caps::ChildCaps,
    holder::{self, HolderTerms, drain, readable},
    kernel::{self, ForkedProcess},
    message::{GuardianNote, GuardianOrder, HolderReport},
    server::ServerParts,
    socket::{self, Packet},
    tree,
};

/// The time that holders have to end their trees once the gateway is gone; after that, everything is killed.
/// Holders normally need less time, but a holder may be suspended.
const HOLDERS: Duration = Duration::from_millis(2500);

/// The pause between two checks of processes that are being killed.
const PAUSE: Duration = Duration::from_millis(5);

/// Guards servers until the gateway at the other end of this socket is gone. Forked processes return from this
/// function as well.
///
/// Returns the process's exit code.
pub(super) fn run(gateway: OwnedFd) -> u8 {
    let _ = rustix::thread::set_name(c"child-guardian");
    // This fails for the leader of a group. This process leads a group only if it was not started by the gateway.
    let _ = setsid();
    // The programs of servers pass through this process with their secrets.
    let _ = crate::memory::protect();
    let prepared =
        set_child_subreaper(Some(getpid())).map_err(Into::into).and_then(|()| kernel::block_signals());
    let Ok(signals) = prepared else { return 1 };
    let sees_processes = tree::is_visible();
    let ready = GuardianNote::Ready { sees_processes }.encode();
    if socket::send(&gateway, &ready, &[]).is_err() {
        return 1;
    }
    let guard = Guard {
        gateway: Some(gateway),
        signals,
        sees_processes,
        holders: Vec::new(),
        has_strays: false,
        kill_at: None,
    };
    guard.watch()
}

struct Guard {
    gateway: Option<OwnedFd>,
    signals: OwnedFd,
    sees_processes: bool,
    holders: Vec<Pid>,
    /// True if a holder was killed whose processes may still exist.
    has_strays: bool,
    /// The time at which everything is killed, once the gateway is gone.
    kill_at: Option<Instant>,
}

impl Guard {
    fn watch(mut self) -> u8 {
        loop {
            let patience = match self.kill_at {
                _ if self.has_strays => Some(PAUSE),
                Some(at) => Some(at.saturating_duration_since(Instant::now()).max(PAUSE)),
                None => None,
            };
            let mut places = vec![self.signals.as_fd()];
            places.extend(self.gateway.as_ref().map(AsFd::as_fd));
            let ready = readable(&places, patience);
            if ready.get(1) == Some(&true)
                && let Some(code) = self.listen()
            {
                return code;
            }
            if ready[0] {
                drain(&self.signals);
            }
            if self.reap() && self.gateway.is_none() {
                return 0;
            }
            if self.kill_at.is_some_and(|at| Instant::now() >= at) {
                tree::kill(&tree::descendants(&[]));
            } else if self.has_strays {
                let strays = tree::descendants(&self.holders);
                tree::kill(&strays);
                self.has_strays = !strays.is_empty();
            }
        }
    }

    /// Handles one order. In a forked process, returns the exit code.
    fn listen(&mut self) -> Option<u8> {
        match socket::receive(self.gateway.as_ref()?) {
            Ok(Some(packet)) => match GuardianOrder::decode(&packet.frame)? {
                GuardianOrder::Files { soft, hard } => {
                    // If this fails, servers get the gateway's limit, which is higher.
                    let _ = setrlimit(Resource::Nofile, Rlimit { current: soft, maximum: hard });
                    None
                }
                GuardianOrder::Start { grace, caps } => {
                    self.start(packet, Duration::from_millis(grace.into()), caps)
                }
            },
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::InvalidData
                ) =>
            {
                None
            }
            Ok(None) | Err(_) => {
                self.gateway = None;
                self.kill_at = Some(Instant::now() + HOLDERS);
                None
            }
        }
    }

    /// Forks a holder. In the forked process, returns the exit code when the holder's work is done.
    fn start(&mut self, packet: Packet, grace: Duration, caps: ChildCaps) -> Option<u8> {
        // If descriptors are missing, there is no holder to report to.
        let [stdin, stdout, stderr, control, program]: [OwnedFd; 5] = packet.descriptors.try_into().ok()?;
        match kernel::fork() {
            Ok(ForkedProcess::Parent(holder)) => {
                self.holders.push(holder);
                None
            }
            Ok(ForkedProcess::Child) => {
                // The gateway detects the guardian's end through this descriptor, so no other process may hold it.
                self.gateway = None;
                let signals = self.signals.try_clone().ok()?;
                let parts = ServerParts { stdio: [stdin, stdout, stderr], program, memory: caps.memory };
                let watched = if self.sees_processes { caps } else { ChildCaps::default() };
                let terms = HolderTerms { grace, sees_processes: self.sees_processes, caps: watched };
                Some(holder::run(parts, control, signals, terms))
            }
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(Errno::AGAIN.raw_os_error());
                let _ = socket::send(&control, &HolderReport::Failed { errno }.encode(), &[]);
                None
            }
        }
    }

    /// Reaps all children that have ended. Returns true if no child is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    let known = self.holders.iter().position(|holder| *holder == pid);
                    if let Some(index) = known {
                        self.holders.swap_remove(index);
                        // A holder that exits by itself has ended its whole tree.
                        self.has_strays |= status.signaled() && self.sees_processes;
                    }
                }
                Err(Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }
}
