//! What an upstream offers to one kind of client: fetched once, kept, fetched again when it changes.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use engine::catalogue::{Absence, Gather, GatherLimits, Offer, UpstreamOffer};
use parking_lot::Mutex;
use proto::era::Era;
use proto::rpc::Id;
use tokio::sync::watch;
use transport::up::LinkError;

use crate::destination::Destination;
use crate::egress::Egress;
use crate::embedded::Reading;
use crate::link::OpenLink;
use crate::pool::LinkCell;
use crate::server::{Kind, Server};

/// How many kinds of clients one server's offers are kept for.
const MAX_OFFERS: usize = 64;

/// The time after a failure before the next try may begin.
const RETRY_AFTER: Duration = Duration::from_secs(3);

/// After how long lists are fetched anew when the server does not say how long they hold, and at the soonest when it
/// announces changes: what it said while a stream was broken was heard by nobody.
const OLD: Duration = Duration::from_mins(5);

/// The shortest such time that a server can ask for.
const YOUNG: Duration = Duration::from_secs(30);

/// What is known of an offer.
#[derive(Clone)]
enum State {
    Unknown,
    Known(Arc<Offer>, Instant),
    Absent(Absence, Instant),
    /// Absent, because the upstream asks who is there.
    Unauthorized(Absence, Instant),
}

/// One upstream's offer to one kind of client.
pub struct OfferCell {
    server: Arc<Server>,
    all: Weak<Offers>,
    kind: Kind,
    state: ArcSwap<State>,
    /// Counts the fetches that have ended; whoever waits for one watches it.
    done: watch::Sender<u64>,
    busy: Mutex<Busy>,
    /// The link over which it was last fetched, or which was made for a client of this kind since.
    last_link: Mutex<Weak<LinkCell>>,
}

/// Fetches, one at a time.
#[derive(Default)]
struct Busy {
    fetching: bool,
    /// The time when the last one began.
    since: Option<Instant>,
    /// How many have begun, and the number of the last one that has ended.
    begun: u64,
    ended: u64,
}

impl Busy {
    fn begin(&mut self) {
        self.fetching = true;
        self.since = Some(Instant::now());
        self.begun += 1;
    }

    fn end(&mut self) {
        self.fetching = false;
        self.ended = self.begun;
    }
}

impl OfferCell {
    fn new(server: Arc<Server>, all: Weak<Offers>, kind: Kind) -> Self {
        let state = ArcSwap::from_pointee(State::Unknown);
        let last_link = Mutex::new(Weak::new());
        Self { server, all, kind, state, done: watch::Sender::new(0), busy: Mutex::default(), last_link }
    }

    /// The offer as a view takes it.
    pub fn part(&self) -> UpstreamOffer {
        let offer = match &**self.state.load() {
            State::Known(offer, _) => Ok(offer.clone()),
            State::Absent(absence, _) | State::Unauthorized(absence, _) => Err(absence.clone()),
            State::Unknown => Err(Absence { reason: "is still starting".to_owned(), retry: true }),
        };
        let (id, name) = (self.server.spec.id, self.server.name().clone());
        UpstreamOffer { id, name, over_http: self.server.over_http(), offer }
    }

    /// Returns true if it was never fetched to an end.
    pub fn is_unknown(&self) -> bool {
        matches!(&**self.state.load(), State::Unknown)
    }

    /// Returns true if its lists are there.
    pub fn is_known(&self) -> bool {
        matches!(&**self.state.load(), State::Known(..))
    }

    /// Returns true if the upstream asked who is there when it was last asked for its lists.
    pub fn is_unauthorized(&self) -> bool {
        matches!(&**self.state.load(), State::Unauthorized(..))
    }

    /// Returns true if a fetch is due: nothing is known, or a failure is long enough ago.
    pub fn is_due(&self) -> bool {
        match &**self.state.load() {
            State::Unknown => true,
            State::Known(..) => false,
            State::Absent(_, at) | State::Unauthorized(_, at) => at.elapsed() >= RETRY_AFTER,
        }
    }

