//! The views that clients see: each is created at its first use and then found again.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::{ArcSwap, ArcSwapOption};
use engine::access::Class;
use engine::catalogue::{UpstreamId, View};
use parking_lot::Mutex;
use tokio::sync::watch;
use transport::budget::KeptCount;
use transport::net::Stop;

use crate::admission::identity::Identity;
use crate::view::basis::ViewInput;
use crate::view::page_use::PageUse;
use crate::view::revision::Revision;
use crate::view::view_cell::{ViewCell, log_notes};
use crate::view::whole_views::WholeViews;
use crate::view::{ClientClass, NoKnownView, ViewContext};
use upstream::{Server, Upstream, catalogue::Learner, oauth::CallerId};

/// The maximum number of views that are kept, in addition to those in use.
const MAX_VIEWS: usize = 256;

/// The key of a view: generation of the access rules (`regime`), profile, class of clients, access class, and the
/// caller if the view is for one caller only.
pub(super) type Key = (u64, usize, ClientClass, Class, Option<CallerId>);

/// A client of a profile, with all properties that select its view.
pub(super) struct ViewSelector {
    profile: usize,
    clients: ClientClass,
    class: Class,
    caller: Option<CallerId>,
}

impl ViewSelector {
    pub(super) fn now(
        context: &Arc<ViewContext>,
        profile: usize,
        clients: ClientClass,
        identity: &Identity,
    ) -> Self {
        let (class, caller) =
            (identity.access_class(context.egress.snapshot()), context.state.sees_alone(profile, identity));
        Self { profile, clients, class, caller }
    }

    fn key(&self, regime: u64) -> Key {
        (regime, self.profile, self.clients, self.class.clone(), self.caller.clone())
    }
}

/// All views in use.
#[derive(Default)]
pub(crate) struct Views {
    /// The view of the latest request. It is tried first, because nearly all requests use the same view.
    recent: ArcSwapOption<ViewCell>,
    pub(super) cells: Mutex<HashMap<Key, Arc<ViewCell>>>,
    /// The views as operators see them.
    pub(super) whole: WholeViews,
    /// Held while views are built, so only one task builds at a time.
    pub(super) building: Arc<Mutex<()>>,
    /// The servers whose catalogues have changed since their views were built.
    outdated: Mutex<Vec<Arc<Server>>>,
    /// The count of changes to catalogues.
    pub(super) changes: AtomicU64,
    /// True if a large view was built, or a large page sent, since the last check.
    had_large: AtomicBool,
    /// The size of ready pages and of catalogues, in bytes.
    pub(super) kept: Mutex<KeptCount>,
}

/// A view that was built in advance. It is used only if it is still current.
pub(super) struct Prebuilt {
    pub(super) basis: ViewInput,
    pub(super) view: Arc<View>,
    /// The count of catalogue changes before the view was built.
    pub(super) changes: u64,
}

impl Views {
    /// Returns the view of a profile for a class of clients, and fetches unknown lists. If the view is new or
    /// empty, this function waits for these lists, up to `limits.listWait`, except for lists of servers for which a
    /// client recently waited in vain. If the view is in use, this function does not wait; missing servers are
    /// added later. `learner` returns the link over which to fetch the items that a server shows only to clients
    /// that can answer its questions.
    pub(crate) async fn get(
        &self,
        context: &Arc<ViewContext>,
        profile: usize,
        clients: ClientClass,
        identity: &Identity,
        learner: impl Fn(&Arc<Upstream>) -> Option<Learner>,
    ) -> Arc<ViewCell> {
        let looking = ViewSelector::now(context, profile, clients, identity);
        if let Some(cell) = self.known(context, &looking)
            && (cell.view().is_served() || !cell.is_due())
        {
            cell.fetch_due(context);
            if clients.askable.is_nothing() || !cell.learn(context, &learner) {
                return cell;
            }
        } else {
            // Boxed, like everything that waits: otherwise every call would carry the space for this future.
            Box::pin(wait_for(context, &looking)).await;
            // The server may have begun to require consent just now.
            let then = ViewSelector::now(context, profile, clients, identity);
            if then.caller != looking.caller {
                Box::pin(wait_for(context, &then)).await;
            }
        }
        let cell = self.made(context, || ViewSelector::now(context, profile, clients, identity)).await;
        if clients.askable.is_nothing() || !cell.learn(context, &learner) {
            return cell;
        }
        Box::pin(cell.learned(context)).await;
        cell
    }

    /// Returns the view of a profile without waiting for servers. Unknown catalogues are fetched in the background.
    pub(crate) fn get_now(
        &self,
        context: &Arc<ViewContext>,
        profile: usize,
        clients: ClientClass,
        identity: &Identity,
    ) -> Arc<ViewCell> {
        let looking = ViewSelector::now(context, profile, clients, identity);
        let cell = self.known(context, &looking).unwrap_or_else(|| self.insert(context, &looking, None));
        cell.fetch_due(context);
        cell
    }

