//! Progress under the client's own token: rising from a request's beginning to its end, however often its upstream begins
//! anew. It must not know why that does.

use bytes::Bytes;
use proto::json::Splice;
use proto::mcp::meta;
use proto::rpc::Frame;

use super::Exchange;
use super::prepare::digits;

/// How far a request is, as its client was told.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// What the last round came to, from which this one goes on.
    base: f64,
    told: f64,
}

impl Progress {
    /// The request goes to its upstream once more, which counts from its own beginning.
    pub(super) fn go_on(&mut self) {
        self.base = self.told;
    }
}

/// The token under which a client wants to hear of progress, and ours in its place.
#[derive(Debug, Clone)]
pub struct ProgressToken {
    /// The upstream's: our own id of the request.
    pub key: u64,
    client: Bytes,
    base: f64,
}

impl ProgressToken {
    /// Our own token in an upstream's progress notification.
    pub fn named(notice: &Frame) -> Option<u64> {
        let span = notice.param(meta::PROGRESS_TOKEN).ok().flatten()?;
        std::str::from_utf8(span.of(notice.text())).ok()?.parse().ok()
    }

    /// The notification under the client's own token; `None` when it belongs to something else.
    pub fn translate(&self, notice: &Frame) -> Option<Bytes> {
        let span = notice.param(meta::PROGRESS_TOKEN).ok().flatten()?;
        if span.of(notice.text()) != digits(self.key).as_slice() {
            return None;
        }
        let moved = ["progress", "total"].map(|name| {
            let (span, value) = number(notice, name).filter(|_| self.base > 0.0)?;
            let value = value + self.base;
            value.is_finite().then(|| (span, value.to_string()))
        });
        let mut splice = Splice::new(notice.text());
        splice.replace(span, &self.client);
        for (span, value) in moved.iter().flatten() {
            splice.replace(*span, value.as_bytes());
        }
        Some(splice.finish())
    }
}

impl Exchange {
    /// What the client's progress notifications have to be translated with, if it wants any.
    pub fn token(&self) -> Option<ProgressToken> {
        Some(ProgressToken { key: self.key, client: self.token.clone()?, base: self.progress.base })
    }

    /// A progress notification under the client's own token; `None` when it belongs to something else.
    pub(super) fn progress(&mut self, frame: &Frame) -> Option<Bytes> {
        let text = self.token()?.translate(frame)?;
        if let Some((_, value)) = number(frame, "progress") {
            self.progress.told = self.progress.told.max(self.progress.base + value);
        }
        Some(text)
    }
}

/// A number of a notification's params, and its place.
fn number(notice: &Frame, name: &'static str) -> Option<(proto::json::Span, f64)> {
    let span = notice.param(name).ok().flatten()?;
    let value = std::str::from_utf8(span.of(notice.text())).ok()?.parse::<f64>().ok()?;
    value.is_finite().then_some((span, value))
}
