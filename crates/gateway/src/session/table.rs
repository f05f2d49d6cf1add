//! A table of sessions of one type. Sessions are found by id; their number is limited, in total and per caller. If the
//! table is full, sessions that were opened but never used are evicted. This module must not know what a session does,
//! or how it ends.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use store::random_key::RandomKeyHash;
use upstream::quota::{Permit, Quota, QuotaError, Throttle};

use crate::admission::identity::Identity;

/// The number of sessions that are evicted at once, so a full table is seldom searched.
const EVICTED_AT_ONCE: usize = 64;

/// A session that can be evicted to make room for another.
pub(crate) trait Evictable {
    /// Returns the time since the session was opened.
    fn age(&self) -> Duration;

    /// Returns true if the session is older than `age` and was never used, that is, if no stream and no request
    /// followed its introduction.
    fn is_unused_for(&self, age: Duration) -> bool;
}

/// Sessions by id, and the permits of the sessions that count toward the limit.
pub(crate) struct SessionTable<S> {
    quota: Arc<Quota>,
    searches: Throttle,
    open: RwLock<HashMap<Box<str>, OpenSession<S>, RandomKeyHash>>,
}

struct OpenSession<S> {
    session: Arc<S>,
    permit: Option<Permit>,
}

impl<S: Evictable> SessionTable<S> {
    /// Creates an empty table with `max` permits.
    pub(crate) fn new(max: usize) -> Self {
        Self { quota: Quota::new(max), searches: Throttle::default(), open: RwLock::default() }
    }

    /// Changes the number of permits. Open sessions are not affected.
    pub(crate) fn resize(&self, max: usize) {
        self.quota.resize(max);
    }

    /// Returns the number of sessions.
    pub(crate) fn count(&self) -> usize {
        self.open.read().len()
    }

    /// Returns the session with this id.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<S>> {
        self.open.read().get(id).map(|open| open.session.clone())
    }

    /// Takes a permit for a session that is about to be opened.
    ///
    /// # Errors
    /// Fails if the caller already has as many sessions as allowed, or if all permits are taken.
    pub(crate) fn take_permit(&self, identity: &Identity) -> Result<Permit, QuotaError> {
        self.quota.take(identity.holder())
    }

    /// Returns true if a full table may be searched for evictable sessions now.
    pub(crate) fn may_search(&self) -> bool {
        self.searches.pass()
    }

    /// Adds a session. A session that does not count toward the limit has no permit.
    pub(crate) fn add(&self, id: Box<str>, session: Arc<S>, permit: Option<Permit>) {
        self.open.write().insert(id, OpenSession { session, permit });
    }

    /// Removes a session, and frees its permit immediately.
    pub(crate) fn remove(&self, id: &str) -> Option<Arc<S>> {
        let mut open = self.open.write();
        let removed = open.remove(id);
        // Release the memory that a burst of sessions took.
        if open.capacity() > 64 && open.len() * 4 < open.capacity() {
            open.shrink_to_fit();
        }
        drop(open);
        removed.map(|open| open.session)
    }

    /// Removes unused sessions of the caller that has the most sessions, the oldest first: sessions that were
    /// opened at least `unused_for` ago, and not used after their introduction. Returns the removed sessions.
    pub(crate) fn evict(&self, unused_for: Duration) -> Vec<Arc<S>> {
        let Some(holder) = self.quota.largest_holder() else { return Vec::new() };
        let is_its = |permit: &Permit| *permit.holder() == holder;
        let mut unused: Vec<(Box<str>, Arc<S>)> = {
            let open = self.open.read();
            let its = open.iter().filter(|(_, open)| open.permit.as_ref().is_some_and(is_its));
            let unused = its.filter(|(_, open)| open.session.is_unused_for(unused_for));
            unused.map(|(id, open)| (id.clone(), open.session.clone())).collect()
        };
        unused.sort_unstable_by_key(|(_, session)| Reverse(session.age()));
        unused.truncate(EVICTED_AT_ONCE);
        // A session's client may have come back in the meantime.
        unused.retain(|(id, session)| session.is_unused_for(unused_for) && self.remove(id).is_some());
        unused.into_iter().map(|(_, session)| session).collect()
    }

    /// Removes the sessions for which `stays` is false.
    pub(crate) fn retain(&self, stays: impl Fn(&S) -> bool) {
        self.open.write().retain(|_, open| stays(&open.session));
    }

    /// Returns the sessions for which `is_one` is true.
    pub(crate) fn those(&self, is_one: impl Fn(&S) -> bool) -> Vec<Arc<S>> {
        let open = self.open.read();
        open.values().map(|open| &open.session).filter(|session| is_one(session)).cloned().collect()
    }

    /// Returns all sessions with their ids.
    pub(crate) fn listed(&self) -> Vec<(Box<str>, Arc<S>)> {
        self.open.read().iter().map(|(id, open)| (id.clone(), open.session.clone())).collect()
    }

    /// Returns the number of sessions that count toward the limit.
    pub(crate) fn counted(&self) -> usize {
        self.quota.held()
    }

    /// Returns true if there is a session for which `is_one` is true.
    pub(crate) fn any(&self, is_one: impl Fn(&S) -> bool) -> bool {
        self.open.read().values().any(|open| is_one(&open.session))
    }
}
