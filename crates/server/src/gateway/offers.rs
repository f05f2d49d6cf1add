//! What an upstream offers to one kind of client: fetched once, kept, fetched again when it changes.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use engine::catalogue::{Absence, Gather, GatherLimits, Offer, UpstreamOffer};
use parking_lot::Mutex;
use proto::era::Era;
use proto::rpc::Id;
use tokio::sync::watch;
use transport::up::LinkError;

use super::Shard;
use super::embedded::Reading;
use super::link::OpenLink;
use super::link_cell::LinkCell;
use super::upstream::{Kind, Place, Upstream, own_request};

/// How long after a failure the next try may begin.
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
pub(crate) struct OfferCell {
    upstream: Arc<Upstream>,
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
    /// When the last one began.
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
    pub(crate) fn new(upstream: Arc<Upstream>, kind: Kind) -> Self {
        let state = ArcSwap::from_pointee(State::Unknown);
        let last_link = Mutex::new(Weak::new());
        Self { upstream, kind, state, done: watch::Sender::new(0), busy: Mutex::default(), last_link }
    }

    /// The offer as a view takes it.
    pub(crate) fn part(&self) -> UpstreamOffer {
        let offer = match &**self.state.load() {
            State::Known(offer, _) => Ok(offer.clone()),
            State::Absent(absence, _) | State::Unauthorized(absence, _) => Err(absence.clone()),
            State::Unknown => Err(Absence { reason: "is still starting".to_owned(), retry: true }),
        };
        let (id, name) = (self.upstream.spec.id, self.upstream.name().clone());
        UpstreamOffer { id, name, over_http: self.upstream.over_http(), offer }
    }

