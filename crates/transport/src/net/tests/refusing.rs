//! Tests of requests that are answered before their body has been read: either the connection serves the next
//! request, or the answer announces that the connection will close.

use std::net::SocketAddr;

use http::{Request, Response};
use tokio::io::AsyncWriteExt;

use super::{Body, Incoming, Served, ServerLimits, closed, get, read_answer};

async fn refuse(_request: Request<Incoming>, _peer: SocketAddr) -> Response<Body> {
    Response::new(Body::from("no"))
}

#[tokio::test]
async fn a_body_that_comes_after_the_refusal_was_decided_does_not_end_the_connection() {
    let served = Served::start(ServerLimits::default(), 10, refuse);
    let mut stream = served.connect().await;
    let bodies = [("content-length: 4", "body"), ("transfer-encoding: chunked", "4\r\nbody\r\n0\r\n\r\n")];
    for (framing, body) in bodies {
        stream
            .write_all(format!("POST / HTTP/1.1\r\nhost: x\r\n{framing}\r\n\r\n").as_bytes())
            .await
            .unwrap();
        // The handler has answered by then.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        stream.write_all(body.as_bytes()).await.unwrap();
        let (head, answer) = read_answer(&mut stream).await;
        assert!(!head.contains("connection: close"), "{head}");
        assert_eq!(answer, b"no");
    }
    assert_eq!(get(&mut stream, "/next").await.1, b"no");
    served.finish().await;
}

#[tokio::test]
async fn who_refuses_a_body_unread_says_that_the_connection_ends() {
    let served = Served::start(ServerLimits::default(), 10, refuse);
    // A body that is too long, one that is only announced, and one that is never sent.
    for framing in ["content-length: 70000", "content-length: 4\r\nexpect: 100-continue", "content-length: 4"]
    {
        let mut stream = served.connect().await;
        stream
            .write_all(format!("POST / HTTP/1.1\r\nhost: x\r\n{framing}\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let (head, answer) = read_answer(&mut stream).await;
        assert!(head.starts_with("http/1.1 200 "), "no interim answer: {head}");
        assert!(head.contains("connection: close"), "{framing}: {head}");
        assert_eq!(answer, b"no");
        assert!(closed(&mut stream).await);
    }
    served.finish().await;
}
