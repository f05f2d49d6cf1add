//! What a change of the configuration changes for a session: what it sees, and which servers it reaches. It must not know what
//! was changed.

use std::sync::Arc;

use engine::catalogue::UpstreamId;
use upstream::Upstream;
use upstream::pool::LinkCell;

use super::changed::tell_changed;
use super::context::SessionContext;
use super::followed::Followed;
use super::remade::Fate;
use super::session::Session;
use crate::gateway::view::ViewCell;

impl Session {
    /// Does [`Session::follow`] where other rules are in force than those under which its view was made.
    pub(crate) fn keep_up(self: &Arc<Self>, context: &Arc<SessionContext>) {
        let regime = context.egress.snapshot.regime;
        if self.view.load().as_ref().is_some_and(|view| view.regime < regime) {
            self.follow(context);
        }
    }

    /// Sees what the rules of now let its client see, and tells the client what that changes.
    pub(crate) fn follow(self: &Arc<Self>, context: &Arc<SessionContext>) {
        let snapshot = &context.egress.snapshot;
        let is_over = |old: &Arc<ViewCell>| old.regime < snapshot.regime || old.retired.is_stopped();
        let Some(old) = self.view().filter(is_over) else { return };
        let link = |upstream: &Arc<Upstream>| self.list_link(&context.egress.snapshot, upstream);
        let new =
            context.view.state.views.get_now(&context.view, self.profile, &self.kind, &self.identity, link);
        self.view.store(Some(new.clone()));
        let view = new.view();
        let is_changed = |one: &Followed| Fate::of(context, self.profile, &one.upstream) == Fate::Changed;
        self.subscriptions.lock().retain(|uri, one| is_changed(one) || view.resource_owner(uri).is_some());
        for notice in new.differs(&old) {
            tell_changed(self, notice);
        }
    }
}

impl Session {
    /// Uses the link to an upstream no more.
    pub(crate) fn leave(&self, upstream: UpstreamId) {
        self.links.lock().remove(&upstream);
    }

    /// The link to an upstream, where it has one of its own.
    pub(crate) fn own_cell(&self, upstream: UpstreamId) -> Option<Arc<LinkCell>> {
        self.links.lock().get(&upstream).map(|used| used.cell.clone()).filter(|cell| cell.is_own())
    }
}
