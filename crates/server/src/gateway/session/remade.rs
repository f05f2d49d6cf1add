//! Resources that clients listen to, where their server was configured otherwise meanwhile: what to do with each, and taking
//! them up at the new one. It must not know why a server is another one now.

use std::sync::Arc;

use engine::catalogue::UpstreamId;
use proto::json::quote;
use proto::mcp::{Method, Notice};
use proto::rpc::Frame;
use tokio::time::{Instant, timeout_at};

use super::followed::{Followed, Subscribed};
use super::session::weak_user;
use crate::gateway::session::SessionContext;
use crate::gateway::session::session::Session;
use crate::gateway::view::view_cell::ViewCell;
use upstream::Upstream;
use upstream::link::requests::request;
use upstream::subscriptions::topics::Listener;

/// What became of a server within a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is there as it was.
    Same,
    /// Another one has its name.
    Changed,
    /// It is not there any more.
    Gone,
}

impl Fate {
    /// By what is configured by now.
    pub(crate) fn of(context: &Arc<SessionContext>, profile: usize, upstream: &Upstream) -> Self {
        let snapshot = context.view.state.current.load();
        let ids = &snapshot.profiles[profile].upstreams;
        let mut names = ids.iter().filter_map(|id| snapshot.upstream(*id)).map(|spec| &spec.name);
        if ids.contains(&upstream.server.spec.id) {
            Self::Same
        } else if names.any(|name| name == upstream.name()) {
            Self::Changed
        } else {
            Self::Gone
        }
    }
}

/// The server of a resource, as soon as a view knows it; `None` when it does not come to know it in time.
pub(crate) async fn owner(context: &Arc<SessionContext>, cell: &ViewCell, uri: &str) -> Option<UpstreamId> {
    let until = Instant::now() + context.egress.snapshot.opening_time();
    let mut changes = cell.watch();
    loop {
        changes.mark_unchanged();
        if let Some(owner) = cell.view().resource_owner(uri) {
            return Some(owner);
        }
        timeout_at(until, changes.changed()).await.ok()?.ok()?;
    }
}

impl Session {
    /// Goes on listening where the servers of resources were configured otherwise, and listens no more where they are gone.
    pub(crate) fn follow_resources(self: &Arc<Self>, context: &Arc<SessionContext>) {
        let mut again = Vec::new();
        self.subscriptions.lock().retain(|uri, followed| {
            let fate = Fate::of(context, self.profile, &followed.upstream);
            if fate == Fate::Changed {
                followed.how = Subscribed::Asked;
                again.push(uri.clone());
            }
            fate != Fate::Gone
        });
        if !again.is_empty() {
            tokio::spawn(take_up(context.clone(), self.clone(), again));
        }
    }
}

/// Listens to resources of a session at the servers that have them now.
async fn take_up(context: Arc<SessionContext>, session: Arc<Session>, uris: Vec<String>) {
    for uri in uris {
        let Some(cell) = session.view() else { return };
        let taken = match owner(&context, &cell, &uri).await {
            Some(owner) if session.subscriptions.has(&uri) => {
                listen(&context, &session, (&cell, owner), &uri).await
            }
            _ => None,
        };
        let mut all = session.subscriptions.lock();
        match (all.get_mut(&uri), taken) {
            (Some(place), Some(followed)) => *place = followed,
            (Some(_), None) => {
                all.remove(&uri);
                continue;
            }
            (None, _) => continue,
        }
        drop(all);
        // What changed in between nobody has told.
        let params = format!("\"uri\":{}", quote(&uri));
        let text = proto::era::notice(Notice::ResourceUpdated.name(), params.as_bytes());
        if let Ok(notice) = Frame::parse(text, context.egress.frame_limits()) {
            session.hear(session.kind.era, &notice, false);
        }
    }
}

/// Listens to one; `None` where its server does not tell of it.
async fn listen(
    context: &Arc<SessionContext>,
    session: &Arc<Session>,
    (cell, owner): (&ViewCell, UpstreamId),
    uri: &str,
) -> Option<Followed> {
    let upstream = context.view.state.upstream_by(owner, cell.whose.as_ref());
    let link = session.link(&context.egress, &upstream).await.ok()?;
    let how = if link.era.has_sessions() {
        let params = format!("\"uri\":{}", quote(uri));
        request(&context.egress, &link, Method::Subscribe, &params).await.then_some(Subscribed::Taken)?
    } else {
        Subscribed::Kept(
            upstream.listen(&context.egress, Listener::by_session(uri.to_owned(), weak_user(session))),
        )
    };
    Some(Followed { upstream, how })
}
