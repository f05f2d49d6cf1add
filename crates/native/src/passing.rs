//! A file that is read from one server while it is sent to another. Only a small part of the file is in memory at a
//! time.
//!
//! This module must not know where the file comes from, or how it is sent.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;

use crate::port::{ArrivingBody, HttpFault, HttpFaultKind};

/// The body of a request.
#[derive(Debug, Clone)]
pub enum HttpBody {
    /// Bytes; may be empty.
    Whole(Bytes),
    /// A file that is passed on, and the bytes around it.
    Passing(PassedFile),
}

impl HttpBody {
    /// Returns the bytes, unless they are still arriving.
    pub fn whole(&self) -> Option<&Bytes> {
        match self {
            Self::Whole(bytes) => Some(bytes),
            Self::Passing(_) => None,
        }
    }
}

impl Default for HttpBody {
    fn default() -> Self {
        Self::Whole(Bytes::new())
    }
}

impl From<Bytes> for HttpBody {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

/// A file that is passed on as a part of a body.
#[derive(Debug, Clone)]
pub struct PassedFile {
    /// The bytes before the file.
    pub before: Bytes,
    /// The file.
    pub file: FileStream,
    /// The bytes after the file; not empty.
    pub after: Bytes,
    /// The longest time for which the receiver may accept no bytes of the body, or send no answer after the body.
    pub stall: Duration,
}

impl PassedFile {
    /// Returns the length of the whole body, if it is known.
    pub fn length(&self) -> Option<u64> {
        Some(self.before.len() as u64 + self.file.length()? + self.after.len() as u64)
    }
}

/// The amount of a file that a call has passed on so far. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub struct FileTransfer(Arc<TransferCounts>);

#[derive(Debug, Default)]
struct TransferCounts {
    passed: AtomicU64,
    /// The file's length; 0 if it is unknown.
    length: AtomicU64,
}

impl FileTransfer {
    /// Returns the number of bytes that have been passed on; 0 before the beginning.
    pub fn passed(&self) -> u64 {
        self.0.passed.load(Ordering::Relaxed)
    }

    /// Returns the file's length, if it is known.
    pub fn length(&self) -> Option<u64> {
        Some(self.0.length.load(Ordering::Relaxed)).filter(|length| *length > 0)
    }

    fn count(&self, bytes: usize, length: Option<u64>) {
        self.0.length.store(length.unwrap_or_default(), Ordering::Relaxed);
        self.0.passed.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// A file that is arriving. Clones share the pieces, so the file can be read only once.
#[derive(Clone)]
pub struct FileStream {
    length: Option<u64>,
    most: u64,
    /// Counts the bytes for the caller, if the caller wants to know.
    transfer: Option<FileTransfer>,
    state: Arc<Mutex<FileState>>,
}

struct FileState {
    /// The bytes that had already arrived; empty once they were taken.
    first: Bytes,
    /// The rest; `None` at its end.
    rest: Option<Box<dyn ArrivingBody>>,
    /// The number of bytes that have arrived.
    arrived: u64,
    is_begun: bool,
    is_abandoned: bool,
    reader: Option<Waker>,
}

impl FileStream {
    /// A file that begins with `first` and continues with `rest`. `length` is its length, if it is known, and `most` is the
    /// largest length that is accepted.
    pub fn new(first: Bytes, rest: Option<Box<dyn ArrivingBody>>, length: Option<u64>, most: u64) -> Self {
        let arrived = first.len() as u64;
        let state = FileState { first, rest, arrived, is_begun: false, is_abandoned: false, reader: None };
        Self { length, most, transfer: None, state: Arc::new(Mutex::new(state)) }
    }

    /// Counts the bytes that are passed on in `transfer`.
    pub(crate) fn counted(self, transfer: Option<FileTransfer>) -> Self {
        Self { transfer, ..self }
    }

    /// Returns the length in bytes, if it is known.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// Returns true once a piece has been requested: the file can then no longer be read from its beginning.
    pub fn is_begun(&self) -> bool {
        self.state().is_begun
    }

    /// Returns the next piece; `None` at the end.
    pub fn poll_piece(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpFault>>> {
        let polled = self.state().poll_piece(self.most, cx);
        if let (Some(transfer), Poll::Ready(Some(Ok(piece)))) = (&self.transfer, &polled) {
            transfer.count(piece.len(), self.length);
        }
        polled
    }

    /// Stops reading the file; code that awaits a piece gets an error.
    pub fn abandon(&self) {
        let mut state = self.state();
        state.is_abandoned = true;
        let (rest, reader) = (state.rest.take(), state.reader.take());
        // Foreign code runs only after the lock has been released.
        drop(state);
        drop(rest);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, FileState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileState {
    fn poll_piece(&mut self, most: u64, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpFault>>> {
        self.is_begun = true;
        if self.is_abandoned {
            return Poll::Ready(Some(Err(unread("the request has already ended"))));
        }
        if !self.first.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.first))));
        }
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        let Poll::Ready(next) = rest.poll_piece(cx) else {
            self.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        let next = next.map(|piece| match piece {
            Ok(piece) => {
                self.arrived = self.arrived.saturating_add(piece.len() as u64);
                if self.arrived > most { Err(unread(&too_large(most))) } else { Ok(piece) }
            }
            Err(fault) => Err(unread(&fault.message)),
        });
        if !matches!(next, Some(Ok(_))) {
            self.rest = None;
            // After a fault, the end must not look like the end of the file.
            self.is_abandoned = next.is_some();
        }
        Poll::Ready(next)
    }
}

fn unread(message: &str) -> HttpFault {
    HttpFault { kind: HttpFaultKind::Source, message: message.to_owned() }
}

/// The message about a file that is larger than `most` bytes.
pub(crate) fn too_large(most: u64) -> String {
    const MIB: u64 = 1 << 20;
    let most = if most.is_multiple_of(MIB) { format!("{} MiB", most / MIB) } else { format!("{most} bytes") };
    format!("the file is larger than {most}, the limit for files that are passed by URL")
}

impl fmt::Debug for FileStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStream").field("length", &self.length).finish_non_exhaustive()
    }
}
