//! Rights in the pool: to a place in the queue, or to open a link. Each right ends when
//! its value is dropped.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tokio::sync::oneshot;
use transport::child::Companion;

use super::dedicated::{Dedicated, LinkGrant, PooledLink};
use super::dispatch::{Binding, SlotId, Ticket};
use super::link_cell::LinkCell;
use crate::egress::Egress;
use crate::link::OpenLink;

/// The answer to an owner that needs a link.
pub(super) enum Admission {
    /// An open link, which is now in the owner's cell.
    Adopted(Arc<OpenLink>),
    /// The right to open a link.
    Opens(Reserved),
}

/// A request in the queue, which lasts until this value is dropped.
pub(super) struct Queued<'a> {
    pub(super) pool: &'a Dedicated,
    pub(super) ticket: Ticket,
    pub(super) given: oneshot::Receiver<LinkGrant>,
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock();
        state.dispatch.cancel(self.ticket);
        state.waiting.remove(&self.ticket);
        // The owner left just as it was given the right to open a link.
        if let Ok(LinkGrant::Slot(slot)) = self.given.try_recv() {
            state.dispatch.lost(slot);
        }
    }
}

/// The right to open a link; dropping this value gives the right back.
pub(super) struct Reserved {
    pub(super) pool: Arc<Dedicated>,
    pub(super) egress: Egress,
    pub(super) slot: Option<SlotId>,
}

impl Reserved {
    /// Returns the part of the link's permit that is kept as long as a process of the link exists.
    pub(super) fn companion(&self) -> Option<Companion> {
        self.slot.and_then(|slot| self.pool.state.lock().dispatch.companion(slot))
    }

    /// Records that the link is open, and that the cell has it.
    pub(super) fn opened(mut self, cell: &Arc<LinkCell>, link: &Arc<OpenLink>) {
        let Some(slot) = self.slot.take() else { return };
        let mut state = self.pool.state.lock();
        link.tenancy.slot.store(slot, Ordering::Relaxed);
        let pooled =
            PooledLink { link: link.clone(), holder: Arc::downgrade(cell), kept: None, caller: None };
        state.links.insert(slot, pooled);
        state.dispatch.opened(slot, Instant::now());
        if cell.is_personal() {
            state.dispatch.bind(slot, Binding::Owner);
        }
        cell.adopt(link, slot);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.pool.state.lock().dispatch.lost(slot);
            self.pool.dispatch(&self.egress);
        }
    }
}
