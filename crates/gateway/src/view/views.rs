//! The views that clients see: found, or made at first use.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use engine::access::Class;
use engine::catalogue::UpstreamId;
use parking_lot::Mutex;
use tokio::sync::watch;
use transport::net::Stop;

use crate::admission::identity::Identity;
use crate::view::revision::Revision;
use crate::view::view_cell::{Basis, ViewCell};
use crate::view::{ClientClass, ViewContext};
use upstream::catalogue::Learner;
use upstream::oauth::CallerId;
use upstream::{Server, Upstream};

/// The number of views that are kept, beyond those in use.
const MAX_VIEWS: usize = 256;

/// The key of a view: the regime, the profile, the class of clients, their access class, and the caller where it matters.
pub(super) type Key = (u64, usize, ClientClass, Class, Option<Arc<str>>);

/// A client that looks at a profile.
struct Looking {
    profile: usize,
    clients: ClientClass,
    class: Class,
    caller: Option<CallerId>,
}

impl Looking {
    fn now(context: &Arc<ViewContext>, profile: usize, clients: ClientClass, identity: &Identity) -> Self {
        let (class, caller) =
            (identity.class(context.egress.snapshot()), context.state.sees_alone(profile, identity));
        Self { profile, clients, class, caller }
    }

    fn key(&self, regime: u64) -> Key {
        let caller = self.caller.as_ref().map(|caller| caller.id.clone());
        (regime, self.profile, self.clients, self.class.clone(), caller)
    }
}

/// All views in use.
#[derive(Default)]
pub(crate) struct Views {
    /// The view of the latest request: nearly all requests want the same.
    recent: ArcSwapOption<ViewCell>,
    cells: Mutex<HashMap<Key, Arc<ViewCell>>>,
    /// Held while views are built.
    pub(super) building: Arc<Mutex<()>>,
}

impl Views {
    /// The view of a profile for a class of clients. Lists that are not known yet are fetched. They are waited for, for as long
    /// as `limits.listWait`, when the view is new or has nothing to offer; but not those of servers that kept a client waiting
    /// in vain a moment ago. In a view that is in use, servers that are missing hold up nobody and join when they are ready.
    /// `learner` is the client's way to learn what a server shows only to clients that can be asked.
    pub(crate) async fn get(
        &self,
        context: &Arc<ViewContext>,
        profile: usize,
        clients: ClientClass,
        identity: &Identity,
        learner: impl Fn(&Arc<Upstream>) -> Option<Learner>,
    ) -> Arc<ViewCell> {
        let looking = Looking::now(context, profile, clients, identity);
        if let Some(cell) = self.known(context, &looking)
            && (cell.view().is_served() || !cell.is_due())
        {
            cell.fetch_due(context);
            if clients.askable.is_nothing() || !cell.learn(context, &learner) {
                return cell;
            }
        } else {
            wait_for(context, &looking).await;
            // One that wants consent may have said so only now.
            let then = Looking::now(context, profile, clients, identity);
            if then.caller != looking.caller {
                wait_for(context, &then).await;
            }
        }
        let cell = self.insert(context, &Looking::now(context, profile, clients, identity));
        if clients.askable.is_nothing() || !cell.learn(context, &learner) {
            return cell;
        }
        cell.learned(context).await;
        cell
    }

    /// The same without waiting for servers: unknown catalogues are fetched in the background.
    pub(crate) fn get_now(
        &self,
        context: &Arc<ViewContext>,
        profile: usize,
        clients: ClientClass,
        identity: &Identity,
    ) -> Arc<ViewCell> {
        let looking = Looking::now(context, profile, clients, identity);
        let cell = self.known(context, &looking).unwrap_or_else(|| self.insert(context, &looking));
        cell.fetch_due(context);
        cell
    }

