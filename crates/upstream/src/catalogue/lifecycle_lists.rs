//! The lists of a server in one lifecycle. A server that supports both lifecycles may list different items in each.
//! This module must not know how lists are fetched.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use engine::catalogue::{UpstreamAbsence, UpstreamCatalogue};
use proto::era::{Era, Lifecycle, newest_handshake, newest_stateless};

use super::freshness::{Fetched, announces};
use super::served::ServedLists;

/// The time between a failure and the next attempt.
const RETRY_AFTER: Duration = Duration::from_secs(3);

/// The age at which lists are fetched again if the server sets no time to live. If the server announces changes, this
/// is also the minimum age: the fetch then only makes up for announcements that were lost with a broken stream.
const OLD: Duration = Duration::from_mins(5);

/// The minimum age at which lists are fetched again, whatever time to live the server sets.
const YOUNG: Duration = Duration::from_secs(30);

/// The age at which lists are fetched again if one of them failed.
const PARTLY: Duration = Duration::from_mins(1);

/// The lists of one lifecycle, and the outcome of the last fetch.
#[derive(Clone, Default)]
struct LifecycleState {
    /// The lists, and the time when they were fetched.
    known: Option<(ServedLists, Instant)>,
    /// The last fetch, if it failed.
    failed: Option<FailedFetch>,
}

/// A fetch that failed.
#[derive(Clone)]
struct FailedFetch {
    absence: UpstreamAbsence,
    at: Instant,
}

/// The lists of one lifecycle.
pub(super) struct LifecycleLists {
    pub(super) lifecycle: Lifecycle,
    state: ArcSwap<LifecycleState>,
}

impl LifecycleLists {
    /// Creates the state before the first fetch, in which nothing is known about the lists.
    pub(super) fn new(lifecycle: Lifecycle) -> Self {
        Self { lifecycle, state: ArcSwap::default() }
    }

