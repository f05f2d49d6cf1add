//! `subscriptions/listen`: a stream of notifications for a stateless client, fed by views and by upstreams.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::{UpstreamId, uri_of_server};
use proto::bridge::listen::concerns;
use proto::codec::sse::KEEP_ALIVE;
use proto::era::{acknowledged, listen_result, notice};
use proto::json::{Elements, Members, Splice, quote};
use proto::mcp::{Notice, meta};
use proto::rpc::{Frame, Id, code};
use tokio::sync::mpsc;
use transport::net::{Body, BodySender};

use crate::admission::identity::Identity;
use crate::call::CallContext;
use crate::call::tasks;
use crate::session::link_user::about;
use crate::session::streams::event;
use crate::session::until::OpenStreamEntry;
use crate::view::view_cell::ViewCell;
use upstream::quota::Permit;
use upstream::subscriptions::topics::{Listener, ListenerGuard, NoticeReceiver, ResourceNotice};

/// The maximum number of notifications that wait for a slow client.
const BEHIND: usize = 256;

/// The interval between keep-alive events on an idle stream.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// The time that an upstream may take to start listening.
const PATIENCE: Duration = Duration::from_secs(5);

/// The notifications that a client requests and that the gateway can send.
pub(crate) struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: Vec<ListenedUri>,
    tasks: Vec<engine::tasks::WatchedTask>,
}

/// A resource to which a client listens.
struct ListenedUri {
    owner: UpstreamId,
    /// The client's URI of the resource.
    shown: String,
    /// The upstream's own URI of the resource.
    own: String,
}

/// The destination of the notifications.
#[derive(Clone)]
pub(crate) enum Sink {
    /// An event stream.
    Events(BodySender),
    /// The lines of a pipe that carries other messages as well.
    Lines(mpsc::Sender<Bytes>),
}

impl Sink {
    async fn send(&self, message: Bytes) -> bool {
        match self {
            Self::Events(sender) => sender.send(event(&message)).await.is_ok(),
            Self::Lines(lines) => lines.send(message).await.is_ok(),
        }
    }

    async fn gone(&self) {
        match self {
            Self::Events(sender) => sender.gone().await,
            Self::Lines(lines) => lines.closed().await,
        }
    }

    async fn keep_alive(&self) {
        if let Self::Events(sender) = self {
            let _ = sender.send(Bytes::from_static(KEEP_ALIVE)).await;
        }
    }
}

impl Filter {
    /// Reads the filter of a listen request, and omits the notifications that the gateway cannot send.
    pub(crate) fn read(
        context: &Arc<CallContext>,
        cell: &ViewCell,
        frame: &Frame,
        identity: &Identity,
    ) -> Result<Self, Fault> {
        let text = frame.text();
        let refuse = |what: &str| Fault::client(code::INVALID_PARAMS, format!("params.notifications{what}"));
        let wanted = frame.param("notifications")?.ok_or_else(|| refuse(" is required"))?;
        let wanted = Members::of_value(text, wanted).ok_or_else(|| refuse(" must be an object"))?;
        let view = cell.view();
        let changes = |key: &str, capability: &str| {
            let asked = wanted.get(text, key).is_some_and(|span| span.of(text) == b"true");
            asked && view.declares(capability, Some("listChanged"))
        };
        let mut uris = Vec::new();
        if let Some(list) = wanted.get(text, "resourceSubscriptions") {
            let list = Elements::of_value(text, list)
                .ok_or_else(|| refuse(".resourceSubscriptions must be an array"))?;
            let max = context.egress.snapshot().limits.subscriptions_per_session;
            if list.len() > max {
                return Err(refuse(&format!(".resourceSubscriptions has more than {max} entries")));
            }
            for span in list.iter() {
                let uri = frame
                    .string(span)
                    .ok_or_else(|| refuse(".resourceSubscriptions must contain only strings"))?;
                if let Some((owner, own)) = view.located(&uri)
                    && view.upstream_declares(owner, "resources", Some("subscribe"))
                {
                    uris.push(ListenedUri { owner, own: own.into_owned(), shown: uri.to_string() });
                }
            }
        }
        Ok(Self {
            tools: changes("toolsListChanged", "tools"),
            prompts: changes("promptsListChanged", "prompts"),
            resources: changes("resourcesListChanged", "resources"),
            uris,
            tasks: tasks::wanted(context, &view, frame, &wanted, identity)?,
        })
    }

