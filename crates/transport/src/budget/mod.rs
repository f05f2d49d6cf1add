//! One budget of bytes for the large buffers of the whole process. If there are many large messages at once, they wait
//! for one another instead of exhausting the memory. This module must not know what the bytes mean.
//!
//! Requests and answers have separate parts: an answer never waits for a request's bytes, so the two cannot block
//! each other. In addition, answers have a lane, which only one buffer at a time can use: in the lane, the answer
//! that has waited longest may grow beyond the budget. Otherwise, answers that each hold a part of the bytes could
//! block one another forever. Translated answers are counted once they exist, without waiting. While many of them
//! are undelivered, the lane is closed.
//!
//! A third part, [`KeptPart`], is for data that may be useful later. Nothing waits there; the oldest data is dropped.
//!
//! Up to [`FREE`] bytes of a buffer are not counted, so that the hot path needs no budget. The number of uncounted bytes is
//! bounded by the number of connections.

mod kept;
mod machine;
mod patience;
mod pool;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use tokio::time::Instant;

pub use kept::{KeptCount, KeptPart};
pub use machine::default_total;
pub(crate) use patience::Patience;
use pool::{GrowthPermission, Pool};

/// The number of bytes of each buffer that are not counted.
pub const FREE: usize = 64 << 10;

/// The minimum total that can be set, in bytes.
pub const LEAST: usize = 64 << 20;

/// A part of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Messages from clients, until they are forwarded.
    Requests,
    /// Messages from servers, until they are delivered.
    Answers,
}

/// The error if all memory for large messages is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the memory for large messages is in use (`limits.memory` in the configuration)")]
pub struct OutOfMemory;

/// A budget for the large buffers of a process.
pub struct ByteBudget {
    requests: Pool,
    answers: Pool,
    kept: KeptPart,
}

static OF_PROCESS: ByteBudget = ByteBudget::unlimited();

/// Returns the budget of this process.
pub fn of_process() -> &'static ByteBudget {
    &OF_PROCESS
}

impl ByteBudget {
    /// Creates a budget without a limit.
    const fn unlimited() -> Self {
        Self { requests: Pool::new(false), answers: Pool::new(true), kept: KeptPart::unlimited() }
    }

    /// Sets the total in bytes. Existing reservations remain.
    pub fn set_total(&self, total: usize) {
        let total = total.max(LEAST);
        self.requests.set_total(total / 10 * 4);
        self.answers.set_total(total / 10 * 5);
        self.kept.set_total(total / 10);
    }

    fn part(&self, part: Part) -> &Pool {
        match part {
            Part::Requests => &self.requests,
            Part::Answers => &self.answers,
        }
    }

    /// Returns the part for data that is kept because it may be useful later.
    pub fn kept(&self) -> &KeptPart {
        &self.kept
    }

    /// Creates a reservation that holds nothing yet.
    pub fn reservation(&'static self, part: Part) -> Reservation {
        Reservation { pool: self.part(part), held: 0, in_lane: false, is_overdrawn: false }
    }

    /// Counts bytes that exist already, even if they exceed the limit; other buffers then wait.
    pub fn count(&'static self, part: Part, bytes: Bytes) -> Bytes {
        let mut reservation = self.reservation(part);
        if bytes.len() > FREE {
            reservation.pool.overdraw(bytes.len());
            (reservation.held, reservation.is_overdrawn) = (bytes.len(), true);
        }
        reservation.keep(bytes)
    }

    /// Returns the number of bytes that a part may have.
    pub fn total(&self, part: Part) -> usize {
        self.part(part).total()
    }

    /// Returns the number of counted bytes of a part.
    pub fn used(&self, part: Part) -> usize {
        self.part(part).used()
    }
}

/// Bytes of the budget; dropping this value gives them back.
pub struct Reservation {
    pool: &'static Pool,
    held: usize,
    in_lane: bool,
    is_overdrawn: bool,
}

impl std::fmt::Debug for Reservation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reservation")
            .field("held", &self.held)
            .field("in_lane", &self.in_lane)
            .finish_non_exhaustive()
    }
}

impl Reservation {
    /// Returns true if the reservation is large enough for a buffer of this many bytes.
    pub fn covers(&self, bytes: usize) -> bool {
        bytes <= self.covered()
    }

    /// Returns the number of bytes of the largest buffer for which the reservation is large enough.
    pub fn covered(&self) -> usize {
        if self.in_lane { usize::MAX } else { self.held.max(FREE) }
    }

    /// Grows the reservation until it covers a buffer of this many bytes; waits for free bytes until `deadline`.
    /// The reservation keeps the bytes that it already holds. It is safe to drop the future and call this function
    /// again.
    ///
    /// # Errors
    /// Returns [`OutOfMemory`] if too few bytes become free in time.
    pub async fn grow(&mut self, bytes: usize, deadline: Instant) -> Result<(), OutOfMemory> {
        if self.covers(bytes) {
            return Ok(());
        }
        // The reservation grows in steps, so that a buffer that grows in small pieces rarely has to ask.
        let more = bytes.next_multiple_of(FREE) - self.held;
        match self.pool.take(more, deadline).await? {
            GrowthPermission::Bytes(count) => self.held += count,
            GrowthPermission::Lane => self.in_lane = true,
        }
        Ok(())
    }

    /// Ties the reservation to the buffer: the bytes are given back when the buffer's last slice is dropped.
    pub fn keep(self, bytes: Bytes) -> Bytes {
        if self.held == 0 && !self.in_lane {
            return bytes;
        }
        Bytes::from_owner(KeptBytes { bytes, _reservation: self })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.is_overdrawn {
            self.pool.settle(self.held);
        } else if self.held > 0 || self.in_lane {
            self.pool.give_back(self.held, self.in_lane);
        }
    }
}

/// A buffer with its reservation.
struct KeptBytes {
    bytes: Bytes,
    _reservation: Reservation,
}

impl AsRef<[u8]> for KeptBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
