//! The end of sessions: on request, after idling, or to make room for others. This module must not know transports.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use upstream::link::LinkUser as _;
use upstream::quota::{Permit, QuotaError};
use upstream::{Egress, closing};

use super::context::SessionContext;
use super::session::{ClientChannel, Session};
use super::session_links::UsedLink;
use crate::admission::Identity;

/// The minimum age at which a session that was not used after its `initialize` can be evicted to make room for
/// another.
const UNUSED_FOR: Duration = Duration::from_mins(1);

/// Takes a permit for a session or an event stream that is about to be opened.
///
/// # Errors
/// Fails if the caller already has as many sessions as allowed, or if all permits are taken and no session can be
/// evicted.
pub(crate) fn permit(context: &Arc<SessionContext>, identity: &Identity) -> Result<Permit, QuotaError> {
    let sessions = &context.state.sessions;
    match sessions.take_permit(identity) {
        Err(QuotaError::Whole(_)) if sessions.may_search() => {
            for session in sessions.evict(UNUSED_FOR) {
                tracing::info!("ended an unused session to make room for another");
                end_beside(context, session);
            }
            sessions.take_permit(identity)
        }
        taken => taken,
    }
}

/// Keeps streams alive, and ends idle sessions.
pub(crate) fn sweep(context: &Arc<SessionContext>) {
    context.state.note_uses(context.egress.snapshot().limits.session_lifetime);
    for session in context.state.sessions.sweep() {
        end_beside(context, session);
    }
    for session in context.state.sessions.all() {
        session.give_links_back(&context.egress);
    }
}

/// The time without a stream or a request after which a client is considered gone, if it once had a stream.
const HUNG_UP_FOR: Duration = Duration::from_mins(1);

/// The time without a request after which a client without an open stream loses its child process to other clients.
const PROCESS_IDLE: Duration = Duration::from_mins(5);

/// Returns true if a client that has been idle for this time no longer needs a dedicated link. A closed connection
/// proves nothing, because common clients close their connections after seconds.
fn has_left(had_stream: bool, is_child: bool, idle: Duration) -> bool {
    (had_stream && idle >= HUNG_UP_FOR) || (is_child && idle >= PROCESS_IDLE)
}

/// Ends a session in the background.
pub(crate) fn end_beside(context: &Arc<SessionContext>, session: Arc<Session>) {
    let context = context.clone();
    closing::beside(async move { session.end(&context).await });
}

impl Session {
    /// Releases the dedicated links of a client that is gone without having ended its session. If the client sends
    /// another request, the session gets new links, but servers have lost their state for the old ones.
    pub(crate) fn give_links_back(self: &Arc<Self>, egress: &Egress) {
        // An open stream counts as use.
        let (ClientChannel::Http(streams), idle) = (&self.channel, self.usage.idle()) else { return };
        if idle < HUNG_UP_FOR || self.requests.is_busy() {
            return;
        }
        let had_stream = streams.had_standing();
        let given: Vec<Arc<UsedLink>> = {
            let mut links = self.links.used.lock();
            let is_given = |used: &Arc<UsedLink>| {
                let (cell, is_child) = (&used.cell, used.cell.is_to_child());
                cell.is_own()
                    && cell.is_pooled()
                    && cell.current().is_some()
                    && !cell.is_needed()
                    && has_left(had_stream, is_child, idle)
            };
            let servers: Vec<_> =
                links.iter().filter(|(_, used)| is_given(used)).map(|(server, _)| *server).collect();
            servers.into_iter().filter_map(|server| links.remove(&server)).collect()
        };
        for used in given {
            let Some(link) = used.cell.current() else { continue };
            self.clone().was_left(egress, &link);
            if !used.cell.give_back(egress) {
                let (cell, egress) = (used.cell.clone(), egress.clone());
                closing::beside(async move { cell.close(&egress).await });
            }
        }
    }

    /// Ends everything that belongs to the session.
    pub async fn end(self: &Arc<Self>, context: &Arc<SessionContext>) {
        context.state.tidying.count();
        self.requests.give_up();
        if let ClientChannel::Http(streams) = &self.channel {
            streams.close();
        }
        self.leave_resources(context);
        let links: Vec<Arc<UsedLink>> = {
            let mut links = self.links.used.lock();
            self.links.has_ended.store(true, Ordering::Relaxed);
            std::mem::take(&mut *links).into_values().collect()
        };
        for used in links.iter().filter(|used| used.cell.is_own()) {
            if !used.cell.give_back(&context.egress) {
                used.cell.close(&context.egress).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_left_a_minute_after_its_stream_and_others_leave_processes_after_five() {
        let seconds = Duration::from_secs;
        for is_child in [true, false] {
            assert!(!has_left(true, is_child, seconds(59)) && has_left(true, is_child, seconds(60)));
            assert!(!has_left(false, is_child, seconds(299)));
            assert_eq!(has_left(false, is_child, seconds(300)), is_child, "a session there costs little");
        }
    }
}
