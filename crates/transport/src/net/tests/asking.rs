//! The client against well-behaved and misbehaving upstreams.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};

use super::{Body, Incoming, LONG, Served, ServerLimits, collect, echo};
use crate::budget::Part;
use crate::net::{
    Client, ClientError, ClientLimits, Origin, Protocol, Relay, Replay, ResponseBody, Stop, Trust,
};

pub(super) const HI: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";

pub(super) fn origin(addr: SocketAddr, limits: ClientLimits, protocol: Protocol) -> Origin {
    let url = format!("http://{addr}/").parse().unwrap();
    Client::new(limits, Trust::default()).origin(&url, protocol).unwrap()
}

fn plain(addr: SocketAddr) -> Origin {
    origin(addr, ClientLimits::default(), Protocol::Auto)
}

pub(super) fn post(body: &'static str) -> Request<Bytes> {
    Request::post("/mcp?x=1").body(Bytes::from(body)).unwrap()
}

pub(super) async fn text(response: Response<ResponseBody>) -> String {
    let body = collect(response.into_body(), Part::Answers, 1 << 24, Instant::now() + LONG).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

pub(super) async fn asked(origin: &Origin, body: &'static str) -> String {
    text(timeout(LONG, origin.request(post(body))).await.expect("in time").unwrap()).await
}

/// The address of an upstream, and the listener on which the test itself answers as this upstream.
pub(super) async fn raw() -> (SocketAddr, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    (listener.local_addr().unwrap(), listener)
}

pub(super) async fn accept(listener: &TcpListener) -> TcpStream {
    timeout(LONG, listener.accept()).await.expect("a connection in time").unwrap().0
}

/// Reads one request without examining it: its head, and a body of `body` bytes.
pub(super) async fn read_request(stream: &mut TcpStream, body: usize) -> String {
    timeout(LONG, async {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("a request's head"));
        }
        stream.read_exact(&mut vec![0; body]).await.unwrap();
        String::from_utf8(head).unwrap().to_lowercase()
    })
    .await
    .expect("a request in time")
}

#[tokio::test]
async fn both_protocols_go_through_and_connections_are_kept() {
    for protocol in [Protocol::Auto, Protocol::Http2] {
        let served = Served::start(ServerLimits::default(), 10, echo);
        let origin = origin(served.addr, ClientLimits::default(), protocol);
        for _ in 0..5 {
            assert_eq!(asked(&origin, "body").await, "POST /mcp body");
        }
        assert_eq!(served.cap.open(), 1, "{protocol:?} used one connection");
        served.finish().await;
    }
}

#[tokio::test]
async fn many_at_once_share_one_http2_connection() {
    let served = Served::start(ServerLimits::default(), 100, echo);
    let origin = origin(served.addr, ClientLimits::default(), Protocol::Http2);
    let all: Vec<_> = (0..50)
        .map(|_| {
            let origin = origin.clone();
            tokio::spawn(async move { asked(&origin, "body").await })
        })
        .collect();
    for one in all {
        assert_eq!(one.await.unwrap(), "POST /mcp body");
    }
    assert_eq!(served.cap.open(), 1);
    served.finish().await;
}

#[tokio::test]
async fn a_request_says_what_http_wants_and_nothing_else() {
    let (addr, listener) = raw().await;
    let client = Client::new(ClientLimits::default(), Trust::default());
    let request =
        Request::post(format!("http://{addr}/a/b?c=d")).header("x", "y").body(Bytes::from("12345")).unwrap();
    let asking = tokio::spawn(async move { client.request(request).await });
    let mut stream = accept(&listener).await;
    let head = read_request(&mut stream, 5).await;
    let mut lines: Vec<_> = head.trim_end().lines().collect();
    assert_eq!(lines.remove(0), "post /a/b?c=d http/1.1");
    lines.sort_unstable();
    assert_eq!(lines, ["content-length: 5", &format!("host: {addr}"), "x: y"]);
    stream.write_all(HI).await.unwrap();
    assert_eq!(text(asking.await.unwrap().unwrap()).await, "hi");
}

#[tokio::test]
async fn a_long_body_passes_in_both_directions_while_it_is_made() {
    let served = Served::start(ServerLimits::default(), 10, async |request: Request<Incoming>, _| {
        let (sender, body) = Body::channel(2);
        tokio::spawn(async move {
            let all =
                collect(request.into_body(), Part::Answers, 1 << 24, Instant::now() + LONG).await.unwrap();
            for piece in all.chunks(100_000) {
                sender.send(all.slice_ref(piece)).await.unwrap();
            }
        });
        Response::new(body)
    });
    for protocol in [Protocol::Auto, Protocol::Http2] {
        let origin = origin(served.addr, ClientLimits::default(), protocol);
        let body = "0123456789".repeat(500_000);
        let answer =
            origin.request(Request::post("/").body(Bytes::from(body.clone())).unwrap()).await.unwrap();
        assert!(text(answer).await == body);
    }
    served.finish().await;
}