    /// Whether it was never fetched to an end.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(&**self.state.load(), State::Unknown)
    }

    /// Whether its lists are there.
    pub(crate) fn is_known(&self) -> bool {
        matches!(&**self.state.load(), State::Known(..))
    }

    /// Whether the upstream asked who is there when it was last asked for its lists.
    pub(crate) fn is_unauthorized(&self) -> bool {
        matches!(&**self.state.load(), State::Unauthorized(..))
    }

    /// Whether a fetch is due: nothing is known, or a failure is long enough ago.
    pub(crate) fn is_due(&self) -> bool {
        match &**self.state.load() {
            State::Unknown => true,
            State::Known(..) => false,
            State::Absent(_, at) | State::Unauthorized(_, at) => at.elapsed() >= RETRY_AFTER,
        }
    }

    /// For how long a fetch has been under way; no time when none is.
    pub(crate) fn under_way(&self) -> Duration {
        let busy = self.busy.lock();
        busy.since.filter(|_| busy.fetching).map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Whether the upstream spoke another era when its lists were fetched.
    pub(crate) fn is_of_another_era(&self, era: &Era) -> bool {
        matches!(&**self.state.load(), State::Known(offer, _) if offer.hello.era != era)
    }

    /// Whether the lists are older than they can be trusted to hold.
    pub(crate) fn is_old(&self) -> bool {
        let State::Known(offer, since) = &**self.state.load() else { return false };
        let declares =
            |name| engine::catalogue::declares(&offer.hello.capabilities, name, Some("listChanged"));
        let announces = ["tools", "prompts", "resources"].into_iter().any(declares);
        // What a pipe carries is not lost.
        if self.upstream.is_native() || (announces && !self.upstream.over_http()) {
            return false;
        }
        let hint = Duration::from_millis(offer.cache.ttl_ms);
        let shortest = if announces { OLD } else { YOUNG };
        since.elapsed() > if hint.is_zero() { OLD } else { hint.max(shortest) }
    }

    /// Notes a link over which it can be fetched.
    pub(crate) fn note_link(&self, link: &Arc<LinkCell>) {
        *self.last_link.lock() = Arc::downgrade(link);
    }

    /// The link that was noted last, if it is still used.
    pub(crate) fn last_link(&self) -> Option<Arc<LinkCell>> {
        self.last_link.lock().upgrade()
    }

    /// Starts a fetch over `link`, unless one is under way. Waiting for its end is up to the caller.
    pub(crate) fn fetch(self: &Arc<Self>, shard: &Shard, link: Arc<LinkCell>) -> watch::Receiver<u64> {
        let done = self.done.subscribe();
        {
            let mut busy = self.busy.lock();
            if busy.fetching {
                return done;
            }
            busy.begin();
        }
        self.upstream.bulletin.begins();
        self.note_link(&link);
        let (cell, shard) = (self.clone(), shard.clone());
        tokio::spawn(async move {
            // However this ends, the next fetch must be possible.
            let _idle = Idle(&cell);
            let outcome = cell.try_fetch(&shard, &link).await;
            // The client has left, which says nothing of the upstream.
            if outcome.is_err() && link.is_retired() {
                return;
            }
            cell.settle(&shard, outcome);
        });
        done
    }

    /// Fetches anew because the upstream said that something changed. Returns when the lists are at least as new as this
    /// call; of several calls at a time only one fetches. `false` when the fetch was this call's own and failed.
    pub(crate) async fn refresh(self: &Arc<Self>, shard: &Shard, link: &Arc<OpenLink>) -> bool {
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
        let outcome = self.gather(shard, link).await;
        let fetched = outcome.is_ok();
        if let Err(e) = &outcome {
            self.upstream.tell_failure("its lists may have changed, but cannot be fetched: ", e);
        }
        // The old lists are better than none.
        if outcome.is_ok() || !matches!(**self.state.load(), State::Known(..)) {
            self.settle(shard, outcome);
        }
        if fetched {
            self.share(shard);
        }
        fetched
    }

    /// Fetches anew, whatever is known and whatever is under way: that may have been refused what is allowed now.
    pub(crate) async fn fetch_again(self: &Arc<Self>, shard: &Shard, link: Arc<LinkCell>) {
        let mut done = self.done.subscribe();
        while self.busy.lock().fetching && done.changed().await.is_ok() {}
        let _ = self.fetch(shard, link).changed().await;
    }

    /// Fetches anew because the lists have grown old. A link that rested rests again, unless it was used meanwhile.
    pub(crate) async fn renew(self: &Arc<Self>, shard: &Shard, cell: &Arc<LinkCell>) {
        let rested = cell.is_resting();
        let Ok(link) = cell.get(shard).await else { return };
        self.refresh(shard, &link).await;
        if rested && !link.was_used() {
            cell.rest(shard).await;
        }
    }

    /// What was fetched holds for all kinds of clients behind the same link.
    fn share(&self, shard: &Shard) {
        let state = self.state.load_full();
        for kind in self.upstream.kinds_beside(&self.kind).iter().filter(|kind| **kind != self.kind) {
            self.upstream.offer(kind).state.store(state.clone());
            shard.gateway.views.rebuild(shard, &self.upstream, kind);
        }
    }

    async fn try_fetch(&self, shard: &Shard, link: &Arc<LinkCell>) -> Result<Offer, LinkError> {
        let first = link.get(shard).await?;
        match self.gather(shard, &first).await {
            // Servers forget sessions, some of them all but the newest; another one is begun at once.
            Err(LinkError::SessionGone) => {
                let another = link.get(shard).await?;
                self.gather(shard, &another).await
            }
            gathered => gathered,
        }
    }

    async fn gather(&self, shard: &Shard, link: &Arc<OpenLink>) -> Result<Offer, LinkError> {
        let limits = &shard.gateway.snapshot.limits;
        let caps = GatherLimits { pages: limits.list_pages, entries: limits.catalogue_entries };
        let mut gather = Gather::new(link.hello.clone(), caps, super::CLIENT_INFO)
            .serving(self.upstream.spec.tools.clone());
        let patience = self.upstream.spec.timeouts.idle;
        while let Some(list) = gather.wants() {
            let key = shard.gateway.next_key();
            let Some(body) = gather.request(&Id::number(key)) else { break };
            let request = own_request(&self.upstream, link.era, key, body, list.method());
            let answer = link.ask(&shard.client, request, super::frame_limits(limits));
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
        if let Place::Native(server) = &self.upstream.place {
            offer.reader = Some(Reading::of(server));
        }
        Ok(offer)
    }

    fn settle(&self, shard: &Shard, outcome: Result<Offer, LinkError>) {
        let state = match outcome {
            Ok(offer) => {
                self.upstream.note_hang(false);
                self.upstream.tell_ready(&offer);
                State::Known(Arc::new(offer), Instant::now())
            }
            Err(e) => {
                self.upstream.tell_failure("", &e);
                let reason = self.upstream.told(&e);
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
        shard.gateway.views.rebuild(shard, &self.upstream, &self.kind);
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
