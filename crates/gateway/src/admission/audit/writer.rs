//! The thread that serves a sink: it writes batches, recovers from file errors, and prunes old entries.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use engine::redaction::Redaction;
use store::audit::{AuditEntry, Log};

use super::AuditOptions;
use super::sink::{ENOUGH, Shared, WriterPhase};

/// The time for which further entries are gathered after the first one.
const GATHER: Duration = Duration::from_millis(200);
/// The pause after a failed write.
const RETRY: Duration = Duration::from_secs(1);
/// The minimum interval between log lines about the same problem.
const TELL: Duration = Duration::from_mins(1);
/// The interval at which old entries are pruned.
const PRUNE: Duration = Duration::from_hours(1);
/// The number of written entries after which the size is checked, even before the next regular pruning.
const PRUNE_AFTER: usize = 100_000;

/// An open file, and the settings for its entries.
pub(super) struct OpenRecord {
    log: Log,
    arguments: bool,
    redaction: Redaction,
    share: bool,
    keep: Duration,
    most_bytes: u64,
}

impl OpenRecord {
    pub(super) fn new(log: Log, options: &AuditOptions) -> Self {
        let redaction = Redaction::new(&options.redact);
        let &AuditOptions { arguments, share, keep, most_bytes, .. } = options;
        Self { log, arguments, redaction, share, keep, most_bytes }
    }

    /// Returns the arguments of an entry, redacted for the record.
    fn arguments(&self, text: &str) -> Option<String> {
        self.arguments.then(|| self.redaction.apply(text))
    }

    /// Starts a new file if the old one was moved or deleted, and logs this; then appends the batch.
    fn append(&mut self, batch: &[AuditEntry]) -> Result<(), store::Error> {
        if self.log.replace_if_gone()? {
            let path = self.log.path().display();
            tracing::warn!(
                "the record of calls was moved or deleted while it was being written; starting a new one at {path}"
            );
        }
        self.log.append(batch)
    }
}

/// A record that replaces the current one.
pub(super) struct NextRecord {
    /// The number of waiting entries that still belong to the old record.
    pub(super) after: usize,
    /// The record; `None` if calls are no longer recorded.
    pub(super) record: Option<Box<OpenRecord>>,
}

/// The writer of the record, which owns the open file.
pub(super) struct Writer {
    record: Option<Box<OpenRecord>>,
    /// The record that will replace the current one.
    next: Option<NextRecord>,
    shared: Arc<Shared>,
    /// Accepted entries that have not been written yet.
    batch: Vec<AuditEntry>,
    /// The accepted entries that belong to the next record.
    later: Vec<AuditEntry>,
    /// The time of the next pruning, and the number of entries since the last one.
    prune_at: Instant,
    written: usize,
    /// The number of lost entries since the last log line.
    lost: u64,
    /// The earliest time at which losses and file errors may be logged again.
    tell_lost_at: Instant,
    log_failure_at: Instant,
}

impl Writer {
    pub(super) fn new(record: Box<OpenRecord>, shared: Arc<Shared>) -> Self {
        let now = Instant::now();
        Self {
            record: Some(record),
            next: None,
            shared,
            batch: Vec::new(),
            later: Vec::new(),
            prune_at: now,
            written: 0,
            lost: 0,
            tell_lost_at: now,
            log_failure_at: now,
        }
    }

    /// Writes until the sink is closed.
    pub(super) fn run(mut self) {
        // Signals the end even after a panic, so nobody waits for this thread forever.
        let ended = Ended(self.shared.clone());
        loop {
            self.prune_if_due();
            let closing = self.gather();
            self.write(closing);
            self.go_on();
            std::mem::swap(&mut self.later, &mut self.batch);
            self.write(closing);
            self.log_losses(closing);
            if closing {
                break;
            }
        }
        ended.0.queue.lock().dropped += self.lost;
        // Close the file cleanly before signalling the end.
        drop(self);
    }

