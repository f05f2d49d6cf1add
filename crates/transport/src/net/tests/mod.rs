//! Helpers that the tests share: a server on a free port, and raw HTTP/1.1 over a socket.

mod answering;
mod asking;
mod bodies;
mod identified;
mod judging;
mod local;
mod losing;
mod peering;
mod proxying;
mod reaching;
mod refusing;
mod requesting;
mod resting;
mod runtimes;
mod securing;
mod serving;
mod streaming;

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::{
    Body, ConnectionCap, Handler, Incoming, Listeners, Responding, ServeError, ServerLimits, Stop, collect,
    serve,
};
use crate::budget::Part;

/// A time that is longer than any test takes on a busy machine.
const LONG: Duration = Duration::from_secs(20);

struct Served {
    addr: SocketAddr,
    stop: Stop,
    cap: ConnectionCap,
    done: JoinHandle<Result<(), ServeError>>,
}

impl Served {
    fn start(limits: ServerLimits, cap: usize, handler: impl Handler) -> Self {
        let listeners = Listeners::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap();
        let (stop, cap) = (Stop::new(), ConnectionCap::new(cap));
        let listener = listeners.take(0).unwrap();
        let done = tokio::spawn(serve(listener, handler, limits, cap.clone(), stop.clone()));
        Self { addr: listeners.addr(), stop, cap, done }
    }

    async fn finish(self) {
        self.stop.stop();
        timeout(LONG, self.done).await.expect("drained in time").unwrap().unwrap();
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.addr).await.unwrap()
    }
}

/// Answers with the method, the path and the body.
async fn echo(request: Request<Incoming>, _peer: SocketAddr) -> Response<Body> {
    let head = format!("{} {} ", request.method(), request.uri().path());
    let body = collect(request.into_body(), Part::Answers, 1 << 20, Instant::now() + LONG).await.unwrap();
    Response::new(Body::rope([Bytes::from(head), body]))
}

/// Reads one answer: its head as text, and a body of the length that `Content-Length` states.
async fn read_answer(stream: &mut TcpStream) -> (String, Vec<u8>) {
    timeout(LONG, async {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("an answer's head"));
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body).await.unwrap();
        (head, body)
    })
    .await
    .expect("an answer in time")
}

async fn get(stream: &mut TcpStream, path: &str) -> (String, Vec<u8>) {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
    read_answer(stream).await
}

/// Returns true if the peer closes (or resets) the connection before sending another byte.
async fn closed(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    matches!(timeout(LONG, stream.read(&mut byte)).await.expect("closed in time"), Ok(0) | Err(_))
}
