//! Reaps processes for which no other code in this process waits: those that a killed guardian left behind, and all
//! orphans if this process is the init process (PID 1) of a container. This module must not know the purpose of
//! these processes.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use rustix::process::{Pid, WaitOptions, getpid, waitpid};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::super::stat::ProcessStat;

/// The children for which other code in this process waits.
static OWN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Starts a child, and registers it before the reaper can mistake it for an unknown process. The owner of the child
/// waits for its end.
pub(in super::super) fn own_child<T, E>(
    start: impl FnOnce() -> Result<T, E>,
    id: impl FnOnce(&T) -> Option<u32>,
) -> Result<T, E> {
    let mut own = OWN.lock();
    let child = start()?;
    own.extend(id(&child));
    Ok(child)
}

/// Removes a child for which nobody waits any more.
pub(in super::super) fn forget_child(id: u32) {
    OWN.lock().remove(&id);
}

/// Reaps unknown processes whenever a child has ended.
pub(in super::super) struct Reaper {
    ended: Signal,
    /// True once the children that had ended earlier have been reaped.
    begun: bool,
}

impl Reaper {
    /// Creates a reaper that is notified from now on; `None` if the system provides no signals.
    pub(in super::super) fn new() -> Option<Self> {
        signal(SignalKind::child()).ok().map(|ended| Self { ended, begun: false })
    }

    /// Reaps the children that have ended and those that will end, until the future is dropped. This function may be
    /// called any number of times.
    pub(in super::super) async fn run(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            reap();
        }
        while self.ended.recv().await.is_some() {
            reap();
        }
        std::future::pending::<()>().await;
    }

    /// Waits for the end of one child for which no other code waits.
    pub(in super::super) async fn reap_one(&mut self, child: Pid) {
        while let Ok(None) = waitpid(Some(child), WaitOptions::NOHANG) {
            if self.ended.recv().await.is_none() {
                return;
            }
        }
    }
}

/// Reaps unknown processes. Waiting for "any child" would take the status of children whose owners wait for it, so
/// each child is checked first. If this process is the init process of a container, every child without an owner is
/// unknown. Otherwise, programs that use this library may have children of their own; then the unknown processes
/// are the children in other sessions, such as holders and servers.
fn reap() {
    let own = OWN.lock();
    let first = getpid().is_init();
    let (Some(me), Ok(all)) = (ProcessStat::read("self"), ProcessStat::all()) else { return };
    for process in all {
        let is_child = process.parent == me.pid.as_raw_nonzero().get() && process.has_ended();
        let stranger = first || process.session != me.session;
        if is_child && stranger && !own.contains(&process.pid.as_raw_nonzero().get().cast_unsigned()) {
            // It does not matter if other code has reaped the process already.
            let _ = waitpid(Some(process.pid), WaitOptions::NOHANG);
        }
    }
}
