//! Changes to the resources that a session's client listens to.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::UpstreamId;
use proto::era::Era;
use proto::json::quote;
use proto::mcp::Method;
use proto::rpc::{Id, result_response};

use super::context::SessionContext;
use super::followed::Subscribed;
use super::session_links::weak_user;
use crate::session::session::Session;
use upstream::link::OpenLink;
use upstream::link::requests::request;
use upstream::pool::LinkCell;
use upstream::subscriptions::topics::{Listener, ListenerHandle};
use upstream::{Egress, Upstream};

/// The time that a client waits to learn if a server without sessions sends updates of a resource. After that, the
/// gateway reports to the client that the server sends updates.
const PATIENCE: Duration = Duration::from_secs(1);

/// A change to a session's subscriptions.
pub(crate) struct Subscription {
    /// The client's URI of the resource.
    pub(crate) uri: String,
    /// The server's own URI.
    pub(crate) own: String,
    pub(crate) on: bool,
}

/// A change that the session's own upstream must be asked to make.
pub struct Change {
    asked: Subscription,
    upstream: Arc<Upstream>,
    /// True if the session did not listen to the resource before.
    is_new: bool,
}

/// The outcome of a requested change.
pub(crate) enum ChangeOutcome {
    /// The change is made.
    Done,
    /// The change depends on the reply of an upstream without sessions.
    Wait(PendingSubscription),
    /// The upstream has to be asked, within the session.
    Ask(Change),
}

/// A subscription that an upstream without sessions has not accepted yet.
pub struct PendingSubscription {
    session: Arc<Session>,
    listener: ListenerHandle,
    uri: String,
    patience: Duration,
}

impl PendingSubscription {
    /// Waits for the upstream, and returns the answer to the request with this id: its status and message.
    pub async fn answer(self, id: &Id) -> (u16, Bytes) {
        let settled = tokio::time::timeout(self.patience, self.listener.settled()).await;
        if settled.is_err() || self.listener.refused().is_empty() {
            return (200, result_response(id, b"{}"));
        }
        self.session.interests.subscriptions.remove(&self.uri);
        let name = self.listener.server().name();
        let message = format!("server {name:?} does not send updates for {}", self.uri);
        let fault = Fault::upstream(name, false, message);
        (fault.http_status(self.session.era()), fault.response(Some(id)))
    }
}

impl Session {
    /// Records a change to the session's subscriptions, and returns the request to the upstream that is still
    /// necessary, if any. The change takes effect immediately, so no other change undoes it in the meantime.
    /// `declares` is true if the upstream supports subscriptions.
    ///
    /// # Errors
    /// Returns the fault to answer with.
    pub(crate) fn change(
        self: &Arc<Self>,
        context: &Arc<SessionContext>,
        asked: Subscription,
        (upstream, server, declares): (&Arc<Upstream>, &Era, bool),
    ) -> Result<ChangeOutcome, Fault> {
        let limits = &context.egress.snapshot().limits;
        if !asked.on {
            let listened = self.interests.subscriptions.remove(&asked.uri);
            context.state.note_change(self);
            upstream.topics.note_change();
            if !server.has_sessions() {
                return Ok(ChangeOutcome::Done);
            }
            let cell = self.cell(upstream);
            if !cell.is_own()
                && (!listened
                    || context.state.sessions.listens(self, (upstream.server.spec.id, &cell), &asked.own))
            {
                return Ok(ChangeOutcome::Done);
            }
            return Ok(ChangeOutcome::Ask(Change { asked, upstream: upstream.clone(), is_new: false }));
        }
        if !server.has_sessions() && !declares {
            let why =
                format!("is not available: server {:?} does not support subscriptions", upstream.name());
            return Err(Fault::unknown_method(Method::Subscribe.name(), &why));
        }
        let uris = (&*asked.uri, &*asked.own);
        let is_new = self.interests.subscriptions.insert(uris, upstream, limits.subscriptions_per_session)?;
        if server.has_sessions() {
            return Ok(ChangeOutcome::Ask(Change { asked, upstream: upstream.clone(), is_new }));
        }
        let listener = Listener::by_session((upstream.server.spec.id, asked.own), weak_user(self));
        let listening = upstream.listen(&context.egress, listener);
        let listener = listening.handle().clone();
        if let Some(kept) = self.interests.subscriptions.lock().get_mut(&asked.uri) {
            kept.how = Subscribed::Kept(listening);
        }
        context.state.note_change(self);
        let patience = PATIENCE.min(limits.connect_timeout);
        Ok(ChangeOutcome::Wait(PendingSubscription {
            session: self.clone(),
            listener,
            uri: asked.uri,
            patience,
        }))
    }

