//! Reaps processes that nobody in this process waits for: those that a guardian left when it was killed, and, where this
//! process is a container's first, everybody's orphans. It must not know what they were.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use rustix::process::{Pid, WaitOptions, getpid, waitpid};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::super::stat::ProcessStat;

/// The children that somebody in this process waits for.
static OWN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Starts a child that is waited for, before anybody could take it for somebody else's.
pub(in super::super) fn own_child<T, E>(
    start: impl FnOnce() -> Result<T, E>,
    id: impl FnOnce(&T) -> Option<u32>,
) -> Result<T, E> {
    let mut own = OWN.lock();
    let child = start()?;
    own.extend(id(&child));
    Ok(child)
}

/// The child is not waited for any more.
pub(in super::super) fn forget_child(id: u32) {
    OWN.lock().remove(&id);
}

/// Reaps whenever a child has ended.
pub(in super::super) struct Reaper {
    ended: Signal,
    /// True once the children have been reaped that had ended before.
    begun: bool,
}

impl Reaper {
    /// One that is told from now on; `None` if there are no signals to be had.
    pub(in super::super) fn new() -> Option<Self> {
        signal(SignalKind::child()).ok().map(|ended| Self { ended, begun: false })
    }

    /// Reaps what has ended already and what will, until it is dropped. To be called again as often as anybody likes.
    pub(in super::super) async fn run(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            reap();
        }
        while self.ended.recv().await.is_some() {
            reap();
        }
        std::future::pending::<()>().await;
    }

    /// Waits for the end of one child that nobody else waits for.
    pub(in super::super) async fn reap_one(&mut self, child: Pid) {
        while let Ok(None) = waitpid(Some(child), WaitOptions::NOHANG) {
            if self.ended.recv().await.is_none() {
                return;
            }
        }
    }
}

/// Reaps strangers. To wait for "any child" would take the status of children whose owners wait for it; so each is looked at
/// first. Where this is a container's first process, every child without an owner is a stranger. Elsewhere programs that use
/// this library may have children of their own: strangers then are those of other sessions, as holders and servers are.
fn reap() {
    let own = OWN.lock();
    let first = getpid().is_init();
    let (Some(me), Ok(all)) = (ProcessStat::read("self"), ProcessStat::all()) else { return };
    for process in all {
        let is_child = process.parent == me.pid.as_raw_nonzero().get() && process.has_ended();
        let stranger = first || process.session != me.session;
        if is_child && stranger && !own.contains(&process.pid.as_raw_nonzero().get().cast_unsigned()) {
            // If somebody else was faster, all is well.
            let _ = waitpid(Some(process.pid), WaitOptions::NOHANG);
        }
    }
}