#[tokio::test]
async fn relayed_answers_arrive_whole_or_break_off() {
    let (addr, listener) = raw().await;
    let upstream = plain(addr);
    let served = Served::start(ServerLimits::default(), 10, move |_: Request<Incoming>, _| {
        let upstream = upstream.clone();
        async move {
            let answer = upstream.request(post("")).await.unwrap();
            Response::new(Body::relay(Relay::new(answer.into_body(), Duration::from_millis(100))))
        }
    });
    let through = plain(served.addr);
    let asking = tokio::spawn(async move {
        let whole = asked(&through, "").await;
        let answer = through.request(post("")).await.unwrap();
        (whole, collect(answer.into_body(), Part::Answers, 100, Instant::now() + LONG).await)
    });
    let mut stream = accept(&listener).await;
    read_request(&mut stream, 0).await;
    stream.write_all(HI).await.unwrap();
    read_request(&mut stream, 0).await;
    // Half of the answer, then silence: the stall time ends it.
    stream.write_all(&HI[..HI.len() - 1]).await.unwrap();
    let (whole, broken) = asking.await.unwrap();
    assert_eq!(whole, "hi");
    assert!(broken.is_err(), "half an answer is no answer");
    served.finish().await;
}

#[tokio::test]
async fn an_upstream_that_closes_between_requests_is_not_noticed() {
    let (addr, listener) = raw().await;
    let origin = plain(addr);
    let upstream = tokio::spawn(async move {
        for _ in 0..10 {
            let mut stream = accept(&listener).await;
            read_request(&mut stream, 4).await;
            stream.write_all(HI).await.unwrap();
            // The upstream closes without an announcement.
        }
    });
    for _ in 0..10 {
        assert_eq!(asked(&origin, "body").await, "hi");
        // Waits until the close has arrived.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    upstream.await.unwrap();
}

/// An upstream that answers one request, reads the second request of the connection, and closes without an answer.
async fn closing_mid_request(replay: Replay) -> (Result<String, ClientError>, usize) {
    let (addr, listener) = raw().await;
    let (origin, stop) = (plain(addr), Stop::new());
    let stopping = stop.clone();
    let upstream = tokio::spawn(async move {
        let mut connections = 0;
        loop {
            let mut stream = tokio::select! {
                stream = accept(&listener) => stream,
                () = stopping.stopped() => return connections,
            };
            connections += 1;
            read_request(&mut stream, 4).await;
            stream.write_all(HI).await.unwrap();
            if connections == 1 {
                read_request(&mut stream, 4).await;
            }
        }
    });
    asked(&origin, "body").await;
    let second = match origin.request_with(post("body"), replay).await {
        Ok(answer) => Ok(text(answer).await),
        Err(error) => Err(error),
    };
    stop.stop();
    (second, upstream.await.unwrap())
}

#[tokio::test]
async fn what_may_have_been_done_is_only_done_again_if_allowed() {
    let (answer, connections) = closing_mid_request(Replay::Always).await;
    assert_eq!((answer.unwrap().as_str(), connections), ("hi", 2));
    let (answer, connections) = closing_mid_request(Replay::Unsent).await;
    let error = answer.unwrap_err();
    assert!(matches!(error, ClientError::Closed { sent: true, .. }), "{error}");
    assert!(!error.is_unsent() && error.is_passing());
    assert_eq!(connections, 1);
}

#[tokio::test]
async fn a_new_connection_that_closes_is_not_tried_again() {
    let (addr, listener) = raw().await;
    let origin = plain(addr);
    let asking = tokio::spawn(async move { origin.request_with(post("body"), Replay::Always).await });
    drop(accept(&listener).await);
    let error = asking.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Closed { .. }), "{error}");
    assert!(error.to_string().contains(&addr.to_string()), "{error}");
}

#[tokio::test]
async fn announced_keep_alive_is_believed() {
    let (addr, listener) = raw().await;
    let origin = plain(addr);
    let upstream = tokio::spawn(async move {
        let mut kept = Vec::new();
        for _ in 0..2 {
            let mut stream = accept(&listener).await;
            read_request(&mut stream, 4).await;
            let answer = b"HTTP/1.1 200 OK\r\nkeep-alive: timeout=1, max=5\r\ncontent-length: 2\r\n\r\nhi";
            stream.write_all(answer).await.unwrap();
            // The connection stays open: only the announcement makes the client stop using it.
            kept.push(stream);
        }
    });
    asked(&origin, "body").await;
    asked(&origin, "body").await;
    upstream.await.unwrap();
}

