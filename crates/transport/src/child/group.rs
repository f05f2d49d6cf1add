//! The process group that a child leads. Signals go to the whole group, so grandchildren end as well.

use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid};
use tokio::time::{Instant, sleep};

/// A process group, identified by the process id of its leader. The number is not reused while the group has
/// members, so it stays valid after the leader was reaped, as long as there is a process to signal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group(Pid);

impl Group {
    /// Returns the group that the process `leader` leads; `None` for a number that cannot be a process id.
    pub(super) fn of(leader: u32) -> Option<Self> {
        i32::try_from(leader).ok().and_then(Pid::from_raw).map(Self)
    }

    /// Sends a signal to every member. It is not an error if the group no longer exists.
    pub(super) fn signal(self, signal: Signal) {
        if let Err(error) = kill_process_group(self.0, signal)
            && error != rustix::io::Errno::SRCH
        {
            tracing::warn!(group = self.0.as_raw_nonzero().get(), %error, "could not signal a process group");
        }
    }

    /// Returns true if the group has running members. Call this function after the leader was reaped.
    pub(super) fn lives(self) -> bool {
        // If this process is the first of the machine (in a container), it adopts orphans and has to reap them.
        // Otherwise there is nothing to reap here.
        while let Ok(Some(_)) = waitpgid(self.0, WaitOptions::NOHANG) {}
        test_kill_process_group(self.0) != Err(rustix::io::Errno::SRCH) && !self.is_dead()
    }

    /// Returns true if all remaining members have ended and only wait to be reaped by the init process (PID 1).
    /// Some init processes do this late or never.
    #[cfg(target_os = "linux")]
    fn is_dead(self) -> bool {
        let group = self.0.as_raw_nonzero().get();
        super::stat::ProcessStat::all()
            .is_ok_and(|mut all| all.all(|process| process.group != group || process.has_ended()))
    }

    #[cfg(not(target_os = "linux"))]
    fn is_dead(self) -> bool {
        false
    }

    /// Waits until the group is empty, for at most `patience`. Returns true if the group is empty.
    ///
    /// The system does not report the end of another process's child, so this polls at growing intervals.
    pub(super) async fn vanishes(self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        let mut pause = Duration::from_millis(1);
        while self.lives() {
            if Instant::now() >= end {
                return false;
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        true
    }
}
