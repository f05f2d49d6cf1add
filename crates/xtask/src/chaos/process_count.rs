//! Counts the processes of a stage while something happens. This module must not know what the processes are for.

use super::process::LOOK;
use super::stage::Stage;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The numbers of processes over some time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessCount {
    /// The maximum number of processes at any moment.
    pub(crate) most: usize,
    /// The number of all processes that were seen.
    pub(crate) total: usize,
}

impl Stage<'_> {
    /// Runs `act`, and meanwhile counts the processes whose command line contains a word; returns the counts and the
    /// result. A process that is ending counts until it has been reaped.
    pub(crate) fn count_processes<T>(&self, word: &str, act: impl FnOnce() -> T) -> (ProcessCount, T) {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let counter = scope.spawn(|| {
                let (mut most, mut seen) = (0, BTreeSet::new());
                while !over.load(Ordering::Relaxed) {
                    let now = self.processes(word);
                    most = most.max(now.len());
                    seen.extend(now.into_iter().map(|(pid, _)| pid));
                    thread::sleep(LOOK);
                }
                ProcessCount { most, total: seen.len() }
            });
            let done = act();
            over.store(true, Ordering::Relaxed);
            (counter.join().unwrap_or(ProcessCount { most: usize::MAX, total: 0 }), done)
        })
    }
}
