//! Results that are kept for their callers' later requests: remainders of shortened results, and cached results. This module
//! must not know who may get the results, or why they are kept.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use config::Limits;
use engine::catalogue::UpstreamId;
use engine::kept_results::{KeptResultLimits, KeptResults};
use engine::result_cap::RestId;
use parking_lot::Mutex;
use proto::era::Era;
use transport::budget::KeptCount;
use upstream::quota::Holder;

use crate::admission::identity::DataOwner;

/// The remainder of a shortened result.
#[derive(Clone)]
pub(super) struct KeptRest {
    /// The caller that may read the remainder.
    pub(super) owner: DataOwner,
    /// The profile in which the tool was called.
    pub(super) profile: usize,
    /// The version of the access rules under which the tool was called.
    pub(super) regime: u64,
    /// The tool, and the tool's server.
    pub(super) tool: ToolOrigin,
    /// The contents of the resource, a JSON array.
    pub(super) contents: Bytes,
}

/// The tool from which a result comes.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ToolOrigin {
    pub(super) upstream: UpstreamId,
    /// The name of the server.
    pub(super) server: Arc<str>,
    /// The name by which clients see the tool.
    pub(super) name: Arc<str>,
    pub(super) identity: Arc<str>,
}

/// A cached result, in the form of the version that its server used.
#[derive(Clone)]
pub(super) struct CachedResult {
    pub(super) era: &'static Era,
    pub(super) result: Bytes,
}

/// A digest of everything that identifies a call, including its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CallKey(pub(super) [u8; 32]);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ResultKey {
    Rest(RestId),
    Cached(CallKey),
}

enum StoredResult {
    Rest(KeptRest),
    Cached(CachedResult),
}

struct CountedResults {
    kept: KeptResults<ResultKey, Holder, StoredResult>,
    count: KeptCount,
}

/// All results that are kept.
pub(crate) struct ResultStore(Mutex<CountedResults>);

impl ResultStore {
    /// Creates a store without results.
    pub(crate) fn new(limits: &Limits) -> Self {
        let kept = KeptResults::new(bounds(limits));
        Self(Mutex::new(CountedResults { kept, count: KeptCount::default() }))
    }

    /// Applies new limits; drops the results that exceed them.
    pub(crate) fn follow(&self, limits: &Limits) {
        self.change(|kept| kept.set_limits(bounds(limits)));
    }

    /// Drops expired results.
    pub(crate) fn sweep(&self, now: Instant) {
        self.change(|kept| kept.sweep(now));
    }

    /// Drops the oldest results until `has_room` returns true.
    pub(crate) fn drop_until(&self, has_room: impl Fn() -> bool) {
        while !has_room() && self.change(KeptResults::drop_oldest) {}
    }

    /// Keeps a remainder; returns `false` if the remainder is too large.
    pub(super) fn keep_rest(&self, id: RestId, rest: KeptRest, holder: Holder, keep_for: Duration) -> bool {
        let size = rest.contents.len();
        self.keep(ResultKey::Rest(id), holder, (size, keep_for), StoredResult::Rest(rest))
    }

    /// Keeps a result for later calls with the same key, if the result is not too large.
    pub(super) fn keep_cached(&self, key: CallKey, cached: CachedResult, holder: Holder, keep_for: Duration) {
        let size = cached.result.len();
        self.keep(ResultKey::Cached(key), holder, (size, keep_for), StoredResult::Cached(cached));
    }

    /// Returns a remainder without checking who asks for it.
    pub(super) fn rest(&self, id: RestId, now: Instant) -> Option<KeptRest> {
        match self.0.lock().kept.find(&ResultKey::Rest(id), now)? {
            StoredResult::Rest(rest) => Some(rest.clone()),
            StoredResult::Cached(_) => None,
        }
    }

    /// Returns the kept result of a call.
    pub(super) fn cached(&self, key: CallKey, now: Instant) -> Option<CachedResult> {
        match self.0.lock().kept.find(&ResultKey::Cached(key), now)? {
            StoredResult::Cached(cached) => Some(cached.clone()),
            StoredResult::Rest(_) => None,
        }
    }

    fn keep(
        &self,
        key: ResultKey,
        holder: Holder,
        (size, keep_for): (usize, Duration),
        result: StoredResult,
    ) -> bool {
        let owner = Some(holder).filter(|holder| *holder != Holder::Unknown);
        let until = Instant::now() + keep_for;
        self.change(|kept| kept.keep(key, owner, (size, until), result))
    }

    fn change<T>(&self, change: impl FnOnce(&mut KeptResults<ResultKey, Holder, StoredResult>) -> T) -> T {
        let mut results = self.0.lock();
        let done = change(&mut results.kept);
        let bytes = results.kept.bytes();
        results.count.set(bytes);
        done
    }
}

fn bounds(limits: &Limits) -> KeptResultLimits {
    KeptResultLimits { count: limits.kept_results, bytes: limits.kept_result_bytes }
}

#[cfg(test)]
mod tests {
    use proto::era::newest_handshake;

    use super::*;

    fn cached(text: &'static str) -> CachedResult {
        CachedResult { era: newest_handshake(), result: Bytes::from_static(text.as_bytes()) }
    }

    #[test]
    fn results_go_with_their_time_with_their_limits_and_with_the_memory() {
        let store = ResultStore::new(&Limits::default());
        let keys = [1, 2, 3].map(|number| CallKey([number; 32]));
        let there = |now: Instant| keys.map(|key| store.cached(key, now).is_some());
        for (key, seconds) in keys.into_iter().zip([10, 20, 20]) {
            store.keep_cached(key, cached("{}"), Holder::Unknown, Duration::from_secs(seconds));
        }
        let now = Instant::now();
        assert_eq!(there(now), [true; 3]);
        assert!(store.rest(RestId(1), now).is_none());
        store.sweep(now + Duration::from_secs(15));
        assert_eq!(there(now), [false, true, true]);
        let left = std::cell::Cell::new(1);
        store.drop_until(|| left.replace(left.get() - 1) == 0);
        assert_eq!(there(now), [false, false, true], "the oldest one went");
        store.follow(&Limits { kept_results: 0, ..Limits::default() });
        assert_eq!(there(now), [false; 3]);
        store.drop_until(|| false);
        assert_eq!(store.0.lock().kept.bytes(), 0);
    }
}
