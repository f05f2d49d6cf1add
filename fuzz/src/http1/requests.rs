//! Requests: a simple parser of the written request finds exactly the given headers and one length, whatever the
//! headers contain.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use transport::net::client::http1::{OwnHeaders, Template, TemplatedRequest};

/// The fuzzer's entry: lines with the method, the URL and headers, then an empty line and the body.
pub fn fuzz(input: &[u8]) {
    let mut parts = input.splitn(3, |byte| *byte == b'\n');
    let mut part = || parts.next().unwrap_or_default();
    let (Ok(method), Ok(uri)) = (Method::from_bytes(part()), Uri::try_from(part())) else { return };
    let (mut headers, mut more, mut rest) = (HeaderMap::new(), Vec::new(), part());
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = &rest[..end];
        rest = &rest[end + 1..];
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { break };
        let (name, value) =
            (HeaderName::from_bytes(&line[..colon]), HeaderValue::from_bytes(&line[colon + 1..]));
        let (Ok(name), Ok(value)) = (name, value) else { continue };
        if value.len() % 3 > 0 { _ = headers.append(name, value) } else { more.push((name, value)) }
    }
    check(&method, &uri, &headers, &more, rest);
}

/// Checks that the head contains each given header as often as it was given, that it otherwise contains only `Host` and one
/// length, and that it ends in the right place.
pub fn check(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    more: &[(HeaderName, HeaderValue)],
    body: &[u8],
) {
    let is_length = |name: &HeaderName| *name == CONTENT_LENGTH || *name == TRANSFER_ENCODING;
    let more: Vec<_> = more.iter().filter(|(name, _)| !is_length(name)).cloned().collect();
    let template = Template::new(method.clone(), uri, headers.clone());
    let mut written = Vec::new();
    let body_sent = Bytes::copy_from_slice(body).into();
    let own = OwnHeaders { lines: &more, traceparent: None };
    let request = TemplatedRequest { template: &template, own: &own, body: body_sent };
    request.write(&mut written);

    let end = written.windows(4).position(|four| four == b"\r\n\r\n").expect("the head has an end");
    assert_eq!(end + 4, written.len(), "something follows the head");
    let mut lines =
        written[..end].split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let path = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    assert_eq!(lines.next(), Some(format!("{method} {path} HTTP/1.1").as_bytes()));
    let mut found: Vec<(Vec<u8>, Vec<u8>)> = lines
        .map(|line| {
            assert!(line.iter().all(|byte| (*byte >= b' ' && *byte != 127) || *byte == b'\t'), "{line:?}");
            let colon = line.windows(2).position(|two| two == b": ").expect("a header has a colon");
            (line[..colon].to_vec(), line[colon + 2..].to_vec())
        })
        .collect();
    let own = |name: &HeaderName, value: &[u8]| (name.as_str().as_bytes().to_vec(), value.to_vec());
    let mut wanted: Vec<_> = headers.iter().filter(|(name, _)| !is_length(name)).collect::<Vec<_>>();
    wanted.extend(more.iter().map(|(name, value)| (name, value)));
    let mut wanted: Vec<_> = wanted.into_iter().map(|(name, value)| own(name, value.as_bytes())).collect();
    if let Some(authority) = uri.authority().filter(|_| !headers.contains_key(HOST)) {
        wanted.push(own(&HOST, authority.as_str().as_bytes()));
    }
    if !body.is_empty() || [Method::POST, Method::PUT, Method::PATCH].contains(method) {
        wanted.push(own(&CONTENT_LENGTH, body.len().to_string().as_bytes()));
    }
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
}
