//! Which messages of servers' logs a session wants, and how servers are told.

use std::sync::Arc;

use bytes::Bytes;
use engine::config::Affinity;
use proto::rpc::Frame;
use upstream::link::OpenLink;
use upstream::link::requests::{is_log, passes, tell_level};
use upstream::pool::Lease;
use upstream::{Egress, Upstream};

use crate::gateway::session::session::Session;

impl Session {
    /// Returns true if an upstream has another log level on this link than the one that the client asked for.
    pub(crate) fn needs_level(&self, link: &OpenLink) -> bool {
        link.keeps_level && self.level().is_some_and(|level| !link.has_level(&level))
    }

    /// Tells an upstream the session's log level, unless somebody else's call runs on the same link: its messages would
    /// follow a level that is not its own.
    pub(crate) async fn tell_level(&self, egress: &Egress, link: &Arc<OpenLink>) {
        let Some(level) = self.level() else { return };
        if !link.own && link.calls.has_others(self.attribution) {
            let server = link.server.name();
            tracing::info!(%server, "a log level is not passed on: another client's call runs on the connection that both share");
            return;
        }
        if link.note_level(&level) {
            tell_level(egress, link, &level).await;
        }
    }

    /// A link of its own for a call of a session whose log level cannot be told on the link that it shares, where another
    /// can be opened.
    pub(crate) fn lease_for_level(
        &self,
        egress: &Egress,
        upstream: &Arc<Upstream>,
    ) -> Option<(Lease, Option<Bytes>)> {
        let level = self.level()?;
        let link = self.ready_link(upstream)?;
        let is_shared = !link.own && upstream.server.spec.affinity != Affinity::Shared;
        if !is_shared || !self.needs_level(&link) || !link.calls.has_others(self.attribution) {
            return None;
        }
        match Lease::take(egress, &upstream.links, self.kind.clone(), self.identity.holder()) {
            Ok(lease) => Some((lease, Some(level))),
            Err(full) => {
                let server = upstream.name();
                tracing::info!(%server, "a call cannot have its log level: {full} calls have a connection of their own");
                None
            }
        }
    }

    /// Returns true if a message is wanted: one for the log is not when it is below the level that the client asked
    /// for.
    pub(crate) fn wants(&self, message: &Frame) -> bool {
        let Some(wanted) = self.level() else { return true };
        !is_log(message) || passes(message, String::from_utf8_lossy(&wanted).trim_matches('"'))
    }
}
