//! Requests of the gateway's own that change what an upstream keeps for a session, and which messages of its log the session
//! then wants.

use std::sync::Arc;

use bytes::Bytes;
use engine::config::Affinity;
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, Kind as FrameKind};

use super::Shard;
use super::lease::Lease;
use super::link::OpenLink;
use super::session::Session;
use super::upstream::{Upstream, own_request};

/// Tells an upstream the log level of a session, in the words of its era.
pub(super) async fn tell_level(shard: &Shard, link: &Arc<OpenLink>, level: &Bytes) {
    let level = proto::bridge::level(level, link.era);
    request(shard, link, Method::SetLevel, &format!("\"level\":{level}")).await;
}

/// A request of the session's own; `false` when it is answered by an error. Whatever else goes wrong matters only to the log.
pub(super) async fn request(shard: &Shard, link: &Arc<OpenLink>, method: Method, params: &str) -> bool {
    let key = shard.gateway.next_key();
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{}\",\"params\":{{{params}}}}}",
        method.name()
    );
    let outbound = own_request(&link.upstream, link.era, key, Bytes::from(body), method);
    let answer = link.ask(&shard.client, outbound, shard.gateway.frame_limits());
    let patience = shard.gateway.snapshot.limits.connect_timeout;
    match tokio::time::timeout(patience, answer).await {
        Ok(Ok(answer)) => return answer.kind() != FrameKind::Error,
        Ok(Err(e)) => {
            tracing::debug!(server = %link.upstream.name(), "{}: {}", method.name(), link.upstream.told(&e));
        }
        Err(_) => tracing::debug!(server = %link.upstream.name(), "{}: no answer", method.name()),
    }
    true
}

/// A request of the gateway's own that stays open for long. Its upstream is told when nobody waits any more.
pub(super) struct OpenRequest {
    shard: Shard,
    link: Arc<OpenLink>,
    /// The request's id.
    key: u64,
    is_answered: bool,
}

impl OpenRequest {
    pub(super) fn new(shard: &Shard, link: &Arc<OpenLink>, key: u64) -> Self {
        Self { shard: shard.clone(), link: link.clone(), key, is_answered: false }
    }

    /// Its answer has come: nobody has to be told.
    pub(super) fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if self.is_answered || !self.link.hears_cancellation() || !self.link.is_alive() {
            return;
        }
        let (shard, link, key) = (self.shard.clone(), self.link.clone(), self.key);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let params = format!("\"requestId\":{key}");
                let text = proto::era::notice(Notice::Cancelled.name(), params.as_bytes());
                // An upstream that is gone works on nothing any more.
                let _ = link.notify(&shard.client, text).await;
            });
        }
    }
}

/// Whether a notification is a log message.
pub(super) fn is_log(message: &Frame) -> bool {
    Notice::from_name(&message.method()) == Some(Notice::Message)
}

/// Whether a log message is at least of this level.
pub(super) fn passes(message: &Frame, wanted: &str) -> bool {
    const LEVELS: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    let rank = |level: &str| LEVELS.iter().position(|l| *l == level).unwrap_or(LEVELS.len());
    let level = message.param("level").ok().flatten().and_then(|span| message.string(span));
    level.is_none_or(|level| rank(&level) >= rank(wanted))
}

impl Session {
    /// Whether an upstream has another log level on this link than the one that the client asked for.
    pub(super) fn needs_level(&self, link: &OpenLink) -> bool {
        link.keeps_level && self.level().is_some_and(|level| !link.has_level(&level))
    }

    /// Tells an upstream the session's log level, unless somebody else's call runs on the same link: its messages would
    /// follow a level that is not its own.
    pub(super) async fn tell_level(&self, shard: &Shard, link: &Arc<OpenLink>) {
        let Some(level) = self.level() else { return };
        if !link.own && link.calls.has_others(self.attribution) {
            let server = link.upstream.name();
            tracing::info!(%server, "a log level is not passed on: another client's call runs on the connection that both share");
            return;
        }
        if link.note_level(&level) {
            tell_level(shard, link, &level).await;
        }
    }

    /// A link of its own for a call of a session whose log level cannot be told on the link that it shares, where another
    /// can be opened.
    pub(super) fn lease_for_level(
        &self,
        shard: &Shard,
        upstream: &Arc<Upstream>,
    ) -> Option<(Lease, Option<Bytes>)> {
        let level = self.level()?;
        let link = self.ready_link(upstream)?;
        let is_shared = !link.own && upstream.spec.affinity != Affinity::Shared;
        if !is_shared || !self.needs_level(&link) || !link.calls.has_others(self.attribution) {
            return None;
        }
        match Lease::take(shard, upstream, self.kind.clone(), &self.identity) {
            Ok(lease) => Some((lease, Some(level))),
            Err(full) => {
                let server = upstream.name();
                tracing::info!(%server, "a call cannot have its log level: {full} calls have a connection of their own");
                None
            }
        }
    }

    /// Whether a message is wanted: one for the log is not when it is below the level that the client asked for.
    pub(crate) fn wants(&self, message: &Frame) -> bool {
        let Some(wanted) = self.level() else { return true };
        !is_log(message) || passes(message, String::from_utf8_lossy(&wanted).trim_matches('"'))
    }
}
