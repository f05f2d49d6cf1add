//! Tests with files that are passed from one real socket to another: pace, size caps, and failures or stalls at
//! both ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use config::Limits;
use native::{
    FileStream, HttpBody, HttpClient as _, HttpFault, HttpFaultKind, HttpRequest, HttpResponse, PassedFile,
    Verb,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::clients::{EmbeddedClients, Rules};
use crate::route::Routes;

/// Longer than any test takes on a busy machine.
const LONG: Duration = Duration::from_mins(1);
/// The largest number of bytes that may be under way: in the buffers of four sockets, and in pieces.
const UNDER_WAY: u64 = 32 << 20;
const MIB: u64 = 1 << 20;

fn clients() -> EmbeddedClients {
    EmbeddedClients::new(&Limits::default(), Rules::default(), Routes::default()).unwrap()
}

fn request(method: Verb, url: &str) -> HttpRequest {
    HttpRequest {
        method,
        url: url.to_owned(),
        headers: Vec::new(),
        authorization: None,
        body: HttpBody::default(),
        public_only: false,
        is_fixed_host: true,
        patience: LONG,
        most: 1 << 20,
    }
}

async fn listening() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    (listener, url)
}

/// Accepts the next connection, and reads the head of its request.
async fn asked(listener: &TcpListener) -> (TcpStream, String) {
    let (mut stream, _) = timeout(LONG, listener.accept()).await.expect("a request in time").unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    (stream, String::from_utf8(head).unwrap())
}

/// Starts a file's server that sends this head and this many bytes, and then closes the connection; returns its
/// URL.
async fn file_server(head: &'static str, bytes: u64, sent: Arc<AtomicU64>) -> String {
    let (listener, url) = listening().await;
    tokio::spawn(async move {
        let (mut stream, _) = asked(&listener).await;
        stream.write_all(head.as_bytes()).await.unwrap();
        let piece = vec![b'x'; 64 << 10];
        let mut left = bytes;
        while left > 0 {
            let length = left.min(piece.len() as u64);
            if stream.write_all(&piece[..usize::try_from(length).unwrap()]).await.is_err() {
                return;
            }
            sent.fetch_add(length, Ordering::SeqCst);
            left -= length;
        }
    });
    url
}

/// Passes the file at `from` on to `to`.
async fn passed(from: &str, to: &str, most: u64, stall: Duration) -> Result<HttpResponse, HttpFault> {
    let clients = clients();
    let opened = clients.open(request(Verb::Get, from), stall).await?;
    let passed = PassedFile {
        before: Bytes::from_static(b"before"),
        file: FileStream::new(Bytes::new(), Some(opened.body), opened.length, most),
        after: Bytes::from_static(b"after"),
        stall,
    };
    let upload = HttpRequest { body: HttpBody::Passing(passed), ..request(Verb::Post, to) };
    timeout(LONG, clients.send(upload)).await.expect("an outcome in time")
}

type Passing = tokio::task::JoinHandle<Result<HttpResponse, HttpFault>>;

/// Starts to pass a file to a site; returns once the site has received the head of the request.
async fn under_way(
    (head, bytes): (&'static str, u64),
    most: u64,
    stall: Duration,
) -> (Passing, TcpStream, String, Arc<AtomicU64>) {
    let sent = Arc::new(AtomicU64::new(0));
    let from = file_server(head, bytes, sent.clone()).await;
    let (site, to) = listening().await;
    let passing = tokio::spawn(async move { passed(&from, &to, most, stall).await });
    let (stream, head) = asked(&site).await;
    (passing, stream, head, sent)
}

/// Reads all bytes until the connection is closed or reset.
async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    let mut room = vec![0; 64 << 10];
    while let Ok(length @ 1..) = timeout(LONG, stream.read(&mut room)).await.expect("an end in time") {
        all.extend_from_slice(&room[..length]);
    }
    all
}

const KNOWN: &str = "HTTP/1.1 200 x\r\ncontent-length: 104857600\r\n\r\n";
const UNKNOWN: &str = "HTTP/1.1 200 x\r\nconnection: close\r\n\r\n";

#[tokio::test]
async fn only_what_the_site_reads_is_read_from_the_file_s_server() {
    const SIZE: u64 = 100 * MIB;
    for head in [KNOWN, UNKNOWN] {
        let (passing, mut stream, request, sent) = under_way((head, SIZE), SIZE, LONG).await;
        let is_known = request.contains("content-length: 104857611\r\n");
        assert_eq!(is_known, head == KNOWN, "{request}");
        assert_eq!(request.contains("transfer-encoding: chunked\r\n"), !is_known, "{request}");
        let (mut read, mut most) = (0, 0);
        let mut room = vec![0; 64 << 10];
        let mut end = Vec::new();
        while !(if is_known { read == SIZE + 11 } else { end.ends_with(b"5\r\nafter\r\n0\r\n\r\n") }) {
            // Both sides go on until they have to wait.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            most = most.max(sent.load(Ordering::SeqCst).saturating_sub(read));
            let length = timeout(LONG, stream.read(&mut room)).await.unwrap().unwrap();
            assert!(length > 0, "the site got {read} bytes");
            read += length as u64;
            end.extend_from_slice(&room[..length]);
            end.drain(..end.len().saturating_sub(20));
        }
        assert!(most < UNDER_WAY, "{most} bytes were under way");
        stream.write_all(b"HTTP/1.1 201 x\r\ncontent-length: 2\r\n\r\nhi").await.unwrap();
        let answer = passing.await.unwrap().unwrap();
        assert_eq!((answer.status, &answer.body[..]), (201, &b"hi"[..]));
    }
}

