//! Resources of one upstream that clients listen to: the upstream is asked once for all of them, and its updates go to
//! every listener. This module must not know more about listeners than how to reach them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use engine::catalogue::UpstreamId;
use parking_lot::Mutex;
use proto::bridge::listen::{Interest, concerns};
use proto::era::Era;
use proto::json::quote;
use proto::mcp::Notice;
use proto::rpc::{Frame, FrameLimits};
use tokio::sync::{mpsc, watch};

use crate::link::LinkUser;
use crate::server::Server;

/// The maximum number of notifications that wait for one listener. If a listener is slower, notifications are
/// dropped, and the listener is only notified that something may have changed.
const BEHIND: usize = 256;

/// A message to a listener.
#[derive(Debug, Clone)]
pub enum ResourceNotice {
    /// The upstream's notification, unchanged.
    Notice(Arc<Frame>),
    /// The resource with this URI may have changed while the gateway did not listen.
    Missed(String),
}

enum NoticeTarget {
    Stream(mpsc::Sender<ResourceNotice>, Arc<AtomicBool>),
    Session(UpstreamId, Weak<dyn LinkUser>),
}

/// The wanted resources of an upstream, with their listeners.
#[derive(Default)]
pub(super) struct TopicState {
    pub(super) interest: Interest,
    listeners: HashMap<u64, Listener>,
    next: u64,
    /// True if a task subscribes at the upstream.
    is_followed: bool,
    /// True if the upstream refused all updates when it was last asked.
    pub(super) refuses_all: bool,
}

/// The resources of one upstream that clients listen to.
pub struct Topics {
    pub(super) state: Mutex<TopicState>,
    /// The number of changes to the wanted resources.
    pub(super) wanted: watch::Sender<u64>,
    /// The number of the last change that was sent to the upstream, or was refused by it.
    settled: watch::Sender<u64>,
    /// The number of all changes, including those of sessions that subscribe over their own links.
    revision: AtomicU64,
}

impl Default for Topics {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            wanted: watch::Sender::new(0),
            settled: watch::Sender::new(0),
            revision: AtomicU64::new(0),
        }
    }
}

/// The receiver of a listener's messages.
pub struct NoticeReceiver {
    told: mpsc::Receiver<ResourceNotice>,
    /// True if messages were dropped because the channel was full.
    behind: Arc<AtomicBool>,
    uris: Vec<String>,
    /// Resources whose updates were dropped and have to be announced.
    missed: Vec<String>,
}

impl NoticeReceiver {
    /// Returns the next message.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<ResourceNotice>> {
        if let Some(uri) = self.missed.pop() {
            return Poll::Ready(Some(ResourceNotice::Missed(uri)));
        }
        let next = self.told.poll_recv(context);
        // If messages are dropped, the channel was full, so the flag is checked only after the channel has been
        // emptied.
        if next.is_pending() && self.behind.swap(false, Ordering::AcqRel) {
            self.missed.clone_from(&self.uris);
            return self.poll_next(context);
        }
        next
    }
}

/// A reference to a listener.
#[derive(Clone)]
pub struct ListenerHandle {
    server: Arc<Server>,
    topics: Arc<Topics>,
    id: u64,
    since: u64,
}

impl ListenerHandle {
    /// Returns the server of the listener's resources.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Completes once the server sends this listener's updates, or is known not to send them.
    pub async fn settled(&self) {
        let mut settled = self.topics.settled.subscribe();
        let _ = settled.wait_for(|upto| *upto >= self.since).await;
    }

    /// Drops the listener's resources whose notifications the server refused, and returns them.
    pub fn refused(&self) -> Vec<String> {
        self.topics.give_up(self.id)
    }
}

/// A listener's hold on its resources, which lasts until this value is dropped.
pub struct ListenerGuard(ListenerHandle);

impl ListenerGuard {
    /// Returns a reference to the listener.
    pub fn handle(&self) -> &ListenerHandle {
        &self.0
    }
}

impl Drop for ListenerGuard {
    fn drop(&mut self) {
        self.0.topics.leave(self.0.id);
    }
}

/// A listener, whose notifications go to its own stream or to a session.
pub struct Listener {
    uris: HashSet<String>,
    to: NoticeTarget,
}

impl Listener {
    /// Creates a listener with its own stream for these resources.
    pub fn by_stream(uris: Vec<String>) -> (Self, NoticeReceiver) {
        let (sender, told) = mpsc::channel(BEHIND);
        let behind = Arc::new(AtomicBool::new(false));
        let heard = NoticeReceiver { told, behind: behind.clone(), uris: uris.clone(), missed: Vec::new() };
        (Self { uris: uris.into_iter().collect(), to: NoticeTarget::Stream(sender, behind) }, heard)
    }

    /// Creates a listener for a session, whose notifications have the form of the session's own version and contain
    /// the URI that its client uses. `uri` is the server's own URI.
    pub fn by_session((server, uri): (UpstreamId, String), session: Weak<dyn LinkUser>) -> Self {
        Self { uris: HashSet::from([uri]), to: NoticeTarget::Session(server, session) }
    }
}

