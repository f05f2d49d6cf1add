//! The receivers of changed catalogues: views, and through them sessions and streams of notices. It must not know how lists
//! are fetched.

use std::collections::HashMap;
use std::sync::Arc;

use engine::Snapshot;
use engine::catalogue::View;
use proto::mcp::Notice;
use upstream::egress::Announcement;
use upstream::{Audience, Server};

use super::context::ViewState;
use super::view_cell::ViewCell;
use super::views::Key;

impl Audience for ViewState {
    fn catalogue_changed(&self, snapshot: &Snapshot, server: &Server) {
        let observer = self.observer();
        // Clients that can be asked other things are nearly always shown the same.
        let _one = self.views.building.lock();
        let mut built: HashMap<Key, Arc<View>> = HashMap::new();
        for cell in self.views.with(server) {
            let new = || Arc::new(cell.built(snapshot.limits.schema_bytes));
            let view = built.entry(cell.deciding_key()).or_insert_with(new).clone();
            cell.show(observer.as_deref(), view);
        }
    }

    fn before_change(&self, server: &Arc<Server>) -> Announcement {
        let views = self.views.with(server);
        let before: Vec<_> = views.iter().map(|view| *view.watch().borrow()).collect();
        let (server, observer) = (server.spec.id, self.observer());
        Box::new(move |lists: &[Notice]| {
            for (view, before) in views.iter().zip(before) {
                let now = *view.watch().borrow();
                for list in lists.iter().filter(|list| !now.since(before).any(|told| told == **list)) {
                    view.announce(observer.as_deref(), server, *list);
                }
            }
        })
    }

    fn listens(&self, server: &Server, sessions: bool) -> bool {
        let is_seen = |view: &ViewCell| sessions && self.observer().is_some_and(|all| all.sees(view));
        self.views.with(server).iter().any(|view| view.is_watched() || is_seen(view))
    }
}
