//! The deadline of a call's next word, armed no sooner than it can matter. It must not know calls.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::time::{Sleep, sleep_until};

/// Comes once an instant has passed.
///
/// Nearly every call is answered long before its deadline, and a timer that is set and taken back for nothing costs about
/// 800 instructions. Whoever attends to a call has a shorter timer of its own and polls the call again when that has run out,
/// so the timer here can wait for the second poll.
pub(crate) struct Late {
    at: Instant,
    attended: bool,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Late {
    /// Comes at `at`.
    pub(crate) fn new(at: Instant) -> Self {
        Self::attended(at, None)
    }

    /// Comes at `at`; somebody polls it again at `until`, if it is not dropped before.
    pub(crate) fn attended(at: Instant, until: Option<Instant>) -> Self {
        Self { at, attended: until.is_some_and(|until| until < at), sleep: None }
    }
}

impl Future for Late {
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

    /// Returns true if its first poll sets a timer; it comes all the same.
    async fn is_armed_at_first(late: Late) -> bool {
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
        assert!(!is_armed_at_first(Late::attended(at, at.checked_sub(Duration::from_secs(1)))).await);
    }

    #[tokio::test]
    async fn what_comes_sooner_than_the_next_poll_is_armed_at_once() {
        let at = Instant::now();
        assert!(is_armed_at_first(Late::attended(at, Some(at + Duration::from_secs(1)))).await);
    }

    #[tokio::test]
    async fn alone_it_is_armed_at_once() {
        assert!(is_armed_at_first(Late::new(Instant::now())).await);
    }
}