    /// Returns the filter as the acknowledgement shows it.
    fn honoured(&self) -> String {
        let flags = [
            (self.tools, "toolsListChanged"),
            (self.prompts, "promptsListChanged"),
            (self.resources, "resourcesListChanged"),
        ];
        let mut members: Vec<String> =
            flags.iter().filter(|(on, _)| *on).map(|(_, name)| format!("\"{name}\":true")).collect();
        if !self.uris.is_empty() {
            let uris: Vec<String> = self.uris.iter().map(|one| quote(&one.shown)).collect();
            members.push(format!("\"resourceSubscriptions\":[{}]", uris.join(",")));
        }
        if !self.tasks.is_empty() {
            let shown = self.tasks.iter().map(|heard| String::from_utf8_lossy(&heard.task.shown));
            members.push(format!("\"taskIds\":[{}]", shown.collect::<Vec<_>>().join(",")));
        }
        format!("{{{}}}", members.join(","))
    }

    /// Removes the resources of an upstream for which it refuses to send updates.
    fn leave_out(&mut self, owner: UpstreamId, refused: &[String]) {
        self.uris.retain(|one| one.owner != owner || !refused.contains(&one.own));
    }

    /// Returns the resources in the filter, grouped by upstream.
    fn by_owner(&self) -> BTreeMap<UpstreamId, Vec<String>> {
        let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for one in &self.uris {
            found.entry(one.owner).or_default().push(one.own.clone());
        }
        found
    }

    /// Returns an upstream's notification about a resource, with the client's URI of the resource.
    fn shown(&self, context: &CallContext, owner: UpstreamId, told: ResourceNotice) -> ResourceNotice {
        let names = self.uris.iter().filter(|one| one.owner == owner && one.own != one.shown);
        let known = |own: &str| {
            let one = names.clone().find(|one| concerns(&one.own, own))?;
            let exact = (one.own == own).then(|| one.shown.clone());
            exact.or_else(|| uri_of_server(context.view.state.upstreams.get(owner).name(), own))
        };
        match &told {
            ResourceNotice::Missed(own) => known(own).map(ResourceNotice::Missed),
            ResourceNotice::Notice(frame) => {
                let own = frame.param("uri").ok().flatten().and_then(|span| frame.string(span));
                let shown = own.and_then(|own| about(frame, &known(&own)?));
                shown.map(|frame| ResourceNotice::Notice(Arc::new(frame)))
            }
        }
        .unwrap_or(told)
    }

    fn wants(&self, changed: Notice) -> bool {
        match changed {
            Notice::ToolsChanged => self.tools,
            Notice::PromptsChanged => self.prompts,
            Notice::ResourcesChanged => self.resources,
            _ => false,
        }
    }
}

/// Opens a stream over HTTP.
pub(crate) fn open(
    context: &Arc<CallContext>,
    cell: Arc<ViewCell>,
    frame: &Frame,
    identity: &Identity,
) -> Result<Body, Fault> {
    let filter = Filter::read(context, &cell, frame, identity)?;
    let Some(id) = frame.id().cloned() else { return Err(Fault::gateway("the listen request has no id")) };
    let permit = permit(context, identity)?;
    let (sender, body) = Body::channel(BEHIND);
    let context = context.clone();
    let holding = OpenStreamEntry::new(&context.session.state.holders, identity, "subscriptions/listen");
    transport::task::spawn(async move {
        let _permit = permit;
        tokio::select! {
            () = serve(&context, &cell, filter, &id, Sink::Events(sender)) => {}
            () = holding.held.revoked() => {}
        }
    });
    Ok(body)
}

/// Takes a permit for another stream.
///
/// # Errors
/// Fails if the caller already has as many streams as allowed, or if all streams are taken.
pub(crate) fn permit(context: &Arc<CallContext>, identity: &Identity) -> Result<Permit, Fault> {
    let listens = &context.state.listens;
    listens.resize(context.egress.snapshot().limits.listen_streams);
    listens.take(identity.holder()).map_err(|full| {
        Fault::gateway(full.describe("notification streams", "limits.listenStreams")).with_status(503)
    })
}

/// Completes once each upstream listens, or is known not to listen.
async fn settled(listening: &[ListenerGuard], following: &[tasks::TaskSubscription]) {
    for one in listening {
        one.handle().settled().await;
    }
    for one in following {
        one.settled().await;
    }
}

