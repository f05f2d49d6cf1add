//! What each thread has of the gateway as it is now. Whoever begins something takes it once, and keeps what it began with.

use std::ops::Deref;
use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use transport::net::client::Client;
use upstream::Egress;

use super::call::CallContext;
use super::session::SessionContext;
use super::view::ViewContext;

use super::Gateway;
use crate::auth::Authenticator;

/// A thread's hold on the gateway as it was when this was taken, with the thread's own connections to upstreams.
#[derive(Clone)]
pub(crate) struct Shard(Arc<ShardState>);

pub(crate) struct ShardState {
    pub(super) gateway: Arc<Gateway>,
    pub(super) egress: Egress,
    pub(super) view: Arc<ViewContext>,
    pub(super) session: Arc<SessionContext>,
    pub(super) call: Arc<CallContext>,
    pub(super) door: Authenticator,
    thread: Weak<Thread>,
}

impl Deref for Shard {
    type Target = ShardState;

    fn deref(&self) -> &ShardState {
        &self.0
    }
}

impl Shard {
    /// The same thread's hold on the gateway as it is now.
    pub(crate) fn now(&self) -> Self {
        self.thread.upgrade().map_or_else(|| self.clone(), |thread| thread.now())
    }
}

/// A thread.
pub(crate) struct Thread {
    client: Client,
    own: Weak<Self>,
    now: ArcSwap<ShardState>,
}

impl Thread {
    /// A thread that reaches servers over this client.
    pub(super) fn new(client: Client, gateway: &Arc<Gateway>) -> Arc<Self> {
        let (list, newest) = &mut *gateway.threads.0.lock();
        // It may have changed since the thread was begun.
        let gateway = newest.upgrade().unwrap_or_else(|| gateway.clone());
        let thread = Arc::new_cyclic(|own: &Weak<Self>| {
            let now = ArcSwap::from_pointee(state(gateway.clone(), &client, own));
            Self { client, own: own.clone(), now }
        });
        list.push(Arc::downgrade(&thread));
        thread
    }

    /// The gateway as it is now.
    pub(crate) fn now(&self) -> Shard {
        Shard(self.now.load_full())
    }

    fn take(&self, gateway: &Arc<Gateway>) {
        self.now.store(Arc::new(state(gateway.clone(), &self.client, &self.own)));
    }
}

fn state(gateway: Arc<Gateway>, client: &Client, thread: &Weak<Thread>) -> ShardState {
    let door = gateway.door.over(Arc::new(client.clone()));
    let egress = Egress::new(client.clone(), gateway.snapshot.clone(), gateway.egress.clone());
    let state = gateway.view.clone();
    let view = Arc::new(ViewContext { egress: egress.clone(), state });
    let state = gateway.session.clone();
    let session = Arc::new(SessionContext { egress: egress.clone(), view: view.clone(), state });
    let (session_too, view_too, state) = (session.clone(), view.clone(), gateway.call.clone());
    let call = CallContext { egress: egress.clone(), view: view_too, session: session_too, state };
    ShardState { gateway, egress, view, session, call: Arc::new(call), door, thread: thread.clone() }
}

/// All threads, and what they were given last.
#[derive(Default)]
pub(super) struct Threads(Mutex<(Vec<Weak<Thread>>, Weak<Gateway>)>);

impl Threads {
    /// From now on what begins, begins with this.
    pub(super) fn give(&self, gateway: &Arc<Gateway>) {
        let (list, newest) = &mut *self.0.lock();
        *newest = Arc::downgrade(gateway);
        for thread in list.iter().filter_map(Weak::upgrade) {
            thread.take(gateway);
        }
    }
}
