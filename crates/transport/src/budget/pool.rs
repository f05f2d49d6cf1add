//! One part of a budget: the free bytes, and a queue of buffers that wait for free bytes, first come, first served.
//! This module must not know the contents of the buffers.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::OutOfMemory;

/// The maximum number of buffers that wait; further ones are rejected immediately.
const WAITERS: usize = 1024;

/// A part of a budget.
pub(super) struct Pool {
    state: Mutex<PoolState>,
    has_lane: bool,
}

struct PoolState {
    total: usize,
    used: usize,
    /// The number of used bytes that were counted without waiting.
    overdrawn: usize,
    lane_is_taken: bool,
    queue: VecDeque<Waiter>,
    next: u64,
}

struct Waiter {
    number: u64,
    bytes: usize,
    granted: oneshot::Sender<GrowthPermission>,
}

/// The permission for a buffer to grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GrowthPermission {
    /// The buffer may grow by this number of bytes.
    Bytes(usize),
    /// The buffer may grow without a limit; only one buffer at a time may do so.
    Lane,
}

impl Pool {
    /// Creates a part without a limit.
    pub(super) const fn new(has_lane: bool) -> Self {
        let queue = VecDeque::new();
        let state =
            PoolState { total: usize::MAX, used: 0, overdrawn: 0, lane_is_taken: false, queue, next: 0 };
        Self { state: Mutex::new(state), has_lane }
    }

    pub(super) fn set_total(&self, total: usize) {
        let mut state = self.state.lock();
        state.total = total;
        state.serve(self.has_lane);
    }

    pub(super) fn used(&self) -> usize {
        self.state.lock().used
    }

    pub(super) fn total(&self) -> usize {
        self.state.lock().total
    }

    /// Takes bytes or the lane; if neither is free, waits until `deadline` at the latest.
    pub(super) async fn take(
        &self,
        bytes: usize,
        deadline: Instant,
    ) -> Result<GrowthPermission, OutOfMemory> {
        let mut queued = {
            let mut state = self.state.lock();
            if state.queue.is_empty() && state.has(bytes) {
                state.used += bytes;
                return Ok(GrowthPermission::Bytes(bytes));
            }
            if state.queue.len() >= WAITERS {
                return Err(OutOfMemory);
            }
            let (granted, receiver) = oneshot::channel();
            let number = state.next;
            state.next += 1;
            state.queue.push_back(Waiter { number, bytes, granted });
            state.serve(self.has_lane);
            Queued { pool: self, number, receiver, is_served: false }
        };
        match timeout_at(deadline, &mut queued.receiver).await {
            Ok(Ok(granted)) => {
                queued.is_served = true;
                Ok(granted)
            }
            _ => Err(OutOfMemory),
        }
    }

    /// Counts bytes that exist already, even if they exceed the limit.
    pub(super) fn overdraw(&self, bytes: usize) {
        let mut state = self.state.lock();
        state.used += bytes;
        state.overdrawn += bytes;
    }

    /// Gives back bytes that were counted by [`Pool::overdraw`].
    pub(super) fn settle(&self, bytes: usize) {
        self.state.lock().overdrawn -= bytes;
        self.give_back(bytes, false);
    }

    /// Returns bytes to the pool, and the lane if `lane` is true.
    pub(super) fn give_back(&self, bytes: usize, lane: bool) {
        let mut state = self.state.lock();
        state.used = state.used.saturating_sub(bytes);
        state.lane_is_taken &= !lane;
        state.serve(self.has_lane);
    }
}

impl PoolState {
    fn has(&self, bytes: usize) -> bool {
        self.total.saturating_sub(self.used) >= bytes
    }

    /// Returns true if the next buffer may grow without a limit. A buffer that grew in the lane is later counted
    /// without waiting, like a translated answer. The next buffer waits while such bytes take more than half of the
    /// total.
    fn lane_is_free(&self) -> bool {
        !self.lane_is_taken && self.overdrawn <= self.total / 2
    }

    /// Serves the waiting buffers in order, as long as there are free bytes.
    fn serve(&mut self, has_lane: bool) {
        while let Some(first) = self.queue.front() {
            let bytes = first.bytes;
            let granted = if self.has(bytes) {
                GrowthPermission::Bytes(bytes)
            } else if has_lane && self.lane_is_free() {
                GrowthPermission::Lane
            } else {
                return;
            };
            let Some(first) = self.queue.pop_front() else { return };
            // A buffer that stopped waiting gets nothing.
            if first.granted.send(granted).is_ok() {
                match granted {
                    GrowthPermission::Bytes(bytes) => self.used += bytes,
                    GrowthPermission::Lane => self.lane_is_taken = true,
                }
            }
        }
    }
}

/// A buffer's place in the queue; dropping it leaves the queue.
struct Queued<'a> {
    pool: &'a Pool,
    number: u64,
    receiver: oneshot::Receiver<GrowthPermission>,
    is_served: bool,
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        if self.is_served {
            return;
        }
        let late = {
            let mut state = self.pool.state.lock();
            state.queue.retain(|waiter| waiter.number != self.number);
            self.receiver.try_recv().ok()
        };
        // The request may have been granted just as its time ran out. Once this request is gone, the buffers behind it may fit.
        match late {
            Some(GrowthPermission::Bytes(bytes)) => self.pool.give_back(bytes, false),
            Some(GrowthPermission::Lane) => self.pool.give_back(0, true),
            None => self.pool.give_back(0, false),
        }
    }
}
