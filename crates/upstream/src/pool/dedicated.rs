//! The links of one server that serve one owner at a time: applies the decisions of [`Dispatch`] to cells and open
//! links. This module must not know what a call is for.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use config::Affinity;
use engine::snapshot::UpstreamSpec;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::dispatch::{Action, Binding, Dispatch, OwnerId, SlotId, Ticket};
use super::dormant::DormantLinks;
use super::family::PoolFamily;
use super::link_cell::LinkCell;
use super::rules::rules;
use crate::closing;
use crate::egress::Egress;
use crate::link::{HoldKeeper, LinkHold, OpenLink};
use crate::quota::Holder;

static NEXT_OWNER: AtomicU64 = AtomicU64::new(1);

/// The dedicated links of one server.
pub struct Dedicated {
    pub(super) state: Mutex<State>,
    /// The links whose call or task waits for its client.
    pub dormant: Arc<DormantLinks>,
    /// The pools with which this pool shares its budget.
    pub(super) family: Arc<PoolFamily>,
    max: usize,
    waiters: usize,
    /// True once this pool is registered as one whose links can be closed to let another server's process start.
    pub(super) can_make_room: AtomicBool,
    pub(super) name: Arc<str>,
    /// True once it has been logged that owners are moved between links.
    has_told: AtomicBool,
    /// The advice for operators whose clients are moved between links.
    advice: &'static str,
}

pub(super) struct State {
    pub(super) dispatch: Dispatch,
    /// The open links.
    pub(super) links: BTreeMap<SlotId, PooledLink>,
    pub(super) waiting: HashMap<Ticket, (Weak<LinkCell>, oneshot::Sender<LinkGrant>)>,
}

/// An open link of the pool.
pub(super) struct PooledLink {
    pub(super) link: Arc<OpenLink>,
    /// The cell that uses the link now.
    pub(super) holder: Weak<LinkCell>,
    /// The cell that keeps the link while it has no owner.
    pub(super) kept: Option<Arc<LinkCell>>,
    /// The caller whose call without a session used the link last.
    pub(super) caller: Option<Holder>,
}

/// The current figures of a pool: its links, its waiting owners, and its moves.
#[derive(Debug, Clone, Copy)]
pub struct PoolFigures {
    /// The number of links that are open or being opened.
    pub links: usize,
    /// The number of owners that wait for a link.
    pub waiting: usize,
    /// The number of times that an owner was moved to another link, and lost the state that the server kept for it.
    pub moves: u64,
}

/// The message to a waiting owner: the link that its cell now has, or the number of the link that its cell may
/// open.
pub(super) enum LinkGrant {
    Link(Arc<OpenLink>),
    Slot(SlotId),
}

/// The actions that are performed once the lock has been released.
#[derive(Default)]
pub(super) struct DeferredActions {
    pub(super) closes: Vec<Arc<OpenLink>>,
    /// The cells that lost their link to another owner.
    left: Vec<(Arc<LinkCell>, Arc<OpenLink>)>,
}

/// Returns a new owner number.
pub(super) fn new_owner() -> OwnerId {
    NEXT_OWNER.fetch_add(1, Ordering::Relaxed)
}

impl Dedicated {
    /// Creates a pool without links; `are_children` is true if each link is a child process. The pool uses the budget
    /// of `family`, or its own if there is no family.
    pub(super) fn new(spec: &UpstreamSpec, are_children: bool, family: Option<Arc<PoolFamily>>) -> Arc<Self> {
        let rules = rules(spec, are_children);
        let family = family.unwrap_or_else(|| PoolFamily::new(rules.max));
        let dispatch = Dispatch::new(rules, family.budget.clone());
        let state = State { dispatch, links: BTreeMap::new(), waiting: HashMap::new() };
        let pool = Arc::new(Self {
            state: Mutex::new(state),
            dormant: family.dormant.clone(),
            family,
            max: rules.max,
            waiters: rules.waiters,
            name: spec.name.clone(),
            can_make_room: AtomicBool::new(!are_children),
            has_told: AtomicBool::new(false),
            advice: match spec.affinity {
                Affinity::Session => "raise `dedicatedConnections` for this server",
                Affinity::Shared | Affinity::Caller => {
                    "set `affinity: session` for this server, or raise `dedicatedConnections`"
                }
            },
        });
        let joining: Weak<Self> = Arc::downgrade(&pool);
        pool.family.join(joining);
        pool
    }

    /// Returns the maximum number of links in the pool.
    pub(super) fn max(&self) -> usize {
        self.max
    }

    /// Returns the maximum number of calls that have a link or wait for one.
    pub(super) fn max_calls(&self) -> usize {
        self.max + self.waiters
    }

