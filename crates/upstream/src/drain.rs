//! Waits until nothing is running any more: tasks signal their end, and the waiter checks again. This module must not
//! know what is running.

use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout_at};

/// The time for which nothing may run before the wait ends. It is needed because a call that has just begun may not
/// be counted yet.
const GRACE: Duration = Duration::from_millis(300);

/// Signals the end of activities to a task that waits until none is running.
#[derive(Debug, Default)]
pub struct Drain {
    awaited: AtomicBool,
    ended: Notify,
}

impl Drain {
    /// Signals the end of an activity, which may have been the last one.
    pub fn note(&self) {
        // Pairs with the fence below: either this task sees that somebody waits, or the waiter sees that the activity has
        // ended.
        fence(Ordering::SeqCst);
        if self.awaited.load(Ordering::Relaxed) {
            self.ended.notify_waiters();
        }
    }

    /// Waits until `runs` returns false, or until the deadline `until`. Checks again at each signal.
    pub async fn reached(&self, until: Instant, runs: impl Fn() -> bool) {
        self.awaited.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while Instant::now() < until {
            let ended = self.ended.notified();
            if runs() {
                let _ = timeout_at(until, ended).await;
                continue;
            }
            sleep_until(until.min(Instant::now() + GRACE)).await;
            if !runs() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tokio::sync::mpsc;
    use tokio::time::timeout;

    use super::*;

    /// A timeout that a test reaches only if the code is broken.
    const LONG: Duration = Duration::from_mins(1);

    /// A task that waits, and a receiver that gets a message at each check. The checks return the items of `found`
    /// in reverse order.
    fn waiting(
        drain: &Arc<Drain>,
        found: &[bool],
    ) -> (tokio::task::JoinHandle<()>, mpsc::UnboundedReceiver<()>) {
        let (tell, looks) = mpsc::unbounded_channel();
        let (drain, left) = (drain.clone(), Mutex::new(found.to_vec()));
        let runs = move || {
            let _ = tell.send(());
            left.lock().pop().expect("no more looks than that")
        };
        let task = tokio::spawn(async move { drain.reached(Instant::now() + LONG, runs).await });
        (task, looks)
    }

    async fn ends(task: tokio::task::JoinHandle<()>) {
        timeout(LONG / 2, task).await.expect("it is reached").expect("no panic");
    }

    #[tokio::test]
    async fn it_is_looked_when_something_has_ended_and_not_else() {
        let drain = Arc::new(Drain::default());
        let (task, mut looks) = waiting(&drain, &[false, false, true, true]);
        for _ in 0..2 {
            looks.recv().await.expect("a look");
            assert!(timeout(GRACE * 2, looks.recv()).await.is_err(), "it looks although nothing has ended");
            drain.note();
        }
        ends(task).await;
    }

    #[tokio::test]
    async fn what_begins_within_the_grace_is_waited_for() {
        let drain = Arc::new(Drain::default());
        let (task, mut looks) = waiting(&drain, &[false, false, true, false]);
        looks.recv().await.expect("the first");
        looks.recv().await.expect("the one after the grace, which finds something");
        drain.note();
        ends(task).await;
    }

    #[tokio::test]
    async fn what_never_ends_is_waited_for_no_longer_than_that() {
        let until = Instant::now() + Duration::from_millis(20);
        timeout(LONG, Drain::default().reached(until, || true)).await.expect("it ends");
        assert!(Instant::now() >= until);
    }
}
