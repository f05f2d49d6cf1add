//! An upstream over HTTP for which a test decides every answer, and which records what it receives.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::upstreams::quoted;
use super::{LEGACY, soon};

/// A request that the puppet received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) verb: String,
    /// The path with its query.
    pub(crate) path: String,
    /// The headers by lower-case name.
    pub(crate) headers: HashMap<String, String>,
    /// The message; null if there was none.
    pub(crate) body: Value,
    /// The body as it arrived.
    pub(crate) text: String,
}

impl Received {
    /// The message's method; the HTTP method if there is none.
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or(&self.verb)
    }

    /// A header's value, by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// An answer of the puppet.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    /// A result, with these header lines.
    Result(Value, String),
    /// A status with a content type and a body.
    Status(u16, &'static str, String),
    /// These bytes, then the connection is closed.
    Raw(Vec<u8>),
    /// These bytes, and nothing more: the connection stays open.
    Hold(Vec<u8>),
    /// An event stream of the arriving bytes, until the second value is true.
    Stream(watch::Receiver<(Vec<u8>, bool)>),
    /// The answer of a correct upstream that only has the tool `ok`.
    Proper,
}

type Script = dyn Fn(usize, &Received) -> Said + Send + Sync;

/// The puppet; it stops when dropped.
pub(crate) struct Puppet {
    address: SocketAddr,
    received: Arc<watch::Sender<Vec<Received>>>,
    task: JoinHandle<()>,
}

impl Puppet {
    /// Starts a puppet. `script` gets the number of the request (from 0, among those with the same method) and the
    /// request.
    pub(crate) async fn start(script: impl Fn(usize, &Received) -> Said + Send + Sync + 'static) -> Self {
        let (_, open) = watch::channel(true);
        Self::start_gated(open, script).await
    }

    /// Starts a puppet that answers nothing before `open` is true.
    pub(crate) async fn start_gated(
        open: watch::Receiver<bool>,
        script: impl Fn(usize, &Received) -> Said + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let received = Arc::new(watch::Sender::default());
        let (script, own): (Arc<Script>, _) = (Arc::new(script), received.clone());
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (script, received, mut open) = (script.clone(), own.clone(), open.clone());
                connections.spawn(async move {
                    // A gate whose sender was dropped stays as it is.
                    let _ = open.wait_for(|open| *open).await;
                    connection(stream, &*script, &received).await
                });
            }
        });
        Self { address, received, task }
    }

    /// Its configuration.
    pub(crate) fn config(&self) -> String {
        format!("{{ url: {} }}", quoted(&self.url()))
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Everything that it received.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.borrow().clone()
    }

    /// The number of received requests with this method.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.received.borrow().iter().filter(|one| one.method() == method).count()
    }

    /// Waits until it has received a request that is `wanted`.
    pub(crate) async fn heard(&self, what: &str, wanted: impl Fn(&Received) -> bool) -> Received {
        let mut seen = self.received.subscribe();
        let all = soon(what, seen.wait_for(|all| all.iter().any(&wanted))).await.expect("the puppet lives");
        all.iter().find(|one| wanted(one)).expect("it was there").clone()
    }

    /// Waits until it has received this number of requests with this method.
    pub(crate) async fn was_sent(&self, method: &str, times: usize) {
        let mut seen = self.received.subscribe();
        let wait = seen.wait_for(|all| all.iter().filter(|one| one.method() == method).count() >= times);
        soon(method, wait).await.expect("the puppet lives");
    }
}

impl Drop for Puppet {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn connection(
    stream: TcpStream,
    script: &Script,
    received: &watch::Sender<Vec<Received>>,
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let request = read(&mut stream).await?;
        let number = received.borrow().iter().filter(|one| one.method() == request.method()).count();
        received.send_modify(|all| all.push(request.clone()));
        let said = match script(number, &request) {
            Said::Proper => proper(&request),
            other => other,
        };
        let bytes = match said {
            Said::Raw(bytes) => {
                stream.write_all(&bytes).await.ok()?;
                stream.shutdown().await.ok()?;
                return None;
            }
            Said::Hold(bytes) => {
                stream.write_all(&bytes).await.ok()?;
                // Until the other side disconnects.
                let _ = stream.read_to_end(&mut Vec::new()).await;
                return None;
            }
            Said::Stream(text) => return tell(stream, text).await,
            Said::Result(result, headers) => {
                let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result}).to_string();
                response(200, "application/json", &headers, &body)
            }
            Said::Status(status, media, body) => response(status, media, "", &body),
            Said::Proper => unreachable!("replaced above"),
        };
        stream.write_all(&bytes).await.ok()?;
    }
}

/// Writes an event stream as it arrives; the other side may disconnect before its end.
async fn tell(mut stream: BufReader<TcpStream>, mut text: watch::Receiver<(Vec<u8>, bool)>) -> Option<()> {
    let head = "HTTP/1.1 200 Told\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.ok()?;
    let (mut sent, mut unread) = (0, [0; 64]);
    loop {
        let (new, over) = {
            let now = text.borrow_and_update();
            (now.0[sent..].to_vec(), now.1)
        };
        stream.write_all(&new).await.ok()?;
        sent += new.len();
        if over {
            return stream.shutdown().await.ok();
        }
        tokio::select! {
            changed = text.changed() => changed.ok()?,
            count = stream.read(&mut unread) => if !matches!(count, Ok(1..)) { return None },
        }
    }
}

fn response(status: u16, media: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Told\r\nContent-Type: {media}\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The answer of an upstream of the handshake era whose only offer is one tool, `ok`.
fn proper(request: &Received) -> Said {
    let none = String::new();
    let result = match request.method() {
        "initialize" => json!({
            "protocolVersion": LEGACY, "capabilities": {"tools": {}},
            "serverInfo": {"name": "puppet", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "ok", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "ok"}]}),
        "ping" => json!({}),
        "GET" => return Said::Status(405, "text/plain", none),
        _ if request.body.get("id").is_none() => return Said::Status(202, "text/plain", none),
        other => {
            let error = json!({"code": -32601, "message": format!("there is no method {other}")});
            let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
            return Said::Status(200, "application/json", body.to_string());
        }
    };
    Said::Result(result, none)
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split(' ').map(str::to_owned);
    let verb = words.next().filter(|verb| !verb.is_empty())?;
    let path = words.next().unwrap_or_default();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.trim().to_owned()),
            None => break,
        };
    }
    let mut body = Vec::new();
    match headers.get("content-length").and_then(|length| length.parse::<usize>().ok()) {
        Some(length) => {
            body.resize(length, 0);
            stream.read_exact(&mut body).await.ok()?;
        }
        None if headers.contains_key("transfer-encoding") => loop {
            line.clear();
            stream.read_line(&mut line).await.ok()?;
            let size = usize::from_str_radix(line.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk).await.ok()?;
            body.extend_from_slice(&chunk[..size]);
            if size == 0 {
                break;
            }
        },
        None => {}
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    Some(Received { verb, path, headers, body: serde_json::from_slice(&body).unwrap_or_default(), text })
}
