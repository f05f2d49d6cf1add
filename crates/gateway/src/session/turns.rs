//! Turns for restoring sessions: each session is restored by one request at a time. This module must not know how a
//! session is restored.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use store::sessions::SessionKey;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// The sessions that are being restored. This set prevents a session from being restored twice.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<SessionKey, Arc<AsyncMutex<()>>>>);

/// The turn to restore a session.
pub(super) struct RestoreTurn<'a> {
    turns: &'a Turns,
    key: SessionKey,
    lock: Arc<AsyncMutex<()>>,
    held: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    pub(super) async fn take(&self, key: SessionKey) -> RestoreTurn<'_> {
        let lock = self.0.lock().entry(key).or_default().clone();
        let mut turn = RestoreTurn { turns: self, key, lock, held: None };
        turn.held = Some(turn.lock.clone().lock_owned().await);
        turn
    }
}

impl Drop for RestoreTurn<'_> {
    fn drop(&mut self) {
        let mut all = self.turns.0.lock();
        self.held = None;
        // Nobody else waits for this turn: one reference is in the table, and one is here.
        if Arc::strong_count(&self.lock) == 2 {
            all.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn one_at_a_time_restores_a_session_and_nothing_is_left_behind() {
        let (turns, inside) = (Arc::new(Turns::default()), Arc::new(AtomicUsize::new(0)));
        let first = turns.take([1; 16]).await;
        let other = turns.take([2; 16]).await;
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (turns, inside) = (turns.clone(), inside.clone());
            waiting.spawn(async move {
                let _turn = turns.take([1; 16]).await;
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                tokio::task::yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
            });
        }
        // A waiter that gives up.
        tokio::select! {
            biased;
            _ = turns.take([1; 16]) => panic!("it is taken"),
            () = tokio::task::yield_now() => {}
        }
        drop((first, other));
        waiting.join_all().await;
        assert!(turns.0.lock().is_empty());
    }
}
