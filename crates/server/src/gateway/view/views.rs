//! The views that clients see: found for whoever looks, made when nobody has looked before.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use engine::access::Class;
use engine::catalogue::UpstreamId;
use parking_lot::Mutex;
use tokio::sync::watch;
use transport::net::Stop;

use crate::gateway::admission::identity::Identity;
use crate::gateway::view::ViewContext;
use crate::gateway::view::revision::Revision;
use crate::gateway::view::view_cell::{Basis, ViewCell};
use upstream::catalogue::OfferCell;
use upstream::oauth::Whose;
use upstream::pool::LinkCell;
use upstream::{Kind, Server, Upstream};

/// The number of views that are kept, beyond those in use.
const MAX_VIEWS: usize = 256;

/// By what views are told apart: the rules in force, profile, kind of client, which of the rules count for it, and who it is,
/// where that matters.
type Key = (u64, usize, Kind, Class, Option<Arc<str>>);

/// Who looks at a profile.
struct Looking<'a> {
    profile: usize,
    kind: &'a Kind,
    class: Class,
    whose: Option<Whose>,
}

impl<'a> Looking<'a> {
    fn now(context: &Arc<ViewContext>, profile: usize, kind: &'a Kind, identity: &Identity) -> Self {
        let (class, whose) =
            (identity.class(&context.egress.snapshot), context.state.sees_alone(profile, identity));
        Self { profile, kind, class, whose }
    }

    fn key(&self, regime: u64) -> Key {
        let whose = self.whose.as_ref().map(|whose| whose.id.clone());
        (regime, self.profile, self.kind.clone(), self.class.clone(), whose)
    }
}

/// All views in use.
#[derive(Default)]
pub(crate) struct Views {
    /// The one that was asked for last: nearly all requests ask for the same.
    recent: ArcSwapOption<ViewCell>,
    cells: Mutex<HashMap<Key, Arc<ViewCell>>>,
}

impl Views {
    /// The view of a profile for a kind of client. Offers that are not known yet are fetched over `link`. They are waited
    /// for, as long as a client can be kept waiting, when the view is new or has nothing to offer; but not for servers that
    /// kept a client waiting in vain a moment ago. In a view that is in use, servers that are missing hold up nobody and
    /// join when they are ready.
    pub(crate) async fn get(
        &self,
        context: &Arc<ViewContext>,
        profile: usize,
        kind: &Kind,
        identity: &Identity,
        link: impl Fn(&Arc<Upstream>) -> Arc<LinkCell>,
    ) -> Arc<ViewCell> {
        let looking = Looking::now(context, profile, kind, identity);
        if let Some(cell) = self.known(context, &looking) {
            if !cell.basis.load().offers.iter().any(|offer| offer.is_due()) {
                return cell;
            }
            if cell.view().is_served() {
                cell.retry_absent(context, link);
                return cell;
            }
        }
        wait_for(context, &looking, &link).await;
        // One that wants consent may have said so only now.
        let then = Looking::now(context, profile, kind, identity);
        if then.whose != looking.whose {
            wait_for(context, &then, &link).await;
        }
        self.insert(context, &then)
    }

    /// The same without waiting for servers: what is not known yet is fetched in the background.
    pub(crate) fn get_now(
        &self,
        context: &Arc<ViewContext>,
        profile: usize,
        kind: &Kind,
        identity: &Identity,
        link: impl Fn(&Arc<Upstream>) -> Arc<LinkCell>,
    ) -> Arc<ViewCell> {
        let looking = Looking::now(context, profile, kind, identity);
        let cell = self.known(context, &looking).unwrap_or_else(|| self.insert(context, &looking));
        cell.retry_absent(context, link);
        cell
    }

