//! One configured upstream: how links to it are opened, and what it offers to which kind of client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use engine::config::{Affinity, Link as LinkConfig};
use engine::exchange::{Mirror, Outbound};
use engine::snapshot::{Snapshot, UpstreamSpec};
use parking_lot::Mutex;
use proto::era::{Era, newest_stateless};
use proto::mcp::Method;
use transport::net::Stop;
use transport::up::{LinkError, Refusal};

use super::apart::Apart;
use super::bulletin::Bulletin;
use super::ladder::{Ladder, Reach};
use super::lease::Leases;
use super::link::OpenLink;
use super::link_cell::LinkCell;
use super::offers::OfferCell;
pub(crate) use super::place::Place;
use super::quiet::Quiet;
use super::session::Session;
use super::topics::Topics;
use super::view_cell::ViewCell;
use super::wire::Wire;
use super::{Shard, partings};
use crate::consent::{Consents, Grant, Whose};
use crate::mask::Mask;

/// How many kinds of clients one upstream's offers are kept for.
const MAX_OFFERS: usize = 64;

/// For how long nobody waits for a server after a client has done so in vain.
const HUNG: Duration = Duration::from_secs(30);

/// How many shared links are kept, beyond those in use.
const MAX_SHARED: usize = 64;

/// What kind of client a link or an offer is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    /// The era.
    pub(crate) era: &'static Era,
    /// The client's capabilities as it wrote them, where they are fixed for a session; else `{}`.
    pub(crate) capabilities: Bytes,
}

/// One configured upstream.
pub(crate) struct Upstream {
    pub(crate) spec: UpstreamSpec,
    pub(super) mask: Mask,
    pub(crate) place: Place,
    pub(crate) reach: Reach,
    pub(crate) ladder: Ladder,
    pub(super) bulletin: Bulletin,
    /// The consent that its links show: one caller's, or all callers'. None where callers are apart and this is nobody's.
    pub(crate) grant: Option<Arc<Grant>>,
    /// Its callers, where each has it for itself once it wants their consent.
    pub(crate) apart: Option<Apart>,
    pub(crate) leases: Leases,
    pub(crate) topics: Topics,
    mints: AtomicU64,
    /// When a client last waited for it in vain, unless it has answered since.
    hung: Mutex<Option<Instant>>,
    /// The shared link that was asked for last: nearly all requests ask for the same.
    recent: ArcSwapOption<(Kind, Arc<LinkCell>)>,
    shared: Mutex<HashMap<Kind, Arc<LinkCell>>>,
    /// Those that one call at a time has for itself.
    leased: Mutex<Vec<Weak<LinkCell>>>,
    offers: Mutex<HashMap<Kind, Arc<OfferCell>>>,
    /// Raised when it is no longer configured: what runs may end, and nothing listens to it any more.
    pub(crate) leaving: Stop,
    /// Is told when a link to it is needed no more; the same for all who have it for themselves.
    pub(crate) quiet: Arc<Quiet>,
    /// Whether all that ran has ended.
    ended: AtomicBool,
}

impl Upstream {
    pub(crate) fn new(
        spec: UpstreamSpec,
        snapshot: &Snapshot,
        consents: &Arc<Consents>,
    ) -> Result<Self, String> {
        let (place, grant) = Place::of(&spec, snapshot, consents)?;
        let wants = matches!(&spec.link, LinkConfig::Http(http) if http.oauth.is_some());
        let apart = spec.apart.then(|| Apart::new(consents, wants));
        Ok(Self::at(spec, (place, grant), apart, Arc::default()))
    }

    /// The same for one caller alone, with a consent of its own.
    pub(super) fn owned(&self, whose: &Whose, consents: &Consents) -> Self {
        let at = self.place.owned(&self.spec, whose, consents);
        Self::at(self.spec.clone(), at, None, self.quiet.clone())
    }

    fn at(
        spec: UpstreamSpec,
        (place, grant): (Place, Option<Arc<Grant>>),
        apart: Option<Apart>,
        quiet: Arc<Quiet>,
    ) -> Self {
        let reach = match &spec.link {
            LinkConfig::Http(http) => Reach::of(http.transport),
            LinkConfig::Stdio(_) | LinkConfig::Native(_) => Reach::Pipe,
        };
        Self {
            mask: Mask::of(&spec.link),
            leases: Leases::new(matches!(place, Place::Child(_))),
            spec,
            place,
            reach,
            ladder: Ladder::default(),
            bulletin: Bulletin::default(),
            grant,
            apart,
            topics: Topics::default(),
            mints: AtomicU64::new(1),
            hung: Mutex::default(),
            recent: ArcSwapOption::empty(),
            shared: Mutex::default(),
            leased: Mutex::default(),
            offers: Mutex::default(),
            leaving: Stop::new(),
            quiet,
            ended: AtomicBool::new(false),
        }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.spec.name
    }

