//! `subscriptions/listen`: one stream of notices for a stateless client, fed by the catalogue and by upstreams.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::UpstreamId;
use proto::codec::sse::KEEP_ALIVE;
use proto::era::{acknowledged, listen_result, notice, own_meta};
use proto::json::{Elements, Members, Splice, quote};
use proto::mcp::{Method, Notice, meta};
use proto::rpc::{Frame, Id, Kind as FrameKind, code};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use transport::net::{Body, BodySender};
use transport::up::LinkError;

use super::Shard;
use super::link::{Item, OpenLink, Source};
use super::streams::event;
use super::upstream::{Kind, Upstream, own_request};
use super::views::ViewCell;

/// How many notices may wait for a slow client.
const BEHIND: usize = 256;

/// How often an idle stream shows a sign of life.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// How long an upstream may take to begin to listen.
const PATIENCE: Duration = Duration::from_secs(5);

/// The wait before a lost upstream stream is opened again.
const WAIT: Duration = Duration::from_secs(2);

/// What a client wants to hear of, as far as it is honoured.
pub(crate) struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: Vec<(UpstreamId, String)>,
}

/// Where the notices go.
#[derive(Clone)]
pub(crate) enum Sink {
    /// An event stream.
    Events(BodySender),
    /// Lines of a pipe that other messages share.
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
    /// Reads the filter of a listen request, and leaves out what cannot be honoured.
    pub(crate) fn read(shard: &Shard, cell: &ViewCell, frame: &Frame) -> Result<Self, Fault> {
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
            let max = shard.gateway.snapshot.limits.subscriptions_per_session;
            if list.len() > max {
                return Err(refuse(&format!(".resourceSubscriptions has more than {max} entries")));
            }
            for span in list.iter() {
                let uri =
                    frame.string(span).ok_or_else(|| refuse(".resourceSubscriptions must hold strings"))?;
                if view.declares("resources", Some("subscribe"))
                    && let Some(owner) = view.resource_owner(&uri)
                {
                    uris.push((owner, uri.into_owned()));
                }
            }
        }
        Ok(Self {
            tools: changes("toolsListChanged", "tools"),
            prompts: changes("promptsListChanged", "prompts"),
            resources: changes("resourcesListChanged", "resources"),
            uris,
        })
    }

    /// The filter as the acknowledgement repeats it.
    fn honoured(&self) -> String {
        let flags = [
            (self.tools, "toolsListChanged"),
            (self.prompts, "promptsListChanged"),
            (self.resources, "resourcesListChanged"),
        ];
        let mut members: Vec<String> =
            flags.iter().filter(|(on, _)| *on).map(|(_, name)| format!("\"{name}\":true")).collect();
        if !self.uris.is_empty() {
            let uris: Vec<String> = self.uris.iter().map(|(_, uri)| quote(uri)).collect();
            members.push(format!("\"resourceSubscriptions\":[{}]", uris.join(",")));
        }
        format!("{{{}}}", members.join(","))
    }

    /// The resources to listen to, by upstream.
    fn by_owner(&self) -> BTreeMap<UpstreamId, Vec<String>> {
        let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (owner, uri) in &self.uris {
            found.entry(*owner).or_default().push(uri.clone());
        }
        found
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
pub(crate) fn open(shard: &Shard, cell: Arc<ViewCell>, frame: &Frame) -> Result<Body, Fault> {
    let filter = Filter::read(shard, &cell, frame)?;
    let Some(id) = frame.id().cloned() else { return Err(Fault::gateway("a listen request without an id")) };
    let place = Place::take(shard)?;
    let (sender, body) = Body::channel(BEHIND);
    let shard = shard.clone();
    tokio::spawn(async move {
        let _place = place;
        serve(&shard, &cell, filter, &id, Sink::Events(sender)).await;
    });
    Ok(body)
}

/// One of the streams that may be open at once.
pub(crate) struct Place(Shard);

impl Place {
    pub(crate) fn take(shard: &Shard) -> Result<Self, Fault> {
        let max = shard.gateway.snapshot.limits.listen_streams as u64;
        let place = Self(shard.clone());
        if shard.gateway.listens.fetch_add(1, Ordering::AcqRel) >= max {
            return Err(Fault::gateway(format!("{max} streams of notices are open; close one of them"))
                .with_status(429));
        }
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.gateway.listens.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Feeds a stream until its client or the gateway ends it.
pub(crate) async fn serve(shard: &Shard, cell: &ViewCell, filter: Filter, id: &Id, sink: Sink) {
    let mut watch = cell.watch();
    let mut seen = *watch.borrow_and_update();
    let (acknowledge, is_acknowledged) = watch::channel(false);
    let (opening, mut opened) = mpsc::channel::<()>(1);
    let mut upstreams = JoinSet::new();
    for (owner, uris) in filter.by_owner() {
        let follow = Follow {
            shard: shard.clone(),
            kind: cell.kind.clone(),
            upstream: shard.gateway.upstream(owner).clone(),
            uris,
            id: id.clone(),
            sink: sink.clone(),
            acknowledged: is_acknowledged.clone(),
        };
        upstreams.spawn(follow.run(opening.clone()));
    }
    drop(opening);
    // Whatever changes after the acknowledgement is told, so the upstreams have to listen before it.
    tokio::select! {
        _ = tokio::time::timeout(PATIENCE, opened.recv()) => {}
        () = sink.gone() => return,
    }
    if !sink.send(acknowledged(id, &filter.honoured())).await {
        return;
    }
    acknowledge.send_replace(true);
    loop {
        tokio::select! {
            changed = watch.changed() => {
                if changed.is_err() {
                    break;
                }
                let now = *watch.borrow_and_update();
                for told in now.since(seen).filter(|told| filter.wants(*told)) {
                    let params = format!("\"_meta\":{{\"{}\":{id}}}", meta::SUBSCRIPTION_ID);
                    if !sink.send(notice(told.name(), params.as_bytes())).await {
                        return;
                    }
                }
                seen = now;
            }
            () = sink.gone() => return,
            () = shard.gateway.stop.stopped() => break,
            () = tokio::time::sleep(KEEP_ALIVE_EVERY) => sink.keep_alive().await,
        }
    }
    upstreams.shutdown().await;
    let _ = sink.send(listen_result(id)).await;
}

/// A client's listening to resources of one upstream.
struct Follow {
    shard: Shard,
    kind: Kind,
    upstream: Arc<Upstream>,
    uris: Vec<String>,
    id: Id,
    sink: Sink,
    acknowledged: watch::Receiver<bool>,
}

impl Follow {
    /// Passes the upstream's notices on. `opening` is let go as soon as the upstream listens, or does not.
    async fn run(mut self, opening: mpsc::Sender<()>) {
        let mut opening = Some(opening);
        let mut missed = false;
        loop {
            if let Ok(Some((_listening, mut source))) = self.open().await {
                let limits = self.shard.gateway.frame_limits();
                while let Ok(item) = source.next(&self.shard.client, limits).await {
                    let Item::Frame(frame) = item else { continue };
                    let said = Notice::from_name(&frame.method());
                    if frame.kind() != FrameKind::Notification || said == Some(Notice::Cancelled) {
                        break;
                    }
                    drop(opening.take());
                    if self.acknowledged.wait_for(|done| *done).await.is_err() {
                        return;
                    }
                    let told = match said {
                        Some(Notice::Acknowledged) => !missed || self.tell_all().await,
                        _ => self.sink.send(under(&frame, &self.id)).await,
                    };
                    if !told {
                        return;
                    }
                    missed = false;
                }
            }
            drop(opening.take());
            missed = true;
            tokio::select! {
                () = tokio::time::sleep(WAIT) => {}
                () = self.sink.gone() => return,
            }
        }
    }

    async fn open(&self) -> Result<Option<(Listening, Source)>, LinkError> {
        let key = self.shard.gateway.next_key();
        let envelope = own_meta(self.kind.era, "{}", super::CLIENT_INFO);
        let uris: Vec<String> = self.uris.iter().map(|uri| quote(uri)).collect();
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{}\",\"params\":{{\"notifications\":{{\"resourceSubscriptions\":[{}]}},{envelope}}}}}",
            Method::Listen.name(),
            uris.join(",")
        );
        let request = own_request(&self.upstream, self.kind.era, key, body.into(), Method::Listen);
        let link = self.upstream.shared_link(&self.kind).get(&self.shard).await?;
        let limits = self.shard.gateway.frame_limits();
        let source = link.open_stream(&self.shard.client, request, limits).await?;
        let listening = Listening { shard: self.shard.clone(), link, key };
        Ok(source.map(|source| (listening, source)))
    }

    /// What was missed while nobody listened is not known: each resource may have changed.
    async fn tell_all(&self) -> bool {
        for uri in &self.uris {
            let uri = quote(uri);
            let params = format!("\"uri\":{uri},\"_meta\":{{\"{}\":{}}}", meta::SUBSCRIPTION_ID, self.id);
            if !self.sink.send(notice(Notice::ResourceUpdated.name(), params.as_bytes())).await {
                return false;
            }
        }
        true
    }
}

/// An upstream that listens for a client. It is told when the client does so no more.
struct Listening {
    shard: Shard,
    link: Arc<OpenLink>,
    key: u64,
}

impl Drop for Listening {
    fn drop(&mut self) {
        if !self.link.hears_cancellation() || !self.link.is_alive() {
            return;
        }
        let (shard, link, key) = (self.shard.clone(), self.link.clone(), self.key);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let text = notice(Notice::Cancelled.name(), format!("\"requestId\":{key}").as_bytes());
                // A child that is gone listens no more either.
                let _ = link.notify(&shard.client, text).await;
            });
        }
    }
}

/// An upstream's notice under the client's own subscription.
fn under(frame: &Frame, id: &Id) -> Bytes {
    let span = frame.meta(meta::SUBSCRIPTION_ID).ok().flatten();
    let mut splice = Splice::new(frame.text());
    if let Some(span) = span {
        splice.replace(span, id.json());
    }
    splice.finish()
}
