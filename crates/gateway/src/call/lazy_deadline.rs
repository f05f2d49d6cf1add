//! The deadline for a call's next message, with a timer that is set as late as possible. This module must not know
//! calls.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::time::{Sleep, sleep_until};

/// A future that completes once an instant has passed.
///
/// Nearly every call is answered long before its deadline, and setting and removing a timer costs about 800
/// instructions. The waiter of a call has a shorter timer of its own, and polls the call again when that timer expires.
/// The timer for the deadline is therefore not needed before the second poll.
pub(crate) struct LazyDeadline {
    at: Instant,
    attended: bool,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl LazyDeadline {
    /// Creates a future that completes at `at`.
    pub(crate) fn new(at: Instant) -> Self {
        Self::attended(at, None)
    }

    /// Creates a future that completes at `at`. The owner of the future promises to poll it again at `until`, or to
    /// drop it before.
    pub(crate) fn attended(at: Instant, until: Option<Instant>) -> Self {
        Self { at, attended: until.is_some_and(|until| until < at), sleep: None }
    }
}

impl Future for LazyDeadline {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::take(&mut self.attended) {
            return Poll::Pending;
        }
        let at = self.at;
        self.sleep.get_or_insert_with(|| Box::pin(sleep_until(at.into()))).as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::time::Duration;

    use super::*;

    /// Returns true if the first poll sets a timer; the future must complete in either case.
    async fn is_armed_at_first(late: LazyDeadline) -> bool {
        let mut late = pin!(late);
        let first = poll_fn(|context| Poll::Ready(late.as_mut().poll(context))).await;
        let armed = late.sleep.is_some();
        if first.is_pending() {
            late.await;
        }
        armed
    }

    #[tokio::test]
    async fn an_attended_one_is_armed_by_its_second_poll() {
        let at = Instant::now();
        assert!(!is_armed_at_first(LazyDeadline::attended(at, at.checked_sub(Duration::from_secs(1)))).await);
    }

    #[tokio::test]
    async fn what_comes_sooner_than_the_next_poll_is_armed_at_once() {
        let at = Instant::now();
        assert!(is_armed_at_first(LazyDeadline::attended(at, Some(at + Duration::from_secs(1)))).await);
    }

    #[tokio::test]
    async fn alone_it_is_armed_at_once() {
        assert!(is_armed_at_first(LazyDeadline::new(Instant::now())).await);
    }
}
