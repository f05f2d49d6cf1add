//! A stand-in for a telemetry collector: it accepts POST requests over HTTP/1.1 and keeps their bodies. This module
//! must not know the product, or the meaning of a body.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The maximum size of an accepted body, in bytes.
const MOST: usize = 16 << 20;

/// A received POST request.
#[derive(Debug, Clone)]
pub struct Post {
    /// The path.
    pub path: String,
    /// The lines of the head, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Post {
    /// The value of a header; empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.as_str())
    }
}

/// The requests received so far, and the answers for the next requests.
#[derive(Debug, Default)]
struct Received {
    posts: Mutex<Vec<Post>>,
    /// The statuses of the next answers, each with additional header lines. All later answers have the status 200.
    answers: Mutex<VecDeque<(u16, String)>>,
    count: watch::Sender<usize>,
}

/// A running collector; dropping it stops it.
#[derive(Debug)]
pub struct TelemetryCollector {
    address: SocketAddr,
    received: Arc<Received>,
    task: JoinHandle<()>,
}

impl TelemetryCollector {
    /// Starts a collector on a free port of this machine.
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (address, received) = (listener.local_addr()?, Arc::<Received>::default());
        let own = received.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let received = own.clone();
                tokio::spawn(async move { serve(stream, &received).await });
            }
        });
        Ok(Self { address, received, task })
    }

    /// The collector's URL, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the answer to the next request: this status, and these additional header lines. Several calls queue
    /// their answers.
    pub fn answer_next(&self, status: u16, headers: &str) {
        let mut answers = self.received.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push_back((status, headers.to_owned()));
    }

    /// Waits until this number of requests has arrived in total, and returns all requests so far.
    pub async fn posts(&self, count: usize) -> Vec<Post> {
        let mut counts = self.received.count.subscribe();
        // The sender lives as long as this value.
        let _ = counts.wait_for(|now| *now >= count).await;
        self.received.posts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for TelemetryCollector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Answers the requests of one connection; a malformed one ends it.
async fn serve(stream: TcpStream, received: &Received) {
    let mut stream = BufReader::new(stream);
    while let Some(post) = read(&mut stream).await {
        let next = received.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let (status, headers) = next.unwrap_or((200, String::new()));
        received.posts.lock().unwrap_or_else(PoisonError::into_inner).push(post);
        received.count.send_modify(|count| *count += 1);
        let answer = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: 0\r\n\r\n");
        if stream.get_mut().write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Post> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?;
    let length: usize = length.1.parse().ok().filter(|length| *length <= MOST)?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Post { path, headers, body })
}
