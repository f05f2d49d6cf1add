//! Progress under the client's own token: the reported value only increases during a request, even if the upstream starts over.
//! This module must not know why the upstream starts over.

use bytes::Bytes;
use proto::json::Splice;
use proto::mcp::meta;
use proto::rpc::Frame;

use super::Exchange;
use super::prepare::digits;

/// The progress of a request, as reported to its client.
#[derive(Debug, Default)]
pub(super) struct RequestProgress {
    /// The progress at the end of the last round, from which this round continues.
    base: f64,
    told: f64,
}

impl RequestProgress {
    /// Starts another round, in which the upstream counts from zero again.
    pub(super) fn go_on(&mut self) {
        self.base = self.told;
    }
}

/// The client's progress token, and our token that replaces it.
#[derive(Debug, Clone)]
pub struct ProgressToken {
    /// The token for the upstream: our own id of the request.
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

    /// The notification under the client's own token; `None` if it belongs to another request.
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
    /// The data for translating progress notifications for the client, if the client asked for them.
    pub fn token(&self) -> Option<ProgressToken> {
        Some(ProgressToken { key: self.key, client: self.client.token.clone()?, base: self.progress.base })
    }

    /// A progress notification under the client's own token; `None` if it belongs to another request.
    pub(super) fn progress(&mut self, frame: &Frame) -> Option<Bytes> {
        let text = self.token()?.translate(frame)?;
        if let Some((_, value)) = number(frame, "progress") {
            self.progress.told = self.progress.told.max(self.progress.base + value);
        }
        Some(text)
    }
}

/// A number in a notification's params, and its span.
fn number(notice: &Frame, name: &'static str) -> Option<(proto::json::Span, f64)> {
    let span = notice.param(name).ok().flatten()?;
    let value = std::str::from_utf8(span.of(notice.text())).ok()?.parse::<f64>().ok()?;
    value.is_finite().then_some((span, value))
}
