//! The calls that run at the same time at one server, and those that wait for their turn; turns are shared fairly
//! among the callers. This module must not know what a call is for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::quota::{Holder, Permit, Quota, QuotaError};

/// The value of one waiting call in the counter; the lower half of the counter holds the number of running calls.
/// One atomic for both numbers is enough to decide immediately whether a call may begin.
const WAITING: u64 = 1 << 32;

/// The calls at one server, including those at the server's per-caller upstreams.
pub struct Concurrency {
    /// The running calls in the lower half, the waiting ones in the upper half.
    count: AtomicU64,
    most: AtomicU64,
    places: Arc<Quota>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    next: u64,
    /// The callers with waiting calls, in the order of their turns.
    callers: VecDeque<(Holder, VecDeque<QueuedTurn>)>,
}

struct QueuedTurn {
    ticket: u64,
    turn: oneshot::Sender<RunningCall>,
}

/// A call that counts as running until this value is dropped.
pub struct RunningCall(Arc<Concurrency>);

/// A call that waits for its turn; dropping this value takes the call out of the queue.
pub struct QueuedCall {
    limit: Arc<Concurrency>,
    ticket: u64,
    turn: oneshot::Receiver<RunningCall>,
    _place: Permit,
}

/// The result for a call that could not begin immediately.
pub enum QueueEntry {
    /// Another call has just ended, so this one runs.
    Runs(RunningCall),
    /// The call waits.
    Waits(QueuedCall),
}

fn running(count: u64) -> u64 {
    count % WAITING
}

fn waiting(count: u64) -> u64 {
    count / WAITING
}

impl Concurrency {
    /// Creates a limit: at most `most` calls run, and at most `queue` wait.
    pub fn new(most: usize, queue: usize) -> Arc<Self> {
        Arc::new(Self {
            count: AtomicU64::new(0),
            most: AtomicU64::new(most as u64),
            places: Quota::new(queue),
            queue: Mutex::default(),
        })
    }

    /// Changes the limits. Running and waiting calls continue.
    pub fn resize(self: &Arc<Self>, most: usize, queue: usize) {
        self.most.store(most as u64, Ordering::SeqCst);
        self.places.resize(queue);
        self.serve();
    }

    /// Begins a call, unless other calls wait or the limit of running calls is reached.
    pub fn begin(self: &Arc<Self>) -> Option<RunningCall> {
        let most = self.most.load(Ordering::Relaxed);
        let mut count = self.count.load(Ordering::Relaxed);
        while waiting(count) == 0 && running(count) < most {
            match self.count.compare_exchange_weak(count, count + 1, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return Some(RunningCall(self.clone())),
                Err(now) => count = now,
            }
        }
        None
    }

    /// Begins a call even if the limit of running calls is reached, because one of the running calls waits for this
    /// one.
    pub fn join(self: &Arc<Self>) -> RunningCall {
        self.count.fetch_add(1, Ordering::SeqCst);
        RunningCall(self.clone())
    }

    /// Begins a call, or lets it wait for its turn.
    ///
    /// # Errors
    /// Fails if the queue is full, or if the caller has used up its share of the queue.
    pub fn wait(self: &Arc<Self>, holder: Holder) -> Result<QueueEntry, QuotaError> {
        let place = self.places.take(holder.clone())?;
        let mut queue = self.queue.lock();
        let most = self.most.load(Ordering::SeqCst);
        let entered = self.count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| {
            let is_free = waiting(count) == 0 && running(count) < most;
            Some(count + if is_free { 1 } else { WAITING })
        });
        if entered.is_ok_and(|before| waiting(before) == 0 && running(before) < most) {
            return Ok(QueueEntry::Runs(RunningCall(self.clone())));
        }
        let (turn, receiver) = oneshot::channel();
        queue.next += 1;
        let ticket = queue.next;
        let waiter = QueuedTurn { ticket, turn };
        match queue.callers.iter_mut().find(|(caller, _)| *caller == holder) {
            Some((_, waiters)) => waiters.push_back(waiter),
            None => queue.callers.push_back((holder, VecDeque::from([waiter]))),
        }
        drop(queue);
        Ok(QueueEntry::Waits(QueuedCall { limit: self.clone(), ticket, turn: receiver, _place: place }))
    }

    /// Returns the numbers of running and of waiting calls.
    pub fn counts(&self) -> (u64, u64) {
        let count = self.count.load(Ordering::Relaxed);
        (running(count), waiting(count))
    }

    /// Returns the limit of running calls.
    pub fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }

    /// Returns the limits of waiting calls: of all callers, and of one caller.
    pub fn queue_limits(&self) -> (usize, usize) {
        self.places.limits()
    }

    /// Gives turns to waiting calls while fewer calls run than allowed.
    fn serve(self: &Arc<Self>) {
        while let Some(waiter) = self.next_turn() {
            // If the call was dropped in the meantime, its turn is dropped here, and the next call gets it.
            drop(waiter.turn.send(RunningCall(self.clone())));
        }
    }

    /// Takes the next waiting call out of the queue, and counts it as running.
    fn next_turn(&self) -> Option<QueuedTurn> {
        let mut queue = self.queue.lock();
        let most = self.most.load(Ordering::SeqCst);
        let (holder, mut waiters) = queue.callers.pop_front()?;
        let moved = self.count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| {
            (running(count) < most).then_some(count + 1 - WAITING)
        });
        if moved.is_err() {
            queue.callers.push_front((holder, waiters));
            return None;
        }
        let next = waiters.pop_front();
        if !waiters.is_empty() {
            queue.callers.push_back((holder, waiters));
        }
        next
    }
}

