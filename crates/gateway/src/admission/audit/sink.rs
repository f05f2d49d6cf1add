//! The producer side of the record: accepts entries from calls without ever waiting.
//!
//! A briefly held lock guards a vector. The writer is woken once for all entries that arrive within a fraction of a
//! second, so under load a call pays only for a push and its share of a batch.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cluster::Cluster;
use config::Audit;
use engine::redaction::Redaction;
use parking_lot::{Condvar, Mutex};
use store::audit::{AuditEntry, Log};

use tokio::sync::broadcast::Receiver;
use transport::net::Stop;

use super::AuditOptions;
use super::reason_text::reason_text;
use super::shared_calls::SharedCalls;
use super::watch::{WatchedCalls, WatchedCounts, WatchedShare, Watchers};
use super::writer::{NextRecord, OpenRecord, Writer};
use crate::telemetry::call_log::CallLog;
use crate::telemetry::trace::TraceContext;

/// The maximum number of entries that wait for the writer; further entries are dropped, and only their number is kept.
pub(super) const CAPACITY: usize = 8192;
/// The number of waiting entries at which the writer stops waiting for more.
pub(super) const ENOUGH: usize = CAPACITY / 2;
/// The maximum size of all waiting arguments, in bytes; above this limit, entries are accepted without arguments.
const MOST_HELD: usize = 16 << 20;
/// The maximum size of one call's recorded arguments, in bytes; longer ones are replaced by a placeholder.
const MAX_ARGUMENTS: usize = 64 << 10;
/// The maximum length of a recorded name, in bytes; longer names are truncated.
const MAX_NAME: usize = 512;

/// Accepts entries for the record; cheap to clone. The writer ends when the last clone is dropped.
#[derive(Clone)]
pub struct AuditSink(Arc<Handle>);

struct Handle {
    shared: Arc<Shared>,
    /// The destinations of entries: a combination of `ENTRIES`, `ARGUMENTS`, `WATCHED` and `EXPORTED`. The value
    /// changes only under the queue's lock.
    accepts: AtomicU8,
    watchers: Watchers,
    /// The export to a collector, if there is one.
    export: OnceLock<Arc<CallLog>>,
    /// The names whose values are removed from error texts. Only calls that fail read this.
    redaction: Mutex<Arc<Redaction>>,
}

/// Entries are not accepted.
const NOTHING: u8 = 0;
/// Entries are written.
const ENTRIES: u8 = 1;
/// Arguments are written, too.
const ARGUMENTS: u8 = 2;
/// Somebody watches entries arrive.
const WATCHED: u8 = 4;
/// Entries are sent to a collector.
const EXPORTED: u8 = 8;

/// The state that the sink and its writer share.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) queue: Mutex<Queue>,
    /// Signalled when there is work.
    pub(super) work: Condvar,
    /// Signalled when the writer has ended.
    pub(super) end: Condvar,
    /// The entries for the other gateways of a cluster.
    pub(super) calls: SharedCalls,
}

/// The state of a writer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum WriterPhase {
    /// The writer has not been started yet.
    #[default]
    Unstarted,
    /// The writer is writing, or waiting for entries.
    Running,
    /// The writer has ended, after writing everything that it could.
    Ended,
}

/// The entries that are waiting to be written.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) entries: Vec<AuditEntry>,
    /// The size of the arguments of all waiting entries, in bytes.
    pub(super) held: usize,
    /// The number of entries lost since the writer last checked.
    pub(super) dropped: u64,
    /// The number of entries lost since the start.
    pub(super) lost_in_all: u64,
    /// The record that the writer switches to next.
    pub(super) next: Option<NextRecord>,
    /// True while the writer waits for the first entry.
    pub(super) idle: bool,
    /// True once no more entries are accepted.
    pub(super) closing: bool,
    /// The state of the writer.
    pub(super) writer: WriterPhase,
}

impl AuditSink {
    /// Returns a sink that records nothing.
    pub(crate) fn off() -> Self {
        Self::of(Arc::default(), NOTHING)
    }

    /// Starts the writer of an open file.
    ///
    /// # Errors
    /// Fails if the system cannot start a thread.
    pub(crate) fn start(log: Log, options: &AuditOptions) -> std::io::Result<Self> {
        let sink = Self::off();
        sink.switch(Some((log, options)))?;
        Ok(sink)
    }

