//! Resources that a dialect client listens to: updates from servers go to the client's event stream. This module must
//! not know the dialect.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::Condition;
use engine::dialect::{DialectFault, DialectOutcome};
use parking_lot::Mutex;
use proto::json::quote;
use proto::mcp::{Method, Notice};
use proto::rpc::Frame;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::sessions::{DialectStream, Session};
use crate::call::CallContext;
use crate::call::stateless;
use crate::session::replaced::{ReloadedServer, owner};
use crate::session::streams::event;
use crate::view::view_cell::ViewCell;
use upstream::Upstream;
use upstream::subscriptions::topics::{Listener, ListenerGuard, NoticeReceiver, ResourceNotice};

/// The time that a server may take to accept a subscription. After that, the gateway reports success to the client.
const PATIENCE: Duration = Duration::from_secs(5);

/// The resources that a client listens to, by URI.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<HashMap<String, TaskSubscription>>);

/// The subscription to one resource.
struct TaskSubscription {
    upstream: Arc<Upstream>,
    /// `None` while waiting for a replaced server.
    hold: Option<HeldSubscription>,
}

/// Keeps a subscription open until it is dropped.
struct HeldSubscription {
    _listening: ListenerGuard,
    forwarding: AbortHandle,
}

impl HeldSubscription {
    fn new(listening: ListenerGuard, heard: NoticeReceiver, events: &mpsc::Sender<Bytes>) -> Self {
        let forwarding = transport::task::spawn(forward_notices(heard, events.clone())).abort_handle();
        Self { _listening: listening, forwarding }
    }
}

impl Drop for HeldSubscription {
    fn drop(&mut self) {
        self.forwarding.abort();
    }
}

/// A change to a client's subscriptions.
pub(crate) struct Change {
    uri: String,
    on: bool,
    pub(crate) upstream: Arc<Upstream>,
}

impl Change {
    /// Returns the change that a request asks for, if the client sees the resource, and the resource's server sends
    /// updates.
    pub(crate) fn of(context: &Arc<CallContext>, cell: &ViewCell, request: &Frame) -> Option<Self> {
        let view = cell.view();
        let on = match Method::from_name(&request.method()) {
            Some(Method::Subscribe) => true,
            Some(Method::Unsubscribe) => false,
            _ => return None,
        };
        let uri = request.string(request.param("uri").ok().flatten()?)?.into_owned();
        let owner = view.resource_owner(&uri)?;
        view.upstream_declares(owner, "resources", Some("subscribe")).then(|| Self {
            uri,
            on,
            upstream: context.view.state.upstream_by(owner, cell.caller.as_ref()),
        })
    }
}

impl Subscriptions {
    /// Makes a change; updates then go to `events`.
    async fn change(
        &self,
        context: &Arc<CallContext>,
        change: Change,
        events: &mpsc::Sender<Bytes>,
    ) -> DialectOutcome {
        let done = DialectOutcome::Result(Bytes::from_static(b"{}"));
        let Change { uri, on, upstream } = change;
        if !on {
            self.0.lock().remove(&uri);
            return done;
        }
        let most = context.egress.snapshot().limits.subscriptions_per_session;
        if self.has(&uri) {
            return done;
        }
        let (listener, heard) = Listener::by_stream(vec![uri.clone()]);
        let listening = upstream.listen(&context.egress, listener);
        let settled = tokio::time::timeout(PATIENCE, listening.handle().settled()).await;
        if settled.is_ok() && !listening.handle().refused().is_empty() {
            let message = format!("server {:?} does not send updates for {uri}", upstream.name());
            return DialectOutcome::Fault(
                DialectFault::new(Condition::UpstreamError, message).of(&**upstream.name()),
            );
        }
        let mut all = self.0.lock();
        if all.len() >= most {
            let message = format!("this client already listens to {most} resources");
            return DialectOutcome::Fault(DialectFault::new(Condition::InvalidParams, message));
        }
        // Two concurrent requests need only one subscription.
        all.entry(uri).or_insert_with(|| TaskSubscription {
            upstream,
            hold: Some(HeldSubscription::new(listening, heard, events)),
        });
        done
    }

