//! What calls have in hand: taking entries without ever waiting.
//!
//! Behind a short lock lies a vector. The writer is woken once for what comes in a fraction of a second, not for each
//! entry, so that under load a call pays for a push and a share of a batch.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use store::audit::{Entry, Log};

use super::AuditOptions;
use super::writer::Writer;

/// The most entries that wait for the writer; what comes then is counted and lost.
pub(super) const CAPACITY: usize = 8192;
/// From so many on the writer does not wait for more.
pub(super) const ENOUGH: usize = CAPACITY / 2;
/// The most bytes of arguments that wait; beyond that an entry is taken without its own.
const MOST_HELD: usize = 16 << 20;
/// The longest arguments that are looked at, in bytes.
const MAX_ARGUMENTS: usize = 64 << 10;
/// The longest name that is kept whole, in bytes.
const MAX_NAME: usize = 512;

/// Takes entries for the record; cheap to clone. When the last one is dropped the writer ends, too.
#[derive(Clone)]
pub(crate) struct AuditSink(Option<Arc<Handle>>);

struct Handle {
    shared: Arc<Shared>,
    arguments: bool,
}

/// What the sink and its writer share.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) queue: Mutex<Queue>,
    /// There is something to do.
    pub(super) work: Condvar,
    /// The writer has ended.
    pub(super) end: Condvar,
}

/// What waits to be written.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) entries: Vec<Entry>,
    /// Bytes of arguments in them.
    pub(super) held: usize,
    /// Entries that there was no room for, since the writer last looked.
    pub(super) dropped: u64,
    /// The writer waits for the first entry.
    pub(super) idle: bool,
    /// Nothing more is taken.
    pub(super) closing: bool,
    /// All is written that could be.
    pub(super) ended: bool,
}

impl AuditSink {
    /// A sink that records nothing.
    pub(crate) fn off() -> Self {
        Self(None)
    }

    /// Starts the writer of an open file.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start(log: Log, options: &AuditOptions) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writer = Writer::new(log, options, shared.clone());
        std::thread::Builder::new().name("audit".to_owned()).spawn(move || writer.run())?;
        Ok(Self::of(shared, options.arguments))
    }

    /// The sink in front of a writer.
    pub(super) fn of(shared: Arc<Shared>, arguments: bool) -> Self {
        Self(Some(Arc::new(Handle { shared, arguments })))
    }

    /// Returns true if anything is recorded; else nobody need make an entry.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Returns true if arguments are recorded; else nobody need look for them.
    pub(crate) fn takes_arguments(&self) -> bool {
        self.0.as_ref().is_some_and(|handle| handle.arguments)
    }

    /// A call's arguments (JSON text as it came) for its entry: `None` when they are not recorded, a remark in place of
    /// very long ones.
    pub(crate) fn arguments(&self, text: &[u8]) -> Option<String> {
        self.0.as_ref().filter(|handle| handle.arguments)?;
        let is_long = text.len() > MAX_ARGUMENTS;
        Some(if is_long { remark(text.len()) } else { String::from_utf8_lossy(text).into_owned() })
    }

    /// Takes an entry. Never waits for anything but other calls doing the same; when the writer is far behind, the entry
    /// is counted and lost.
    pub(crate) fn record(&self, mut entry: Entry) {
        let Some(handle) = &self.0 else { return };
        entry.arguments = entry.arguments.filter(|_| handle.arguments);
        trim(&mut entry);
        let mut queue = handle.shared.queue.lock();
        if queue.closing || queue.entries.len() >= CAPACITY {
            queue.dropped += 1;
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
            handle.shared.work.notify_one();
        }
    }

    /// Takes nothing more, and waits until all is written; blocks, but not beyond `deadline`. Returns whether all was
    /// written.
    pub(crate) fn close(&self, deadline: Duration) -> bool {
        let Some(handle) = &self.0 else { return true };
        let until = Instant::now() + deadline;
        let mut queue = handle.shared.queue.lock();
        queue.closing = true;
        handle.shared.work.notify_one();
        while !queue.ended {
            if handle.shared.end.wait_until(&mut queue, until).timed_out() {
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

/// What stands for arguments that are not kept; a JSON text, too.
fn remark(bytes: usize) -> String {
    format!("\"[{bytes} bytes]\"")
}

/// Cuts what is longer than any sound name: it comes from clients.
fn trim(entry: &mut Entry) {
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
