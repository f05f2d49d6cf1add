//! Links that belong to one call while it runs. If a server with a handshake asks a question on such a link, the question
//! belongs to that call, even if the client has no session to receive it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::bridge::input::Askable;

use super::dispatch::Binding;
use super::dormant::{Dormant, DormantWork, LinkRequester};
use super::link_cell::LinkCell;
use super::links::Links;
use crate::egress::Egress;
use crate::link_key::LinkKey;
use crate::quota::{Holder, Permit, QuotaError};

/// A link that belongs to one call until this value is dropped.
pub struct DedicatedLink {
    egress: Egress,
    links: Arc<Links>,
    /// The cell of the link.
    pub cell: Arc<LinkCell>,
    /// The questions that the link's client can be asked.
    pub class: Askable,
    spoilt: bool,
    holder: Holder,
    /// The permit of the call, held while the call runs.
    permit: Option<Permit>,
}

impl DedicatedLink {
    /// Takes a link for clients with the properties `kind`; the clients' capabilities decide which questions can be
    /// asked.
    pub fn take(
        egress: &Egress,
        links: &Arc<Links>,
        kind: &LinkKey,
        holder: Holder,
    ) -> Result<Self, QuotaError> {
        let permit = Some(links.dedicated_calls.take(holder.clone())?);
        let cell = links.link_of_call(kind, holder.clone());
        let (class, links) = (Askable::of(kind.era, &kind.capabilities), links.clone());
        Ok(Self { egress: egress.clone(), links, cell, class, spoilt: false, holder, permit })
    }

    /// Returns the egress of the thread that took the link.
    pub fn egress(&self) -> &Egress {
        &self.egress
    }

    /// Records that the call or task waits for its client, which frees its permit for a running call. One link of
    /// the pool stays available to running calls: if too many calls wait for their clients, one that has waited
    /// long enough gives up its link.
    pub fn wait(&mut self, work: DormantWork) -> Dormant {
        self.permit = None;
        let pool = &self.links.dedicated;
        let now = Instant::now();
        if pool.dormant.count() + 1 >= pool.max() {
            let demand = LinkRequester { holder: Some(&self.holder), waited: Duration::MAX };
            pool.dormant.make_way(&demand, now);
        }
        pool.dormant.sleep(work, self.holder.clone(), now)
    }

    /// Marks the link as unfit for other calls: the server may still work on this call, and its questions would reach
    /// the wrong client.
    pub fn spoil(&mut self) {
        self.spoilt = true;
    }
}

impl Drop for DedicatedLink {
    fn drop(&mut self) {
        // The only link of a server stays open for other clients.
        if self.cell.is_shared() {
            return;
        }
        if self.spoilt
            && let Some(link) = self.cell.current()
        {
            self.links.dedicated.bind(&link, Binding::Owner);
        }
        if self.cell.give_back(&self.egress) {
            return;
        }
        let (cell, egress) = (self.cell.clone(), self.egress.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(transport::task::boxed(async move { cell.close(&egress).await }));
        }
    }
}
