//! What calls are made with. It must not know transports.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::config::Limits;
use engine::exchange::Binding;
use engine::tasks::{Held, HeldLimits};
use parking_lot::Mutex;
use proto::era::{Asks, Era};
use upstream::Egress;
use upstream::quota::Quota;

use super::task_homes::Homes;
use super::unchecked::Unchecked;
use crate::audit::AuditSink;
use crate::gateway::session::SessionContext;
use crate::gateway::session::sealer::StateSealer;
use crate::gateway::view::ViewContext;

/// The amount that is kept of outcomes that were there at once: how many, and how many bytes in all.
const HELD: (usize, usize) = (1024, 32 << 20);

/// What all threads share.
pub(crate) struct CallState {
    /// Tasks that need the link over which they were begun.
    pub(crate) homes: Homes,
    /// Outcomes that are kept for tasks.
    pub(crate) held: Mutex<Held>,
    /// The number of streams of notices that may be open.
    pub(crate) listens: Arc<Quota>,
    /// Tools whose arguments nobody checks.
    pub(crate) unchecked: Unchecked,
    /// The record of calls.
    pub(crate) audit: AuditSink,
}

impl CallState {
    /// Nothing runs yet.
    pub(crate) fn new(limits: &Limits, audit: AuditSink) -> Self {
        Self {
            homes: Homes::new(limits.parked_calls, limits.request_state_lifetime),
            held: Mutex::new(Held::new(HeldLimits {
                count: HELD.0,
                bytes: HELD.1,
                lifetime: limits.request_state_lifetime,
            })),
            listens: Quota::new(limits.listen_streams),
            unchecked: Unchecked::default(),
            audit,
        }
    }
}

/// What a thread makes calls with.
pub(crate) struct CallContext {
    /// The thread's way to servers.
    pub(crate) egress: Egress,
    /// What it makes views with.
    pub(crate) view: Arc<ViewContext>,
    /// What it makes sessions with.
    pub(crate) session: Arc<SessionContext>,
    /// What all threads share.
    pub(crate) state: Arc<CallState>,
}

impl CallContext {
    /// What seals states that go through clients.
    pub(crate) fn sealer(&self) -> &StateSealer {
        &self.session.state.sealer
    }

    /// What states of `era` are bound to; the clock is only asked where there are states.
    pub(crate) fn binding<'a>(&self, principal: &'a str, server: &'a str, era: &Era) -> Binding<'a> {
        let lifetime = self.egress.snapshot.limits.request_state_lifetime;
        let now = match era.asks {
            Asks::InputRequired => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            Asks::Requests => Duration::ZERO,
        };
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Binding { principal, server, now_ms: millis(now), lifetime_ms: millis(lifetime) }
    }
}
