//! Those who see what servers offer: views, and through them sessions and streams of notices. It must not know how lists are
//! fetched.

use std::sync::Arc;

use engine::Snapshot;
use proto::mcp::Notice;
use upstream::egress::Announcement;
use upstream::{Audience, Kind, Server};

use super::context::ViewState;

impl Audience for ViewState {
    fn offer_changed(&self, snapshot: &Snapshot, server: &Server, kind: &Kind) {
        for cell in self.views.with(server, kind) {
            cell.rebuild(self.observer().as_deref(), snapshot.limits.schema_bytes);
        }
    }

    fn before_change(&self, server: &Arc<Server>, kinds: &[Kind]) -> Announcement {
        let views: Vec<_> = kinds.iter().flat_map(|kind| self.views.with(server, kind)).collect();
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

    fn listens(&self, server: &Server, kinds: &[Kind], sessions: bool) -> bool {
        let mut views = kinds.iter().flat_map(|kind| self.views.with(server, kind));
        views
            .any(|view| view.is_watched() || (sessions && self.observer().is_some_and(|all| all.sees(&view))))
    }
}
