//! Subscriptions whose servers were replaced by a new configuration: decides what happens to each, and subscribes at
//! the new servers. This module must not know why a server was replaced.

use std::sync::Arc;

use engine::catalogue::UpstreamId;
use proto::json::quote;
use proto::mcp::Method;
use tokio::time::{Instant, timeout_at};

use super::followed::{Followed, Subscribed};
use super::session_links::weak_user;
use crate::session::SessionContext;
use crate::session::session::Session;
use crate::view::view_cell::ViewCell;
use upstream::Upstream;
use upstream::link::requests::request;
use upstream::subscriptions::topics::Listener;

/// The state of a profile's server after a reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReloadedServer {
    /// The server is unchanged.
    Unchanged,
    /// Another server now has the server's name.
    Replaced,
    /// The server no longer exists.
    Removed,
}

impl ReloadedServer {
    /// Returns the server's state in the current configuration.
    pub(crate) fn of(context: &Arc<SessionContext>, profile: usize, upstream: &Upstream) -> Self {
        let snapshot = context.view.state.current.load();
        let ids = &snapshot.profiles[profile].upstreams;
        let mut names = ids.iter().filter_map(|id| snapshot.upstream(*id)).map(|spec| &spec.name);
        if ids.contains(&upstream.server.spec.id) {
            Self::Unchanged
        } else if names.any(|name| name == upstream.name()) {
            Self::Replaced
        } else {
            Self::Removed
        }
    }
}

/// Returns the server of a resource, and the server's own URI, as soon as the view contains the resource; `None` if
/// the view does not contain it in time.
pub(crate) async fn owner(
    context: &Arc<SessionContext>,
    cell: &ViewCell,
    uri: &str,
) -> Option<(UpstreamId, String)> {
    owner_until(cell, uri, Instant::now() + context.egress.snapshot().opening_time()).await
}

async fn owner_until(cell: &ViewCell, uri: &str, until: Instant) -> Option<(UpstreamId, String)> {
    let mut changes = cell.watch();
    loop {
        changes.mark_unchanged();
        if let Some((owner, own)) = cell.view().located(uri) {
            return Some((owner, own.into_owned()));
        }
        timeout_at(until, changes.changed()).await.ok()?.ok()?;
    }
}

impl Session {
    /// Moves subscriptions to the new servers, and ends subscriptions whose servers are gone.
    pub(crate) fn follow_resources(self: &Arc<Self>, context: &Arc<SessionContext>) {
        let mut again = Vec::new();
        self.interests.subscriptions.lock().retain(|uri, followed| {
            let server = ReloadedServer::of(context, self.profile, &followed.upstream);
            if server == ReloadedServer::Replaced {
                followed.how = Subscribed::Asked;
                again.push(uri.clone());
            }
            server != ReloadedServer::Removed
        });
        if !again.is_empty() {
            transport::task::spawn(take_up(context.clone(), self.clone(), again));
        }
    }
}

impl Session {
    /// Listens again to the resources to which the client listened before the session was restored.
    pub(super) fn resume_resources(self: &Arc<Self>, context: &Arc<SessionContext>, uris: Vec<String>) {
        if !uris.is_empty() {
            self.interests.subscriptions.await_servers(uris.clone());
            transport::task::spawn(resume(context.clone(), self.clone(), uris));
        }
    }
}

/// Subscribes to the resources of a restored session as soon as their servers are known.
async fn resume(context: Arc<SessionContext>, session: Arc<Session>, uris: Vec<String>) {
    let until = Instant::now() + context.egress.snapshot().opening_time();
    let most = context.egress.snapshot().limits.subscriptions_per_session;
    for uri in uris {
        let Some(cell) = session.view() else { return };
        if let Some((owner, own)) = owner_until(&cell, &uri, until).await
            && session.interests.subscriptions.awaits_server(&uri)
        {
            let upstream = context.view.state.upstream_by(owner, cell.caller.as_ref());
            if session.interests.subscriptions.insert((&uri, &own), &upstream, most).unwrap_or(false) {
                let followed = listen(&context, &session, (&cell, owner), (&uri, &own)).await;
                let mut all = session.interests.subscriptions.lock();
                match (all.get_mut(&uri), followed) {
                    (Some(place), Some(followed)) => *place = followed,
                    (_, None) => drop(all.remove(&uri)),
                    (None, _) => {}
                }
                drop(all);
                upstream.topics.note_change();
                // A change that happened in between was not reported.
                session.send_updated(&uri);
            }
        }
        session.interests.subscriptions.found_server(&uri);
    }
    context.state.note_change(&session);
}

/// Subscribes to a session's resources at their current servers.
async fn take_up(context: Arc<SessionContext>, session: Arc<Session>, uris: Vec<String>) {
    for uri in uris {
        let Some(cell) = session.view() else { return };
        let taken = match owner(&context, &cell, &uri).await {
            Some((owner, own)) if session.interests.subscriptions.has(&uri) => {
                listen(&context, &session, (&cell, owner), (&uri, &own)).await
            }
            _ => None,
        };
        let mut all = session.interests.subscriptions.lock();
        match (all.get_mut(&uri), taken) {
            (Some(place), Some(followed)) => *place = followed,
            (Some(_), None) => {
                all.remove(&uri);
                continue;
            }
            (None, _) => continue,
        }
        drop(all);
        // Changes that happened in between were not reported.
        session.send_updated(&uri);
    }
}

/// Subscribes to a resource; `uri` is the client's URI of the resource, and `own` is the server's own URI. Returns
/// `None` if the server sends no updates.
async fn listen(
    context: &Arc<SessionContext>,
    session: &Arc<Session>,
    (cell, owner): (&ViewCell, UpstreamId),
    (uri, own): (&str, &str),
) -> Option<Followed> {
    let upstream = context.view.state.upstream_by(owner, cell.caller.as_ref());
    let link = session.link(&context.egress, &upstream).await.ok()?;
    let how = if link.era.has_sessions() {
        let params = format!("\"uri\":{}", quote(own));
        request(&context.egress, &link, Method::Subscribe, &params).await.then_some(Subscribed::Taken)?
    } else {
        let listener = Listener::by_session((owner, own.to_owned()), weak_user(session));
        Subscribed::Kept(upstream.listen(&context.egress, listener))
    };
    Some(Followed::new(uri, upstream, own, how))
}
