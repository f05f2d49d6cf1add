//! The client against upstreams that answer late, or that answer before the request is complete.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};

use super::{LONG, collect};
use crate::budget::Part;
use crate::net::{Client, ClientLimits, Origin, Protocol, Trust};

/// A listener on which the test itself answers as an upstream, and the client's origin for this upstream.
async fn upstream() -> (TcpListener, Origin) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr: SocketAddr = listener.local_addr().unwrap();
    let url = format!("http://{addr}/").parse().unwrap();
    let origin = Client::new(ClientLimits::default(), Trust::default()).origin(&url, Protocol::Auto).unwrap();
    (listener, origin)
}

async fn asked(origin: &Origin, body: Bytes) -> (StatusCode, Result<String, String>) {
    let request = Request::post("/").body(body).unwrap();
    let answer = timeout(LONG, origin.request(request)).await.expect("in time").unwrap();
    let status = answer.status();
    let body = collect(answer.into_body(), Part::Answers, 1 << 24, Instant::now() + LONG).await;
    (status, body.map(|body| String::from_utf8(body.to_vec()).unwrap()).map_err(|e| e.to_string()))
}

async fn read_head(stream: &mut TcpStream) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a request's head"));
    }
    head
}

#[tokio::test]
async fn an_answer_byte_by_byte_is_put_together_and_its_connection_kept() {
    let (listener, origin) = upstream().await;
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        for answer in [
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
            "HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        ] {
            read_head(&mut stream).await;
            for byte in answer.bytes() {
                stream.write_all(&[byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
        }
        // There is no length, so the end of the connection is the end of the body.
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhello").await.unwrap();
    });
    for status in [StatusCode::OK, StatusCode::CREATED, StatusCode::OK] {
        assert_eq!(asked(&origin, Bytes::new()).await, (status, Ok("hello".to_owned())));
    }
    serving.await.unwrap();
}

#[tokio::test]
async fn a_body_that_breaks_off_is_not_taken_for_whole() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nx",
    ] {
        let (listener, origin) = upstream().await;
        let serving = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_head(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let (_, body) = asked(&origin, Bytes::new()).await;
        assert!(body.is_err(), "{answer:?}: {body:?}");
        serving.await.unwrap();
    }
}

#[tokio::test]
async fn an_answer_that_comes_before_the_request_is_read_counts() {
    let (listener, origin) = upstream().await;
    let serving = tokio::spawn(async move {
        let mut connections = Vec::new();
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_head(&mut stream).await;
            let answer = b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 3\r\n\r\nbig";
            stream.write_all(answer).await.unwrap();
            // The connection is not closed, because closing with unread bytes may lose the answer.
            connections.push(stream);
        }
        connections
    });
    // This is more than the sockets' buffers hold. The connection cannot be reused, so the second request has its own.
    for _ in 0..2 {
        let (status, body) = asked(&origin, vec![b'x'; 32 << 20].into()).await;
        assert_eq!((status, body.unwrap().as_str()), (StatusCode::PAYLOAD_TOO_LARGE, "big"));
    }
    serving.await.unwrap();
}

#[tokio::test]
async fn a_connection_that_has_said_too_much_does_not_serve_again() {
    let (listener, origin) = upstream().await;
    let serving = tokio::spawn(async move {
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_head(&mut stream).await;
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
            // If the client treated the second answer as the answer to its next request, it would see another
            // request's data.
            stream.write_all(format!("{answer}{answer}").as_bytes()).await.unwrap();
        }
    });
    for _ in 0..3 {
        assert_eq!(asked(&origin, Bytes::new()).await, (StatusCode::OK, Ok("hello".to_owned())));
    }
    serving.await.unwrap();
}

#[tokio::test]
async fn a_bodiless_answer_gives_its_connection_back() {
    let (listener, origin) = upstream().await;
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for answer in
            ["HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n"]
        {
            read_head(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        // HEAD: the answer has a length, but no body.
        assert!(read_head(&mut stream).await.starts_with(b"HEAD "));
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n").await.unwrap();
    });
    for method in [Method::POST, Method::DELETE, Method::HEAD] {
        let request = Request::builder().method(method).uri("/").body(Bytes::new()).unwrap();
        origin.request(request).await.unwrap();
    }
    serving.await.unwrap();
}
