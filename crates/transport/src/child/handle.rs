//! The owner's side of a child: sends lines, stops the child, and queries its state.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use memchr::memchr2;
use tokio::sync::{TryAcquireError, mpsc};

use super::{
    error::{ChildError, Exit},
    limits::Limits,
    lines::Lines,
    state::{Shared, Stage},
    stderr::LastOutput,
    writer::{QueuedLine, WriterCapacity},
};

/// The time for which a failed write waits for the exit that explains the failure.
const EXPLANATION: Duration = Duration::from_millis(250);

/// A running child: a [`Handle`] for writing to it, and the [`Lines`] that it writes. Dropping either end stops the
/// child in the background.
///
/// The pipes belong to the runtime in which [`Supervisor::spawn`](super::Supervisor::spawn) was awaited. Both ends may
/// be used from any other runtime; when the runtime of the pipes ends, the child is stopped and its users get an
/// error.
#[derive(Debug)]
pub struct Child {
    pub(super) handle: Handle,
    pub(super) lines: Lines,
}

impl Child {
    /// See [`Handle::send`].
    pub async fn send(&self, line: Bytes) -> Result<(), ChildError> {
        self.handle.send(line).await.map(drop)
    }

    /// See [`Lines::recv`].
    pub async fn recv(&mut self) -> Result<Bytes, ChildError> {
        self.lines.recv().await
    }

    /// See [`Handle::stop`].
    pub async fn stop(&self) -> Exit {
        self.handle.stop().await
    }

    /// Returns the writing end, which can be cloned.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns both ends separately, for one task that reads and many that write.
    pub fn split(self) -> (Handle, Lines) {
        (self.handle, self.lines)
    }
}

/// The writing end of a child. When the last clone is dropped, the child is stopped in the background.
#[derive(Clone, Debug)]
pub struct Handle(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    queue: mpsc::UnboundedSender<Bytes>,
    room: Arc<WriterCapacity>,
    shared: Arc<Shared>,
    patience: Duration,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shared.ask_stop();
    }
}

impl Handle {
    pub(super) fn new(
        queue: mpsc::UnboundedSender<Bytes>,
        room: Arc<WriterCapacity>,
        shared: Arc<Shared>,
        limits: &Limits,
    ) -> Self {
        Self(Arc::new(Inner { queue, room, shared, patience: limits.send }))
    }

    /// Adds a line, given without its newline, to the queue for the child's stdin; the newline is appended here. Lines
    /// of one sender arrive in order; lines that wait at the same time are written together.
    ///
    /// Line breaks inside `line` become spaces: in JSON, a line break can only be white space between tokens, but
    /// on this transport it would start a new message.
    ///
    /// # Errors
    /// Returns [`ChildError::Stalled`] if the queue has no room within [`Limits::send`]. If a sender has already
    /// waited that long since the child last read, this error is returned immediately. Returns a final error if the
    /// child is gone or is being stopped. The child has not seen a rejected line.
    pub async fn send(&self, line: Bytes) -> Result<QueuedLine, ChildError> {
        let inner = &*self.0;
        if !self.is_running() {
            return Err(Box::pin(self.ended()).await);
        }
        let line = single_line(line);
        let cost = inner.room.cost(line.len());
        match inner.room.permits.try_acquire_many(cost) {
            Ok(permit) => permit.forget(),
            // Rarely used futures are boxed; otherwise, space for them would be moved with every line.
            Err(TryAcquireError::NoPermits) => Box::pin(self.wait_for_room(cost)).await?,
            Err(TryAcquireError::Closed) => return Err(Box::pin(self.ended()).await),
        }
        match inner.room.enqueue(|| inner.queue.send(line).is_ok()) {
            Some(queued) => Ok(queued),
            None => Err(Box::pin(self.ended()).await),
        }
    }

    async fn wait_for_room(&self, cost: u32) -> Result<(), ChildError> {
        let Inner { room, shared, patience, .. } = &*self.0;
        let stalled = || ChildError::Stalled {
            program: shared.program.clone(),
            queued: room.queued(),
            waited: *patience,
        };
        if room.stalled.load(Ordering::Relaxed) {
            return Err(stalled());
        }
        match tokio::time::timeout(*patience, room.permits.acquire_many(cost)).await {
            Ok(Ok(permit)) => {
                permit.forget();
                Ok(())
            }
            Ok(Err(_closed)) => Err(self.ended().await),
            Err(_elapsed) => {
                room.stalled.store(true, Ordering::Relaxed);
                Err(stalled())
            }
        }
    }

    async fn ended(&self) -> ChildError {
        self.0.shared.ended("stdin", EXPLANATION).await
    }

    /// Ends the child, and waits until none of its processes is left. Closes the child's stdin, sends SIGTERM to
    /// its processes after [`Limits::stdin_grace`], and SIGKILL after [`Limits::term_grace`]. Several callers may
    /// wait. If the child is gone, this function returns immediately. Dropping the future does not cancel the stop.
    pub async fn stop(&self) -> Exit {
        self.0.shared.ask_stop();
        self.gone().await
    }

    /// Waits until none of the child's processes is left, without asking the child to stop.
    pub async fn gone(&self) -> Exit {
        let shared = &self.0.shared;
        let mut stage = shared.stage.subscribe();
        let gone = stage.wait_for(|stage| matches!(stage, Stage::Gone(_))).await;
        match gone.ok().and_then(|stage| stage.exit().cloned()) {
            Some(exit) => exit,
            // This cannot happen: `shared` holds the sender.
            None => Exit {
                program: shared.program.clone(),
                status: None,
                asked: true,
                cap: None,
                stderr: shared.stderr_output(),
            },
        }
    }

    /// Returns the child's process id, which is also the id of its process group.
    pub fn pid(&self) -> u32 {
        self.0.shared.pid
    }

    /// Returns the last part of the child's stderr.
    pub fn stderr(&self) -> LastOutput {
        self.0.shared.stderr_output()
    }

    /// Returns true if the child has neither exited nor been asked to stop.
    pub fn is_running(&self) -> bool {
        self.0.shared.stage.borrow().is_running()
    }
}

fn single_line(line: Bytes) -> Bytes {
    // A lone CR counts as well: readers in text mode (Python's, for example) treat it as the end of a line.
    if memchr2(b'\n', b'\r', &line).is_none() {
        return line;
    }
    line.iter().map(|&byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_one_line() {
        let same = Bytes::from_static(b"{\"a\":1}");
        assert_eq!(single_line(same.clone()).as_ptr(), same.as_ptr(), "nothing is copied");
        assert_eq!(single_line(Bytes::from_static(b"{\r\n \"a\":\r1}\n")), "{   \"a\": 1} ");
    }
}