    /// For how long a fetch has been under way; no time when none is.
    pub fn under_way(&self) -> Duration {
        let busy = self.busy.lock();
        busy.since.filter(|_| busy.fetching).map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Returns true if the upstream spoke another era when its lists were fetched.
    pub fn is_of_another_era(&self, era: &Era) -> bool {
        matches!(&**self.state.load(), State::Known(offer, _) if offer.hello.era != era)
    }

    /// Returns true if the lists are older than they can be trusted to hold.
    pub fn is_old(&self) -> bool {
        let State::Known(offer, since) = &**self.state.load() else { return false };
        let declares =
            |name| engine::catalogue::declares(&offer.hello.capabilities, name, Some("listChanged"));
        let announces = ["tools", "prompts", "resources"].into_iter().any(declares);
        // What a pipe carries is not lost.
        if self.server.is_native() || (announces && !self.server.over_http()) {
            return false;
        }
        let hint = Duration::from_millis(offer.cache.ttl_ms);
        let shortest = if announces { OLD } else { YOUNG };
        since.elapsed() > if hint.is_zero() { OLD } else { hint.max(shortest) }
    }

    /// Notes a link over which it can be fetched.
    pub fn note_link(&self, link: &Arc<LinkCell>) {
        *self.last_link.lock() = Arc::downgrade(link);
    }

    /// The link that was noted last, if it is still used.
    pub fn last_link(&self) -> Option<Arc<LinkCell>> {
        self.last_link.lock().upgrade()
    }

    /// Starts a fetch over `link`, unless one is under way. Waiting for its end is up to the caller.
    pub fn fetch(self: &Arc<Self>, egress: &Egress, link: Arc<LinkCell>) -> watch::Receiver<u64> {
        let done = self.done.subscribe();
        {
            let mut busy = self.busy.lock();
            if busy.fetching {
                return done;
            }
            busy.begin();
        }
        self.server.bulletin.begins();
        self.note_link(&link);
        let (cell, egress) = (self.clone(), egress.clone());
        tokio::spawn(async move {
            // However this ends, the next fetch must be possible.
            let _idle = Idle(&cell);
            let outcome = cell.try_fetch(&egress, &link).await;
            // The client has left, which says nothing of the upstream.
            if outcome.is_err() && link.is_retired() {
                return;
            }
            cell.settle(&egress, outcome);
        });
        done
    }

    /// Fetches anew because the upstream said that something changed. Returns when the lists are at least as new as this
    /// call; of several calls at a time only one fetches. `false` when the fetch was this call's own and failed.
    pub async fn refresh(self: &Arc<Self>, egress: &Egress, link: &Arc<OpenLink>) -> bool {
        let mut done = self.done.subscribe();
        // What is under way may have asked before the change.
        let wanted = self.busy.lock().begun + 1;
        loop {
            {
                let mut busy = self.busy.lock();
                if busy.ended >= wanted {
                    return true;
                }
                if !busy.fetching {
                    busy.begin();
                    break;
                }
            }
            if done.changed().await.is_err() {
                return false;
            }
        }
        let _idle = Idle(self);
        let outcome = self.gather(egress, link).await;
        let fetched = outcome.is_ok();
        if let Err(e) = &outcome {
            self.server.tell_failure("its lists may have changed, but cannot be fetched: ", e);
        }
        // The old lists are better than none.
        if outcome.is_ok() || !matches!(**self.state.load(), State::Known(..)) {
            self.settle(egress, outcome);
        }
        if fetched {
            self.share(egress);
        }
        fetched
    }

    /// Fetches anew, whatever is known and whatever is under way: that may have been refused what is allowed now.
    pub async fn fetch_again(self: &Arc<Self>, egress: &Egress, link: Arc<LinkCell>) {
        let mut done = self.done.subscribe();
        while self.busy.lock().fetching && done.changed().await.is_ok() {}
        let _ = self.fetch(egress, link).changed().await;
    }

    /// Fetches anew because the lists have grown old. A link that rested rests again, unless it was used meanwhile.
    pub async fn renew(self: &Arc<Self>, egress: &Egress, cell: &Arc<LinkCell>) {
        let rested = cell.is_resting();
        let Ok(link) = cell.get(egress).await else { return };
        self.refresh(egress, &link).await;
        if rested && !link.was_used() {
            cell.rest(egress).await;
        }
    }

    /// What was fetched holds for all kinds of clients behind the same link.
    fn share(&self, egress: &Egress) {
        let Some(all) = self.all.upgrade() else { return };
        let state = self.state.load_full();
        for kind in all.kinds_beside(&self.kind).iter().filter(|kind| **kind != self.kind) {
            all.offer(kind).state.store(state.clone());
            tell(egress, &self.server, kind);
        }
    }

    async fn try_fetch(&self, egress: &Egress, link: &Arc<LinkCell>) -> Result<Offer, LinkError> {
        let first = link.get(egress).await?;
        match self.gather(egress, &first).await {
            // Servers forget sessions, some of them all but the newest; another one is begun at once.
            Err(LinkError::SessionGone) => {
                let another = link.get(egress).await?;
                self.gather(egress, &another).await
            }
            gathered => gathered,
        }
    }

    async fn gather(&self, egress: &Egress, link: &Arc<OpenLink>) -> Result<Offer, LinkError> {
        let limits = &egress.snapshot.limits;
        let caps = GatherLimits { pages: limits.list_pages, entries: limits.catalogue_entries };
        let mut gather =
            Gather::new(link.hello.clone(), caps, crate::CLIENT_INFO).serving(self.server.spec.tools.clone());
        let patience = self.server.spec.timeouts.idle;
        while let Some(list) = gather.wants() {
            let key = egress.next_key();
            let Some(body) = gather.request(&Id::number(key)) else { break };
            let request = self.server.own_request(link.era, key, body, list.method());
            let answer = link.ask(&egress.client, request, egress.frame_limits());
            let answer = tokio::time::timeout(patience, answer).await;
            let answer = answer.map_err(|_| LinkError::Late(patience.as_secs()))?;
            let answer = match answer {
                Err(e @ (LinkError::SessionGone | LinkError::Child(_))) => {
                    link.bury();
                    return Err(e);
                }
                other => other?,
            };
            gather.feed(&answer).map_err(|e| LinkError::NotAMessage(e.to_string()))?;
        }
        let mut offer = gather.finish();
        if let Destination::Native(server) = &self.server.destination {
            offer.reader = Some(Reading::of(server));
        }
        Ok(offer)
    }

    fn settle(&self, egress: &Egress, outcome: Result<Offer, LinkError>) {
        let state = match outcome {
            Ok(offer) => {
                self.server.note_hang(false);
                self.server.tell_ready(&offer);
                State::Known(Arc::new(offer), Instant::now())
            }
            Err(e) => {
                self.server.tell_failure("", &e);
                let reason = self.server.told(&e);
                let absence = Absence { reason, retry: true };
                match e {
                    LinkError::Unauthorized(_) | LinkError::Status { status: 401, .. } => {
                        State::Unauthorized(absence, Instant::now())
                    }
                    _ => State::Absent(absence, Instant::now()),
                }
            }
        };
        self.state.store(Arc::new(state));
        tell(egress, &self.server, &self.kind);
    }
}

/// Tells those who see it that what a server offers is another now.
fn tell(egress: &Egress, server: &Server, kind: &Kind) {
    if let Some(audience) = egress.audience() {
        audience.offer_changed(&egress.snapshot, server, kind);
    }
}

/// What one server offers to each kind of client.
pub struct Offers {
    own: Weak<Self>,
    server: Arc<Server>,
    cells: Mutex<HashMap<Kind, Arc<OfferCell>>>,
}

impl Offers {
    /// Nothing is known yet.
    pub fn new(server: Arc<Server>) -> Arc<Self> {
        Arc::new_cyclic(|own| Self { own: own.clone(), server, cells: Mutex::default() })
    }

