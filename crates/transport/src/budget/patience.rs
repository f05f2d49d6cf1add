//! The time for which a stream that many calls share may stop while it waits for memory. All answers on the stream
//! wait behind the one that needs memory, so the time is limited for all of them together, and not for each one.
//! This module must not know what the stream carries.

use std::time::Duration;

use tokio::time::Instant;

use super::{OutOfMemory, Reservation};

/// The maximum time that a stream stops without a break.
const MOST: Duration = Duration::from_secs(1);

/// The part of the time that a stream may stop in the long run: a quarter.
const PART: u32 = 4;

/// The time for which a shared stream may still wait for memory. It becomes less with each wait, and is complete again
/// once the stream has not waited for four times as long.
#[derive(Debug)]
pub(crate) struct Patience {
    left: Duration,
    since: Instant,
}

impl Patience {
    /// Creates the patience of a stream that has not waited yet.
    pub(crate) fn new() -> Self {
        Self { left: MOST, since: Instant::now() }
    }

    /// Grows a reservation like [`Reservation::grow`], but waits no longer than the stream may still wait.
    ///
    /// # Errors
    /// Returns [`OutOfMemory`] if too few bytes are free in this time.
    pub(crate) async fn grow(
        &mut self,
        reservation: &mut Reservation,
        bytes: usize,
    ) -> Result<(), OutOfMemory> {
        let begun = Instant::now();
        let left = MOST.min(self.left + (begun - self.since) / PART);
        // If the future is dropped, the whole wait counts as well.
        (self.left, self.since) = (left, begun);
        let grown = reservation.grow(bytes, begun + left).await;
        self.since = Instant::now();
        self.left = left.saturating_sub(self.since - begun);
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ByteBudget, FREE, LEAST, Part};
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn many_large_messages_together_wait_no_longer_than_one_and_short_waits_leave_the_rest() {
        let budget: &ByteBudget = Box::leak(Box::new(ByteBudget::unlimited()));
        budget.set_total(LEAST);
        let soon = || Instant::now() + Duration::from_secs(1);
        let mut all = budget.reservation(Part::Requests);
        all.grow(budget.total(Part::Requests) / FREE * FREE, soon()).await.unwrap();
        let (mut patience, begun) = (Patience::new(), Instant::now());
        let mut waits = async |count: usize| {
            let begun = Instant::now();
            for _ in 0..count {
                let mut message = budget.reservation(Part::Requests);
                patience.grow(&mut message, 4 * FREE).await.unwrap_err();
            }
            begun.elapsed()
        };
        let one = waits(1).await;
        assert!(one >= MOST && one < MOST * 2, "{one:?}");
        assert!(waits(30).await < MOST / 2);
        tokio::time::sleep(MOST * PART / 2).await;
        let half = waits(30).await;
        assert!(half >= MOST / 2 && half < MOST, "{half:?}");
        assert!(begun.elapsed() < MOST * PART);
        drop(all);
        let mut message = budget.reservation(Part::Requests);
        patience.grow(&mut message, 4 * FREE).await.unwrap();
    }
}