    /// Returns the view for a client; a large view is built on the blocking pool.
    async fn made(&self, context: &Arc<ViewContext>, look: impl Fn() -> ViewSelector) -> Arc<ViewCell> {
        let looking = look();
        let (profile, era) = (looking.profile, looking.clients.era);
        if let Some(cell) = self.known(context, &looking) {
            return cell;
        }
        let basis = context.state.basis(profile, looking.caller.as_ref());
        if !basis.is_large(era) {
            return self.insert(context, &looking, None);
        }
        self.note_large();
        // Read the count before building: if it changes later, the built view is not used.
        let changes = self.changes.load(Ordering::SeqCst);
        let guard = context.egress.snapshot().guard(profile, &looking.class);
        let (clients, schema_bytes) = (looking.clients, context.egress.snapshot().limits.schema_bytes);
        let beside = self.any_of(profile);
        let built = transport::task::spawn_blocking(move || {
            let view = Arc::new(basis.build(clients, guard.as_ref(), schema_bytes, beside.as_deref()));
            Prebuilt { basis, view, changes }
        });
        let (built, then) = (built.await.ok(), look());
        let regime = context.egress.snapshot().regime;
        let built = built.filter(|_| then.key(regime) == looking.key(regime));
        self.insert(context, &then, built)
    }

    /// Returns the identity of the tool with this name in any known view of the caller.
    pub(crate) fn show(
        &self,
        context: &Arc<ViewContext>,
        profile: usize,
        identity: &Identity,
        tool: &str,
    ) -> Result<Option<Arc<str>>, NoKnownView> {
        let snapshot = context.egress.snapshot();
        let (class, caller) = (identity.access_class(snapshot), context.state.sees_alone(profile, identity));
        let is_own = |cell: &ViewCell| {
            cell.profile == profile
                && cell.regime == snapshot.regime
                && cell.class == class
                && cell.caller == caller
                && cell.view().is_served()
        };
        let found = |cell: &ViewCell| cell.view().identity_of(tool);
        let recent = self.recent.load();
        if let Some(tool) = recent.as_ref().filter(|cell| is_own(cell)).and_then(|cell| found(cell)) {
            return Ok(Some(tool));
        }
        let cells = self.cells.lock();
        let mut own = cells.values().filter(|cell| is_own(cell)).peekable();
        own.peek().ok_or(NoKnownView)?;
        Ok(own.find_map(|cell| found(cell)))
    }

    fn known(&self, context: &Arc<ViewContext>, looking: &ViewSelector) -> Option<Arc<ViewCell>> {
        let ViewSelector { profile, clients, class, caller } = looking;
        let regime = context.egress.snapshot().regime;
        let recent = self.recent.load();
        let is_it = |cell: &&Arc<ViewCell>| {
            cell.profile == *profile
                && cell.regime == regime
                && cell.clients == *clients
                && cell.class == *class
                && cell.caller == *caller
        };
        if let Some(cell) = recent.as_ref().filter(is_it) {
            return Some(cell.clone());
        }
        let cell = self.cells.lock().get(&looking.key(regime)).cloned()?;
        self.recent.store(Some(cell.clone()));
        Some(cell)
    }

    pub(super) fn insert(
        &self,
        context: &Arc<ViewContext>,
        looking: &ViewSelector,
        prebuilt: Option<Prebuilt>,
    ) -> Arc<ViewCell> {
        let ViewSelector { profile, clients, class, caller } = looking;
        let snapshot = context.egress.snapshot();
        let key = looking.key(snapshot.regime);
        let mut cells = self.cells.lock();
        if let Some(cell) = cells.get(&key) {
            return cell.clone();
        }
        // A request whose body arrived slowly may use outdated rules. The update for the new rules does not find this
        // view, so nobody may continue to see it.
        let is_over = snapshot.regime < context.state.current.load().regime;
        if cells.len() >= MAX_VIEWS {
            self.recent.store(None);
            cells.retain(|_, cell| Arc::strong_count(cell) > 1);
        }
        // Under the lock, an update for a new configuration either finds this view or has already run.
        let basis = context.state.basis(*profile, caller.as_ref());
        let guard = snapshot.guard(*profile, class);
        let like = |cell: &&Arc<ViewCell>| cell.shows_the_same(&key, &basis);
        let is_current = |built: &Prebuilt| {
            built.changes == self.changes.load(Ordering::SeqCst) && built.basis.is_like(&basis)
        };
        // Clients that can answer different kinds of questions nearly always see the same items.
        let view = match (cells.values().find(like), prebuilt.filter(is_current)) {
            (Some(cell), _) => cell.view(),
            (None, Some(built)) => built.view,
            (None, None) => {
                let beside = cells.values().find(|cell| cell.profile == *profile).map(|cell| cell.view());
                let schema_bytes = snapshot.limits.schema_bytes;
                Arc::new(basis.build(*clients, guard.as_ref(), schema_bytes, beside.as_deref()))
            }
        };
        let is_first = !cells.values().any(|cell| cell.profile == *profile);
        log_notes(&basis.profile.slug, view.notes().iter().filter(|_| is_first));
        let cell = Arc::new(ViewCell {
            profile: *profile,
            clients: *clients,
            class: class.clone(),
            caller: caller.clone(),
            regime: snapshot.regime,
            guard,
            basis: ArcSwap::from_pointee(basis),
            building: self.building.clone(),
            view: ArcSwap::new(view),
            revision: watch::Sender::new(Revision::default()),
            page_use: PageUse::new(),
            retired: Stop::new(),
        });
        if is_over {
            cell.retired.stop();
        } else {
            cells.insert(key, cell.clone());
        }
        cell
    }

