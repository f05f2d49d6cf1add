//! The request (GET) that opens an upstream's stream, or resumes a broken one. It must not know what arrived on the
//! stream.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use proto::codec::headers as names;

use super::HttpTarget;
use crate::net::client::Template;

const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// The data needed to resume a broken stream.
#[derive(Debug, Clone)]
pub(super) struct Resume {
    pub(super) target: Arc<HttpTarget>,
    /// The template for the session's POSTs, whose headers are used.
    pub(super) post: Arc<Template>,
}

impl Resume {
    pub(super) fn build(&self, last_event: Option<&[u8]>) -> Request<Bytes> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = self.target.uri.clone();
        *request.headers_mut() = self.post.headers().clone();
        request.headers_mut().remove(CONTENT_TYPE);
        request.headers_mut().insert(ACCEPT, EVENTS);
        self.target.credential.enter(request.headers_mut());
        if let Some(id) = last_event.and_then(|id| HeaderValue::from_bytes(id).ok()) {
            request.headers_mut().insert(names::LAST_EVENT_ID, id);
        }
        request
    }
}
