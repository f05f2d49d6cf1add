//! The wait of an owner for a dedicated link. This module must not know what the link is for.

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use proto::bridge::input::Askable;
use tokio::sync::oneshot;
use tokio::time::sleep;
use transport::up::LinkError;

use super::dedicated::{Dedicated, LinkGrant};
use super::dispatch::{LinkClass, OwnerId, Ticket};
use super::dormant::LinkRequester;
use super::link_cell::LinkCell;
use super::rights::{Admission, Queued, Reserved};
use crate::egress::Egress;

/// The time between two checks for a waiting owner. The checks are necessary because some of the rules depend only
/// on time.
const LOOK: Duration = Duration::from_millis(250);

/// The time after which a waiting owner may take the link of a call that waits for its client.
const MAKE_WAY_AFTER: Duration = Duration::from_secs(2);

impl Dedicated {
    /// Waits until the cell has a link, or may open one.
    ///
    /// # Errors
    /// Returns [`LinkError::Busy`] if too many owners are waiting, or if no link becomes free within `patience`.
    pub(super) async fn admit(
        self: &Arc<Self>,
        egress: &Egress,
        cell: &Arc<LinkCell>,
        (owner, class): (OwnerId, LinkClass),
        patience: Duration,
    ) -> Result<Admission, LinkError> {
        if !self.can_make_room.swap(true, Ordering::Relaxed) {
            let links: Weak<Self> = Arc::downgrade(self);
            egress.add_spare(links);
        }
        let (sender, given) = oneshot::channel();
        let since = Instant::now();
        let ticket = {
            let mut state = self.state.lock();
            let now = Instant::now();
            state.bind_all_asked();
            let last = cell.last_slot().or_else(|| state.link_of_caller(cell, now));
            let ticket = state.dispatch.request(owner, class, last, now);
            let ticket = ticket.ok_or(LinkError::Busy(self.max()))?;
            state.waiting.insert(ticket, (Arc::downgrade(cell), sender));
            ticket
        };
        let mut queued = Queued { pool: self, ticket, given };
        loop {
            let mut freed = pin!(self.family.budget.freed());
            freed.as_mut().enable();
            self.dispatch(egress);
            self.make_room(egress, ticket);
            let given = tokio::select! {
                biased;
                given = &mut queued.given => Some(given),
                () = freed => None,
                () = sleep(LOOK) => None,
            };
            let Some(given) = given else {
                if self.gives_up(cell, class.askable, since.elapsed(), patience) {
                    break;
                }
                continue;
            };
            return match given {
                Ok(LinkGrant::Slot(slot)) => {
                    let (pool, egress) = (self.clone(), egress.clone());
                    Ok(Admission::Opens(Reserved { pool, egress, slot: Some(slot) }))
                }
                Ok(LinkGrant::Link(link)) => Ok(Admission::Adopted(link)),
                Err(_) => Err(LinkError::Closed),
            };
        }
        Err(LinkError::Busy(self.max()))
    }

    /// Closes a link of another caller if this allows the owner of this request to open one.
    fn make_room(&self, egress: &Egress, ticket: Ticket) {
        let lacks = self.state.lock().dispatch.lacks_room(ticket, Instant::now());
        if lacks {
            self.family.make_room(self, egress);
        }
    }

    /// Returns true if an owner stops waiting after the time `waited`. If the owner continues to wait, a call that
    /// waits for its client may be asked to give up its link.
    fn gives_up(&self, cell: &LinkCell, askable: Askable, waited: Duration, patience: Duration) -> bool {
        if waited < MAKE_WAY_AFTER {
            return waited >= patience;
        }
        // Over a shared link, the server cannot ask for the client's roots, so such a client continues without them.
        let does_without = askable.is_roots_alone() && self.is_full();
        if waited < patience && !does_without {
            self.dormant.make_way(&LinkRequester { holder: cell.holder.as_ref(), waited }, Instant::now());
        }
        waited >= patience || does_without
    }

    fn is_full(&self) -> bool {
        !self.family.budget.has_room()
    }

    /// Logs that a client continues without its roots over the shared link.
    pub fn tell_without_roots(&self) {
        tracing::info!(
            server = %self.name,
            "all {} dedicated connections are in use (`dedicatedConnections`), so a client with roots uses the shared connection, \
             on which the server cannot ask for roots",
            self.max()
        );
    }
}
