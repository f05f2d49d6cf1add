//! The reading end of a child: its stdout as lines, and the reason for its end.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use proto::codec::line::{LineDecoder, LineError};
use tokio::{io::AsyncReadExt, net::unix::pipe, sync::watch};

use crate::budget::{self, Part, Patience, Reservation};

use super::{
    error::ChildError,
    limits::Limits,
    state::{Shared, Stage, exited},
};

/// The size of a read, in bytes. It equals the default capacity of a pipe, so one call empties the pipe.
const CHUNK: usize = 64 << 10;

/// The capacity of the pipe of a child that writes large lines, in bytes: the most that Linux allows every user. A
/// child with a large line stops whenever the pipe is full, and continues once this process has read from the pipe. On
/// a busy machine, each of these changes takes milliseconds, so a small pipe would make everybody's answers wait.
const WIDE: usize = 1 << 20;

/// The minimum free space of the current chunk, in bytes; below it, a new chunk is allocated.
const LEAST: usize = 16 << 10;

/// The number of bytes that are still read after the child's exit; this is more than a pipe holds. Later output is
/// ignored: a process that inherited the pipe may still be writing.
const AFTER_EXIT: usize = 2 * WIDE;

/// The time for which the reader waits, at the end of stdout, for the exit that explains why stdout ended.
const EXPLANATION: Duration = Duration::from_secs(1);

fn new_reservation() -> Reservation {
    budget::of_process().reservation(Part::Answers)
}

/// The lines that a child writes. Dropping this value stops the child in the background.
#[derive(Debug)]
pub struct Lines {
    pipe: pipe::Receiver,
    decoder: LineDecoder,
    buffer: BytesMut,
    stage: watch::Receiver<Stage>,
    shared: Arc<Shared>,
    /// The reserved memory for a large line.
    reservation: Reservation,
    /// The time for which reading may stop while there is no memory for a large line.
    patience: Patience,
    /// True once the child has written a large line.
    is_wide: bool,
    /// True if nothing more will be read.
    at_end: bool,
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.shared.ask_stop();
    }
}

impl Lines {
    pub(super) fn new(pipe: pipe::Receiver, shared: Arc<Shared>, limits: &Limits) -> Self {
        let decoder = LineDecoder::new(limits.line_bytes);
        let stage = shared.stage.subscribe();
        let (buffer, reservation, patience) = (BytesMut::new(), new_reservation(), Patience::new());
        Self { pipe, decoder, buffer, stage, shared, reservation, patience, is_wide: false, at_end: false }
    }

    /// Returns the next line without its line ending, exactly as the child wrote it: neither UTF-8 nor JSON is
    /// checked. Empty lines are skipped; a last line without a newline is returned as well. Lines that have already
    /// been read are returned without waiting. It is safe to drop the future and call this function again.
    ///
    /// # Errors
    /// Returns [`ChildError::LineTooLong`] or [`ChildError::OutOfMemory`] once for each such line; the next call continues after
    /// that line. Any other error means that the child has ended, and every further call repeats this error.
    pub async fn recv(&mut self) -> Result<Bytes, ChildError> {
        loop {
            if let Some(line) = self.next_buffered() {
                let reservation = std::mem::replace(&mut self.reservation, new_reservation());
                let line = line.map(|line| reservation.keep(line));
                return line.map_err(|error| ChildError::line(&self.shared.program, error));
            }
            let buffered = self.decoder.buffered();
            if !self.reservation.covers(buffered)
                && let Err(why) = self.patience.grow(&mut self.reservation, buffered).await
            {
                self.reservation = new_reservation();
                let (program, beginning) = (self.shared.program.clone(), self.decoder.skip());
                return Err(ChildError::OutOfMemory { program, why, beginning });
            }
            if self.at_end {
                return Err(self.shared.ended("stdout", EXPLANATION).await);
            }
            self.fill().await;
        }
    }

    fn next_buffered(&mut self) -> Option<Result<Bytes, LineError>> {
        if self.at_end { self.decoder.finish() } else { self.decoder.next_line() }
    }

    async fn fill(&mut self) {
        if self.decoder.buffered() > CHUNK && !self.is_wide {
            self.is_wide = true;
            widen(&self.pipe);
        }
        if self.buffer.capacity() < LEAST {
            self.buffer.reserve(CHUNK);
        }
        let read = tokio::select! {
            biased;
            read = self.pipe.read_buf(&mut self.buffer) => read,
            () = exited(&mut self.stage) => return self.drain(),
        };
        match read {
            Ok(count) if count > 0 => self.decoder.push(self.buffer.split().freeze()),
            // Either the pipe is at its end, or the runtime that owns it is gone. In both cases, nothing more will
            // arrive.
            _ => self.at_end = true,
        }
    }

    /// Takes the output that the child wrote before it exited, without waiting. Does not rely on the runtime's
    /// readiness, because the exit may be noticed before the last bytes.
    fn drain(&mut self) {
        let mut rest = Vec::with_capacity(CHUNK);
        while rest.len() < AFTER_EXIT {
            rest.reserve(CHUNK);
            match rustix::io::read(&self.pipe, rustix::buffer::spare_capacity(&mut rest)) {
                Ok(count) if count > 0 => {}
                Err(rustix::io::Errno::INTR) => {}
                _ => break,
            }
        }
        self.decoder.push(rest.into());
        self.at_end = true;
    }
}

/// Enlarges a pipe. If the system refuses, because its limit is lower or this user has too many large pipes, the pipe
/// stays as it is.
#[cfg(target_os = "linux")]
fn widen(pipe: &pipe::Receiver) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, WIDE);
}

#[cfg(not(target_os = "linux"))]
fn widen(_: &pipe::Receiver) {}

#[cfg(all(test, target_os = "linux"))]
impl Lines {
    /// Returns the capacity of the pipe, in bytes.
    pub(super) fn capacity(&self) -> usize {
        rustix::pipe::fcntl_getpipe_size(&self.pipe).unwrap_or(0)
    }
}