    /// What it offers to clients of this kind.
    pub fn offer(&self, kind: &Kind) -> Arc<OfferCell> {
        let mut cells = self.cells.lock();
        if cells.len() >= MAX_OFFERS && !cells.contains_key(kind) {
            cells.retain(|_, cell| Arc::strong_count(cell) > 1);
        }
        let new = || Arc::new(OfferCell::new(self.server.clone(), self.own.clone(), kind.clone()));
        cells.entry(kind.clone()).or_insert_with(new).clone()
    }

    /// What it offers to clients of this kind, where somebody has asked.
    pub fn known_offer(&self, kind: &Kind) -> Option<Arc<OfferCell>> {
        self.cells.lock().get(kind).cloned()
    }

    /// All of them.
    pub fn all(&self) -> Vec<(Kind, Arc<OfferCell>)> {
        self.cells.lock().iter().map(|(kind, cell)| (kind.clone(), cell.clone())).collect()
    }

    /// The kinds of clients that are offered what is fetched over the link of this kind, itself included.
    pub fn kinds_beside(&self, kind: &Kind) -> Vec<Kind> {
        let own = self.server.link_kind(kind);
        let is_beside = |other: &&Kind| self.server.link_kind(other) == own;
        let mut kinds: Vec<Kind> = self.cells.lock().keys().filter(is_beside).cloned().collect();
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
        kinds
    }

    /// Forgets them.
    pub fn forget_all(&self) {
        self.cells.lock().clear();
    }
}

/// Ends a fetch, also one that panicked or was dropped.
struct Idle<'a>(&'a OfferCell);

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        self.0.busy.lock().end();
        // Told only now: whoever found the fetch under way was watching already.
        self.0.done.send_modify(|n| *n += 1);
    }
}
