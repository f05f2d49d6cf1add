//! The headers of an HTTP request that mirror its body. It must not know why an era requires them.

use engine::exchange::Mirror;
use http::header::{HeaderName, HeaderValue};
use proto::codec::headers as names;

/// Returns the headers that mirror a request.
pub(super) fn own_headers(mirror: &Mirror) -> Vec<(HeaderName, HeaderValue)> {
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
