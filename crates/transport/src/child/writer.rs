//! The task that writes a child's stdin: takes all lines that wait and hands them to the system in one call.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use tokio::{
    io::AsyncWriteExt,
    net::unix::pipe,
    sync::{Semaphore, mpsc, watch},
};

use super::state::{Stage, exited, stopping};

/// Lines per system call.
const BATCH: usize = 64;

/// What a waiting line costs besides its bytes, so that many empty ones cannot fill the memory.
const LINE_COST: usize = 64;

/// The bounded way from the senders to the writer.
#[derive(Debug)]
pub(super) struct Room {
    /// One permit for each byte that may wait.
    pub(super) permits: Semaphore,
    /// A sender waited in vain since the child last took a byte: the next ones need not wait as long.
    pub(super) stalled: AtomicBool,
    cap: u32,
}

impl Room {
    pub(super) fn new(cap: u32) -> Self {
        let cap = cap.max(1);
        Self { permits: Semaphore::new(cap as usize), stalled: AtomicBool::new(false), cap }
    }

    /// What a line of `bytes` bytes costs. A line above the cap costs all of it: it is taken alone.
    pub(super) fn cost(&self, bytes: usize) -> u32 {
        u32::try_from(bytes + LINE_COST).map_or(self.cap, |cost| cost.min(self.cap))
    }

    pub(super) fn queued(&self) -> usize {
        (self.cap as usize).saturating_sub(self.permits.available_permits())
    }
}

/// Closes the room when the writer ends in whatever way, its runtime's end included, so that no sender waits for ever.
struct Closing(Arc<Room>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.permits.close();
    }
}

/// Writes until the child is told to stop (what waits is still written), is gone, or closes its stdin. Returning closes
/// the pipe: that is how a child over stdio learns that it should exit.
pub(super) async fn run(
    mut stdin: pipe::Sender,
    mut lines: mpsc::UnboundedReceiver<Bytes>,
    room: Arc<Room>,
    mut stage: watch::Receiver<Stage>,
) {
    let closing = Closing(room);
    let mut taken = Vec::with_capacity(BATCH);
    let mut running = true;
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
        let mut batch = Batch::new(taken.drain(..));
        let written = tokio::select! {
            biased;
            written = batch.write(&mut stdin, &closing.0.stalled) => written,
            // Somebody outside the process group may hold the other end and never read.
            () = exited(&mut stage) => return,
        };
        if written.is_err() {
            return;
        }
        closing.0.permits.add_permits(costs);
    }
}

/// Lines on their way, with their newlines.
struct Batch {
    lines: VecDeque<Bytes>,
    /// How much of the first line and its newline is written.
    offset: usize,
}

impl Batch {
    fn new(lines: impl Iterator<Item = Bytes>) -> Self {
        Self { lines: lines.collect(), offset: 0 }
    }

    async fn write(&mut self, stdin: &mut pipe::Sender, stalled: &AtomicBool) -> io::Result<()> {
        while !self.lines.is_empty() {
            let written = {
                let mut slices = [IoSlice::new(&[]); 2 * BATCH];
                let count = self.slices(&mut slices);
                stdin.write_vectored(&slices[..count]).await?
            };
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            stalled.store(false, Ordering::Relaxed);
            self.advance(written);
        }
        Ok(())
    }

    /// Fills `slices` with what is left; how many were used.
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `lines` in steps of `step` bytes, as a pipe that is nearly full would take them.
    fn written(lines: &[&'static str], step: usize) -> String {
        let mut batch = Batch::new(lines.iter().map(|line| Bytes::from(*line)));
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