    /// What went wrong with it, without the secrets that it was given.
    pub(crate) fn told(&self, what: &LinkError) -> String {
        let said = self.mask.show(what);
        match (&self.grant, what) {
            (Some(grant), LinkError::Unauthorized(refusal)) => grant.told(refusal, &said),
            (Some(grant), _) => grant.concealed(said),
            (None, LinkError::Unauthorized(_)) if self.apart.is_some() => format!(
                "{said} (it wants the consent of its user, which each caller gives for itself: who asks here has not said who \
                 it is, or too many do at once)"
            ),
            (None, _) => said,
        }
    }

    /// Does about a refusal what can be done without a user; `true` when the request may be sent again.
    pub(crate) async fn is_let_in(&self, refusal: &Refusal) -> bool {
        if let Some(grant) = &self.grant {
            return grant.answer(refusal).await;
        }
        if let Some(apart) = &self.apart {
            apart.part();
        }
        false
    }

    /// Asks anew for what it offers, because it may now let us in, or no longer.
    pub(crate) fn ask_again(self: &Arc<Self>, shard: &Shard) {
        let offers: Vec<(Kind, Arc<OfferCell>)> =
            self.offers.lock().iter().map(|(kind, offer)| (kind.clone(), offer.clone())).collect();
        for (kind, offer) in offers {
            let link = offer.last_link().unwrap_or_else(|| self.shared_link(&kind));
            let shard = shard.clone();
            tokio::spawn(async move { offer.fetch_again(&shard, link).await });
        }
    }

    /// Whether requests to it are HTTP requests with headers.
    pub(crate) fn over_http(&self) -> bool {
        matches!(self.place, Place::Http(_))
    }

    /// Lets go of shared children and of sessions at the server that nobody has used for so long; they start again when
    /// somebody does.
    pub(crate) fn rest_idle(self: &Arc<Self>, shard: &Shard, after: Duration) {
        let cells: Vec<(Kind, Arc<LinkCell>)> =
            self.shared.lock().iter().map(|(kind, cell)| (kind.clone(), cell.clone())).collect();
        for (kind, cell) in cells {
            let Some(link) = cell.current() else { continue };
            let rests = match &link.wire {
                Wire::Pipe(_) => "a child rests",
                Wire::Http(_) if link.era.has_sessions() => "a session there ends",
                _ => continue,
            };
            if link.idle() > after && !link.is_used() && !self.is_heard(shard, &kind, &link) {
                tracing::info!(server = %self.name(), "{rests}: nobody used it for {after:?}");
                let shard = shard.clone();
                partings::beside(async move { cell.rest(&shard).await });
            }
        }
        for cell in self.leases.shed(after) {
            let shard = shard.clone();
            partings::beside(async move {
                cell.retire();
                cell.close(&shard).await;
            });
        }
    }

    /// Whether somebody would hear no more of changes without the link that clients of a kind share.
    fn is_heard(&self, shard: &Shard, kind: &Kind, link: &OpenLink) -> bool {
        let views = |kind: &Kind| shard.gateway.views.with(self, kind);
        let kinds = self.kinds_beside(kind);
        let mut views = kinds.iter().flat_map(views);
        // A child that starts again is asked for its lists.
        let is_child = matches!(link.wire, Wire::Pipe(_));
        let sees = |view: &ViewCell| !is_child && !shard.gateway.sessions.with_view(view).is_empty();
        self.topics.is_followed() || views.any(|view| view.is_watched() || sees(&view))
    }

    /// From now on no link to it is opened.
    pub(crate) fn end(&self) {
        self.leaving.stop();
        self.ended.store(true, Ordering::SeqCst);
    }

    /// Whether no link to it is opened any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Forgets its links and what it offered, once all of it is closed: they know it as well, and would keep it.
    pub(crate) fn forget_all(&self) {
        self.recent.store(None);
        self.shared.lock().clear();
        self.leases.shed(Duration::ZERO);
        self.offers.lock().clear();
    }

    /// All links that are not some session's own.
    pub(crate) fn cells(&self) -> Vec<Arc<LinkCell>> {
        let mut cells: Vec<_> = self.shared.lock().values().cloned().collect();
        cells.extend(self.leased.lock().iter().filter_map(Weak::upgrade));
        cells
    }

    /// Lets go of shared links whose kind of client is gone, when there are many.
    pub(crate) fn shed(&self, shard: &Shard) {
        let mut links = self.shared.lock();
        if links.len() <= MAX_SHARED {
            return;
        }
        self.recent.store(None);
        let unused = |kind: &Kind, cell: &mut Arc<LinkCell>| {
            kind.capabilities.as_ref() != b"{}" && Arc::strong_count(cell) == 1
        };
        for (_, cell) in links.extract_if(unused) {
            cell.retire();
            let shard = shard.clone();
            partings::beside(async move { cell.close(&shard).await });
        }
    }

    /// The offers that may have grown old without anybody saying so, with the link to ask over.
    pub(crate) fn old_offers(&self) -> Vec<(Arc<OfferCell>, Arc<LinkCell>)> {
        let shared = self.shared.lock();
        let offers = self.offers.lock();
        // A child that rests has not changed.
        let can_be_asked = |link: &Arc<LinkCell>| self.over_http() || link.current().is_some();
        let asked = |(kind, cell): (&Kind, &Arc<OfferCell>)| {
            let link = shared.get(kind).cloned().or_else(|| cell.last_link()).filter(can_be_asked)?;
            Some((cell.clone(), link))
        };
        offers.iter().filter(|(_, cell)| cell.is_old()).filter_map(asked).collect()
    }