    /// Checks if this caller sees the tool in any known view; `None` if no known view has any tool.
    pub(crate) fn show(
        &self,
        context: &Arc<ViewContext>,
        profile: usize,
        identity: &Identity,
        tool: &str,
    ) -> Option<bool> {
        let snapshot = context.egress.snapshot();
        let (class, caller) = (identity.class(snapshot), context.state.sees_alone(profile, identity));
        let is_own = |cell: &ViewCell| {
            cell.profile == profile
                && cell.regime == snapshot.regime
                && cell.class == class
                && cell.caller == caller
                && cell.view().is_served()
        };
        let has = |cell: &ViewCell| cell.view().tool(tool).is_some();
        if self.recent.load().as_ref().is_some_and(|cell| is_own(cell) && has(cell)) {
            return Some(true);
        }
        let cells = self.cells.lock();
        let mut own = cells.values().filter(|cell| is_own(cell)).peekable();
        own.peek()?;
        Some(own.any(|cell| has(cell)))
    }

    fn known(&self, context: &Arc<ViewContext>, looking: &Looking) -> Option<Arc<ViewCell>> {
        let Looking { profile, clients, class, caller } = looking;
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

    fn insert(&self, context: &Arc<ViewContext>, looking: &Looking) -> Arc<ViewCell> {
        let Looking { profile, clients, class, caller } = looking;
        let snapshot = context.egress.snapshot();
        let key = looking.key(snapshot.regime);
        let mut cells = self.cells.lock();
        if let Some(cell) = cells.get(&key) {
            return cell.clone();
        }
        // A request whose body came slowly may ask under rules of before: those who followed the change do not meet this
        // view, so nobody may go on seeing it.
        let is_over = snapshot.regime < context.state.current.load().regime;
        if cells.len() >= MAX_VIEWS {
            self.recent.store(None);
            cells.retain(|_, cell| Arc::strong_count(cell) > 1);
        }
        // Looked up under the lock: who follows a change of the configuration meets this one, or came before.
        let basis = Basis::now(context, *profile, caller.as_ref());
        let guard = snapshot.guard(*profile, class);
        let decided = basis.deciding(*clients);
        let like = |cell: &&Arc<ViewCell>| {
            let (_, its_profile, its_clients, its_class, its_owner) = cell.key();
            (its_profile, its_class, its_owner) == (key.1, key.3.clone(), key.4.clone())
                && cell.regime == key.0
                && (its_clients.era, its_clients.keeps_ids) == (clients.era, clients.keeps_ids)
                && cell.basis.load().is_like(&basis)
                && cell.deciding_key().2 == decided
        };
        // Clients that can be asked other things are nearly always shown the same.
        let view = match cells.values().find(like) {
            Some(cell) => cell.view(),
            None => Arc::new(basis.build(*clients, guard.as_ref(), snapshot.limits.schema_bytes)),
        };
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

    /// Separates callers at this server from now on: a caller that shared a view gets one of its own.
    pub(crate) fn part(&self, context: &Arc<ViewContext>, upstream: UpstreamId) {
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

    /// Forgets the views that contain one caller's own server, unless one of them is in use; then does `also` before
    /// another view can be made.
    pub(crate) fn let_go<T>(&self, server: &Server, also: impl FnOnce() -> T) -> Option<T> {
        self.recent.store(None);
        let mut cells = self.cells.lock();
        if cells.values().any(|cell| cell.has(server) && Arc::strong_count(cell) > 1) {
            return None;
        }
        cells.retain(|_, cell| !cell.has(server));
        Some(also())
    }

    /// The views that an upstream is part of.
    pub(crate) fn with(&self, server: &Server) -> Vec<Arc<ViewCell>> {
        self.cells.lock().values().filter(|cell| cell.has(server)).cloned().collect()
    }
}

/// Begins to fetch what a view lacks, and waits for it as long as a client can be kept waiting.
async fn wait_for(context: &Arc<ViewContext>, looking: &Looking) {
    let basis = Basis::now(context, looking.profile, looking.caller.as_ref());
    let era = looking.clients.era;
    let is_due = |upstream: &Upstream| upstream.catalogue.is_due(era);
    let patience = |upstream: &Upstream| context.state.list_wait(context.egress.snapshot(), &upstream.server);
    basis.wait_for(context, era, is_due, patience).await;
}