#[tokio::test]
async fn a_file_that_breaks_off_is_never_complete() {
    const CHUNKED: &str = "HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\nfffffff\r\n";
    for head in [KNOWN, CHUNKED] {
        let (passing, mut stream, request, _) = under_way((head, MIB), 512 * MIB, LONG).await;
        let got = rest(&mut stream).await;
        assert!(!got.ends_with(b"0\r\n\r\n") && !contains(&got, b"after"), "{request}");
        let fault = passing.await.unwrap().unwrap_err();
        assert_eq!(fault.kind, HttpFaultKind::Source);
        assert!(fault.message.contains("the file's server interrupted the transfer"), "{fault}");
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[tokio::test]
async fn a_file_that_turns_out_to_be_too_large_aborts_both_sides() {
    let (passing, mut stream, _, sent) = under_way((UNKNOWN, u64::MAX), 3 * MIB, LONG).await;
    let got = rest(&mut stream).await;
    assert!(!got.ends_with(b"0\r\n\r\n") && got.len() as u64 <= 4 * MIB);
    let fault = passing.await.unwrap().unwrap_err();
    assert_eq!(fault.kind, HttpFaultKind::Source);
    assert!(fault.message.contains("larger than 3 MiB"), "{fault}");
    assert!(sent.load(Ordering::SeqCst) < UNDER_WAY, "the file's server had to stop");
}

#[tokio::test]
async fn an_early_refusal_is_the_answer_and_an_early_success_is_none() {
    for (status, is_answer) in [("413", true), ("200", false)] {
        let (passing, mut stream, _, sent) = under_way((UNKNOWN, u64::MAX), u64::MAX, LONG).await;
        let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 8\r\n\r\ntoo long");
        stream.write_all(answer.as_bytes()).await.unwrap();
        match passing.await.unwrap() {
            Ok(answer) => assert_eq!((answer.status, &answer.body[..]), (413, &b"too long"[..])),
            Err(fault) => {
                assert!(!is_answer && fault.message.contains("before it had the whole file"), "{fault}");
            }
        }
        assert!(sent.load(Ordering::SeqCst) < UNDER_WAY);
    }
}

#[tokio::test]
async fn each_side_may_stall_only_for_a_time() {
    const SHORT: Duration = Duration::from_millis(300);
    // The file's server sends nothing more.
    let (file, from) = listening().await;
    let (site, to) = listening().await;
    let passing = tokio::spawn(async move { passed(&from, &to, u64::MAX, SHORT).await });
    let (mut stream, _) = asked(&file).await;
    stream.write_all(b"HTTP/1.1 200 x\r\ncontent-length: 9\r\n\r\nfile").await.unwrap();
    let (mut upload, _) = asked(&site).await;
    assert_eq!(rest(&mut upload).await, b"beforefile");
    let fault = passing.await.unwrap().unwrap_err();
    assert!(
        fault.kind == HttpFaultKind::Source && fault.message.contains("sent nothing for 0.3 s"),
        "{fault}"
    );
    drop(stream);
    // The site takes no more.
    let (passing, stream, _, _) = under_way((UNKNOWN, u64::MAX), u64::MAX, SHORT).await;
    let fault = passing.await.unwrap().unwrap_err();
    assert!(fault.kind == HttpFaultKind::Late && fault.message.contains("accepted no more"), "{fault}");
    drop(stream);
    // The site takes all of it, and does not answer.
    let (passing, stream, _, _) = under_way((UNKNOWN, 9), u64::MAX, SHORT).await;
    let fault = passing.await.unwrap().unwrap_err();
    assert!(fault.kind == HttpFaultKind::Late && fault.message.contains("no answer came within"), "{fault}");
    drop(stream);
}

#[tokio::test]
async fn a_file_is_sent_only_once() {
    let (site, to) = listening().await;
    let serving = tokio::spawn(async move {
        let (mut stream, _) = asked(&site).await;
        stream.write_all(b"HTTP/1.1 404 x\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        rest(&mut stream).await;
    });
    let clients = clients();
    let file = PassedFile {
        before: Bytes::new(),
        file: FileStream::new(Bytes::from_static(b"file"), None, Some(4), 4),
        after: Bytes::from_static(b"after"),
        stall: LONG,
    };
    let upload = HttpRequest { body: HttpBody::Passing(file), ..request(Verb::Post, &to) };
    assert_eq!(clients.send(upload.clone()).await.unwrap().status, 404);
    assert_eq!(clients.send(upload).await.unwrap_err().kind, HttpFaultKind::Source);
    drop(clients);
    serving.await.unwrap();
}
