//! How sessions end: asked to, unused, or to make room for others. It must not know transports.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use upstream::parting;
use upstream::quota::{Permit, QuotaError};

use super::context::SessionContext;
use super::session::{Face, Session, Used};
use crate::gateway::admission::Identity;

/// The time for which a session must have lain unused since its `initialize` before it makes room for another one.
const UNUSED_FOR: Duration = Duration::from_mins(1);

/// Takes a permit for a session or a door, before either is there.
///
/// # Errors
/// The caller has all that one may have, or all are taken and none can make room.
pub(crate) fn permit(context: &Arc<SessionContext>, identity: &Identity) -> Result<Permit, QuotaError> {
    let sessions = &context.state.sessions;
    match sessions.take_permit(identity) {
        Err(QuotaError::Whole(_)) if sessions.may_search() => {
            for session in sessions.evict(UNUSED_FOR) {
                tracing::info!("a session ends: it was never used, and all are taken");
                end_beside(context, session);
            }
            sessions.take_permit(identity)
        }
        taken => taken,
    }
}

/// Keeps streams alive, and ends the sessions that nobody uses.
pub(crate) fn sweep(context: &Arc<SessionContext>) {
    for session in context.state.sessions.sweep() {
        end_beside(context, session);
    }
}

/// Ends a session beside the caller.
pub(crate) fn end_beside(context: &Arc<SessionContext>, session: Arc<Session>) {
    let context = context.clone();
    parting::beside(async move { session.end(&context).await });
}

impl Session {
    /// Ends everything that belongs to the session.
    pub(crate) async fn end(self: &Arc<Self>, context: &Arc<SessionContext>) {
        context.state.tidying.count();
        self.requests.give_up();
        if let Face::Http(streams) = &self.face {
            streams.close();
        }
        self.leave_resources(context);
        let links: Vec<Arc<Used>> = {
            let mut links = self.links.lock();
            self.ended.store(true, Ordering::Relaxed);
            links.drain().map(|(_, used)| used).collect()
        };
        for used in links.iter().filter(|used| used.cell.is_own()) {
            used.cell.retire();
            used.cell.close(&context.egress).await;
        }
    }
}
