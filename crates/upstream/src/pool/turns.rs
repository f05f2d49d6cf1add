//! Cells whose links come from a pool, on which owners take turns: how such a cell gets, loses and returns its link. This
//! module must not know the choice of a link for each owner.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use config::Affinity;
use proto::bridge::input::Askable;
use tokio::time::timeout;
use transport::child::Companion;
use transport::up::LinkError;

use super::dispatch::{LinkClass, SlotId};
use super::link_cell::LinkCell;
use super::rights::{Admission, Reserved};
use crate::egress::Egress;
use crate::link::{HeldLink, OpenLink};
use crate::quota::Holder;

impl LinkCell {
    /// Waits for a link of the pool, or for the right to open one; returns `None` if the cell has no pool.
    pub(super) async fn admitted(self: &Arc<Self>, egress: &Egress) -> Result<Option<Admission>, LinkError> {
        let Some(pool) = &self.pool else { return Ok(None) };
        let version = self.server.link_era(self.kind.era).version;
        let class = LinkClass { version, askable: self.askable() };
        let patience = egress.snapshot().calls(&self.server.spec).usual.timeouts.idle;
        pool.admit(egress, self, (self.owner, class), patience).await.map(Some)
    }

    /// Returns the value that the next process of the link keeps as long as it exists. Without a pool, this function waits
    /// until the previous process has ended, because two processes of a server may disturb each other.
    pub(super) async fn companion(&self, egress: &Egress, reserved: Option<&Reserved>) -> Option<Companion> {
        if !self.server.is_child() {
            return None;
        }
        if let Some(reserved) = reserved {
            return reserved.companion();
        }
        let ended = timeout(egress.ending_time(), self.process.clone().acquire_owned()).await;
        ended.ok()?.ok().map(|permit| -> Companion { Arc::new(permit) })
    }

    /// Returns the caller whose calls use the cell, if the caller is known and has no session here.
    pub(super) fn caller(&self) -> Option<&Holder> {
        let holder = self.holder.as_ref().filter(|_| self.session.is_none());
        holder.filter(|holder| matches!(holder, Holder::Principal(_)))
    }

    /// Returns the number of the last link that the cell had.
    pub(super) fn last_slot(&self) -> Option<SlotId> {
        Some(self.last.load(Ordering::Relaxed)).filter(|slot| *slot != 0)
    }

    /// Uses this link of the pool from now on.
    pub(super) fn adopt(&self, link: &Arc<OpenLink>, slot: SlotId) {
        self.last.store(slot, Ordering::Relaxed);
        self.open.store(Some(link.clone()));
    }

    /// Stops using this link; returns `false` if the cell already has another link.
    pub(super) fn lose(&self, link: &Arc<OpenLink>) -> bool {
        let current = self.open.load();
        if !current.as_ref().is_some_and(|current| Arc::ptr_eq(current, link)) {
            return false;
        }
        let before = self.open.compare_and_swap(&current, None);
        before.as_ref().is_some_and(|before| Arc::ptr_eq(before, link))
    }

    /// Records that the cell's link serves another owner now.
    pub(super) fn was_left(&self, egress: &Egress, link: &Arc<OpenLink>) {
        if let Some(session) = self.session.as_ref().and_then(Weak::upgrade) {
            session.was_left(egress, link);
        }
    }

    /// Holds the cell's link for a call; returns `None` if another owner has the link by now.
    pub fn need(&self, egress: &Egress, link: &Arc<OpenLink>) -> Option<HeldLink> {
        let hold = match &self.pool {
            Some(pool) => Some(pool.enter(egress, self.owner, link)?),
            None => None,
        };
        Some(HeldLink::new(link.clone(), hold))
    }

    /// Makes sure that the server may ask these questions of the owner whose turn it is. If they were not declared
    /// when the server's only link was opened, closes the link; it is then opened again with these questions
    /// declared. No other call is running on the link.
    pub async fn widen(&self, egress: &Egress, class: Askable) {
        let Some(single) = &self.single else { return };
        single.widen(class);
        let mut starts = self.opening.lock().await;
        if single.is_wide() {
            return;
        }
        let Some(link) = self.open.swap(None) else { return };
        starts.users = link.recipients.users().iter().map(Arc::downgrade).collect();
        tracing::info!(
            server = %self.server.name(),
            "reopening the server's only connection, because a client can answer kinds of questions that were not declared to the server"
        );
        link.close(egress.client()).await;
    }

    /// Returns true if the cell's link leads to a child process.
    pub fn is_to_child(&self) -> bool {
        self.server.is_child()
    }

    /// Returns true if the cell takes its links from a pool, and has an open link.
    pub fn has_another(&self) -> bool {
        self.is_pooled() && self.current().is_some()
    }

    /// Returns true if the cell keeps its link for as long as the cell exists, even while the link is idle.
    pub(super) fn is_personal(&self) -> bool {
        self.session.is_some() && self.server.spec.affinity == Affinity::Session
    }

    /// Returns true if the cell's link comes from a pool, on which owners take turns.
    pub fn is_pooled(&self) -> bool {
        self.pool.is_some()
    }

    /// Gives the cell's link back for good: other owners may have the link, unless it is bound to this owner.
    /// Returns `false` if the link does not come from a pool; the caller should then close the link.
    pub fn give_back(self: &Arc<Self>, egress: &Egress) -> bool {
        self.retire();
        match (&self.pool, self.current()) {
            (Some(pool), Some(link)) if !self.server.has_ended() => {
                pool.release(egress, self, self.owner, &link);
                true
            }
            _ => false,
        }
    }
}
