//! The headers of an HTTP request that depend on its message: those that mirror its body, and the span that it belongs to. This
//! module must not know why an era requires them.

use engine::exchange::Mirror;
use http::header::{HeaderName, HeaderValue};
use proto::codec::headers as names;

/// The headers that depend on a message.
#[derive(Debug, Clone, Copy, Default)]
pub struct MessageHeaders<'a> {
    /// The parts of the message that headers repeat, in eras that have such headers.
    pub mirror: Option<&'a Mirror>,
    /// The `traceparent` of a traced request.
    pub traceparent: Option<&'a str>,
}

impl<'a> From<Option<&'a Mirror>> for MessageHeaders<'a> {
    fn from(mirror: Option<&'a Mirror>) -> Self {
        Self { mirror, traceparent: None }
    }
}

impl MessageHeaders<'_> {
    /// Returns the header lines.
    pub(super) fn lines(self) -> Vec<(HeaderName, HeaderValue)> {
        let mut own = self.mirror.map_or_else(Vec::new, mirroring);
        let value = self.traceparent.and_then(|text| HeaderValue::from_str(text).ok());
        own.extend(value.map(|value| (HeaderName::from_static("traceparent"), value)));
        own
    }
}

fn mirroring(mirror: &Mirror) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::with_capacity(2 + mirror.params.len());
    let said = [(names::METHOD, Some(&*mirror.method)), (names::NAME, mirror.name.as_deref())];
    for (name, value) in said {
        headers.extend(
            value.and_then(|v| HeaderValue::from_str(v).ok()).map(|v| (HeaderName::from_static(name), v)),
        );
    }
    for (name, value) in &mirror.params {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        {
            headers.push((name, value));
        }
    }
    headers
}