    /// Whether it lives in this process.
    pub(crate) fn is_native(&self) -> bool {
        matches!(self.place, Place::Native(_))
    }

    /// Whether it may ask its clients something by requests, so that each of those needs a link of its own.
    pub(crate) fn may_ask_by_requests(&self) -> bool {
        !self.is_native() && !self.ladder.is_stateless_only()
    }

    /// Whether sessions of clients of this kind may share one there.
    pub(crate) fn is_shared_by(&self, kind: &Kind) -> bool {
        match self.spec.affinity {
            Affinity::Shared => true,
            Affinity::Session => false,
            Affinity::Auto => kind.capabilities.as_ref() == b"{}",
        }
    }

    /// Notes that a client waited in vain for its lists, or that they came.
    pub(crate) fn note_hang(&self, hangs: bool) {
        *self.hung.lock() = hangs.then(Instant::now);
    }

    /// Whether a client waited for it in vain a moment ago.
    pub(crate) fn hung_lately(&self) -> bool {
        self.hung.lock().is_some_and(|at| at.elapsed() < HUNG)
    }

    /// A number for an id that a question needs.
    pub(crate) fn next_mint(&self) -> u64 {
        self.mints.fetch_add(1, Ordering::Relaxed)
    }

    /// The kind of the link that clients of a kind share.
    fn link_kind(&self, kind: &Kind) -> Kind {
        let plain = |era| Kind { era, capabilities: Bytes::from_static(b"{}") };
        match self.is_native() {
            // What lives in this process does not care what a client can do.
            true => plain(kind.era),
            // Where each request says who asks, all can share.
            false if self.ladder.is_stateless_only() => plain(newest_stateless()),
            false => kind.clone(),
        }
    }

    /// The kinds of clients that are offered what is fetched over the link of this kind, itself included.
    pub(crate) fn kinds_beside(&self, kind: &Kind) -> Vec<Kind> {
        let own = self.link_kind(kind);
        let mut kinds: Vec<Kind> =
            self.offers.lock().keys().filter(|other| self.link_kind(other) == own).cloned().collect();
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
        kinds
    }

    /// The link that clients of this kind share.
    pub(crate) fn shared_link(self: &Arc<Self>, kind: &Kind) -> Arc<LinkCell> {
        let kind = self.link_kind(kind);
        if let Some(recent) = self.recent.load().as_ref().filter(|recent| recent.0 == kind) {
            return recent.1.clone();
        }
        let new = || {
            let params = super::own_hello(&kind);
            Arc::new(LinkCell::new(self.clone(), kind.clone(), params, None))
        };
        let cell = self.shared.lock().entry(kind.clone()).or_insert_with(new).clone();
        self.recent.store(Some(Arc::new((kind, cell.clone()))));
        cell
    }

    /// A link for calls that have it for themselves, one after the other.
    pub(crate) fn leased_link(self: &Arc<Self>, kind: &Kind) -> Arc<LinkCell> {
        let cell = Arc::new(LinkCell::new(self.clone(), kind.clone(), super::own_hello(kind), None).leased());
        let mut leased = self.leased.lock();
        leased.retain(|cell| cell.strong_count() > 0);
        leased.push(Arc::downgrade(&cell));
        cell
    }

    /// A link for one session alone; `params` are the client's own of `initialize`.
    pub(crate) fn own_link(
        self: &Arc<Self>,
        kind: &Kind,
        params: Bytes,
        session: &Arc<Session>,
    ) -> Arc<LinkCell> {
        let link = Arc::new(LinkCell::new(self.clone(), kind.clone(), params, Some(Arc::downgrade(session))));
        if let Some(offer) = self.offers.lock().get(kind) {
            offer.note_link(&link);
        }
        link
    }

    /// What it offers to clients of this kind.
    pub(crate) fn offer(self: &Arc<Self>, kind: &Kind) -> Arc<OfferCell> {
        let mut offers = self.offers.lock();
        if offers.len() >= MAX_OFFERS && !offers.contains_key(kind) {
            offers.retain(|_, cell| Arc::strong_count(cell) > 1);
        }
        offers
            .entry(kind.clone())
            .or_insert_with(|| Arc::new(OfferCell::new(self.clone(), kind.clone())))
            .clone()
    }
}

/// The header mirror of a request of the gateway's own, in eras that have one.
pub(crate) fn mirror(era: &Era, method: Method) -> Option<Mirror> {
    era.mirrored_headers.then(|| Mirror::of_method(method))
}

/// A request of the gateway's own to this upstream.
pub(crate) fn own_request(
    upstream: &Upstream,
    era: &'static Era,
    key: u64,
    body: Bytes,
    method: Method,
) -> Outbound {
    Outbound { upstream: upstream.spec.id, era, key, body, mirror: mirror(era, method) }
}