    /// Returns the version in which the lists are fetched.
    pub(super) fn era(&self) -> &'static Era {
        match self.lifecycle {
            Lifecycle::Handshake => newest_handshake(),
            Lifecycle::Stateless => newest_stateless(),
        }
    }

    /// Returns the index of the lifecycle.
    pub(super) fn index(&self) -> usize {
        match self.lifecycle {
            Lifecycle::Handshake => 0,
            Lifecycle::Stateless => 1,
        }
    }

    /// Returns the lists as the server sent them, if they are known.
    pub(super) fn known(&self) -> Option<Arc<UpstreamCatalogue>> {
        self.state.load().known.as_ref().map(|(lists, _)| lists.listed.clone())
    }

    /// Returns the lists in both forms, if they are known.
    pub(super) fn lists(&self) -> Option<ServedLists> {
        self.state.load().known.as_ref().map(|(lists, _)| lists.clone())
    }

    /// Returns the lists as they are served to clients, if they are known.
    pub(super) fn served(&self) -> Option<Arc<UpstreamCatalogue>> {
        self.state.load().known.as_ref().map(|(lists, _)| lists.served.clone())
    }

    /// Returns the facts that decide how long the lists remain valid; `None` if the lists are not known.
    pub(super) fn fetched(&self) -> Option<Fetched> {
        let state = self.state.load();
        let (lists, at) = state.known.as_ref()?;
        Some(Fetched::new(&lists.listed, *at, state.failed.is_some()))
    }

    /// Returns the reason why the last fetch failed; `None` if it succeeded.
    pub(super) fn absence(&self) -> Option<UpstreamAbsence> {
        self.state.load().failed.as_ref().map(|failed| failed.absence.clone())
    }

    /// Returns true if the last fetch failed.
    pub(super) fn has_failed(&self) -> bool {
        self.state.load().failed.is_some()
    }

    /// Returns true if no fetch has ended, and no lists were kept from an earlier run.
    pub(super) fn is_unknown(&self) -> bool {
        let state = self.state.load();
        state.known.is_none() && state.failed.is_none()
    }

    /// Returns true if it is time for a fetch: no confirmed lists are known, and the last failure, if any, was long enough
    /// ago.
    pub(super) fn is_due(&self) -> bool {
        let state = self.state.load();
        let is_confirmed = state.known.as_ref().is_some_and(|(lists, _)| lists.listed.is_confirmed);
        !is_confirmed && state.failed.as_ref().is_none_or(|failed| failed.at.elapsed() >= RETRY_AFTER)
    }

    /// Returns true if the lists are too old to be trusted. `over_http` is true if notifications can be lost.
    pub(super) fn is_old(&self, over_http: bool) -> bool {
        let state = self.state.load();
        let Some((lists, since)) = &state.known else { return false };
        let catalogue = &lists.listed;
        if catalogue.failures().next().is_some() && since.elapsed() > PARTLY {
            return true;
        }
        let announces = announces(catalogue);
        // A pipe loses no notifications.
        if announces && !over_http {
            return false;
        }
        let hint = Duration::from_millis(catalogue.cache.ttl_ms);
        let shortest = if announces { OLD } else { YOUNG };
        since.elapsed() > if hint.is_zero() { OLD } else { hint.max(shortest) }
    }

    /// Stores fetched lists.
    pub(super) fn keep(&self, lists: ServedLists) {
        self.state.store(Arc::new(LifecycleState { known: Some((lists, Instant::now())), failed: None }));
    }

    /// Replaces the lists by the same lists as judged by `judge`. Returns true if the set of withheld tools has changed. If
    /// lists are stored in the meantime, these are judged instead.
    pub(super) fn judge_again(&self, judge: impl Fn(&ServedLists) -> ServedLists) -> bool {
        let mut differs = false;
        self.state.rcu(|state| {
            let Some((before, at)) = &state.known else {
                differs = false;
                return state.clone();
            };
            let again = judge(before);
            differs = again.differs(before);
            Arc::new(LifecycleState { known: Some((again, *at)), failed: state.failed.clone() })
        });
        differs
    }

    /// Records the reason why a fetch failed. Known lists are kept: old lists are better than none.
    pub(super) fn miss(&self, absence: UpstreamAbsence) {
        let failed = FailedFetch { absence, at: Instant::now() };
        self.state.rcu(|before| LifecycleState { known: before.known.clone(), failed: Some(failed.clone()) });
    }

    /// Forgets the lists, because they belong to another caller.
    pub(super) fn forget(&self) {
        self.state.store(Arc::default());
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::HashSet;

    use engine::catalogue::ListKind;

    use super::super::testing::{catalogue, tool};
    use super::*;

    fn lists(name: &str) -> ServedLists {
        ServedLists::without(Arc::new(catalogue(&tool(name, ""))), None, &HashSet::new())
    }

    #[test]
    fn lists_that_are_stored_during_a_judgment_are_judged_themselves() {
        let (lifecycle, is_first) = (LifecycleLists::new(Lifecycle::Handshake), Cell::new(true));
        lifecycle.keep(lists("good"));
        let differs = lifecycle.judge_again(|lists_now| {
            let tools = lists_now.listed.list(ListKind::Tools);
            let held: HashSet<Arc<str>> = tools.iter().map(|tool| tool.key.as_str().into()).collect();
            if is_first.take() {
                // A fetch ends at this moment.
                lifecycle.keep(lists("evil"));
            }
            lists_now.again(&held)
        });
        let served = lifecycle.served().unwrap();
        assert!(differs && served.list(ListKind::Tools).is_empty());
        assert_eq!(served.held()[0].key, "evil");
    }

    #[test]
    fn a_failure_keeps_what_is_withheld() {
        let lifecycle = LifecycleLists::new(Lifecycle::Handshake);
        lifecycle.keep(lists("evil"));
        let held = HashSet::from(["evil".into()]);
        assert!(
            lifecycle.judge_again(|lists| lists.again(&held))
                && !lifecycle.judge_again(|lists| lists.again(&held))
        );
        lifecycle.miss(UpstreamAbsence { reason: "503".to_owned(), retry: true });
        assert!(lifecycle.has_failed() && lifecycle.served().unwrap().held().len() == 1);
    }
}
