//! The freshness of fetched lists: whether they are known to be current, the reason if they are not, and how long they
//! remain valid. This module must not know to whom the lists are shown.

use std::time::{Duration, Instant};

use engine::catalogue::{UpstreamCatalogue, declares};

/// The time to live of lists whose server cannot set one (before 2026-07-28), while its announcements are received.
const HEARD: Duration = Duration::from_mins(1);

/// The time to live of lists whose server cannot set one, if no announcements are received.
const UNHEARD: Duration = Duration::from_secs(5);

/// Returns true if a server announces changes to its lists.
pub(super) fn announces(catalogue: &UpstreamCatalogue) -> bool {
    let tells_of = |name| declares(&catalogue.hello.capabilities, name, Some("listChanged"));
    ["tools", "prompts", "resources"].into_iter().any(tells_of)
}

/// The freshness of a server's lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freshness {
    /// No lists are known.
    Unknown,
    /// The lists are current, as far as the gateway can determine.
    Fresh,
    /// The server may have other lists by now.
    Stale(StaleReason),
}

/// The reason why lists may be out of date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StaleReason {
    /// The last fetch failed, or one of its lists could not be fetched, for this reason.
    FetchFailed(String),
    /// The lists were kept from an earlier run.
    NotConfirmed,
    /// There is no connection to the server, so changes are not received.
    LinkDown,
    /// The server has announced a change that has not been fetched yet.
    ChangeAnnounced,
    /// The time to live that the server set has expired.
    Expired,
}

impl Freshness {
    /// Returns the name of this freshness in answers and documentation.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Fresh => "fresh",
            Self::Stale(_) => "stale",
        }
    }

    /// Returns the human-readable reason; `None` unless the lists are stale.
    pub fn reason(&self) -> Option<String> {
        let Self::Stale(reason) = self else { return None };
        Some(match reason {
            StaleReason::FetchFailed(why) => format!("fetch failed: {why}"),
            StaleReason::NotConfirmed => "not confirmed since startup".to_owned(),
            StaleReason::LinkDown => "connection lost".to_owned(),
            StaleReason::ChangeAnnounced => "change announced".to_owned(),
            StaleReason::Expired => "expired".to_owned(),
        })
    }
}

/// The facts that decide how long lists remain valid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fetched {
    at: Instant,
    /// The time to live that the server set; `None` if the server's version cannot express one.
    ttl: Option<Duration>,
    announces: bool,
    /// True if the lists may differ from the server's current ones, because they were kept from an earlier run or a
    /// fetch failed.
    is_stale: bool,
}

impl Fetched {
    /// Creates the facts about lists that were fetched at the time `at`; `has_failed` is true if the last fetch since
    /// then failed.
    pub(super) fn new(catalogue: &UpstreamCatalogue, at: Instant, has_failed: bool) -> Self {
        let says = catalogue.listed_in.typed_results;
        Self {
            at,
            ttl: says.then(|| Duration::from_millis(catalogue.cache.ttl_ms)),
            announces: announces(catalogue),
            is_stale: has_failed || !catalogue.is_confirmed || catalogue.failures().next().is_some(),
        }
    }

    /// Returns the time for which the lists remain valid from now on. Announcements over a pipe cannot be lost, so
    /// the lists of a server over a pipe are as valid as if they had just been fetched. The same applies to the
    /// lists of a server in this process.
    pub(super) fn remaining(&self, now: Instant, over_http: bool, is_native: bool) -> Duration {
        match self.ttl {
            _ if self.is_stale => Duration::ZERO,
            None if self.announces || is_native => HEARD,
            None => UNHEARD,
            Some(ttl) if is_native || (self.announces && !over_http) => ttl,
            Some(ttl) => ttl.saturating_sub(now.saturating_duration_since(self.at)),
        }
    }

    /// Returns true if the time to live that the server set is over. Returns false for a time to live of zero,
    /// because such a time to live alone does not make lists out of date.
    pub(super) fn has_expired(&self, now: Instant, over_http: bool, is_native: bool) -> bool {
        let has_time = self.ttl.is_some_and(|ttl| !ttl.is_zero());
        has_time && !self.is_stale && self.remaining(now, over_http, is_native).is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_for_what_is_left_of_their_time() {
        let (at, ttl) = (Instant::now(), Duration::from_secs(10));
        let lists = Fetched { at, ttl: Some(ttl), announces: false, is_stale: false };
        let left = |lists: &Fetched, seconds| lists.remaining(at + Duration::from_secs(seconds), true, false);
        assert_eq!((left(&lists, 0), left(&lists, 4)), (ttl, Duration::from_secs(6)));
        assert_eq!(left(&lists, 11), Duration::ZERO);
        assert_eq!(left(&Fetched { is_stale: true, ..lists }, 0), Duration::ZERO);
        assert!(!lists.has_expired(at + ttl / 2, true, false) && lists.has_expired(at + ttl, true, false));
        assert!(!lists.has_expired(at + ttl, true, true), "an embedded server changes with its process");
        let timeless = Fetched { ttl: Some(Duration::ZERO), ..lists };
        assert!(!timeless.has_expired(at + ttl, true, false));
        let heard = Fetched { announces: true, ..lists };
        assert_eq!(left(&heard, 4), Duration::from_secs(6), "over HTTP, announcements can be lost");
        assert_eq!(heard.remaining(at + ttl, false, false), ttl);
    }

    #[test]
    fn lists_of_servers_that_cannot_say_hold_longer_where_changes_are_heard() {
        let at = Instant::now();
        let lists = Fetched { at, ttl: None, announces: true, is_stale: false };
        assert_eq!(lists.remaining(at, true, false), HEARD);
        assert_eq!(Fetched { announces: false, ..lists }.remaining(at, true, false), UNHEARD);
        assert_eq!(Fetched { is_stale: true, ..lists }.remaining(at, true, false), Duration::ZERO);
    }
}
