//! Tests of requests whose bodies are sent while they are still being produced: the framing, the pace, and bodies
//! or upstreams that break off.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use super::{Body, Incoming, LONG, Served, ServerLimits, collect};
use crate::budget::Part;
use crate::net::client::{PieceSource, StreamedBody};
use crate::net::{Client, ClientError, ClientLimits, Origin, Protocol, ResponseBody, Trust};

type Piece = io::Result<Bytes>;

/// A body whose pieces a test sends one by one; dropping the sender ends the body.
struct Given(mpsc::Receiver<Piece>);

impl PieceSource for Given {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Piece>> {
        self.0.poll_recv(cx)
    }
}

fn given(length: Option<u64>) -> (mpsc::Sender<Piece>, Request<StreamedBody>) {
    let (sender, pieces) = mpsc::channel(1);
    let body = StreamedBody::new(length, Box::new(Given(pieces)));
    (sender, Request::post("/upload").body(body).unwrap())
}

fn piece(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

fn origin(addr: SocketAddr, protocol: Protocol) -> Origin {
    let url = format!("http://{addr}/").parse().unwrap();
    Client::new(ClientLimits::default(), Trust::default()).origin(&url, protocol).unwrap()
}

type Asking = tokio::task::JoinHandle<Result<Response<ResponseBody>, ClientError>>;

/// Starts a streamed request to a raw upstream. Returns the sender of the body's pieces, the task that waits for
/// the answer, and the upstream's end of the connection.
async fn under_way(length: Option<u64>) -> (mpsc::Sender<Piece>, Asking, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = origin(listener.local_addr().unwrap(), Protocol::Auto);
    let (sender, request) = given(length);
    let asking = tokio::spawn(async move { origin.stream(request).await });
    let (stream, _) = timeout(LONG, listener.accept()).await.expect("a connection in time").unwrap();
    (sender, asking, stream)
}

async fn answered(asking: Asking) -> Result<Response<ResponseBody>, ClientError> {
    timeout(LONG, asking).await.expect("an answer in time").unwrap()
}

async fn text(response: Response<ResponseBody>) -> String {
    let body = collect(response.into_body(), Part::Answers, 1 << 24, Instant::now() + LONG).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    timeout(LONG, async {
        let mut text = Vec::new();
        while !text.ends_with(end.as_bytes()) {
            text.push(stream.read_u8().await.expect("more of the request"));
        }
        String::from_utf8(text).unwrap()
    })
    .await
    .expect("a request in time")
}

/// Reads everything until the connection is closed or reset.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut room = [0; 4096];
    while let Ok(length @ 1..) = timeout(LONG, stream.read(&mut room)).await.expect("an end in time") {
        text.extend_from_slice(&room[..length]);
    }
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn a_body_of_known_length_arrives_piece_by_piece() {
    let (sender, asking, mut stream) = under_way(Some(7)).await;
    let head = read_until(&mut stream, "\r\n\r\n").await;
    assert!(head.contains("content-length: 7\r\n") && !head.contains("transfer-encoding"), "{head}");
    for text in ["one", "", "more"] {
        sender.send(Ok(piece(text))).await.unwrap();
        assert_eq!(read_until(&mut stream, text).await, text, "before the next piece exists");
    }
    drop(sender);
    stream.write_all(b"HTTP/1.1 201 x\r\ncontent-length: 2\r\n\r\nhi").await.unwrap();
    assert_eq!(text(answered(asking).await.unwrap()).await, "hi");
}

#[tokio::test]
async fn a_body_of_unknown_length_arrives_in_chunks() {
    let (sender, asking, mut stream) = under_way(None).await;
    let head = read_until(&mut stream, "\r\n\r\n").await;
    assert!(head.contains("transfer-encoding: chunked\r\n") && !head.contains("content-length"), "{head}");
    sender.send(Ok(piece("one"))).await.unwrap();
    assert_eq!(read_until(&mut stream, "one").await, "3\r\none");
    sender.send(Ok(piece(""))).await.unwrap();
    sender.send(Ok(piece("a longer piece"))).await.unwrap();
    drop(sender);
    assert_eq!(read_until(&mut stream, "0\r\n\r\n").await, "\r\ne\r\na longer piece\r\n0\r\n\r\n");
    stream.write_all(b"HTTP/1.1 200 x\r\ncontent-length: 2\r\n\r\nhi").await.unwrap();
    assert_eq!(text(answered(asking).await.unwrap()).await, "hi");
}

#[tokio::test]
async fn a_body_without_pieces_is_complete() {
    for (length, wanted) in [(Some(0), ""), (None, "0\r\n\r\n")] {
        let (sender, asking, mut stream) = under_way(length).await;
        drop(sender);
        read_until(&mut stream, "\r\n\r\n").await;
        assert_eq!(read_until(&mut stream, wanted).await, wanted);
        stream.write_all(b"HTTP/1.1 204 x\r\n\r\n").await.unwrap();
        assert_eq!(answered(asking).await.unwrap().status(), 204);
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_never_complete() {
    let broken = || Err(io::Error::other("the source broke off"));
    for (length, last, says) in [
        (None, Some(broken()), "the source broke off"),
        (Some(7), Some(broken()), "the source broke off"),
        (Some(7), None, "shorter than announced"),
        (Some(7), Some(Ok(piece("too much"))), "longer than announced"),
    ] {
        let (sender, asking, mut stream) = under_way(length).await;
        sender.send(Ok(piece("one"))).await.unwrap();
        read_until(&mut stream, "one").await;
        if let Some(last) = last {
            sender.send(last).await.unwrap();
        }
        drop(sender);
        assert_eq!(rest(&mut stream).await, "", "the connection is closed without an end of the body");
        let error = answered(asking).await.unwrap_err();
        assert!(matches!(error, ClientError::Body { .. }) && error.to_string().contains(says), "{error}");
    }
}

#[tokio::test]
async fn a_dropped_request_is_never_complete() {
    for length in [None, Some(7)] {
        let (sender, asking, mut stream) = under_way(length).await;
        sender.send(Ok(piece("one"))).await.unwrap();
        read_until(&mut stream, "one").await;
        asking.abort();
        assert_eq!(rest(&mut stream).await, "");
        timeout(LONG, sender.closed()).await.expect("the pieces are released");
    }
}

#[tokio::test]
async fn an_early_refusal_is_the_answer() {
    for close in [false, true] {
        for length in [None, Some(1 << 30)] {
            let (sender, asking, mut stream) = under_way(length).await;
            // The upstream reads nothing of the body, so sending soon stops.
            let sending = tokio::spawn(async move {
                let zeros = Bytes::from(vec![0; 100_000]);
                while sender.send(Ok(zeros.clone())).await.is_ok() {}
            });
            read_until(&mut stream, "\r\n\r\n").await;
            stream.write_all(b"HTTP/1.1 413 x\r\ncontent-length: 8\r\n\r\ntoo long").await.unwrap();
            if close {
                stream.shutdown().await.unwrap();
            }
            let answer = answered(asking).await.unwrap();
            assert_eq!(answer.status(), 413, "{length:?}");
            assert_eq!(text(answer).await, "too long", "{length:?}");
            timeout(LONG, sending).await.expect("the pieces are released").unwrap();
        }
    }
}

#[tokio::test]
async fn a_kept_connection_that_is_dead_is_replaced_before_a_piece_is_taken() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = origin(listener.local_addr().unwrap(), Protocol::Auto);
    let upstream = tokio::spawn(async move {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_until(&mut stream, "body").await;
            stream.write_all(b"HTTP/1.1 200 x\r\ncontent-length: 2\r\n\r\nhi").await.unwrap();
        }
    });
    for _ in 0..2 {
        let (sender, request) = given(Some(4));
        sender.send(Ok(piece("body"))).await.unwrap();
        drop(sender);
        assert_eq!(text(timeout(LONG, origin.stream(request)).await.unwrap().unwrap()).await, "hi");
        // Waits until the close has arrived.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    upstream.await.unwrap();
}

#[tokio::test]
async fn http2_streams_and_resets() {
    let served = Served::start(ServerLimits::default(), 10, async |request: Request<Incoming>, _| {
        let length =
            request.headers().get("content-length").map(|length| length.to_str().unwrap().to_owned());
        let body = collect(request.into_body(), Part::Answers, 1 << 24, Instant::now() + LONG).await;
        let said = body.map_or_else(|_| "broken".to_owned(), |body| format!("{length:?} {}", body.len()));
        Response::new(Body::from(said))
    });
    let origin = origin(served.addr, Protocol::Http2);
    for (length, wanted) in [(Some(3_000_000), "Some(\"3000000\") 3000000"), (None, "None 3000000")] {
        let (sender, request) = given(length);
        let sending = tokio::spawn(async move {
            for _ in 0..30 {
                sender.send(Ok(Bytes::from(vec![0; 100_000]))).await.unwrap();
            }
        });
        assert_eq!(text(timeout(LONG, origin.stream(request)).await.unwrap().unwrap()).await, wanted);
        sending.await.unwrap();
        // A body that breaks off resets its stream, and a request that is dropped as well.
        let (sender, request) = given(length);
        sender.send(Ok(piece("one"))).await.unwrap();
        let asking = tokio::spawn({
            let origin = origin.clone();
            async move { origin.stream(request).await }
        });
        sender.send(Err(io::Error::other("the source broke off"))).await.unwrap();
        let broken = timeout(LONG, asking).await.unwrap().unwrap();
        assert!(broken.is_err(), "{broken:?}");
        let (sender, request) = given(length);
        let asking = tokio::spawn({
            let origin = origin.clone();
            async move { origin.stream(request).await }
        });
        sender.send(Ok(piece("one"))).await.unwrap();
        sender.send(Ok(piece("two"))).await.unwrap();
        asking.abort();
        timeout(LONG, sender.closed()).await.expect("the pieces are released");
    }
    assert_eq!(served.cap.open(), 1, "the connection stays");
    served.finish().await;
}

/// A body of `left` zeros, which counts the bytes that the connection has taken.
struct Zeros {
    piece: Bytes,
    left: u64,
    taken: Arc<AtomicU64>,
}

impl PieceSource for Zeros {
    fn poll_piece(&mut self, _: &mut Context<'_>) -> Poll<Option<Piece>> {
        let length = self.left.min(self.piece.len() as u64);
        self.left -= length;
        self.taken.fetch_add(length, Ordering::SeqCst);
        Poll::Ready((length > 0).then(|| Ok(self.piece.slice(..usize::try_from(length).unwrap()))))
    }
}

/// The largest number of bytes that may be in transit: in the buffers of two sockets, and in pieces.
const UNDER_WAY: u64 = 16 << 20;

#[tokio::test]
async fn only_what_the_upstream_reads_is_taken_from_the_source() {
    const LENGTH: u64 = 100 << 20;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = origin(listener.local_addr().unwrap(), Protocol::Auto);
    let taken = Arc::new(AtomicU64::new(0));
    let source = Zeros { piece: Bytes::from(vec![0; 64 << 10]), left: LENGTH, taken: taken.clone() };
    let body = StreamedBody::new(Some(LENGTH), Box::new(source));
    let asking =
        tokio::spawn(async move { origin.stream(Request::post("/upload").body(body).unwrap()).await });
    let (mut stream, _) = listener.accept().await.unwrap();
    read_until(&mut stream, "\r\n\r\n").await;
    let (mut read, mut most) = (0, 0);
    let mut room = vec![0; 64 << 10];
    while read < LENGTH {
        // The client goes on until it has to wait.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        most = most.max(taken.load(Ordering::SeqCst) - read);
        read += timeout(LONG, stream.read(&mut room)).await.unwrap().unwrap() as u64;
    }
    assert!(most < UNDER_WAY, "{most} bytes were under way");
    stream.write_all(b"HTTP/1.1 200 x\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    assert_eq!(answered(asking).await.unwrap().status(), 200);
}