impl QueuedCall {
    /// Waits for the call's turn.
    pub async fn turn(&mut self) -> RunningCall {
        match (&mut self.turn).await {
            Ok(running) => running,
            // The sender is dropped only after it has sent the turn.
            Err(_) => self.limit.join(),
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let before = self.0.count.fetch_sub(1, Ordering::SeqCst);
        if waiting(before) > 0 {
            self.0.serve();
        }
    }
}

impl Drop for QueuedCall {
    fn drop(&mut self) {
        let mut queue = self.limit.queue.lock();
        let found = queue.callers.iter_mut().find_map(|(_, waiters)| {
            let at = waiters.iter().position(|waiter| waiter.ticket == self.ticket)?;
            waiters.remove(at)
        });
        if found.is_some() {
            self.limit.count.fetch_sub(WAITING, Ordering::SeqCst);
            queue.callers.retain(|(_, waiters)| !waiters.is_empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn holder(name: &str) -> Holder {
        Holder::Principal(name.into())
    }

    fn queued(limit: &Arc<Concurrency>, name: &str) -> QueuedCall {
        match limit.wait(holder(name)) {
            Ok(QueueEntry::Waits(queued)) => queued,
            Ok(QueueEntry::Runs(_)) => panic!("{name} runs"),
            Err(why) => panic!("{name}: {why:?}"),
        }
    }

    fn turn(queued: &mut QueuedCall) -> Option<RunningCall> {
        let mut turn = std::pin::pin!(queued.turn());
        match Pin::as_mut(&mut turn).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(running) => Some(running),
            Poll::Pending => None,
        }
    }

    #[test]
    fn only_so_many_calls_run_and_so_many_wait() {
        let limit = Concurrency::new(2, 8);
        let first = limit.begin().expect("room");
        let _second = limit.begin().expect("room");
        assert!(limit.begin().is_none());
        let mut waits = queued(&limit, "a");
        let _other = queued(&limit, "a");
        assert_eq!(limit.counts(), (2, 2));
        assert!(matches!(limit.wait(holder("a")), Err(QuotaError::Own(_, 2))), "a quarter of the queue");
        assert!(turn(&mut waits).is_none());
        drop(first);
        let running = turn(&mut waits).expect("its turn");
        assert_eq!(limit.counts(), (2, 1));
        assert!(limit.begin().is_none(), "nobody overtakes");
        drop(running);
        assert_eq!(limit.counts(), (2, 0));
    }

    #[test]
    fn callers_take_turns_whatever_each_has_waiting() {
        let limit = Concurrency::new(1, 100);
        let mut running = limit.begin();
        let mut calls: Vec<(usize, QueuedCall)> = Vec::new();
        for (number, name) in ["a", "a", "a", "b", "c"].into_iter().enumerate() {
            calls.push((number, queued(&limit, name)));
        }
        let mut order = Vec::new();
        while !calls.is_empty() {
            drop(running.take());
            let next = calls.iter_mut().enumerate().find_map(|(at, (_, call))| Some((at, turn(call)?)));
            let (at, turn) = next.expect("a turn");
            order.push(calls.remove(at).0);
            running = Some(turn);
        }
        assert_eq!(order, [0, 3, 4, 1, 2]);
    }

    #[test]
    fn a_call_that_has_gone_keeps_nobody_waiting() {
        let limit = Concurrency::new(1, 100);
        let running = limit.begin();
        let (first, second, mut third) = (queued(&limit, "a"), queued(&limit, "b"), queued(&limit, "c"));
        drop(first);
        assert_eq!(limit.counts(), (1, 2));
        drop(running);
        // The call got its turn, but was dropped before it took the turn.
        drop(second);
        let last = turn(&mut third).expect("its turn");
        assert_eq!(limit.counts(), (1, 0));
        drop((last, third));
        assert_eq!(limit.counts(), (0, 0));
        assert!(limit.begin().is_some());
    }

    #[test]
    fn a_call_that_another_one_waits_for_runs_beyond_the_limit() {
        let limit = Concurrency::new(1, 8);
        let outer = limit.begin();
        let inner = limit.join();
        let mut waits = queued(&limit, "a");
        drop(outer);
        assert!(turn(&mut waits).is_none());
        drop(inner);
        assert!(turn(&mut waits).is_some());
    }

    #[test]
    fn a_raised_limit_counts_for_those_who_wait() {
        let limit = Concurrency::new(1, 0);
        let _first = limit.begin();
        assert_eq!(limit.wait(holder("a")).err(), Some(QuotaError::Whole(0)));
        limit.resize(1, 8);
        let mut waits = queued(&limit, "a");
        limit.resize(2, 8);
        assert!(turn(&mut waits).is_some());
    }

    #[test]
    fn counts_return_to_zero_under_many_threads() {
        let limit = Concurrency::new(3, 4000);
        let most = Arc::new(AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (limit, most) = (limit.clone(), most.clone());
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
                    for number in 0..500 {
                        let running =
                            limit.begin().or_else(|| match limit.wait(holder(&thread.to_string())) {
                                Ok(QueueEntry::Runs(running)) => Some(running),
                                Ok(QueueEntry::Waits(_)) if number % 3 == 0 => None,
                                Ok(QueueEntry::Waits(mut queued)) => Some(runtime.block_on(queued.turn())),
                                Err(why) => panic!("{why:?}"),
                            });
                        most.fetch_max(running.as_ref().map_or(0, |_| limit.counts().0), Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(limit.counts(), (0, 0));
        assert!((1..=3).contains(&most.load(Ordering::SeqCst)));
    }
}