    /// Rebuilds all views from the current configuration. Views that were made under other rules are retired.
    pub(crate) fn follow(&self, context: &Arc<ViewContext>) {
        self.whole.clear();
        let regime = context.egress.snapshot().regime;
        let (cells, old): (Vec<_>, Vec<_>) = {
            let mut cells = self.cells.lock();
            self.recent.store(None);
            let old = cells.extract_if(|key, _| key.0 != regime).map(|(_, cell)| cell).collect();
            (cells.values().cloned().collect(), old)
        };
        for cell in cells {
            cell.follow(context);
            if cell.retired.is_stopped() {
                self.cells.lock().retain(|_, other| !Arc::ptr_eq(other, &cell));
            }
        }
        for cell in old {
            cell.retired.stop();
        }
    }

    /// Separates callers at this server from now on: callers that shared a view get their own views.
    pub(crate) fn part(&self, context: &Arc<ViewContext>, upstream: UpstreamId) {
        self.whole.clear();
        self.recent.store(None);
        let has = |cell: &ViewCell| cell.basis.load().profile.upstreams.contains(&upstream);
        let (old, own): (Vec<_>, Vec<_>) = {
            let mut cells = self.cells.lock();
            let old = cells
                .extract_if(|_, cell| cell.caller.is_none() && has(cell))
                .map(|(_, cell)| cell)
                .collect();
            (old, cells.values().filter(|cell| has(cell)).cloned().collect())
        };
        for cell in own {
            cell.follow(context);
        }
        for cell in old {
            cell.retired.stop();
        }
    }

    /// Forgets the views that contain a per-caller server, and then runs `also` before another view can be made.
    /// Does nothing if one of the views is in use.
    pub(crate) fn let_go<T>(&self, server: &Server, also: impl FnOnce() -> T) -> Option<T> {
        self.recent.store(None);
        let mut cells = self.cells.lock();
        if cells.values().any(|cell| cell.has(server) && Arc::strong_count(cell) > 1) {
            return None;
        }
        cells.retain(|_, cell| !cell.has(server));
        Some(also())
    }

    /// Returns the views that an upstream is part of.
    pub(crate) fn with(&self, server: &Server) -> Vec<Arc<ViewCell>> {
        self.cells.lock().values().filter(|cell| cell.has(server)).cloned().collect()
    }

    /// Returns the views that any of these servers is part of.
    pub(super) fn with_any(&self, servers: &[Arc<Server>]) -> Vec<Arc<ViewCell>> {
        let has_any = |cell: &&Arc<ViewCell>| servers.iter().any(|server| cell.has(server));
        self.cells.lock().values().filter(has_any).cloned().collect()
    }

    /// Records that a server's catalogue has changed. Changes to several servers are processed together.
    pub(super) fn note_change(&self, server: &Arc<Server>) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        let mut outdated = self.outdated.lock();
        if !outdated.iter().any(|other| Arc::ptr_eq(other, server)) {
            outdated.push(server.clone());
        }
    }

    /// Takes the servers whose catalogues have changed since the last call; `building` must be held.
    pub(super) fn take_changes(&self) -> Vec<Arc<Server>> {
        std::mem::take(&mut *self.outdated.lock())
    }

    /// Returns a view of a profile, for any clients.
    pub(super) fn any_of(&self, profile: usize) -> Option<Arc<View>> {
        self.cells.lock().values().find(|cell| cell.profile == profile).map(|cell| cell.view())
    }

    /// Records that a large view is being built, or a large page sent. Afterwards, the allocator still holds
    /// several times the size of that view or page.
    pub(crate) fn note_large(&self) {
        self.had_large.store(true, Ordering::Relaxed);
    }

    /// Returns true if a large view was built, or a large page sent, since the last call.
    pub(crate) fn had_large(&self) -> bool {
        self.had_large.swap(false, Ordering::Relaxed)
    }
}

/// Begins to fetch the lists that a view lacks, and waits for them up to the limit for clients.
async fn wait_for(context: &Arc<ViewContext>, looking: &ViewSelector) {
    let basis = context.state.basis(looking.profile, looking.caller.as_ref());
    let era = looking.clients.era;
    let is_due = |upstream: &Upstream| upstream.catalogue.is_due(era);
    let patience = |upstream: &Upstream| context.state.list_wait(context.egress.snapshot(), &upstream.server);
    basis.wait_for(&context.egress, era, is_due, patience).await;
}