    fn of(shared: Arc<Shared>, accepts: u8) -> Self {
        Self(Arc::new(Handle {
            shared,
            accepts: AtomicU8::new(accepts),
            watchers: Watchers::default(),
            export: OnceLock::new(),
            redaction: Mutex::new(Arc::new(Redaction::new(&default_names()))),
        }))
    }

    /// Returns a sink without a writer thread: the test runs the writer itself.
    #[cfg(test)]
    pub(super) fn unwritten(shared: Arc<Shared>) -> Self {
        shared.queue.lock().writer = WriterPhase::Running;
        Self::of(shared, ENTRIES)
    }

    /// Switches to this record, or to none. The writer first writes the entries that were accepted earlier, and closes
    /// the old file; no caller waits for the writer.
    ///
    /// # Errors
    /// Fails if the system cannot start a thread; in this case nothing changes.
    pub(crate) fn switch(&self, to: Option<(Log, &AuditOptions)>) -> std::io::Result<()> {
        let accepts = match &to {
            None => NOTHING,
            Some((_, options)) if options.arguments => ENTRIES | ARGUMENTS,
            Some(_) => ENTRIES,
        };
        if let Some((_, options)) = &to {
            *self.0.redaction.lock() = Arc::new(Redaction::new(&options.redact));
        }
        let record = to.map(|(log, options)| Box::new(OpenRecord::new(log, options)));
        let mut queue = self.0.shared.queue.lock();
        if queue.writer != WriterPhase::Unstarted {
            let after = queue.next.take().map_or(queue.entries.len(), |next| next.after);
            queue.next = Some(NextRecord { after, record });
            self.0.shared.work.notify_one();
        } else if let Some(record) = record {
            let writer = Writer::new(record, self.0.shared.clone());
            std::thread::Builder::new().name("audit".to_owned()).spawn(move || writer.run())?;
            queue.writer = WriterPhase::Running;
        }
        // This happens under the lock: entries that are accepted from here on belong to the new record.
        self.0.accepts.store(accepts | (self.0.accepts.load(Relaxed) & (WATCHED | EXPORTED)), Relaxed);
        Ok(())
    }

    /// Sends entries to a collector as well, even if they are not written. If an export is already set, it stays.
    pub(crate) fn exporting_to(self, export: Option<Arc<CallLog>>) -> Self {
        if let Some(export) = export {
            let _queue = self.0.shared.queue.lock();
            if self.0.export.set(export).is_ok() {
                self.0.accepts.fetch_or(EXPORTED, Relaxed);
            }
        }
        self
    }

    /// Returns the number of entries that could not be sent to the collector; `None` if no collector is configured.
    pub fn lost_exports(&self) -> Option<u64> {
        self.0.export.get().map(|export| export.queue.dropped())
    }

    /// Begins to pass entries to a reader, even if they are not written; returns `None` if there are `most` such readers already.
    pub fn watch(
        &self,
        most: usize,
        share: WatchedShare,
    ) -> Option<(WatchedCalls, Receiver<Arc<AuditEntry>>)> {
        let _queue = self.0.shared.queue.lock();
        let entries = self.0.watchers.enter(most, share)?;
        self.0.accepts.fetch_or(WATCHED, Relaxed);
        Some((WatchedCalls(self.clone(), share), entries))
    }

    /// Returns the numbers of entries that arrived while somebody watched.
    pub fn watched(&self) -> WatchedCounts {
        self.0.watchers.counts()
    }

    /// Removes a reader.
    pub(super) fn unwatch(&self, share: WatchedShare) {
        let _queue = self.0.shared.queue.lock();
        if self.0.watchers.leave(share) {
            self.0.accepts.fetch_and(!WATCHED, Relaxed);
        }
    }

    /// Returns true if entries are written.
    fn writes(&self) -> bool {
        self.0.accepts.load(Relaxed) & ENTRIES != 0
    }

    /// Returns true if calls are recorded, watched or exported; otherwise no entry is needed.
    pub(crate) fn is_on(&self) -> bool {
        self.0.accepts.load(Relaxed) != NOTHING
    }

    /// Returns the number of entries that wait to be written.
    pub fn waiting(&self) -> usize {
        self.0.shared.queue.lock().entries.len()
    }

    /// Returns true if arguments are recorded; otherwise an entry needs no arguments.
    pub(crate) fn takes_arguments(&self) -> bool {
        self.0.accepts.load(Relaxed) & ARGUMENTS != 0
    }