    /// Gives links to as many waiting owners as possible.
    pub(super) fn dispatch(&self, egress: &Egress) {
        let (deferred, moves) = {
            let mut state = self.state.lock();
            (state.serve(), state.dispatch.moves())
        };
        deferred.finish(egress);
        if moves > 0 && !self.has_told.swap(true, Ordering::Relaxed) {
            tracing::info!(
                server = %self.name,
                "a connection was taken from one client and given to another, because there are more clients than connections. State \
                 that the server keeps in memory for a client may be lost or mixed up. If this is a problem, {}",
                self.advice
            );
        }
    }

    /// Returns the current figures of the pool.
    pub fn figures(&self) -> PoolFigures {
        let mut state = self.state.lock();
        state.drop_dead();
        let dispatch = &state.dispatch;
        PoolFigures { links: dispatch.size(), waiting: dispatch.waiting(), moves: dispatch.moves() }
    }

    /// Returns the number of times that an owner was moved, in the pools of all callers, including those that no longer exist.
    pub(super) fn moves_of_server(&self) -> u64 {
        self.family.budget.moves()
    }

    /// Records that a call uses a cell's link from now on; returns `None` if the cell has lost the link to another
    /// owner.
    pub(super) fn enter(
        self: &Arc<Self>,
        egress: &Egress,
        owner: OwnerId,
        link: &OpenLink,
    ) -> Option<LinkHold> {
        let mut state = self.state.lock();
        let slot = state.slot_of(link)?;
        let entered = state.dispatch.enter(slot, owner, Instant::now());
        entered.then(|| LinkHold::counted(self.clone(), egress, slot))
    }

    /// Binds a link to its owner.
    pub fn bind(&self, link: &OpenLink, binding: Binding) {
        let mut state = self.state.lock();
        if let Some(slot) = state.slot_of(link) {
            state.dispatch.bind(slot, binding);
        }
    }

    /// Releases the link of a cell whose owner is gone for good. Other owners may use the link, unless it is bound.
    pub(super) fn release(
        &self,
        egress: &Egress,
        cell: &Arc<LinkCell>,
        owner: OwnerId,
        link: &Arc<OpenLink>,
    ) {
        let mut deferred = DeferredActions::default();
        {
            let mut state = self.state.lock();
            let slot = state.slot_of(link);
            if let Some(slot) = slot {
                state.bind_asked(slot);
            }
            match slot {
                Some(slot) if state.dispatch.release(slot, owner) => {
                    state.links.remove(&slot);
                    deferred.closes.push(link.clone());
                }
                Some(slot) => {
                    if let Some(pooled) = state.links.get_mut(&slot) {
                        pooled.kept = Some(cell.clone());
                        pooled.caller = cell.caller().cloned();
                        link.hand_over();
                    }
                }
                None => deferred.closes.push(link.clone()),
            }
            deferred.extend(state.serve());
        }
        deferred.finish(egress);
    }

    /// Returns the cell that uses a link now.
    pub fn holder(&self, link: &OpenLink) -> Option<Arc<LinkCell>> {
        let state = self.state.lock();
        state.slot_of(link).and_then(|slot| state.links[&slot].holder.upgrade())
    }

    /// Closes the links that have no owner and have not been used for the time `idle_for`.
    pub fn shed(&self, egress: &Egress, idle_for: Duration) {
        let mut deferred = DeferredActions::default();
        {
            let mut state = self.state.lock();
            state.drop_dead();
            for slot in state.dispatch.shed(idle_for, Instant::now()) {
                deferred.closes.extend(state.links.remove(&slot).map(|pooled| pooled.link));
            }
        }
        deferred.finish(egress);
    }

    /// Returns the cells that keep links without an owner.
    pub fn kept_cells(&self) -> Vec<Arc<LinkCell>> {
        self.state.lock().links.values().filter_map(|pooled| pooled.kept.clone()).collect()
    }

    /// Forgets all links. Call this only after the links are closed. The links' cells refer to the pool, so otherwise the cells
    /// and the pool would keep each other alive.
    pub fn forget_all(&self) {
        let links = std::mem::take(&mut self.state.lock().links);
        drop(links);
    }
}

impl HoldKeeper for Dedicated {
    fn hold_again(&self, slot: SlotId) -> bool {
        self.state.lock().dispatch.enter_again(slot);
        true
    }

    fn hold_ended(&self, slot: SlotId, egress: &Egress) {
        let mut state = self.state.lock();
        state.bind_asked(slot);
        let goes = state.dispatch.leave(slot, Instant::now());
        // Each call ends here; nearly always, the link stays and nobody waits for it.
        if !goes && state.dispatch.waiting() == 0 {
            return;
        }
        let closed = goes.then(|| state.links.remove(&slot)).flatten();
        let mut deferred = state.serve();
        drop(state);
        deferred.closes.extend(closed.map(|pooled| pooled.link));
        deferred.finish(egress);
    }
}