#[tokio::test]
async fn idle_connections_are_closed_in_time_without_traffic() {
    let served = Served::start(ServerLimits::default(), 10, echo);
    for protocol in [Protocol::Auto, Protocol::Http2] {
        let limits = ClientLimits { idle_timeout: Duration::from_millis(100), ..ClientLimits::default() };
        let origin = origin(served.addr, limits, protocol);
        asked(&origin, "body").await;
        assert_eq!(served.cap.open(), 1, "{protocol:?}");
        timeout(LONG, async {
            while served.cap.open() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .expect("closed in time");
    }
    served.finish().await;
}

#[tokio::test]
async fn dropping_the_request_or_the_answer_closes_the_connection() {
    let (addr, listener) = raw().await;
    let origin = plain(addr);
    let asking = tokio::spawn({
        let origin = origin.clone();
        async move { origin.request(post("body")).await }
    });
    let mut stream = accept(&listener).await;
    read_request(&mut stream, 4).await;
    asking.abort();
    assert!(super::closed(&mut stream).await);
    let asking = tokio::spawn(async move { origin.request(post("body")).await });
    let mut stream = accept(&listener).await;
    read_request(&mut stream, 4).await;
    stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n").await.unwrap();
    drop(asking.await.unwrap().unwrap());
    assert!(super::closed(&mut stream).await);
}

#[tokio::test]
async fn no_more_requests_at_once_than_allowed() {
    let (addr, listener) = raw().await;
    let limits =
        ClientLimits { max_in_use: 1, connect_timeout: Duration::from_millis(50), ..ClientLimits::default() };
    let origin = origin(addr, limits, Protocol::Auto);
    let first = tokio::spawn({
        let origin = origin.clone();
        async move { asked(&origin, "body").await }
    });
    let mut stream = accept(&listener).await;
    read_request(&mut stream, 4).await;
    let error = origin.request(post("body")).await.unwrap_err();
    assert!(matches!(error, ClientError::Busy { cap: 1, .. }) && error.is_unsent(), "{error}");
    stream.write_all(HI).await.unwrap();
    assert_eq!(first.await.unwrap(), "hi");
}

#[tokio::test]
async fn a_closed_port_is_named() {
    let (addr, listener) = raw().await;
    drop(listener);
    let error = plain(addr).request(post("body")).await.unwrap_err();
    assert!(matches!(error, ClientError::Refused { .. }) && error.is_unsent(), "{error}");
    assert!(error.to_string().contains(&addr.to_string()), "{error}");
}

#[tokio::test]
async fn an_unknown_name_is_named() {
    let client = Client::new(ClientLimits::default(), Trust::default());
    // RFC 6761: this name never has an address.
    let request = Request::get("http://no-such-host.invalid/").body(Bytes::new()).unwrap();
    let error = timeout(LONG, client.request(request)).await.expect("bounded").unwrap_err();
    assert!(matches!(error, ClientError::Dns { .. } | ClientError::ConnectTimeout { .. }), "{error}");
    assert!(error.to_string().contains("no-such-host.invalid:80"), "{error}");
}

#[tokio::test]
async fn a_connection_that_nobody_takes_ends_in_time() {
    // A full queue: the kernel drops further handshakes, as a firewall would.
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
    socket.listen(0).unwrap();
    let addr = socket.local_addr().unwrap().as_socket().unwrap();
    let mut fill = Vec::new();
    while let Ok(Ok(stream)) = timeout(Duration::from_millis(200), TcpStream::connect(addr)).await {
        fill.push(stream);
    }
    let limits = ClientLimits { connect_timeout: Duration::from_millis(200), ..ClientLimits::default() };
    let error = origin(addr, limits, Protocol::Auto).request(post("body")).await.unwrap_err();
    assert!(matches!(error, ClientError::ConnectTimeout { .. }), "{error}");
}

#[tokio::test]
async fn silence_ends_at_the_callers_deadline() {
    let (addr, listener) = raw().await;
    let deadline = Instant::now() + Duration::from_millis(100);
    let error = plain(addr).request_until(post("body"), Replay::Always, deadline).await.unwrap_err();
    assert!(matches!(error, ClientError::Timeout { .. }) && !error.is_unsent(), "{error}");
    drop(listener);
}

#[tokio::test]
async fn garbage_and_huge_heads_are_refused() {
    let long = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(70_000)).into_bytes();
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(101)).into_bytes();
    for answer in [b"SSH-2.0-OpenSSH_9.2\r\n\r\n".to_vec(), long, many] {
        let (addr, listener) = raw().await;
        let origin = plain(addr);
        let asking = tokio::spawn(async move { origin.request_with(post("body"), Replay::Always).await });
        let mut stream = accept(&listener).await;
        read_request(&mut stream, 4).await;
        let _ = stream.write_all(&answer).await;
        let error = timeout(LONG, asking).await.expect("in time").unwrap().unwrap_err();
        assert!(matches!(error, ClientError::Protocol { .. }), "{error:?}");
    }
}

#[test]
fn urls_that_cannot_be_asked_say_why() {
    let client = Client::new(ClientLimits::default(), Trust::default());
    for (url, why) in [("/path", "http://"), ("ftp://x/", "http://"), ("http://a:b@c/", "header")] {
        let error = client.origin(&url.parse().unwrap(), Protocol::Auto).unwrap_err();
        assert!(matches!(&error, ClientError::BadUrl { .. }) && error.to_string().contains(why), "{error}");
    }
}