    /// Returns a call's arguments (JSON text as received) for its entry: `None` if arguments are not recorded, and a
    /// placeholder if the arguments are very long.
    pub(crate) fn arguments(&self, text: &[u8]) -> Option<String> {
        if !self.takes_arguments() {
            return None;
        }
        let is_long = text.len() > MAX_ARGUMENTS;
        Some(if is_long { remark(text.len()) } else { String::from_utf8_lossy(text).into_owned() })
    }

    /// Returns the beginning of an error text for an entry, without the values that are to be redacted.
    pub(crate) fn reason_text(&self, text: &str) -> Box<str> {
        let redaction = self.0.redaction.lock().clone();
        reason_text(text, &redaction)
    }

    /// Sends the written entries to the other gateways of a cluster, until the gateway stops.
    pub(crate) async fn share(&self, cluster: &Cluster, stop: &Stop) {
        self.0.shared.calls.send(cluster, stop).await;
    }

    /// Returns the number of entries that could not be sent to the other gateways.
    pub fn lost_shared(&self) -> u64 {
        self.0.shared.calls.lost()
    }

    /// Returns the number of entries that were lost since the start.
    pub fn lost(&self) -> u64 {
        self.0.shared.queue.lock().lost_in_all
    }

    /// Accepts an entry. The only wait is for other calls that are adding an entry at the same moment. If the writer is
    /// far behind, the entry is dropped and counted. If the record was turned off while the call was running, the entry
    /// is ignored.
    pub(crate) fn record(&self, entry: AuditEntry) {
        self.record_in(entry, None);
    }

    /// Accepts the entry of a request with this span; see [`Self::record`].
    pub(crate) fn record_in(&self, mut entry: AuditEntry, span: Option<TraceContext>) {
        trim(&mut entry);
        let accepts = self.0.accepts.load(Relaxed);
        if accepts & WATCHED != 0 {
            self.0.watchers.tell(&entry, Instant::now());
        }
        if let Some(export) = self.0.export.get().filter(|_| accepts & EXPORTED != 0) {
            export.accept(&entry, span);
        }
        let shared = &self.0.shared;
        let mut queue = shared.queue.lock();
        if !self.writes() {
            return;
        }
        entry.arguments = entry.arguments.filter(|_| self.takes_arguments());
        if queue.closing || queue.entries.len() >= CAPACITY {
            queue.dropped += 1;
            queue.lost_in_all += 1;
            return;
        }
        let held = queue.held + entry.arguments.as_ref().map_or(0, String::len);
        if held > MOST_HELD {
            entry.arguments = entry.arguments.map(|text| remark(text.len()));
        } else {
            queue.held = held;
        }
        queue.entries.push(entry);
        let wake = queue.idle || queue.entries.len() == ENOUGH;
        queue.idle = false;
        drop(queue);
        if wake {
            shared.work.notify_one();
        }
    }

    /// Stops accepting entries, and waits until all accepted entries are written; blocks for at most `deadline`.
    /// Returns true if all of them were written.
    pub(crate) fn close(&self, deadline: Duration) -> bool {
        let shared = &self.0.shared;
        let until = Instant::now() + deadline;
        let mut queue = shared.queue.lock();
        queue.closing = true;
        shared.work.notify_one();
        while queue.writer == WriterPhase::Running {
            if shared.end.wait_until(&mut queue, until).timed_out() {
                tracing::warn!("the last calls could not be recorded in time");
                return false;
            }
        }
        queue.dropped == 0
    }
}

impl std::fmt::Debug for AuditSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("AuditSink").field(&self.is_on()).finish()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.queue.lock().closing = true;
        self.shared.work.notify_one();
    }
}

fn default_names() -> Vec<String> {
    Audit::REDACT.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns the placeholder for arguments that are not kept; the placeholder is valid JSON.
fn remark(bytes: usize) -> String {
    format!("\"[{bytes} bytes]\"")
}

/// Truncates overlong names, because they come from clients.
fn trim(entry: &mut AuditEntry) {
    let cut = |text: &str| text[..text.floor_char_boundary(MAX_NAME)].to_owned() + "…";
    for name in
        [Some(&mut entry.principal), Some(&mut entry.profile), entry.upstream.as_mut(), entry.tool.as_mut()]
    {
        if let Some(name) = name.filter(|name| name.len() > MAX_NAME) {
            *name = cut(name).into();
        }
    }
    if entry.method.len() > MAX_NAME {
        entry.method = cut(&entry.method).into();
    }
    if let Some(text) = entry.arguments.as_mut().filter(|text| text.len() > MAX_ARGUMENTS) {
        *text = remark(text.len());
    }
}
