//! The links to one server that are no session's own: those that clients of a kind share, and those that calls have for
//! themselves. It must not know what is heard there.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use parking_lot::Mutex;

use super::lease::Leases;
use super::link_cell::{LinkCell, LinkListener};
use crate::egress::Egress;
use crate::link::{LinkUser, OpenLink, Wire};
use crate::parting;
use crate::server::{Kind, Server};

/// The number of shared links that are kept, beyond those in use.
const MAX_SHARED: usize = 64;

/// The links to one server.
pub struct Links {
    server: Arc<Server>,
    /// Who is told of each that opens.
    listener: Weak<dyn LinkListener>,
    /// Those that calls have for themselves, while nobody does.
    pub leases: Leases,
    /// The shared link that was asked for last: nearly all requests ask for the same.
    recent: ArcSwapOption<(Kind, Arc<LinkCell>)>,
    shared: Mutex<HashMap<Kind, Arc<LinkCell>>>,
    /// Those that one call at a time has for itself.
    leased: Mutex<Vec<Weak<LinkCell>>>,
}

impl Links {
    /// None yet.
    pub fn new(server: Arc<Server>, listener: Weak<dyn LinkListener>) -> Self {
        Self {
            leases: Leases::new(server.is_child()),
            server,
            listener,
            recent: ArcSwapOption::empty(),
            shared: Mutex::default(),
            leased: Mutex::default(),
        }
    }

    /// Where they lead.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    fn cell(&self, kind: Kind, params: Bytes, session: Option<Weak<dyn LinkUser>>) -> LinkCell {
        LinkCell::new((self.server.clone(), self.listener.clone()), kind, params, session)
    }

    /// The link that clients of this kind share.
    pub fn shared_link(&self, kind: &Kind) -> Arc<LinkCell> {
        let kind = self.server.link_kind(kind);
        if let Some(recent) = self.recent.load().as_ref().filter(|recent| recent.0 == kind) {
            return recent.1.clone();
        }
        let new = || Arc::new(self.cell(kind.clone(), kind.own_hello(), None));
        let cell = self.shared.lock().entry(kind.clone()).or_insert_with(new).clone();
        self.recent.store(Some(Arc::new((kind, cell.clone()))));
        cell
    }

    /// The link that clients of this kind share, if there is one.
    pub fn known_shared_link(&self, kind: &Kind) -> Option<Arc<LinkCell>> {
        self.shared.lock().get(kind).cloned()
    }

    /// A link for calls that have it for themselves, one after the other.
    pub(super) fn leased_link(&self, kind: &Kind) -> Arc<LinkCell> {
        let cell = Arc::new(self.cell(kind.clone(), kind.own_hello(), None).leased());
        let mut leased = self.leased.lock();
        leased.retain(|cell| cell.strong_count() > 0);
        leased.push(Arc::downgrade(&cell));
        cell
    }

    /// A link for one session alone; `params` are the client's own of `initialize`.
    pub fn own_link(&self, kind: &Kind, params: Bytes, session: Weak<dyn LinkUser>) -> Arc<LinkCell> {
        Arc::new(self.cell(kind.clone(), params, Some(session)))
    }

    /// All links that are not some session's own.
    pub fn cells(&self) -> Vec<Arc<LinkCell>> {
        let mut cells: Vec<_> = self.shared.lock().values().cloned().collect();
        cells.extend(self.leased.lock().iter().filter_map(Weak::upgrade));
        cells
    }

    /// The sessions whose calls go over these links.
    pub fn users(&self) -> Vec<Arc<dyn LinkUser>> {
        self.cells().iter().filter_map(|cell| cell.current()).flat_map(|link| link.users()).collect()
    }

    /// Lets go of shared children and of sessions at the server that nobody has used for so long; they start again when
    /// somebody does. Not of links without which somebody would hear no more of changes.
    pub fn rest_idle(&self, egress: &Egress, after: Duration, is_heard: impl Fn(&Kind, &OpenLink) -> bool) {
        let cells: Vec<(Kind, Arc<LinkCell>)> =
            self.shared.lock().iter().map(|(kind, cell)| (kind.clone(), cell.clone())).collect();
        for (kind, cell) in cells {
            let Some(link) = cell.current() else { continue };
            let rests = match &link.wire {
                Wire::Pipe(_) => "a child rests",
                Wire::Http(_) if link.era.has_sessions() => "a session there ends",
                _ => continue,
            };
            if link.idle() > after && !link.is_used() && !is_heard(&kind, &link) {
                tracing::info!(server = %self.server.name(), "{rests}: nobody used it for {after:?}");
                let egress = egress.clone();
                parting::beside(async move { cell.rest(&egress).await });
            }
        }
        for cell in self.leases.shed(after) {
            let egress = egress.clone();
            parting::beside(async move {
                cell.retire();
                cell.close(&egress).await;
            });
        }
    }

    /// Lets go of shared links whose kind of client is gone, when there are many.
    pub fn shed(&self, egress: &Egress) {
        let mut links = self.shared.lock();
        if links.len() <= MAX_SHARED {
            return;
        }
        self.recent.store(None);
        let unused = |kind: &Kind, cell: &mut Arc<LinkCell>| !kind.is_plain() && Arc::strong_count(cell) == 1;
        for (_, cell) in links.extract_if(unused) {
            cell.retire();
            let egress = egress.clone();
            parting::beside(async move { cell.close(&egress).await });
        }
    }

    /// Forgets them once all are closed.
    pub fn forget_all(&self) {
        self.recent.store(None);
        self.shared.lock().clear();
        self.leases.shed(Duration::ZERO);
    }
}
