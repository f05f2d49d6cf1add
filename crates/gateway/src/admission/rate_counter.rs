//! The counter behind the rate limits: in the memory of this process, or shared with the other gateways of a cluster. This module must not
//! know messages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::rate::{Limiter, RatedRequest, SharedLimiter, SharedStep, SharedTake, UnknownCaller, Verdict};
use tokio::time::timeout_at;

use super::count_store::CountStore;

/// The maximum time for which a request waits for a lease.
const WAIT: Duration = Duration::from_millis(50);

/// The counter behind the rate limits.
pub(super) enum RateCounter {
    /// In the memory of this process.
    Own(Limiter),
    /// Shared with the other gateways of a cluster.
    Shared(SharedCounter),
}

/// A counter that the gateways of a cluster share.
pub(super) struct SharedCounter {
    limiter: Arc<SharedLimiter>,
    store: Arc<CountStore>,
    start: Instant,
}

impl RateCounter {
    /// Creates a counter that is shared through `store`, whose time begins at `start`.
    pub(super) fn shared(limiter: SharedLimiter, store: Arc<CountStore>, start: Instant) -> Self {
        Self::Shared(SharedCounter { limiter: Arc::new(limiter), store, start })
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Own(limiter) => limiter.is_empty(),
            Self::Shared(shared) => shared.limiter.is_empty(),
        }
    }

    pub(super) fn asks_for_tools(&self) -> bool {
        match self {
            Self::Own(limiter) => limiter.asks_for_tools(),
            Self::Shared(shared) => shared.limiter.asks_for_tools(),
        }
    }

    /// Counts a request. Waits only if it is counted by the store.
    pub(super) async fn check(&self, request: &RatedRequest<'_>, now: Duration) -> Option<Verdict> {
        match self {
            Self::Own(limiter) => limiter.check(request, now),
            Self::Shared(shared) => {
                let counted = shared
                    .limiter
                    .check(request, now, |next| shared.store.order(&shared.limiter, shared.start, next));
                match counted {
                    Ok(verdict) => verdict,
                    Err(takes) => Box::pin(shared.decide(takes)).await,
                }
            }
        }
    }

    /// Counts requests that arrive together: either all of them, or none.
    pub(super) async fn check_all(&self, requests: &[RatedRequest<'_>], now: Duration) -> Option<Verdict> {
        match self {
            Self::Own(limiter) => limiter.check_all(requests, now),
            Self::Shared(shared) => Box::pin(shared.decide(shared.limiter.takes(requests))).await,
        }
    }

    /// Counts a caller that is about to authenticate.
    ///
    /// # Errors
    /// Returns the verdict of an exhausted limit.
    pub(super) async fn enter(&self, entering: &UnknownCaller<'_>, now: Duration) -> Result<(), Verdict> {
        let verdict = match self {
            Self::Own(limiter) => return limiter.enter(entering, now),
            Self::Shared(shared) => {
                let counted = shared
                    .limiter
                    .enter(entering, now, |next| shared.store.order(&shared.limiter, shared.start, next));
                match counted {
                    Ok(verdict) => verdict,
                    Err(takes) => Box::pin(shared.decide(takes)).await,
                }
            }
        };
        verdict.filter(|verdict| !verdict.allowed).map_or(Ok(()), Err)
    }

    /// Takes back the count of [`enter`](Self::enter).
    pub(super) fn let_in(&self, entering: &UnknownCaller<'_>) {
        match self {
            Self::Own(limiter) => limiter.let_in(entering),
            Self::Shared(shared) => {
                for (name, interval) in shared.limiter.let_in(entering, shared.start.elapsed()) {
                    shared.store.give_back(&name, interval);
                }
            }
        }
    }

    /// Forgets idle counts.
    pub(super) fn sweep(&self, now: Duration) {
        match self {
            Self::Own(limiter) => limiter.sweep(now),
            Self::Shared(shared) => shared.limiter.sweep(now),
        }
    }
}

impl SharedCounter {
    /// Decides requests whose leases do not suffice: with the store or, if it does not answer in time, without it.
    async fn decide(&self, mut takes: Vec<SharedTake>) -> Option<Verdict> {
        if takes.is_empty() {
            return None;
        }
        self.limiter.shared_by(self.store.gateways());
        let deadline = tokio::time::Instant::now() + WAIT;
        let mut waiting = None;
        while self.store.is_usable() && tokio::time::Instant::now() < deadline {
            let order = |next| self.store.order(&self.limiter, self.start, next);
            match self.limiter.take_all(&mut takes, self.start.elapsed(), order)? {
                SharedStep::Decided(verdict) => return Some(verdict),
                SharedStep::Store(requests) => match self.store.count(&requests).await {
                    Ok(answers) => return self.limiter.settle(&mut takes, &answers, self.start.elapsed()),
                    Err(_) => break,
                },
                SharedStep::Waits(key) => match waiting.take() {
                    Some((same, arrived)) if same == key => {
                        if timeout_at(deadline, arrived).await.is_err() {
                            break;
                        }
                    }
                    // The answer may arrive before the request waits for it, so the request looks once more.
                    _ => waiting = Some((key, self.store.arrivals(key).notified())),
                },
            }
        }
        let gateways = self.store.gateways_alone();
        self.limiter.decide_alone(&mut takes, gateways, self.start.elapsed())
    }
}
