//! Limits the number of links that the whole process opens at the same time. Without this limit, many servers that
//! start together would compete for the machine's resources. This module must not know what is opened.

use std::future::Future;
use std::num::NonZero;
use std::pin::pin;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The minimum value of the limit on processes that start at the same time; with many cores, the limit is higher.
const LEAST_CHILDREN: usize = 4;

/// The number of sessions that may be opened at the same time.
const SESSIONS: usize = 64;

/// The time for which an opening counts against the limit. After this time, an unresponsive server no longer delays
/// other openings.
const COUNTS_FOR: Duration = Duration::from_secs(2);

/// The openings in progress.
pub struct Starts {
    children: Semaphore,
    sessions: Semaphore,
}

impl Default for Starts {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self { children: Semaphore::new((2 * cores).max(LEAST_CHILDREN)), sessions: Semaphore::new(SESSIONS) }
    }
}

impl Starts {
    /// Runs an opening when it is its turn.
    pub async fn run<T>(&self, is_child: bool, opening: impl Future<Output = T>) -> T {
        in_turn(if is_child { &self.children } else { &self.sessions }, COUNTS_FOR, opening).await
    }
}

async fn in_turn<T>(turns: &Semaphore, counts_for: Duration, opening: impl Future<Output = T>) -> T {
    // The semaphore is never closed.
    let turn = turns.acquire().await.ok();
    let mut opening = pin!(opening);
    let early = timeout(counts_for, opening.as_mut()).await;
    drop(turn);
    match early {
        Ok(done) => done,
        Err(_) => opening.await,
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[tokio::test]
    async fn an_opening_waits_for_its_turn() {
        let (mut context, turns) = (Context::from_waker(Waker::noop()), Semaphore::new(1));
        let hour = Duration::from_hours(1);
        let mut first = pin!(in_turn(&turns, hour, pending::<()>()));
        assert!(first.as_mut().poll(&mut context).is_pending());
        let mut next = pin!(in_turn(&turns, hour, ready(7)));
        assert_eq!(next.as_mut().poll(&mut context), Poll::Pending);
    }

    #[tokio::test]
    async fn nothing_waits_for_an_opening_that_hangs() {
        let turns = Semaphore::new(1);
        tokio::select! {
            biased;
            () = in_turn(&turns, Duration::ZERO, pending()) => unreachable!("it hangs"),
            seven = in_turn(&turns, Duration::ZERO, ready(7)) => assert_eq!(seven, 7),
        }
    }
}
