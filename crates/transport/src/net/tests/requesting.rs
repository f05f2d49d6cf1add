//! The parts of a request that are its own, and the end of its body.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};

use super::asking::{origin, text};
use super::{Body, Incoming, Served, ServerLimits, echo};
use crate::net::client::{OwnHeaders, TRACEPARENT, Template};
use crate::net::{ClientLimits, Protocol};

/// Answers with the `traceparent` of a request.
async fn traceparent(request: Request<Incoming>, _: SocketAddr) -> Response<Body> {
    let value = request.headers().get(&TRACEPARENT).map_or(&b""[..], |value| value.as_bytes());
    Response::new(Body::rope([Bytes::copy_from_slice(value)]))
}

#[tokio::test]
async fn both_protocols_send_the_span_of_a_traced_request() {
    let own = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for protocol in [Protocol::Auto, Protocol::Http2] {
        let served = Served::start(ServerLimits::default(), 10, traceparent);
        let origin = origin(served.addr, ClientLimits::default(), protocol);
        let template = Template::new(Method::POST, &"/".parse().unwrap(), HeaderMap::new());
        for (traceparent, expected) in [(Some(own), &own[..]), (None, b"")] {
            let headers = OwnHeaders { lines: &[], traceparent };
            let answer = origin.send(&template, &headers, Bytes::new()).await.unwrap();
            assert_eq!(text(answer).await.as_bytes(), expected, "{protocol:?}");
        }
        served.finish().await;
    }
}

#[tokio::test]
async fn an_idle_connection_does_not_keep_the_last_body_in_memory() {
    let served = Served::start(ServerLimits::default(), 10, echo);
    let origin = origin(served.addr, ClientLimits::default(), Protocol::Auto);
    for length in [10_000, 1_000_000] {
        let body = Bytes::from(vec![b'x'; length]);
        let request = Request::post("/mcp").body(body.clone()).unwrap();
        assert_eq!(text(origin.request(request).await.unwrap()).await.len(), "POST /mcp ".len() + length);
        assert!(body.is_unique(), "{length}");
    }
    assert_eq!(served.cap.open(), 1);
    served.finish().await;
}
