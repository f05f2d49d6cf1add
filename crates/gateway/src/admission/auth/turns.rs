//! Limits expensive checks: a few run at a time, and the others wait in a queue of bounded length. Each client address
//! has a limited share of the queue and of the turns, so one address with many requests cannot hold up the others. This
//! module must not know what is checked.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::denied::CredentialDenial;

/// The maximum time that a check waits in the queue.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time after which a refused check may be tried again.
const RETRY: Duration = Duration::from_secs(2);

/// The divisor for the share of one address: each address may use a quarter of the queue.
const SHARE: usize = 4;

/// Limits the checks that run at the same time, and queues further checks.
#[derive(Debug)]
pub(super) struct Turns {
    at_once: Arc<Semaphore>,
    line: Arc<TurnQueue>,
}

/// The running and waiting checks, with their limits.
#[derive(Debug)]
struct TurnQueue {
    most: usize,
    /// The maximum number of checks of one address that can run at the same time.
    own_turns: usize,
    waiting: Mutex<WaitingTurns>,
}

#[derive(Debug, Default)]
struct WaitingTurns {
    all: usize,
    by: HashMap<IpAddr, OwnLine>,
}

/// The running and waiting checks of one address. The semaphore limits how many of them compete for the common
/// turns.
#[derive(Debug)]
struct OwnLine {
    count: usize,
    turns: Arc<Semaphore>,
}

/// A turn; dropping it frees the turn.
pub(super) struct CheckPermit {
    _common: OwnedSemaphorePermit,
    _own: Option<OwnedSemaphorePermit>,
    _slot: LineSlot,
}

/// A place in the queue; dropping it frees the place.
struct LineSlot {
    line: Arc<TurnQueue>,
    address: Option<IpAddr>,
}

impl Turns {
    pub(super) fn new(at_once: usize, in_line: usize) -> Self {
        let (most, own_turns) = (at_once + in_line, at_once.div_ceil(2));
        Self {
            at_once: Arc::new(Semaphore::new(at_once)),
            line: Arc::new(TurnQueue { most, own_turns, waiting: Mutex::default() }),
        }
    }

    /// Waits for a turn. If the client has an address, the wait counts against the share of that address.
    pub(super) async fn take(&self, address: Option<IpAddr>) -> Result<CheckPermit, CredentialDenial> {
        let busy =
            || CredentialDenial::Unavailable("too many credentials are being checked".to_owned(), RETRY);
        let (slot, own) = self.line.enter(address).ok_or_else(busy)?;
        let until = Instant::now() + PATIENCE;
        let wait = async |turns: Arc<Semaphore>| {
            timeout_at(until, turns.acquire_owned()).await.ok().and_then(Result::ok).ok_or_else(busy)
        };
        let own = match own {
            Some(own) => Some(wait(own).await?),
            None => None,
        };
        let turn = wait(Arc::clone(&self.at_once)).await?;
        Ok(CheckPermit { _common: turn, _own: own, _slot: slot })
    }

    /// Runs `work` on a thread that is allowed to block. Even if the caller stops waiting, the turn is released only
    /// after the work has ended.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        turn: CheckPermit,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CredentialDenial> {
        let done = transport::task::spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        });
        done.await
            .map_err(|_| CredentialDenial::Unavailable("a check of credentials failed".to_owned(), RETRY))
    }
}

impl TurnQueue {
    /// Takes a place in the queue; returns `None` if the queue is full, or if the address has used up its share.
    fn enter(self: &Arc<Self>, address: Option<IpAddr>) -> Option<(LineSlot, Option<Arc<Semaphore>>)> {
        let mut waiting = self.waiting.lock();
        if waiting.all >= self.most {
            return None;
        }
        let own = match address {
            None => None,
            Some(address) => {
                let new = || OwnLine { count: 0, turns: Arc::new(Semaphore::new(self.own_turns)) };
                let own = waiting.by.entry(address).or_insert_with(new);
                if own.count >= (self.most / SHARE).max(1) {
                    return None;
                }
                own.count += 1;
                Some(own.turns.clone())
            }
        };
        waiting.all += 1;
        Some((LineSlot { line: self.clone(), address }, own))
    }
}

impl Drop for LineSlot {
    fn drop(&mut self) {
        let mut waiting = self.line.waiting.lock();
        waiting.all -= 1;
        let Some(address) = self.address else { return };
        if let Some(own) = waiting.by.get_mut(&address) {
            own.count -= 1;
            if own.count == 0 {
                waiting.by.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [203, 0, 113, last].into()
    }

    #[tokio::test]
    async fn one_address_has_a_share_of_the_line_and_another_one_is_next() {
        let turns = Arc::new(Turns::new(1, 15));
        let running = turns.take(Some(address(1))).await.unwrap();
        let wait = |at| {
            let turns = turns.clone();
            tokio::spawn(async move { turns.take(Some(at)).await })
        };
        let guesses: Vec<_> = (0..8).map(|_| wait(address(1))).collect();
        tokio::task::yield_now().await;
        assert_eq!(turns.line.waiting.lock().all, 4, "the rest was sent away");
        // A check from another address waits only for the running one, not for the queued ones of the first address.
        let right = wait(address(2));
        tokio::task::yield_now().await;
        drop(running);
        assert!(right.await.unwrap().is_ok());
        let outcomes = futures(guesses).await;
        assert_eq!(outcomes.iter().filter(|done| **done).count(), 3);
        let waiting = turns.line.waiting.lock();
        assert!(waiting.all == 0 && waiting.by.is_empty());
    }

    async fn futures(
        guesses: Vec<tokio::task::JoinHandle<Result<CheckPermit, CredentialDenial>>>,
    ) -> Vec<bool> {
        let mut outcomes = Vec::new();
        for guess in guesses {
            outcomes.push(guess.await.unwrap().is_ok());
        }
        outcomes
    }
}