    /// Ends subscriptions at servers that no longer exist; returns the URIs whose servers were replaced.
    fn leave(&self, context: &Arc<CallContext>, profile: usize) -> Vec<String> {
        let mut again = Vec::new();
        self.0.lock().retain(|uri, following| {
            let server = ReloadedServer::of(&context.session, profile, &following.upstream);
            if server == ReloadedServer::Replaced && following.hold.take().is_some() {
                again.push(uri.clone());
            }
            server != ReloadedServer::Removed
        });
        again
    }

    /// Listens to a resource at its current server; returns `None` if the client no longer listens to the resource,
    /// or if no server sends updates about it.
    async fn take_up(
        &self,
        context: &Arc<CallContext>,
        cell: &ViewCell,
        uri: &str,
        stream: &DialectStream,
    ) -> Option<()> {
        let (owner, _) = owner(&context.session, cell, uri).await?;
        let declares = cell.view().upstream_declares(owner, "resources", Some("subscribe"));
        let upstream = declares.then(|| context.view.state.upstream_by(owner, cell.caller.as_ref()))?;
        let (listener, heard) = Listener::by_stream(vec![uri.to_owned()]);
        let listening = upstream.listen(&context.egress, listener);
        let settled = tokio::time::timeout(PATIENCE, listening.handle().settled()).await;
        if settled.is_ok() && !listening.handle().refused().is_empty() {
            return None;
        }
        let mut all = self.0.lock();
        let place = all.get_mut(uri).filter(|following| following.hold.is_none())?;
        *place = TaskSubscription {
            upstream,
            hold: Some(HeldSubscription::new(listening, heard, &stream.events)),
        };
        Some(())
    }

    /// Drops a resource whose server could not be found again.
    fn give_up(&self, uri: &str) {
        self.0.lock().retain(|one, following| one != uri || following.hold.is_some());
    }

    fn has(&self, uri: &str) -> bool {
        self.0.lock().contains_key(uri)
    }
}

/// Makes a change for a client; returns `None` if the client has no event stream.
pub(crate) async fn change(
    context: &Arc<CallContext>,
    session: &Arc<Session>,
    change: Change,
) -> Option<DialectOutcome> {
    let stream = session.stream()?;
    let outcome = stream.subscriptions.change(context, change, &stream.events).await;
    // If another configuration took effect in the meantime, this subscription was not updated then.
    follow(context, session);
    Some(outcome)
}

/// Updates a client's subscriptions after a change to the configuration.
pub(crate) fn follow(context: &Arc<CallContext>, session: &Arc<Session>) {
    let Some(stream) = session.stream() else { return };
    let again = stream.subscriptions.leave(context, session.profile);
    if again.is_empty() {
        return;
    }
    let (context, session) = (context.clone(), session.clone());
    transport::task::spawn(async move {
        let Some(stream) = session.stream() else { return };
        let cell = stateless::view(&context, session.profile, stream.era, &stream.identity).await;
        for uri in again {
            let taken = tokio::select! {
                taken = stream.subscriptions.take_up(&context, &cell, &uri, stream) => taken,
                () = stream.events.closed() => return,
            };
            if taken.is_some() {
                // Changes that happened in between were not reported.
                session.send(updated(&quote(&uri)));
            } else {
                stream.subscriptions.give_up(&uri);
            }
        }
    });
}

/// Returns the event for an updated resource; `uri` is a JSON string.
fn updated(uri: &str) -> Bytes {
    event(&proto::era::notice(Notice::ResourceUpdated.name(), format!("\"uri\":{uri}").as_bytes()))
}

/// Forwards a server's updates to the client for as long as the client reads them.
async fn forward_notices(mut heard: NoticeReceiver, events: mpsc::Sender<Bytes>) {
    while let Some(told) = poll_fn(|context| heard.poll_next(context)).await {
        let uri = match &told {
            ResourceNotice::Missed(uri) => quote(uri),
            ResourceNotice::Notice(notice) if notice.method() == Notice::ResourceUpdated.name() => {
                let Some(uri) = notice.param("uri").ok().flatten() else { continue };
                String::from_utf8_lossy(uri.of(notice.text())).into_owned()
            }
            ResourceNotice::Notice(_) => continue,
        };
        if events.send(updated(&uri)).await.is_err() {
            return;
        }
    }
}