impl Topics {
    /// Adds a listener; returns `true` if a task has to be started for the server.
    pub fn join(self: &Arc<Self>, server: &Arc<Server>, listener: Listener) -> (ListenerGuard, bool) {
        let (id, follow) = {
            let mut state = self.state.lock();
            state.interest.add(listener.uris.iter().map(String::as_str));
            state.next += 1;
            let id = state.next;
            state.listeners.insert(id, listener);
            (id, !std::mem::replace(&mut state.is_followed, true))
        };
        self.note_change();
        self.wanted.send_modify(|n| *n += 1);
        let since = *self.wanted.borrow();
        (ListenerGuard(ListenerHandle { server: server.clone(), topics: self.clone(), id, since }), follow)
    }

    fn leave(&self, id: u64) {
        {
            let mut state = self.state.lock();
            let Some(left) = state.listeners.remove(&id) else { return };
            state.interest.remove(left.uris.iter().map(String::as_str));
        }
        self.note_change();
        self.wanted.send_modify(|n| *n += 1);
    }

    /// Records that the wanted resources have changed.
    pub fn note_change(&self) {
        self.revision.fetch_add(1, Ordering::Release);
    }

    /// Returns the number of changes to the wanted resources.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Drops the resources that the upstream refused to a listener, and returns them.
    fn give_up(&self, id: u64) -> Vec<String> {
        let refused: Vec<String> = {
            let mut guard = self.state.lock();
            let TopicState { interest, listeners, refuses_all, .. } = &mut *guard;
            let Some(listener) = listeners.get_mut(&id) else { return Vec::new() };
            let is_refused = |uri: &String| *refuses_all || interest.is_refused(uri);
            let refused: Vec<String> = listener.uris.extract_if(is_refused).collect();
            interest.remove(refused.iter().map(String::as_str));
            refused
        };
        if !refused.is_empty() {
            self.note_change();
            self.wanted.send_modify(|n| *n += 1);
        }
        refused
    }

    /// Notifies all listeners that an upstream's notification concerns. `era` is the version of the notification.
    pub fn publish(&self, era: &'static Era, notice: &Arc<Frame>) {
        let uri = notice.param("uri").ok().flatten().and_then(|span| notice.string(span));
        let Some(uri) = uri else { return };
        let mut sessions = Vec::new();
        for listener in self.state.lock().listeners.values() {
            if !listener.uris.iter().any(|wanted| concerns(wanted, &uri)) {
                continue;
            }
            match &listener.to {
                NoticeTarget::Stream(sender, behind) => {
                    if sender.try_send(ResourceNotice::Notice(notice.clone())).is_err() {
                        behind.store(true, Ordering::Release);
                    }
                }
                NoticeTarget::Session(server, session) => sessions.push((*server, session.clone())),
            }
        }
        // The state is not locked here: a session locks its subscriptions, and a subscription that ends locks this state.
        for (server, session) in sessions {
            if let Some(session) = session.upgrade() {
                session.updated(server, &uri, era, notice);
            }
        }
    }

    /// Notifies all listeners that everything may have changed.
    pub(super) fn publish_gap(&self, limits: FrameLimits) {
        let mut sessions = Vec::new();
        for listener in self.state.lock().listeners.values() {
            match &listener.to {
                NoticeTarget::Stream(sender, behind) => {
                    for uri in &listener.uris {
                        if sender.try_send(ResourceNotice::Missed(uri.clone())).is_err() {
                            behind.store(true, Ordering::Release);
                        }
                    }
                }
                NoticeTarget::Session(server, session) => {
                    sessions.extend(listener.uris.iter().map(|uri| (*server, session.clone(), uri.clone())));
                }
            }
        }
        // The state is not locked here, for the same reason as in `publish`.
        for (server, session, uri) in sessions {
            let text = proto::era::notice(
                Notice::ResourceUpdated.name(),
                format!("\"uri\":{}", quote(&uri)).as_bytes(),
            );
            if let (Some(session), Ok(frame)) = (session.upgrade(), Frame::parse(text, limits)) {
                session.updated(server, &uri, session.era(), &frame);
            }
        }
    }

    /// Returns all wanted resources.
    pub fn wanted_now(&self) -> Vec<String> {
        self.state.lock().interest.uris().map(str::to_owned).collect()
    }

    /// Returns true if a task subscribes at the upstream.
    pub fn is_followed(&self) -> bool {
        self.state.lock().is_followed
    }

    pub(super) fn settle(&self, upto: u64) {
        self.settled.send_modify(|n| *n = (*n).max(upto));
    }

    /// Returns true, and ends the task, if there are no more listeners. If `told` is true, this happens only after
    /// the upstream has been notified of all changes.
    pub(super) fn is_over(&self, told: bool) -> bool {
        let mut state = self.state.lock();
        let over = state.interest.is_empty() && !(told && state.interest.is_due());
        if over {
            state.interest.forget();
            state.is_followed = false;
        }
        over
    }
}