impl State {
    /// Returns the link that a caller without a session used last, if this link is free. The caller should get this
    /// link again, because the server keeps the caller's state for the link.
    pub(super) fn link_of_caller(&self, cell: &LinkCell, now: Instant) -> Option<SlotId> {
        let caller = cell.caller()?;
        let had = self.links.iter().filter(|(_, pooled)| pooled.caller.as_ref() == Some(caller));
        had.map(|(slot, _)| *slot).find(|slot| self.dispatch.is_free(*slot, now))
    }

    /// Binds a link to its owner if the server has asked for roots on it. The question may have been delivered to a call, which
    /// does not know the pool, so this is checked whenever a link could change its owner.
    pub(super) fn bind_asked(&mut self, slot: SlotId) {
        if self.links.get(&slot).is_some_and(|pooled| pooled.link.calls.has_asked_roots()) {
            self.dispatch.bind(slot, Binding::Owner);
        }
    }

    pub(super) fn bind_all_asked(&mut self) {
        for (slot, pooled) in &self.links {
            if pooled.link.calls.has_asked_roots() {
                self.dispatch.bind(*slot, Binding::Owner);
            }
        }
    }

    fn slot_of(&self, link: &OpenLink) -> Option<SlotId> {
        let slot = link.tenancy.slot.load(Ordering::Relaxed);
        self.links.get(&slot).filter(|pooled| pooled.link.id == link.id).map(|_| slot)
    }

    /// Forgets the links that have ended.
    fn drop_dead(&mut self) {
        let dead = self.links.extract_if(.., |_, pooled| !pooled.link.is_alive());
        dead.for_each(|(slot, _)| self.dispatch.lost(slot));
    }

    pub(super) fn serve(&mut self) -> DeferredActions {
        let mut deferred = DeferredActions::default();
        // This runs at the end of each call; nearly always, nobody waits.
        if self.dispatch.waiting() == 0 {
            return deferred;
        }
        self.drop_dead();
        self.bind_all_asked();
        let mut actions = self.dispatch.dispatch(Instant::now());
        while !actions.is_empty() {
            let mut refused = false;
            for action in actions {
                refused |= !self.perform(action, &mut deferred);
            }
            // If the owner for which a link is meant is gone, the next owner gets it.
            actions = if refused { self.dispatch.dispatch(Instant::now()) } else { Vec::new() };
        }
        deferred
    }

    /// Performs one action; returns `false` if its receiver is gone.
    pub(super) fn perform(&mut self, action: Action, deferred: &mut DeferredActions) -> bool {
        match action {
            Action::Close(slot) => {
                if let Some(PooledLink { link, holder, .. }) = self.links.remove(&slot) {
                    deferred.left.extend(
                        holder.upgrade().filter(|cell| cell.lose(&link)).map(|cell| (cell, link.clone())),
                    );
                    deferred.closes.push(link);
                }
                true
            }
            Action::Open(ticket, slot) => {
                let sent = self
                    .waiting
                    .remove(&ticket)
                    .is_some_and(|(_, sender)| sender.send(LinkGrant::Slot(slot)).is_ok());
                if !sent {
                    self.dispatch.lost(slot);
                }
                sent
            }
            Action::Grant(ticket, slot) => self.grant(ticket, slot, deferred),
        }
    }

    fn grant(&mut self, ticket: Ticket, slot: SlotId, deferred: &mut DeferredActions) -> bool {
        let waiting = self.waiting.remove(&ticket);
        let cell = waiting.and_then(|(cell, sender)| Some((cell.upgrade()?, sender)));
        let (Some((cell, sender)), Some(pooled)) = (cell, self.links.get_mut(&slot)) else {
            self.dispatch.abandon(slot);
            return false;
        };
        let link = pooled.link.clone();
        let before = pooled.holder.upgrade();
        if before.as_ref().is_none_or(|before| !Arc::ptr_eq(before, &cell)) {
            deferred
                .left
                .extend(before.filter(|before| before.lose(&link)).map(|before| (before, link.clone())));
            link.hand_over();
        }
        pooled.holder = Arc::downgrade(&cell);
        pooled.kept = None;
        cell.adopt(&link, slot);
        // If the owner has just gone, the link stays with its cell until another owner needs it.
        drop(sender.send(LinkGrant::Link(link)));
        true
    }
}

impl DeferredActions {
    pub(super) fn extend(&mut self, other: Self) {
        self.closes.extend(other.closes);
        self.left.extend(other.left);
    }

    pub(super) fn finish(self, egress: &Egress) {
        for (cell, link) in self.left {
            cell.was_left(egress, &link);
        }
        for link in self.closes {
            if tokio::runtime::Handle::try_current().is_err() {
                link.bury();
                continue;
            }
            let egress = egress.clone();
            closing::beside(async move { link.close(egress.client()).await });
        }
    }
}
