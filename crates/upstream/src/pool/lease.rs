//! Links that one call has for itself while it runs: what a server with a handshake asks on them belongs to that call, for
//! a client that has no session in which it could be asked.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::link_cell::LinkCell;
use super::links::Links;
use crate::egress::Egress;
use crate::quota::{Holder, Permit, Quota, QuotaError};
use crate::server::Kind;

/// The number of calls that run may have a link to one upstream for themselves; more share one, where nobody can
/// be asked. A link to a child is a process.
const RUNNING: usize = 256;
const RUNNING_CHILDREN: usize = 32;

/// The number of calls and tasks that wait for their clients may have a link to one child each. How many there
/// are in all is bounded by what they wait in.
const WAITING_CHILDREN: usize = 32;

/// The number of links that wait for the next such call.
const MAX_IDLE: usize = 4;

/// The links of one upstream that calls have for themselves.
pub struct Leases {
    idle: Mutex<HashMap<Kind, Vec<Arc<LinkCell>>>>,
    running: Arc<Quota>,
    waiting: Arc<Quota>,
}

/// A link that one call has for itself, until this is dropped.
pub struct Lease {
    egress: Egress,
    links: Arc<Links>,
    kind: Kind,
    /// The link.
    pub cell: Arc<LinkCell>,
    spoilt: bool,
    waits: bool,
    permit: Permit,
}

impl Lease {
    /// A link for clients of this kind, whose capabilities say what can be asked.
    pub fn take(egress: &Egress, links: &Arc<Links>, kind: Kind, holder: Holder) -> Result<Self, QuotaError> {
        let leases = &links.leases;
        let permit = leases.running.take(holder)?;
        let known = leases.idle.lock().get_mut(&kind).and_then(Vec::pop);
        let cell = known.unwrap_or_else(|| links.leased_link(&kind));
        Ok(Self {
            egress: egress.clone(),
            links: links.clone(),
            kind,
            cell,
            spoilt: false,
            waits: false,
            permit,
        })
    }

    /// The way to servers of the thread that took it.
    pub fn egress(&self) -> &Egress {
        &self.egress
    }

    /// From now on it waits for its client, and takes no room from those that run.
    pub fn wait(&mut self, holder: Holder) -> Result<(), QuotaError> {
        if !self.waits {
            self.permit = self.links.leases.waiting.take(holder)?;
            self.waits = true;
        }
        Ok(())
    }

    /// The server may still work on this call. Nobody else may have the link: what is asked there would reach the wrong
    /// client.
    pub fn spoil(&mut self) {
        self.spoilt = true;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let left = if self.spoilt {
            Some(self.cell.clone())
        } else {
            self.links.leases.give_back(&self.kind, &self.cell)
        };
        let Some(cell) = left else { return };
        cell.retire();
        let egress = self.egress.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { cell.close(&egress).await });
        }
    }
}

impl Leases {
    /// For an upstream whose links are processes, or not.
    pub fn new(are_children: bool) -> Self {
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
    pub fn shed(&self, idle_for: std::time::Duration) -> Vec<Arc<LinkCell>> {
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
