//! Limits on dedicated links: how many a server may have, and how long owners wait for one. This module must not know
//! who the owners are.

use std::time::Duration;

use config::Affinity;
use engine::snapshot::UpstreamSpec;

/// The limits of a pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolRules {
    /// The maximum number of links, including those that are being opened.
    pub max: usize,
    /// The maximum number of links that are being opened at the same time.
    pub starts: usize,
    /// The time for which an owner waits for a free link before a further one is opened.
    pub further_after: Duration,
    /// The time for which an owner waits if its previous link serves a call of another owner. This time is longer
    /// than `further_after`, because the server keeps the owner's state for the previous link.
    pub move_after: Duration,
    /// The maximum number of owners that wait for a link.
    pub waiters: usize,
    /// The maximum number of idle links without an owner that stay open for later owners.
    pub keep: usize,
    /// The idle time after which a link without an owner is closed.
    pub unowned_rest: Duration,
    /// The idle time after which an owner's link may be given to another owner, or closed for another link.
    pub owned_rest: Duration,
    /// The idle time after which an owner's link may be closed so that another caller of the server, with a
    /// separate pool, can open one.
    pub others_rest: Duration,
}

/// The idle time after which a link without an owner is closed.
const UNOWNED: Duration = Duration::from_mins(5);

/// The limits of a pool of processes.
const CHILDREN: PoolRules = PoolRules {
    max: 4,
    starts: 2,
    further_after: Duration::from_millis(250),
    move_after: Duration::from_secs(2),
    waiters: 256,
    keep: 4,
    owned_rest: Duration::ZERO,
    others_rest: Duration::ZERO,
    unowned_rest: UNOWNED,
};

/// The maximum number of processes if each session or each caller has a process of its own.
const OWN_CHILDREN: usize = 16;

/// The limits of a pool of sessions. A session costs only one request, so each owner has its own session until the
/// limit is reached. A high limit also leaves links for running calls while other calls wait for their clients.
const SESSIONS: PoolRules = PoolRules {
    max: 256,
    starts: 8,
    further_after: Duration::ZERO,
    move_after: Duration::from_millis(250),
    waiters: 1024,
    keep: 4,
    owned_rest: Duration::ZERO,
    others_rest: Duration::ZERO,
    unowned_rest: UNOWNED,
};

/// The idle time after which the reservation of a link for a session or a caller ends: from then on, another
/// session or caller may get the link if the limit is reached. Many clients disappear without closing their
/// sessions.
const PROMISED: Duration = Duration::from_mins(5);

/// Returns the limits of a server's pool; `are_children` is true if the pool's links are processes.
pub(super) fn rules(spec: &UpstreamSpec, are_children: bool) -> PoolRules {
    let mut rules = if are_children { CHILDREN } else { SESSIONS };
    if spec.affinity == Affinity::Session {
        (rules.owned_rest, rules.further_after) = (PROMISED, Duration::ZERO);
    }
    if spec.affinity != Affinity::Shared {
        rules.others_rest = PROMISED;
        if are_children {
            rules.max = OWN_CHILDREN;
        }
    }
    rules.max = spec.dedicated_connections.unwrap_or(rules.max);
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_s_link_is_promised_to_it_but_not_to_one_of_its_sessions() {
        let spec = UpstreamSpec { affinity: Affinity::Caller, ..UpstreamSpec::nobody() };
        let own = rules(&spec, true);
        assert_eq!((own.max, own.owned_rest, own.others_rest), (16, Duration::ZERO, PROMISED));
        assert_eq!(rules(&UpstreamSpec::nobody(), false).others_rest, Duration::ZERO);
    }

    #[test]
    fn sessions_with_processes_of_their_own_get_more_of_them() {
        let mut spec = UpstreamSpec::nobody();
        assert_eq!((rules(&spec, true).max, rules(&spec, false).max), (4, 256));
        spec.affinity = Affinity::Session;
        let own = rules(&spec, true);
        assert_eq!((own.max, own.owned_rest, own.further_after), (16, PROMISED, Duration::ZERO));
        spec.dedicated_connections = Some(2);
        assert_eq!((rules(&spec, true).max, rules(&spec, false).max), (2, 2));
    }
}
