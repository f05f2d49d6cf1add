//! The receivers of changed catalogues: views, and through them, sessions and notification streams. This module
//! must not know how lists are fetched.

use std::collections::HashMap;
use std::sync::Arc;

use engine::Snapshot;
use engine::catalogue::View;
use proto::mcp::Notice;
use upstream::egress::{Announcement, Updating};
use upstream::{Audience, Server};

use super::context::ViewState;
use super::view_cell::ViewCell;
use super::views::Key;

impl ViewState {
    /// Rebuilds all views that contain servers with changed catalogues, and only then notifies the views' clients.
    /// A notified client therefore never sees old lists, in any view.
    fn update(&self, schema_bytes: usize) {
        let observer = self.observer();
        let _one = self.views.building.lock();
        let changed = self.views.take_changes();
        // Clients that can answer different kinds of questions nearly always see the same lists.
        let mut built: HashMap<Key, Arc<View>> = HashMap::new();
        let mut told: Vec<(Arc<ViewCell>, Vec<Notice>)> = Vec::new();
        for cell in self.views.with_any(&changed) {
            let key = cell.deciding_key();
            // Equal parts are shared with a view of the same profile that was built just now, or else with the previous
            // view.
            let beside = built.iter().find(|(other, _)| other.1 == key.1).map(|(_, view)| view.clone());
            let new = || Arc::new(cell.built(schema_bytes, &beside.unwrap_or_else(|| cell.view())));
            let view = built.entry(key).or_insert_with(new).clone();
            let view = if cell.view().has_pages() { view } else { Arc::new(view.without_pages()) };
            let lists = cell.publish(view);
            told.push((cell, lists));
        }
        self.count_kept();
        for (cell, lists) in told {
            cell.tell(observer.as_deref(), &lists);
        }
    }
}

impl Audience for ViewState {
    fn catalogue_changed(self: Arc<Self>, snapshot: &Snapshot, server: &Arc<Server>) -> Updating {
        let schema_bytes = snapshot.limits.schema_bytes;
        self.views.note_change(server);
        // A thread with connections must not wait for views that are being built.
        let is_busy = self.views.building.is_locked();
        if !is_busy && !self.views.with(server).iter().any(|cell| cell.is_large()) {
            self.update(schema_bytes);
            return Updating::done();
        }
        self.views.note_large();
        Updating::on_the_blocking_pool(move || self.update(schema_bytes))
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