    /// Waits for entries and takes all of them; returns true if the sink is being closed and no more entries will come.
    fn gather(&mut self) -> bool {
        let shared = self.shared.clone();
        let mut queue = shared.queue.lock();
        while queue.entries.is_empty() && !queue.closing && queue.next.is_none() {
            queue.idle = true;
            if shared.work.wait_until(&mut queue, self.prune_at).timed_out() {
                break;
            }
        }
        queue.idle = false;
        let until = Instant::now() + GATHER;
        while !queue.closing
            && queue.next.is_none()
            && !queue.entries.is_empty()
            && queue.entries.len() < ENOUGH
        {
            if shared.work.wait_until(&mut queue, until).timed_out() {
                break;
            }
        }
        std::mem::swap(&mut queue.entries, &mut self.batch);
        queue.held = 0;
        self.next = queue.next.take();
        if let Some(next) = &self.next {
            self.later = self.batch.split_off(next.after.min(self.batch.len()));
        }
        self.lost += std::mem::take(&mut queue.dropped);
        queue.closing
    }

    /// Switches to the next record, if there is one, and closes the old file.
    fn go_on(&mut self) {
        if let Some(next) = self.next.take() {
            tracing::info!(
                is_on = next.record.is_some(),
                "the record of calls continues with the new settings"
            );
            self.record = next.record;
            // Entries that are older than the new record allows are pruned immediately.
            (self.prune_at, self.log_failure_at) = (Instant::now(), Instant::now());
            self.prune_if_due();
        }
    }

    /// Writes the batch. Retries until the batch is written, until the next record accepts the batch, or until the
    /// shutdown's deadline has passed.
    fn write(&mut self, closing: bool) {
        let mut last = closing;
        if let Some(record) = &self.record {
            for entry in &mut self.batch {
                entry.arguments = entry.arguments.take().and_then(|text| record.arguments(&text));
            }
        }
        while !self.batch.is_empty() {
            // The record was turned off.
            let Some(record) = &mut self.record else { return self.batch.clear() };
            match record.append(&self.batch) {
                Ok(()) => {
                    self.written += self.batch.len();
                    if record.share {
                        self.shared.calls.take(&self.batch, record.keep);
                    }
                    self.batch.clear();
                }
                Err(error) => {
                    self.log_failure("calls cannot be recorded", &error);
                    if last && self.next.is_none() {
                        self.lost += self.batch.len() as u64;
                        self.shared.queue.lock().lost_in_all += self.batch.len() as u64;
                        self.batch.clear();
                    }
                    last = self.pause();
                    self.go_on();
                }
            }
        }
    }

    /// Waits for a moment, but not if another record is next or the sink is being closed; returns true if the sink is
    /// being closed.
    fn pause(&mut self) -> bool {
        let until = Instant::now() + RETRY;
        let shared = self.shared.clone();
        let mut queue = shared.queue.lock();
        while self.next.is_none()
            && queue.next.is_none()
            && !queue.closing
            && !shared.work.wait_until(&mut queue, until).timed_out()
        {}
        if queue.next.is_some() {
            self.next = queue.next.take();
        }
        queue.closing
    }

    fn prune_if_due(&mut self) {
        let is_time = Instant::now() >= self.prune_at;
        if !is_time && self.written < PRUNE_AFTER {
            return;
        }
        self.written = 0;
        if is_time {
            self.prune_at = Instant::now() + PRUNE;
        }
        let Some(record) = &mut self.record else { return };
        let before = is_time.then(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(now.saturating_sub(record.keep).as_millis()).unwrap_or(u64::MAX)
        });
        match record.log.prune(before, record.most_bytes) {
            Ok(0) => {}
            Ok(gone) => tracing::debug!(gone, "deleted old calls from the record"),
            Err(error) => self.log_failure("old calls cannot be deleted from the record", &error),
        }
    }

    fn log_failure(&mut self, what: &str, error: &store::Error) {
        if Instant::now() >= self.log_failure_at {
            self.log_failure_at = Instant::now() + TELL;
            tracing::error!("{what}: {error} (help: {})", error.help());
        }
    }

    fn log_losses(&mut self, closing: bool) {
        if self.lost > 0 && (closing || Instant::now() >= self.tell_lost_at) {
            self.tell_lost_at = Instant::now() + TELL;
            tracing::warn!(
                lost = self.lost,
                "calls were not recorded, because the queue was full, or because they could not be written before Dragoman \
                 stopped"
            );
            if !closing {
                self.lost = 0;
            }
        }
    }
}

/// Signals the end of the thread when dropped, even after a panic.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.closing = true;
        queue.writer = WriterPhase::Ended;
        self.0.end.notify_all();
    }
}