    /// Keeps or reverts a change, depending on the upstream's reply.
    pub(crate) fn settle(
        self: &Arc<Self>,
        context: &Arc<SessionContext>,
        change: Option<&Change>,
        agreed: bool,
    ) {
        let Some(Change { asked, upstream, is_new }) = change else { return };
        upstream.topics.note_change();
        // The session is stored a little later, so that the stored state includes the outcome.
        context.state.note_change(self);
        match asked.on {
            true if agreed => {
                if let Some(place) = self.interests.subscriptions.lock().get_mut(&asked.uri) {
                    place.how = Subscribed::Taken;
                }
                upstream.topics.note_change();
            }
            true if *is_new => drop(self.interests.subscriptions.remove(&asked.uri)),
            true => {}
            // Another session may have started to listen just now.
            false => {
                if let Some(link) = self.shared_link(upstream.server.spec.id) {
                    transport::task::spawn(listen_again(
                        context.clone(),
                        self.clone(),
                        link,
                        asked.own.clone(),
                    ));
                }
            }
        }
    }

    /// Moves the session's subscriptions from a link that now serves another client to the server's shared link.
    pub(super) fn listen_beside(self: &Arc<Self>, egress: &Egress, link: &OpenLink) {
        let mut all = self.interests.subscriptions.lock();
        for (uri, followed) in all.iter_mut() {
            let is_there = std::ptr::eq(Arc::as_ptr(&followed.upstream.server), Arc::as_ptr(&link.server));
            if is_there && matches!(followed.how, Subscribed::Taken) {
                let own = (link.server.spec.id, followed.own(uri).to_owned());
                let listener = Listener::by_session(own, weak_user(self));
                followed.how = Subscribed::Kept(followed.upstream.listen(egress, listener));
            }
        }
    }

    /// Returns the open link to an upstream, if the session shares this link with others.
    fn shared_link(&self, upstream: UpstreamId) -> Option<Arc<OpenLink>> {
        let links = self.links.used.lock();
        let used = links.get(&upstream).filter(|used| !used.cell.is_own())?;
        let link = used.cell.current().filter(|link| link.era.has_sessions())?;
        (used.joined.load(Ordering::Acquire) == link.tenancy()).then_some(link)
    }

    /// Returns true if the session reaches an upstream over this cell.
    pub(crate) fn uses(&self, (upstream, cell): (UpstreamId, &Arc<LinkCell>)) -> bool {
        self.links.used.lock().get(&upstream).is_some_and(|used| Arc::ptr_eq(&used.cell, cell))
    }

    /// Ends this session's subscriptions on shared links, except those that another session also has.
    pub(crate) fn leave_resources(self: &Arc<Self>, context: &Arc<SessionContext>) {
        let left: Vec<_> = self
            .interests
            .subscriptions
            .drain()
            .into_iter()
            .filter_map(|(uri, followed)| {
                let (owner, own) = (followed.upstream.server.spec.id, followed.own(&uri).to_owned());
                let link = self.shared_link(owner)?;
                let cell = self.cell(&followed.upstream);
                (!context.state.sessions.listens(self, (owner, &cell), &own)).then_some((link, own))
            })
            .collect();
        if left.is_empty() {
            return;
        }
        let (context, session) = (context.clone(), self.clone());
        transport::task::spawn(async move {
            for (link, own) in left {
                let params = format!("\"uri\":{}", quote(&own));
                request(&context.egress, &link, Method::Unsubscribe, &params).await;
                listen_again(context.clone(), session.clone(), link, own).await;
            }
        });
    }
}

/// Subscribes again after an unsubscription, if another session listens to the resource now. If that session's
/// request reached the server first, the unsubscription has ended its subscription as well.
async fn listen_again(context: Arc<SessionContext>, session: Arc<Session>, link: Arc<OpenLink>, own: String) {
    let server = link.server.spec.id;
    if link
        .recipients
        .users()
        .iter()
        .any(|user| user.attribution() != session.links.attribution && user.is_subscribed(server, &own))
    {
        request(&context.egress, &link, Method::Subscribe, &format!("\"uri\":{}", quote(&own))).await;
    }
}
