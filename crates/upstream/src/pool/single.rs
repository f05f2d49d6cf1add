//! The only link of a server that cannot run twice, or that keeps its state in its process. All clients use this
//! link in turn. This module must not know what a call is for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use proto::bridge::input::Askable;
use proto::era::Era;
use tokio::sync::oneshot;
use tokio::time::timeout;
use transport::up::LinkError;

use super::dispatch::Ticket;
use super::dormant::{DormantLinks, LinkRequester};
use super::turn_queue::{TurnParty, TurnQueue};
use crate::egress::Egress;
use crate::link::{HoldKeeper, LinkHold, LinkUser, OpenLink};
use crate::link_key::LinkKey;
use crate::quota::Holder;

/// The maximum number of calls that wait.
const WAITERS: usize = 256;

/// The time between two checks for a waiting call.
const LOOK: Duration = Duration::from_millis(250);

/// The time after which a waiting call may request another call to give up the link. Only a call that waits for its
/// client can be requested to do so.
const MAKE_WAY_AFTER: Duration = Duration::from_secs(2);

/// The number of the only link.
const ONLY: u64 = 0;

/// The turns on a server's only link, and the questions that are declared to the server there.
pub struct SingleLink {
    state: Mutex<SingleState>,
    /// The questions that at least one of the owners so far can be asked.
    widest: AtomicU8,
    /// The questions that were declared to the server when the link was last opened.
    declared: AtomicU8,
    dormant: Arc<DormantLinks>,
}

struct SingleState {
    queue: TurnQueue,
    waiting: HashMap<Ticket, oneshot::Sender<()>>,
    /// The link on which the owner of the current turn can be asked.
    used: Option<Arc<OpenLink>>,
}

/// The turn of a call, which lasts until this value is dropped.
pub struct LinkTurn {
    single: Arc<SingleLink>,
    party: TurnParty,
}

/// An entry in the queue, which lasts until this value is dropped.
struct Waiting<'a> {
    single: &'a Arc<SingleLink>,
    ticket: Ticket,
    given: oneshot::Receiver<()>,
}

impl SingleLink {
    /// Creates a link that nobody has used yet.
    pub(super) fn new(dormant: Arc<DormantLinks>) -> Arc<Self> {
        let state = SingleState { queue: TurnQueue::new(WAITERS), waiting: HashMap::new(), used: None };
        let nothing = || AtomicU8::new(Askable::NOTHING.bits());
        Arc::new(Self { state: Mutex::new(state), widest: nothing(), declared: nothing(), dormant })
    }

    /// Returns the number of calls that wait for their turn.
    pub(super) fn waiting(&self) -> usize {
        self.state.lock().queue.waiting()
    }

    /// Takes the turn, if no other party has it.
    pub fn join(self: &Arc<Self>, party: TurnParty) -> Option<LinkTurn> {
        let joins = self.state.lock().queue.join(party);
        joins.then(|| LinkTurn { single: self.clone(), party })
    }

    /// Waits for the turn.
    ///
    /// # Errors
    /// Returns [`LinkError::Busy`] if too many calls are waiting, or if the turn does not come within `patience`.
    pub async fn wait(
        self: &Arc<Self>,
        party: TurnParty,
        holder: &Holder,
        patience: Duration,
    ) -> Result<LinkTurn, LinkError> {
        let since = Instant::now();
        let mut waiting = {
            let mut state = self.state.lock();
            let ticket = state.queue.wait(party).ok_or(LinkError::Busy(1))?;
            let (sender, given) = oneshot::channel();
            state.waiting.insert(ticket, sender);
            let waiting = Waiting { single: self, ticket, given };
            // The turn may have ended after this call tried to join it.
            state.serve();
            waiting
        };
        loop {
            match timeout(LOOK, &mut waiting.given).await {
                Ok(Ok(())) => return Ok(LinkTurn { single: self.clone(), party }),
                Ok(Err(_)) => return Err(LinkError::Closed),
                Err(_) if since.elapsed() >= patience => return Err(LinkError::Busy(1)),
                Err(_) if since.elapsed() >= MAKE_WAY_AFTER => {
                    let demand = LinkRequester { holder: Some(holder), waited: since.elapsed() };
                    self.dormant.make_way(&demand, Instant::now());
                }
                Err(_) => {}
            }
        }
    }

    /// Records the questions that an owner can be asked.
    pub(super) fn widen(&self, class: Askable) {
        self.widest.fetch_or(class.without_roots().bits(), Ordering::SeqCst);
    }

    /// Returns true if all questions in `widest` were declared to the server when the link was last opened.
    pub(super) fn is_wide(&self) -> bool {
        let declared = Askable::from_bits(self.declared.load(Ordering::SeqCst));
        declared.includes(Askable::from_bits(self.widest.load(Ordering::SeqCst)))
    }

    /// Returns the class of clients that is declared to the server on a link that is opened now.
    pub(super) fn declares(&self, era: &'static Era) -> LinkKey {
        let class = self.widest.load(Ordering::SeqCst);
        self.declared.store(class, Ordering::SeqCst);
        LinkKey { era, capabilities: Bytes::from(Askable::from_bits(class).capabilities()) }
    }

    fn leave(&self) {
        let mut state = self.state.lock();
        if !state.queue.leave() {
            return;
        }
        // From now on, nobody can be asked the server's questions, until the next owner has its turn.
        if let Some(link) = state.used.take() {
            link.recipients.end_turn();
        }
        state.serve();
    }
}

impl SingleState {
    /// Gives the turn to the calls that come next.
    fn serve(&mut self) {
        let next = self.queue.serve();
        self.notify(&next);
    }

    fn notify(&mut self, next: &[Ticket]) {
        for ticket in next {
            // If a call is gone, it gives the turn back when its entry in the queue is dropped.
            let _ = self.waiting.remove(ticket).map(|sender| sender.send(()));
        }
    }
}

impl LinkTurn {
    /// Returns a hold on the turn for a call on this link. Until the turn ends, the server's questions on the link are
    /// for the owner of the turn.
    pub fn on(&self, egress: &Egress, link: &Arc<OpenLink>, user: Option<Weak<dyn LinkUser>>) -> LinkHold {
        let mut state = self.single.state.lock();
        state.queue.enter_again();
        if let TurnParty::Askable(owner) = self.party {
            link.recipients.begin_turn(owner, user);
            state.used = Some(link.clone());
        }
        LinkHold::counted(self.single.clone(), egress, ONLY)
    }
}

impl HoldKeeper for SingleLink {
    /// Nothing holds the turn twice: while a task runs, other owners have their turns, so the questions of the task are
    /// refused.
    fn hold_again(&self, _: u64) -> bool {
        false
    }

    fn hold_ended(&self, _: u64, _: &Egress) {
        self.leave();
    }
}

impl Drop for LinkTurn {
    fn drop(&mut self) {
        self.single.leave();
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.single.state.lock();
        if state.waiting.remove(&self.ticket).is_some() {
            let next = state.queue.cancel(self.ticket);
            return state.notify(&next);
        }
        drop(state);
        // The turn came just as the call was dropped.
        if self.given.try_recv().is_ok() {
            self.single.leave();
        }
    }
}
