//! The thread behind a sink: it writes batches, goes on after trouble with the file, and prunes.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use engine::redaction::Redaction;
use store::audit::{Entry, Log};

use super::AuditOptions;
use super::sink::{ENOUGH, Shared};

/// The time for which to gather entries after the first one.
const GATHER: Duration = Duration::from_millis(200);
/// The time for which to leave a file alone that could not be written.
const RETRY: Duration = Duration::from_secs(1);
/// The interval at which the same trouble is told.
const TELL: Duration = Duration::from_mins(1);
/// The interval at which old entries are pruned.
const PRUNE: Duration = Duration::from_hours(1);
/// After so many entries the size is looked at in any case.
const PRUNE_AFTER: usize = 100_000;

/// The owner of the file.
pub(super) struct Writer {
    log: Log,
    shared: Arc<Shared>,
    redaction: Redaction,
    keep: Duration,
    most_bytes: u64,
    /// Taken, and not yet written.
    batch: Vec<Entry>,
    /// The time when to prune next, and what was written since.
    prune_at: Instant,
    written: usize,
    /// Lost since it was last told.
    lost: u64,
    /// The time when losses, and trouble with the file, may be told again.
    tell_lost_at: Instant,
    tell_trouble_at: Instant,
}

impl Writer {
    pub(super) fn new(log: Log, options: &AuditOptions, shared: Arc<Shared>) -> Self {
        let now = Instant::now();
        Self {
            log,
            shared,
            redaction: Redaction::new(&options.redact),
            keep: options.keep,
            most_bytes: options.most_bytes,
            batch: Vec::new(),
            prune_at: now,
            written: 0,
            lost: 0,
            tell_lost_at: now,
            tell_trouble_at: now,
        }
    }

    /// Writes until the sink is closed.
    pub(super) fn run(mut self) {
        // Whatever happens here, nobody shall wait for it in vain.
        let ended = Ended(self.shared.clone());
        loop {
            self.prune_if_due();
            let closing = self.gather();
            self.write(closing);
            self.tell_losses(closing);
            if closing {
                break;
            }
        }
        ended.0.queue.lock().dropped += self.lost;
        // The file is closed in good order before anybody is told.
        drop(self);
    }

    /// Waits for entries and takes all that there are; returns whether these are the last.
    fn gather(&mut self) -> bool {
        let shared = self.shared.clone();
        let mut queue = shared.queue.lock();
        while queue.entries.is_empty() && !queue.closing {
            queue.idle = true;
            if shared.work.wait_until(&mut queue, self.prune_at).timed_out() {
                break;
            }
        }
        queue.idle = false;
        let until = Instant::now() + GATHER;
        while !queue.closing && !queue.entries.is_empty() && queue.entries.len() < ENOUGH {
            if shared.work.wait_until(&mut queue, until).timed_out() {
                break;
            }
        }
        std::mem::swap(&mut queue.entries, &mut self.batch);
        queue.held = 0;
        self.lost += std::mem::take(&mut queue.dropped);
        queue.closing
    }

    /// Writes the batch; when that is not possible, again and again until it is, or until nobody waits any more.
    fn write(&mut self, closing: bool) {
        for entry in &mut self.batch {
            entry.arguments = entry.arguments.take().map(|text| self.redaction.apply(&text));
        }
        let mut last = closing;
        while !self.batch.is_empty() {
            match self.log.append(&self.batch) {
                Ok(()) => {
                    self.written += self.batch.len();
                    self.batch.clear();
                }
                Err(error) => {
                    self.tell_trouble("calls cannot be recorded", &error);
                    if last {
                        self.lost += self.batch.len() as u64;
                        self.batch.clear();
                    }
                    last = self.pause();
                }
            }
        }
    }

    /// Waits a little, unless the sink is being closed; returns whether it is.
    fn pause(&self) -> bool {
        let until = Instant::now() + RETRY;
        let mut queue = self.shared.queue.lock();
        while !queue.closing && !self.shared.work.wait_until(&mut queue, until).timed_out() {}
        queue.closing
    }

    fn prune_if_due(&mut self) {
        let is_time = Instant::now() >= self.prune_at;
        if !is_time && self.written < PRUNE_AFTER {
            return;
        }
        self.written = 0;
        let before = is_time.then(|| {
            self.prune_at = Instant::now() + PRUNE;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(now.saturating_sub(self.keep).as_millis()).unwrap_or(u64::MAX)
        });
        match self.log.prune(before, self.most_bytes) {
            Ok(0) => {}
            Ok(gone) => tracing::debug!(gone, "old calls are no longer recorded"),
            Err(error) => self.tell_trouble("old calls cannot be deleted from the record", &error),
        }
    }

    fn tell_trouble(&mut self, what: &str, error: &store::Error) {
        if Instant::now() >= self.tell_trouble_at {
            self.tell_trouble_at = Instant::now() + TELL;
            tracing::error!("{what}: {error} (mend: {})", error.mend());
        }
    }

    fn tell_losses(&mut self, closing: bool) {
        if self.lost > 0 && (closing || Instant::now() >= self.tell_lost_at) {
            self.tell_lost_at = Instant::now() + TELL;
            tracing::warn!(lost = self.lost, "calls were not recorded: there was no room, or no time");
            if !closing {
                self.lost = 0;
            }
        }
    }
}

/// Tells at the thread's end that it has ended, also when it panicked.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.closing = true;
        queue.ended = true;
        self.0.end.notify_all();
    }
}
