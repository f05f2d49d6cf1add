//! Links that one call has for itself while it runs: what a server with a handshake asks on them belongs to that call, for
//! a client that has no session in which it could be asked.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use proto::bridge::input::questions_of;
use proto::era::Asks;
use proto::mcp::Method;

use super::Shard;
use super::caller::{Caller, Request};
use super::identity::Identity;
use super::link_cell::LinkCell;
use super::quota::{Permit, Quota, QuotaError};
use super::said::Said;
use super::upstream::{Kind, Upstream};

/// How many calls that run may have a link to one upstream for themselves; more share one, where nobody can be asked. A
/// link to a child is a process.
const RUNNING: usize = 256;
const RUNNING_CHILDREN: usize = 32;

/// How many calls and tasks that wait for their clients may have a link to one child each. How many there are in all is
/// bounded by what they wait in.
const WAITING_CHILDREN: usize = 32;

/// How many links wait for the next such call.
const MAX_IDLE: usize = 4;

/// The links of one upstream that calls have for themselves.
pub(crate) struct Leases {
    idle: Mutex<HashMap<Kind, Vec<Arc<LinkCell>>>>,
    running: Arc<Quota>,
    waiting: Arc<Quota>,
}

/// A link that one call has for itself, until this is dropped.
pub(crate) struct Lease {
    shard: Shard,
    upstream: Arc<Upstream>,
    kind: Kind,
    pub(crate) cell: Arc<LinkCell>,
    spoilt: bool,
    waits: bool,
    permit: Permit,
}

impl Lease {
    /// A link for clients of this kind, whose capabilities say what can be asked.
    pub(crate) fn take(
        shard: &Shard,
        upstream: &Arc<Upstream>,
        kind: Kind,
        identity: &Identity,
    ) -> Result<Self, QuotaError> {
        let leases = &upstream.leases;
        let permit = leases.running.take(identity)?;
        let known = leases.idle.lock().get_mut(&kind).and_then(Vec::pop);
        let cell = known.unwrap_or_else(|| upstream.leased_link(&kind));
        Ok(Self {
            shard: shard.clone(),
            upstream: upstream.clone(),
            kind,
            cell,
            spoilt: false,
            waits: false,
            permit,
        })
    }

    /// The thread that took it.
    pub(crate) fn shard(&self) -> &Shard {
        &self.shard
    }

    /// From now on it waits for its client, and takes no room from those that run.
    pub(crate) fn wait(&mut self, identity: &Identity) -> Result<(), QuotaError> {
        if !self.waits {
            self.permit = self.upstream.leases.waiting.take(identity)?;
            self.waits = true;
        }
        Ok(())
    }

    /// The server may still work on this call. Nobody else may have the link: what is asked there would reach the wrong
    /// client.
    pub(crate) fn spoil(&mut self) {
        self.spoilt = true;
    }
}

/// A link of the call's own: for clients without a session that can be asked, or want log messages, at servers that ask by
/// requests and keep a level for a session; and for sessions whose log level cannot be told on the link that they share.
pub(super) fn lease(
    shard: &Shard,
    caller: &Caller,
    upstream: &Arc<Upstream>,
    request: &Request<'_>,
    said: &Said,
) -> Option<(Lease, Option<Bytes>)> {
    let (view, identity) = match caller {
        Caller::Session(session) => return session.lease_for_level(shard, upstream),
        Caller::Stateless(view, identity) => (view, identity),
    };
    if view.kind.era == request.server || request.server.asks != Asks::Requests || upstream.is_native() {
        return None;
    }
    let may_ask = matches!(
        Method::from_name(&request.frame.method()),
        Some(Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead)
    );
    let asks = if may_ask { questions_of(&said.capabilities) } else { "{}".to_owned() };
    if asks == "{}" && said.level.is_none() {
        return None;
    }
    let kind = Kind { era: view.kind.era, capabilities: Bytes::from(asks) };
    match Lease::take(shard, upstream, kind, identity) {
        Ok(lease) => Some((lease, said.level.clone())),
        Err(full) => {
            let server = upstream.name();
            tracing::info!(%server, "a call cannot ask its client: {full} calls have a connection of their own");
            None
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let left = if self.spoilt {
            Some(self.cell.clone())
        } else {
            self.upstream.leases.give_back(&self.kind, &self.cell)
        };
        let Some(cell) = left else { return };
        cell.retire();
        let shard = self.shard.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { cell.close(&shard).await });
        }
    }
}

impl Leases {
    /// For an upstream whose links are processes, or not.
    pub(crate) fn new(are_children: bool) -> Self {
        let (running, waiting) =
            if are_children { (RUNNING_CHILDREN, WAITING_CHILDREN) } else { (RUNNING, usize::MAX) };
        Self { idle: Mutex::default(), running: Quota::new(running), waiting: Quota::new(waiting) }
    }

    /// Keeps a link for the next call; gives one back that is to be closed, when there are enough.
    fn give_back(&self, kind: &Kind, cell: &Arc<LinkCell>) -> Option<Arc<LinkCell>> {
        let Some(link) = cell.current() else { return Some(cell.clone()) };
        link.set_inbox(None);
        let mut idle = self.idle.lock();
        let kept: usize = idle.values().map(Vec::len).sum();
        if kept >= MAX_IDLE {
            return Some(cell.clone());
        }
        idle.entry(kind.clone()).or_default().push(cell.clone());
        None
    }

    /// Lets go of the links that wait for nobody in particular.
    pub(crate) fn shed(&self, idle_for: std::time::Duration) -> Vec<Arc<LinkCell>> {
        let mut idle = self.idle.lock();
        let mut old = Vec::new();
        for cells in idle.values_mut() {
            let rests = |cell: &mut Arc<LinkCell>| cell.current().is_none_or(|link| link.idle() > idle_for);
            old.extend(cells.extract_if(.., rests));
        }
        idle.retain(|_, cells| !cells.is_empty());
        old
    }
}
