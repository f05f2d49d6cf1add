//! The headers of an HTTP request that depend on its message: the headers that repeat parts of the message, and the
//! header with the request's trace span. This module must not know why an era requires them.

use engine::exchange::{Mirror, TraceParent};
use http::header::{HeaderName, HeaderValue};
use proto::codec::headers as names;

// The names are checked when the program is compiled.
static METHOD: HeaderName = HeaderName::from_static(names::METHOD);
static NAME: HeaderName = HeaderName::from_static(names::NAME);

/// The headers that depend on a message.
#[derive(Debug, Clone, Copy, Default)]
pub struct MessageHeaders<'a> {
    /// The parts of the message that headers repeat, in eras that have such headers.
    pub mirror: Option<&'a Mirror>,
    /// The `traceparent` of a traced request.
    pub traceparent: Option<&'a TraceParent>,
}

impl<'a> From<Option<&'a Mirror>> for MessageHeaders<'a> {
    fn from(mirror: Option<&'a Mirror>) -> Self {
        Self { mirror, traceparent: None }
    }
}

impl MessageHeaders<'_> {
    /// Returns the header lines that repeat parts of the message.
    pub(super) fn lines(self) -> Vec<(HeaderName, HeaderValue)> {
        self.mirror.map_or_else(Vec::new, mirroring)
    }
}

fn mirroring(mirror: &Mirror) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::with_capacity(2 + mirror.params.len());
    let said = [(&METHOD, Some(&*mirror.method)), (&NAME, mirror.name.as_deref())];
    for (name, value) in said {
        headers.extend(value.and_then(|v| HeaderValue::from_str(v).ok()).map(|v| (name.clone(), v)));
    }
    for (name, value) in &mirror.params {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        {
            headers.push((name, value));
        }
    }
    headers
}
