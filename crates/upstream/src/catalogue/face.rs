//! The lists of a server in one lifecycle. A server that speaks with a handshake and without one may list different things
//! in each. It must not know how lists are fetched.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use engine::catalogue::{Absence, UpstreamCatalogue};
use proto::era::{Era, Lifecycle, newest_handshake, newest_stateless};

use super::freshness::{Fetched, announces};

/// The time after a failure before the next try may begin.
const RETRY_AFTER: Duration = Duration::from_secs(3);

/// The age at which lists are fetched anew when the server does not say how long they hold, and at the soonest when it
/// announces changes: nobody heard what it announced while a stream was broken.
const OLD: Duration = Duration::from_mins(5);

/// The shortest such age that a server can ask for.
const YOUNG: Duration = Duration::from_secs(30);

/// The age at which lists are fetched anew of which one failed.
const PARTLY: Duration = Duration::from_mins(1);

/// The state of the lists.
#[derive(Clone, Default)]
struct FaceState {
    /// The lists, and when they were fetched.
    known: Option<(Arc<UpstreamCatalogue>, Instant)>,
    /// The last fetch, where it failed.
    failed: Option<Failed>,
}

/// A fetch that failed.
#[derive(Clone)]
struct Failed {
    absence: Absence,
    at: Instant,
}

/// The lists of one lifecycle.
pub(super) struct Face {
    pub(super) lifecycle: Lifecycle,
    state: ArcSwap<FaceState>,
}

impl Face {
    /// Nothing is known yet.
    pub(super) fn new(lifecycle: Lifecycle) -> Self {
        Self { lifecycle, state: ArcSwap::default() }
    }

    /// The version in which it is fetched.
    pub(super) fn era(&self) -> &'static Era {
        match self.lifecycle {
            Lifecycle::Handshake => newest_handshake(),
            Lifecycle::Stateless => newest_stateless(),
        }
    }

    /// The lists, if they are known.
    pub(super) fn known(&self) -> Option<Arc<UpstreamCatalogue>> {
        self.state.load().known.as_ref().map(|(catalogue, _)| catalogue.clone())
    }

    /// The lists, if they are known, with what tells for how long they hold.
    pub(super) fn fetched(&self) -> Option<Fetched> {
        let state = self.state.load();
        let (catalogue, at) = state.known.as_ref()?;
        Some(Fetched::new(catalogue, *at, state.failed.is_some()))
    }

    /// The reason why the last fetch failed, if it did.
    pub(super) fn absence(&self) -> Option<Absence> {
        self.state.load().failed.as_ref().map(|failed| failed.absence.clone())
    }

    /// Returns true if the last fetch failed.
    pub(super) fn has_failed(&self) -> bool {
        self.state.load().failed.is_some()
    }

    /// Returns true if no fetch has come to an end, and nothing was kept from before.
    pub(super) fn is_unknown(&self) -> bool {
        let state = self.state.load();
        state.known.is_none() && state.failed.is_none()
    }

    /// Returns true if a fetch is due: nothing is known or confirmed, and the last failure is long enough ago.
    pub(super) fn is_due(&self) -> bool {
        let state = self.state.load();
        let is_confirmed = state.known.as_ref().is_some_and(|(catalogue, _)| catalogue.is_confirmed);
        !is_confirmed && state.failed.as_ref().is_none_or(|failed| failed.at.elapsed() >= RETRY_AFTER)
    }

    /// Returns true if the lists are older than they can be trusted to hold. `over_http` if notices can be lost.
    pub(super) fn is_old(&self, over_http: bool) -> bool {
        let state = self.state.load();
        let Some((catalogue, since)) = &state.known else { return false };
        if catalogue.failures().next().is_some() && since.elapsed() > PARTLY {
            return true;
        }
        let announces = announces(catalogue);
        // What a pipe carries is not lost.
        if announces && !over_http {
            return false;
        }
        let hint = Duration::from_millis(catalogue.cache.ttl_ms);
        let shortest = if announces { OLD } else { YOUNG };
        since.elapsed() > if hint.is_zero() { OLD } else { hint.max(shortest) }
    }

    /// Keeps lists.
    pub(super) fn keep(&self, catalogue: Arc<UpstreamCatalogue>) {
        self.state.store(Arc::new(FaceState { known: Some((catalogue, Instant::now())), failed: None }));
    }

    /// Notes why a fetch failed. Lists that are known stay: old ones are better than none.
    pub(super) fn miss(&self, absence: Absence) {
        let before = self.state.load_full();
        let failed = Some(Failed { absence, at: Instant::now() });
        self.state.store(Arc::new(FaceState { known: before.known.clone(), failed }));
    }

    /// Forgets the lists, which are another caller's.
    pub(super) fn forget(&self) {
        self.state.store(Arc::default());
    }
}
