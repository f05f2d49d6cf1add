//! The task that writes a child's stdin. It takes all waiting lines and passes them to the system in one call.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use tokio::{
    net::unix::pipe,
    sync::{Semaphore, mpsc, watch},
};

use super::state::{Stage, exited, stopping};

/// The maximum number of lines per system call.
const BATCH: usize = 64;

/// The number of bytes that a waiting line costs in addition to its length, so that many empty lines cannot fill the memory.
const LINE_COST: usize = 64;

/// The capacity of the queue between the senders and the writer.
#[derive(Debug)]
pub(super) struct WriterCapacity {
    /// One permit for each byte that may wait.
    pub(super) permits: Semaphore,
    /// True if a sender has waited without success since the child last took a byte; the next senders wait less.
    pub(super) stalled: AtomicBool,
    /// The number of lines that have been added to the queue since the start. It is incremented after a line was
    /// added.
    queued: AtomicU64,
    /// The number of lines that the child may have read completely.
    offered: AtomicU64,
    cap: u32,
}

/// A line in the queue.
#[derive(Debug)]
pub struct QueuedLine {
    room: Arc<WriterCapacity>,
    /// The number of lines that are certainly ahead of this one.
    before: u64,
}

impl QueuedLine {
    /// Returns true if the child has certainly not read the complete line, provided that nothing more is written to
    /// the child.
    pub fn is_unread(&self) -> bool {
        self.room.offered.load(Ordering::SeqCst) <= self.before
    }
}

impl WriterCapacity {
    pub(super) fn new(cap: u32) -> Self {
        let cap = cap.max(1);
        Self {
            permits: Semaphore::new(cap as usize),
            stalled: AtomicBool::new(false),
            queued: AtomicU64::new(0),
            offered: AtomicU64::new(0),
            cap,
        }
    }

    /// Returns the cost of a line of `bytes` bytes. A line above the cap costs the whole cap, so it is written alone.
    pub(super) fn cost(&self, bytes: usize) -> u32 {
        u32::try_from(bytes + LINE_COST).map_or(self.cap, |cost| cost.min(self.cap))
    }

    /// Adds a line to the queue by calling `put`, which returns false if the queue no longer exists.
    pub(super) fn enqueue(self: &Arc<Self>, put: impl FnOnce() -> bool) -> Option<QueuedLine> {
        // Other lines may be added in between, so more lines may be ahead of this one, but never fewer.
        let before = self.queued.load(Ordering::SeqCst);
        if !put() {
            return None;
        }
        self.queued.fetch_add(1, Ordering::SeqCst);
        Some(QueuedLine { room: Arc::clone(self), before })
    }

    pub(super) fn queued(&self) -> usize {
        (self.cap as usize).saturating_sub(self.permits.available_permits())
    }
}

/// Closes the capacity when the writer ends, even if the writer ends together with its runtime, so that no sender waits
/// forever.
struct Closing(Arc<WriterCapacity>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.permits.close();
    }
}

/// Writes until the child is asked to stop (waiting lines are still written), is gone, or closes its stdin. When
/// this function returns, the pipe is closed, which signals the child to exit.
pub(super) async fn run(
    stdin: pipe::Sender,
    mut lines: mpsc::UnboundedReceiver<Bytes>,
    room: Arc<WriterCapacity>,
    mut stage: watch::Receiver<Stage>,
) {
    let closing = Closing(room);
    let mut taken = Vec::with_capacity(BATCH);
    let mut running = true;
    let mut gone = 0;
    loop {
        tokio::select! {
            biased;
            () = stopping(&mut stage), if running => {
                running = false;
                closing.0.permits.close();
                lines.close();
                continue;
            }
            count = lines.recv_many(&mut taken, BATCH) => if count == 0 { return },
        }
        let costs: usize = taken.iter().map(|line| closing.0.cost(line.len()) as usize).sum();
        let mut batch = Batch::new(taken.drain(..), gone);
        let written = tokio::select! {
            biased;
            written = batch.write(&stdin, &closing.0) => written,
            // A process outside the process group may hold the other end and never read.
            () = exited(&mut stage) => return,
        };
        if written.is_err() {
            return;
        }
        gone = batch.gone;
        closing.0.permits.add_permits(costs);
    }
}

/// The lines that are being written, with their newlines.
struct Batch {
    lines: VecDeque<Bytes>,
    /// The number of bytes of the first line and its newline that were already written.
    offset: usize,
    /// The number of lines that were completely written before the first one.
    gone: u64,
}

impl Batch {
    fn new(lines: impl Iterator<Item = Bytes>, gone: u64) -> Self {
        Self { lines: lines.collect(), offset: 0, gone }
    }

    async fn write(&mut self, stdin: &pipe::Sender, room: &WriterCapacity) -> io::Result<()> {
        while !self.lines.is_empty() {
            // The child may read a line and end before this thread continues.
            room.offered.store(self.gone + self.lines.len() as u64, Ordering::SeqCst);
            let tried = {
                let mut slices = [IoSlice::new(&[]); 2 * BATCH];
                let count = self.slices(&mut slices);
                stdin.try_write_vectored(&slices[..count])
            };
            if let Ok(written) = tried {
                self.advance(written);
            }
            // A failed write has written nothing.
            room.offered.store(self.whole(), Ordering::SeqCst);
            match tried {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => room.stalled.store(false, Ordering::Relaxed),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => stdin.writable().await?,
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Returns the number of lines that were completely written, except perhaps for the newline: at the end of its
    /// input, a child may accept a line without a newline.
    fn whole(&self) -> u64 {
        let has_more = self.lines.front().is_some_and(|first| self.offset >= first.len() && self.offset > 0);
        self.gone + u64::from(has_more)
    }

    /// Fills `slices` with the unwritten rest; returns the number of slices used.
    fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>; 2 * BATCH]) -> usize {
        let mut count = 0;
        let mut skip = self.offset;
        for line in &self.lines {
            if skip < line.len() {
                slices[count] = IoSlice::new(&line[skip..]);
                count += 1;
            }
            slices[count] = IoSlice::new(b"\n");
            count += 1;
            skip = 0;
        }
        count
    }

    fn advance(&mut self, written: usize) {
        self.offset += written;
        while let Some(first) = self.lines.front()
            && self.offset > first.len()
        {
            self.offset -= first.len() + 1;
            self.lines.pop_front();
            self.gone += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `lines` in steps of `step` bytes, as happens with a pipe that is almost full.
    fn written(lines: &[&'static str], step: usize) -> String {
        let mut batch = Batch::new(lines.iter().map(|line| Bytes::from(*line)), 0);
        let mut out = Vec::new();
        while !batch.lines.is_empty() {
            let mut slices = [IoSlice::new(&[]); 2 * BATCH];
            let count = batch.slices(&mut slices);
            let left: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.iter().copied()).collect();
            let now = step.min(left.len());
            out.extend_from_slice(&left[..now]);
            batch.advance(now);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn partial_writes_lose_and_repeat_nothing() {
        for step in 1..20 {
            assert_eq!(
                written(&["one", "", "three", "f"], step),
                "one\n\nthree\nf\n",
                "{step} bytes at a time"
            );
        }
    }
}
