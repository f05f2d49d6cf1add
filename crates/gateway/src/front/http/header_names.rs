//! The names of headers that HTTP itself does not define. A look-up by such a value is cheaper than a look-up by text, which
//! has to be parsed each time. This module must not know what the headers mean.

use http::HeaderName;
use proto::codec::headers;

/// The session id.
pub(super) static SESSION_ID: HeaderName = HeaderName::from_static(headers::SESSION_ID);
/// The protocol version of a message.
pub(super) static PROTOCOL_VERSION: HeaderName = HeaderName::from_static(headers::PROTOCOL_VERSION);
/// The JSON-RPC method of a message.
pub(super) static METHOD: HeaderName = HeaderName::from_static(headers::METHOD);
/// The subject of a message.
pub(super) static NAME: HeaderName = HeaderName::from_static(headers::NAME);
/// The last event that a client received before it resumes a stream.
pub(super) static LAST_EVENT_ID: HeaderName = HeaderName::from_static(headers::LAST_EVENT_ID);
/// The trace that a request belongs to (W3C Trace Context).
pub(super) static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// The relation of the page that caused a request to this server (W3C Fetch Metadata).
pub(super) static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
