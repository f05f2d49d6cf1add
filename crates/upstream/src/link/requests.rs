//! The gateway's own requests, which change the state that a server keeps for a link. This module must not know for
//! whom they are sent.

use std::sync::Arc;

use bytes::Bytes;
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, FrameKind};

use super::open_link::OpenLink;
use crate::egress::Egress;

/// Sends a session's log level to an upstream, in the form that the upstream's protocol version uses.
pub async fn send_level(egress: &Egress, link: &Arc<OpenLink>, level: &Bytes) {
    let level = proto::bridge::level(level, link.era);
    request(egress, link, Method::SetLevel, &format!("\"level\":{level}")).await;
}

/// Sends a request on behalf of a session; returns `false` if the server answers with an error. Other failures are only
/// logged.
pub async fn request(egress: &Egress, link: &Arc<OpenLink>, method: Method, params: &str) -> bool {
    let key = egress.next_key();
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{}\",\"params\":{{{params}}}}}",
        method.name()
    );
    let outbound = link.server.own_request(link.era, key, Bytes::from(body), method);
    let answer = link.ask(egress.client(), outbound, egress.frame_limits());
    let patience = egress.snapshot().limits.connect_timeout;
    match tokio::time::timeout(patience, answer).await {
        Ok(Ok(answer)) => return answer.kind() != FrameKind::Error,
        Ok(Err(e)) => {
            tracing::debug!(server = %link.server.name(), "{}: the server {}", method.name(), link.server.describe(&e));
        }
        Err(_) => {
            tracing::debug!(server = %link.server.name(), "{}: no answer arrived in time", method.name());
        }
    }
    true
}

/// A long request that the gateway itself sent. When this value is dropped, the upstream is notified that the request
/// is cancelled.
pub struct OpenRequest {
    egress: Egress,
    link: Arc<OpenLink>,
    /// The request's id.
    key: u64,
    is_answered: bool,
}

impl OpenRequest {
    /// Creates the record of the request that was sent under this key.
    pub fn new(egress: &Egress, link: &Arc<OpenLink>, key: u64) -> Self {
        Self { egress: egress.clone(), link: link.clone(), key, is_answered: false }
    }

    /// Marks the request as answered, so that the upstream need not be notified.
    pub fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if self.is_answered || !self.link.hears_cancellation() || !self.link.is_alive() {
            return;
        }
        let (egress, link, key) = (self.egress.clone(), self.link.clone(), self.key);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(transport::task::boxed(async move {
                let params = format!("\"requestId\":{key}");
                let text = proto::era::notice(Notice::Cancelled.name(), params.as_bytes());
                // An upstream that is gone no longer works on the request.
                let _ = link.notify(egress.client(), text).await;
            }));
        }
    }
}

/// Returns true if a notification is a log message.
pub fn is_log(message: &Frame) -> bool {
    Notice::from_name(&message.method()) == Some(Notice::Message)
}

/// Returns true if a log message is at least of this level.
pub fn passes(message: &Frame, wanted: &str) -> bool {
    const LEVELS: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    let rank = |level: &str| LEVELS.iter().position(|l| *l == level).unwrap_or(LEVELS.len());
    let level = message.param("level").ok().flatten().and_then(|span| message.string(span));
    level.is_none_or(|level| rank(&level) >= rank(wanted))
}
