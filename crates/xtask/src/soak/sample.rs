//! The kernel's data about the gateway at one moment, as a line of the table.

use super::{Counts, Stage};
use crate::chaos::process::{descriptors, resident, threads};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The kernel's data about the gateway at one point in time.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) after: Duration,
    /// The resident memory, in KiB.
    pub(super) memory: u64,
    pub(super) descriptors: usize,
    pub(super) threads: usize,
    /// The number of processes: the gateway, its guardian and its stdio servers.
    pub(super) processes: usize,
    opened: usize,
    closed: usize,
    abandoned: usize,
    calls: usize,
    failed: usize,
}

impl Sample {
    pub(super) const HEAD: &'static str =
        "minute  memory MiB  descriptors  threads  processes  opened  closed  abandoned    calls  failed";

    pub(super) fn taken(stage: &Stage<'_>, after: Duration, counts: &Counts) -> Self {
        let pid = stage.pid();
        Self {
            after,
            memory: resident(pid),
            descriptors: descriptors(pid),
            threads: threads(pid),
            processes: stage.processes("").len(),
            opened: counts.opened.load(Ordering::Relaxed),
            closed: counts.closed.load(Ordering::Relaxed),
            abandoned: counts.abandoned.load(Ordering::Relaxed),
            calls: counts.calls.load(Ordering::Relaxed),
            failed: counts.failed.load(Ordering::Relaxed),
        }
    }

    /// One line of the table.
    pub(super) fn line(&self) -> String {
        let Self {
            memory, descriptors, threads, processes, opened, closed, abandoned, calls, failed, ..
        } = self;
        let minute = self.after.as_secs_f64() / 60.0;
        #[expect(clippy::cast_precision_loss, reason = "no memory is that large")]
        let memory = *memory as f64 / 1024.0;
        format!(
            "{minute:>6.1}  {memory:>10.1}  {descriptors:>11}  {threads:>7}  {processes:>9}  {opened:>6}  {closed:>6}  {abandoned:>9}  {calls:>7}  {failed:>6}"
        )
    }
}