    /// Checks whether somebody sees this tool in any of the views that are known; `None` where none is that has
    /// anything.
    pub(crate) fn show(
        &self,
        context: &Arc<ViewContext>,
        profile: usize,
        identity: &Identity,
        tool: &str,
    ) -> Option<bool> {
        let snapshot = &context.egress.snapshot;
        let (class, whose) = (identity.class(snapshot), context.state.sees_alone(profile, identity));
        let is_own = |cell: &ViewCell| {
            cell.profile == profile
                && cell.regime == snapshot.regime
                && cell.class == class
                && cell.whose == whose
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

    fn known(&self, context: &Arc<ViewContext>, looking: &Looking<'_>) -> Option<Arc<ViewCell>> {
        let Looking { profile, kind, class, whose } = looking;
        let regime = context.egress.snapshot.regime;
        let recent = self.recent.load();
        let is_it = |cell: &&Arc<ViewCell>| {
            cell.profile == *profile
                && cell.regime == regime
                && cell.kind == **kind
                && cell.class == *class
                && cell.whose == *whose
        };
        if let Some(cell) = recent.as_ref().filter(is_it) {
            return Some(cell.clone());
        }
        let cell = self.cells.lock().get(&looking.key(regime)).cloned()?;
        self.recent.store(Some(cell.clone()));
        Some(cell)
    }

    fn insert(&self, context: &Arc<ViewContext>, looking: &Looking<'_>) -> Arc<ViewCell> {
        let Looking { profile, kind, class, whose } = looking;
        let snapshot = &context.egress.snapshot;
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
        let basis = Basis::now(context, *profile, kind, whose.as_ref());
        let guard = snapshot.guard(*profile, class);
        let view = basis.build(kind, guard.as_ref(), snapshot.limits.schema_bytes);
        let cell = Arc::new(ViewCell {
            profile: *profile,
            kind: (*kind).clone(),
            class: class.clone(),
            whose: whose.clone(),
            regime: snapshot.regime,
            guard,
            basis: ArcSwap::from_pointee(basis),
            building: Mutex::default(),
            view: ArcSwap::from_pointee(view),
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

    /// Makes all views of what is configured now. Those that were made under other rules are seen by nobody any more.
    pub(crate) fn follow(&self, context: &Arc<ViewContext>) {
        let regime = context.egress.snapshot.regime;
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

    /// Callers are apart at this server from now on: who has seen it with others sees a view of its own.
    pub(crate) fn part(&self, context: &Arc<ViewContext>, upstream: UpstreamId) {
        self.recent.store(None);
        let has = |cell: &ViewCell| cell.basis.load().profile.upstreams.contains(&upstream);
        let (old, own): (Vec<_>, Vec<_>) = {
            let mut cells = self.cells.lock();
            let old =
                cells.extract_if(|_, cell| cell.whose.is_none() && has(cell)).map(|(_, cell)| cell).collect();
            (old, cells.values().filter(|cell| has(cell)).cloned().collect())
        };
        for cell in own {
            cell.follow(context);
        }
        for cell in old {
            cell.retired.stop();
        }
    }

    /// Forgets the views that one caller's own server is part of, unless one of them is in use; then `also` is done, before
    /// anybody can make another.
    pub(crate) fn let_go<T>(&self, server: &Server, also: impl FnOnce() -> T) -> Option<T> {
        self.recent.store(None);
        let mut cells = self.cells.lock();
        if cells.values().any(|cell| cell.has(server) && Arc::strong_count(cell) > 1) {
            return None;
        }
        cells.retain(|_, cell| !cell.has(server));
        Some(also())
    }

    /// The views that an upstream is part of, for this kind of client.
    pub(crate) fn with(&self, server: &Server, kind: &Kind) -> Vec<Arc<ViewCell>> {
        let cells = self.cells.lock();
        let has = |cell: &&Arc<ViewCell>| cell.has(server);
        cells.values().filter(|cell| cell.kind == *kind).filter(has).cloned().collect()
    }
}

/// Begins to fetch what a view lacks, and waits for it as long as a client can be kept waiting.
async fn wait_for(
    context: &Arc<ViewContext>,
    looking: &Looking<'_>,
    link: &impl Fn(&Arc<Upstream>) -> Arc<LinkCell>,
) {
    let basis = Basis::now(context, looking.profile, looking.kind, looking.whose.as_ref());
    basis.wait_for(context, link, OfferCell::is_due, context.egress.snapshot.limits.list_wait).await;
}