/// Feeds a stream until its client or the gateway ends it.
pub(crate) async fn serve(context: &Arc<CallContext>, cell: &ViewCell, filter: Filter, id: &Id, sink: Sink) {
    let (mut filter, mut watch) = (filter, cell.watch());
    let mut seen = *watch.borrow_and_update();
    let (listening, mut heard) = follow(context, cell, &filter);
    let (following, mut of_tasks) =
        tasks::follow(context, (&filter.tasks, Some(cell.view())), cell.caller.as_ref());
    // Every change after the acknowledgement has to be reported, so the gateway must already be listening to the
    // upstreams when it sends the acknowledgement.
    tokio::select! {
        _ = tokio::time::timeout(PATIENCE, settled(&listening, &following)) => {}
        () = sink.gone() => return,
    }
    for one in listening.iter().map(ListenerGuard::handle) {
        filter.leave_out(one.server().spec.id, &one.refused());
    }
    if !sink.send(acknowledged(id, &filter.honoured())).await {
        return;
    }
    loop {
        tokio::select! {
            changed = watch.changed() => {
                if changed.is_err() {
                    break;
                }
                let now = *watch.borrow_and_update();
                for list in now.since(seen).filter(|list| filter.wants(*list)) {
                    if !sink.send(list_changed(list, id)).await {
                        return;
                    }
                }
                seen = now;
            }
            Some((owner, told)) = next(&mut heard) => {
                if !sink.send(notice_under(&filter.shown(context, owner, told), id)).await {
                    return;
                }
            }
            Some(told) = of_tasks.recv() => {
                if !sink.send(notice_under(&told, id)).await {
                    return;
                }
            }
            () = sink.gone() => return,
            () = context.egress.stop().stopped() => break,
            // The configuration has changed: the client must send a new request to listen to what is configured now.
            () = cell.retired.stopped() => break,
            () = any_leaves(&listening) => break,
            () = tokio::time::sleep(KEEP_ALIVE_EVERY) => sink.keep_alive().await,
        }
    }
    drop((listening, following));
    let _ = sink.send(listen_result(id)).await;
}

/// Returns the notification of a changed list, with the client's subscription id.
fn list_changed(list: Notice, id: &Id) -> Bytes {
    let params = format!("\"_meta\":{{\"{}\":{id}}}", meta::SUBSCRIPTION_ID);
    notice(list.name(), params.as_bytes())
}

/// Listens to the resources in a filter at the upstreams that own them.
fn follow(
    context: &Arc<CallContext>,
    cell: &ViewCell,
    filter: &Filter,
) -> (Vec<ListenerGuard>, Vec<(UpstreamId, NoticeReceiver)>) {
    let caller = cell.caller.as_ref();
    let join = |(owner, uris)| {
        let (listener, heard) = Listener::by_stream(uris);
        (context.view.state.upstream_by(owner, caller).listen(&context.egress, listener), (owner, heard))
    };
    filter.by_owner().into_iter().map(join).unzip()
}

/// Completes when one of the upstreams is no longer configured.
async fn any_leaves(listening: &[ListenerGuard]) {
    let mut leaving: Vec<_> =
        listening.iter().map(|one| Box::pin(one.handle().server().shutdown.begun.stopped())).collect();
    std::future::poll_fn(|context| {
        let is_over = leaving.iter_mut().any(|one| one.as_mut().poll(context).is_ready());
        if is_over { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

/// Returns the next notification from any upstream.
async fn next(heard: &mut [(UpstreamId, NoticeReceiver)]) -> Option<(UpstreamId, ResourceNotice)> {
    std::future::poll_fn(|context| {
        for (owner, one) in heard.iter_mut() {
            if let std::task::Poll::Ready(Some(told)) = one.poll_next(context) {
                return std::task::Poll::Ready(Some((*owner, told)));
            }
        }
        std::task::Poll::Pending
    })
    .await
}

/// Returns the text of a notification with the client's own subscription id.
fn notice_under(told: &ResourceNotice, id: &Id) -> Bytes {
    match told {
        ResourceNotice::Notice(frame) => under(frame, id),
        ResourceNotice::Missed(uri) => {
            let params = format!("\"uri\":{},\"_meta\":{{\"{}\":{id}}}", quote(uri), meta::SUBSCRIPTION_ID);
            notice(Notice::ResourceUpdated.name(), params.as_bytes())
        }
    }
}

/// Returns an upstream's notification with the client's own subscription id. The client's id replaces the
/// upstream's id, or is added if the upstream's era has no such ids.
fn under(frame: &Frame, id: &Id) -> Bytes {
    let key = meta::SUBSCRIPTION_ID.as_bytes();
    let whole = format!("{{\"{}\":{id}}}", meta::SUBSCRIPTION_ID);
    let mut splice = Splice::new(frame.text());
    if let Some(params) = frame.params() {
        match &params.meta {
            Some(own) => splice.set(own, key, id.json()),
            None => splice.set(&params.members, b"_meta", whole.as_bytes()),
        };
    }
    splice.finish()
}
