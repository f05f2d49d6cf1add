//! Where an upstream is, over HTTP, and what it may send. It must not know how it is spoken to.

use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use http::header::HeaderMap;
use proto::rpc::FrameLimits;

use super::Credential;

/// Caps on what an upstream may send.
#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    /// Bytes of one answer.
    pub result: usize,
    /// Bytes of one event.
    pub event: usize,
    /// The time that an introduction may take.
    pub patience: Duration,
    /// The time that the body of an answer may take, in all or, when it is passed on, without a byte. The caller may
    /// have a shorter deadline.
    pub body: Duration,
    /// JSON of messages.
    pub frame: FrameLimits,
}

/// Where an upstream is, and what every request to it carries.
#[derive(Debug)]
pub struct HttpTarget {
    /// Its endpoint.
    pub uri: Uri,
    /// The configured headers; values that may be secret are marked so.
    pub headers: HeaderMap,
    /// What requests carry as `Authorization`, where `headers` have none.
    pub credential: Arc<Credential>,
    /// Its caps.
    pub limits: HttpLimits,
}
