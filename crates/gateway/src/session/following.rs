//! The effect of a new configuration on a session: its view, and the servers that it can reach. This module must not
//! know what was changed.

use std::sync::Arc;

use engine::catalogue::{UpstreamId, View};
use upstream::pool::LinkCell;

use super::changed::notify_changed;
use super::context::SessionContext;
use super::followed::Followed;
use super::replaced::ReloadedServer;
use super::session::Session;
use crate::view::ViewCell;

impl Session {
    /// Calls [`Session::follow`] if the session's view was made under rules that are no longer in force.
    pub(crate) fn keep_up(self: &Arc<Self>, context: &Arc<SessionContext>) {
        let regime = context.egress.snapshot().regime;
        if self.is_outdated(regime) {
            self.follow(context);
        }
    }

    /// Switches to the view under the current rules, and notifies the client of the differences.
    pub(crate) fn follow(self: &Arc<Self>, context: &Arc<SessionContext>) {
        let snapshot = context.egress.snapshot();
        let is_over = |old: &Arc<ViewCell>| old.regime < snapshot.regime || old.retired.is_stopped();
        let Some(old) = self.view().filter(is_over) else { return };
        let views = &context.view.state.views;
        let new = views.get_now(&context.view, self.profile, self.client.class(), &self.identity);
        self.show(new.clone());
        let view = new.view();
        let is_changed = |one: &Followed| {
            ReloadedServer::of(context, self.profile, &one.upstream) == ReloadedServer::Replaced
        };
        self.interests.subscriptions.lock().retain(|uri, one| is_changed(one) || is_same(&view, uri, one));
        for notice in new.differs(&old) {
            notify_changed(self, notice);
        }
    }
}

/// Returns true if the client still sees a resource, and the resource still belongs to the same server.
fn is_same(view: &View, uri: &str, one: &Followed) -> bool {
    view.located(uri).is_some_and(|(server, own)| one.is_at(server) && one.own(uri) == own)
}

impl Session {
    /// Stops using the link to an upstream.
    pub(crate) fn leave(&self, upstream: UpstreamId) {
        self.links.used.lock().remove(&upstream);
    }

    /// Returns the session's dedicated link to an upstream, if it has one.
    pub(crate) fn own_cell(&self, upstream: UpstreamId) -> Option<Arc<LinkCell>> {
        self.links.used.lock().get(&upstream).map(|used| used.cell.clone()).filter(|cell| cell.is_own())
    }
}
