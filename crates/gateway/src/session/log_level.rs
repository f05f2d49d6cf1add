//! The log messages that a session's client requested, and the log level that is sent to servers.

use std::sync::Arc;

use bytes::Bytes;
use config::QuestionPolicy;
use proto::rpc::Frame;
use upstream::link::OpenLink;
use upstream::link::requests::{is_log, passes, send_level};
use upstream::pool::DedicatedLink;
use upstream::{Egress, Upstream};

use crate::session::session::Session;

impl Session {
    /// Returns true if the upstream's log level on this link differs from the level that the client requested.
    pub(crate) fn needs_level(&self, link: &OpenLink) -> bool {
        link.announced.keeps_level && self.level().is_some_and(|level| !link.announced.has_level(&level))
    }

    /// Sends the session's log level to an upstream, unless another client's call is running on the same link: that
    /// call would get the wrong level.
    pub(crate) async fn send_level(&self, egress: &Egress, link: &Arc<OpenLink>) {
        let Some(level) = self.level() else { return };
        if !link.own && link.calls.has_others(self.links.attribution) {
            let server = link.server.name();
            tracing::info!(%server, "did not pass on a log level, because another client's call is running on the shared \
                                     connection");
            return;
        }
        if link.announced.note_level(&level) {
            send_level(egress, link, &level).await;
        }
    }

    /// Returns a dedicated link for a call, and the level to set on it, if the session's log level cannot be set on
    /// the shared link and another link can be opened.
    pub(crate) fn link_for_level(
        &self,
        egress: &Egress,
        upstream: &Arc<Upstream>,
    ) -> Option<(DedicatedLink, Option<Bytes>)> {
        let level = self.level()?;
        let link = self.ready_link(upstream)?;
        let may_have_another =
            upstream.server.spec.asks != QuestionPolicy::Never && !upstream.server.spec.is_single();
        let is_shared = !link.own && may_have_another;
        if !is_shared || !self.needs_level(&link) || !link.calls.has_others(self.links.attribution) {
            return None;
        }
        match DedicatedLink::take(egress, &upstream.links, &self.client.key, self.identity.holder()) {
            Ok(dedicated) => Some((dedicated, Some(level))),
            Err(full) => {
                let server = upstream.name();
                tracing::info!(%server, "cannot set the log level of a call: {full} calls already use dedicated connections or wait for one");
                None
            }
        }
    }

    /// Returns true unless the message is a log message below the level that the client requested.
    pub(crate) fn wants(&self, message: &Frame) -> bool {
        let Some(wanted) = self.level() else { return true };
        !is_log(message) || passes(message, String::from_utf8_lossy(&wanted).trim_matches('"'))
    }
}
