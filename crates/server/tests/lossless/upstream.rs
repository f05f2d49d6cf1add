//! An upstream for which the test decides every byte, over HTTP or as a child process.
//!
//! It introduces itself and returns the given lists; all other messages go to the test, which answers. The child process
//! is a shell that passes lines between its pipes and this process.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc, watch};

use crate::corpus::members;
use crate::support::{Over, soon};

/// The upstream's introduction and lists.
pub(crate) struct Script {
    pub(crate) version: &'static str,
    pub(crate) stateless: bool,
    /// Its capabilities, a JSON object.
    pub(crate) capabilities: String,
    /// The entries of its lists, by the name of the list.
    pub(crate) lists: HashMap<&'static str, Vec<String>>,
}

/// A message that the upstream received.
pub(crate) struct Heard {
    /// The exact text.
    pub(crate) text: String,
    /// The request's HTTP headers, by lower-case name.
    pub(crate) headers: HashMap<String, String>,
    out: Out,
}

#[derive(Clone)]
enum Out {
    /// The open connection, which waits for data.
    Post(mpsc::Sender<Piece>),
    Lines(Lines),
}

/// Data to write on a connection.
enum Piece {
    /// One more event of a stream.
    Event(String),
    /// The last message.
    Last(String),
}

type Lines = Arc<Mutex<OwnedWriteHalf>>;

impl Out {
    async fn say(&self, text: &str) {
        match self {
            Self::Post(out) => out.send(Piece::Event(text.into())).await.expect("the connection is open"),
            Self::Lines(lines) => write_line(lines, text).await,
        }
    }
}

impl Heard {
    /// Sends a message before the answer.
    pub(crate) async fn say(&mut self, text: &str) {
        self.out.say(text).await;
    }

    /// Waits until the sender has closed the connection.
    pub(crate) async fn closed(self) {
        let Out::Post(out) = self.out else { panic!("a pipe stays open") };
        soon("the end of the connection", out.closed()).await;
    }

    /// Sends the answer.
    pub(crate) async fn answer(self, text: &str) {
        match self.out {
            Out::Post(out) => out.send(Piece::Last(text.into())).await.expect("the connection is open"),
            Out::Lines(lines) => write_line(&lines, text).await,
        }
    }
}

async fn write_line(lines: &Lines, text: &str) {
    let line = format!("{}\n", text.replace('\n', " "));
    let mut out = lines.lock().await;
    soon("room in the pipe", out.write_all(line.as_bytes())).await.expect("the child reads");
}

/// The upstream; it stops when dropped.
pub(crate) struct Upstream {
    over: Over,
    port: u16,
    heard: mpsc::Receiver<Heard>,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    script: Script,
    heard: mpsc::Sender<Heard>,
    /// The connection to the test's client; other links belong to the gateway itself.
    client: watch::Sender<Option<Out>>,
    /// Its session, over HTTP.
    session: watch::Sender<String>,
    /// The `initialize` and `server/discover` requests so far.
    hellos: watch::Sender<Vec<String>>,
}

impl Upstream {
    /// Starts to listen.
    pub(crate) async fn start(over: Over, script: Script) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let (sender, heard) = mpsc::channel(64);
        let shared = Arc::new(Shared {
            script,
            heard: sender,
            client: watch::Sender::default(),
            session: watch::Sender::default(),
            hellos: watch::Sender::default(),
        });
        let own = shared.clone();
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).expect("a connection takes options");
                let shared = own.clone();
                open.spawn(async move {
                    // A connection that ends is the gateway's concern.
                    let _ = match over {
                        Over::Http => shared.http(stream).await,
                        Over::Stdio => shared.stdio(stream).await,
                    };
                });
            }
        });
        Self { over, port, heard, shared, task }
    }

    /// Its configuration.
    pub(crate) fn config(&self) -> String {
        let port = self.port;
        match self.over {
            Over::Http => format!("{{ url: \"http://127.0.0.1:{port}/mcp\" }}"),
            Over::Stdio => {
                let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & exec cat >&3");
                format!("{{ command: bash, args: [-c, \"{script}\"] }}")
            }
        }
    }

    /// The next message that does not belong to the gateway itself.
    pub(crate) async fn heard(&mut self) -> Heard {
        soon("a message for the upstream", self.heard.recv()).await.expect("it listens")
    }

    /// Sends a message that belongs to no request.
    pub(crate) async fn say(&self, text: &str) {
        let mut client = self.shared.client.subscribe();
        let wait = soon("a client's link", client.wait_for(Option::is_some)).await;
        let out = wait.expect("the upstream lives").clone().expect("it was waited for");
        out.say(text).await;
    }

    /// The requests that opened links, once there are this many.
    pub(crate) async fn hellos(&self, count: usize) -> Vec<String> {
        let mut hellos = self.shared.hellos.subscribe();
        soon("introductions", hellos.wait_for(|all| all.len() >= count)).await.expect("it lives").clone()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    /// The answer to the gateway's own messages; `None` for those that the test has to answer.
    fn own_answer(&self, method: &str, id: &str, text: &str) -> Option<String> {
        let Script { version, capabilities, stateless, .. } = &self.script;
        let info = r#"{"name":"corpus","version":"1"}"#;
        let typed = r#""resultType":"complete","ttlMs":0,"cacheScope":"private""#;
        let result = match method {
            "initialize" | "server/discover" => {
                self.hellos.send_modify(|all| all.push(text.to_owned()));
                match (method == "initialize", stateless) {
                    (true, false) => format!(
                        r#"{{"protocolVersion":"{version}","capabilities":{capabilities},"serverInfo":{info}}}"#
                    ),
                    (false, true) => {
                        format!(
                            r#"{{"supportedVersions":["{version}"],"capabilities":{capabilities},{typed}}}"#
                        )
                    }
                    _ => {
                        let error = r#"{"code":-32601,"message":"not in this version"}"#;
                        return Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
                    }
                }
            }
            "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
                let list = if method == "resources/templates/list" {
                    "resourceTemplates"
                } else {
                    method.strip_suffix("/list").expect("it has it")
                };
                let entries = self.script.lists.get(list).map(|all| all.join(",")).unwrap_or_default();
                format!(r#"{{"{list}":[{entries}],{typed}}}"#)
            }
            "logging/setLevel" => "{}".to_owned(),
            _ => return None,
        };
        Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }

    async fn stdio(&self, stream: TcpStream) -> std::io::Result<()> {
        let (input, output) = stream.into_split();
        let lines = Arc::new(Mutex::new(output));
        let mut input = BufReader::new(input);
        loop {
            let mut line = String::new();
            if input.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let text = line.strip_suffix('\n').expect("a whole line");
            let (method, id) = method_and_id(text);
            if let Some(answer) = self.own_answer(&method, &id, text) {
                if is_of_a_client(&method, text) {
                    self.client.send_replace(Some(Out::Lines(lines.clone())));
                }
                write_line(&lines, &answer).await;
            } else if method == "subscriptions/listen" {
                write_line(&lines, &acknowledged(&id)).await;
            } else if method != "notifications/initialized" {
                let heard =
                    Heard { text: text.into(), headers: HashMap::new(), out: Out::Lines(lines.clone()) };
                let _ = self.heard.send(heard).await;
            }
        }
    }

    async fn http(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        while let Some((verb, headers, text)) = read_request(&mut stream).await? {
            match verb.as_str() {
                "GET" if self.script.stateless => status(&mut stream, "405 No").await?,
                "GET" => {
                    let (sender, mut pieces) = mpsc::channel(64);
                    let session = headers.get("mcp-session-id").cloned().unwrap_or_default();
                    // The sender of a silent stream must also stay alive.
                    let _kept = sender.clone();
                    if *self.session.borrow() == session {
                        self.client.send_replace(Some(Out::Post(sender)));
                    }
                    return write_pieces(&mut stream, &mut pieces, true).await;
                }
                "POST" => self.post(&mut stream, headers, text).await?,
                _ => status(&mut stream, "200 OK").await?,
            }
        }
        Ok(())
    }

    async fn post(
        &self,
        stream: &mut BufReader<TcpStream>,
        headers: HashMap<String, String>,
        text: String,
    ) -> std::io::Result<()> {
        let (method, id) = method_and_id(&text);
        if let Some(answer) = self.own_answer(&method, &id, &text) {
            let session = format!("session-{}", self.hellos.borrow().len());
            if is_of_a_client(&method, &text) {
                self.session.send_replace(session.clone());
            }
            return write_json(stream, &answer, if method == "initialize" { &session } else { "" }).await;
        }
        let (sender, mut pieces) = mpsc::channel(64);
        if method == "subscriptions/listen" {
            sender.send(Piece::Event(acknowledged(&id))).await.expect("there is room");
            let _kept = sender;
            return write_pieces(stream, &mut pieces, true).await;
        }
        if method.is_empty() || id.is_empty() {
            status(stream, "202 Accepted").await?;
            if method != "notifications/initialized" {
                let _ = self.heard.send(Heard { text, headers, out: Out::Post(sender) }).await;
            }
            return Ok(());
        }
        let _ = self.heard.send(Heard { text, headers, out: Out::Post(sender) }).await;
        write_pieces(stream, &mut pieces, false).await
    }
}

fn acknowledged(id: &str) -> String {
    let method = "notifications/subscriptions/acknowledged";
    let meta = format!(r#"{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"_meta":{meta},"notifications":{{}}}}}}"#)
}

/// A message's method, and its ID in original spelling; empty if it has none.
fn method_and_id(text: &str) -> (String, String) {
    let mut members = members(text);
    let method = members.get("method").map(|raw| serde_json::from_str(raw).expect("a string"));
    (method.unwrap_or_default(), members.remove("id").unwrap_or_default())
}

/// Returns true if it opens a link for a client, which has capabilities, rather than for the gateway itself.
fn is_of_a_client(method: &str, text: &str) -> bool {
    method == "initialize" && !text.contains(r#""capabilities":{}"#)
}

type Request = (String, HashMap<String, String>, String);

async fn read_request(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let verb = line.split(' ').next().unwrap_or_default().to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some((verb, headers, String::from_utf8(body).expect("UTF-8"))))
}

async fn status(stream: &mut BufReader<TcpStream>, status: &str) -> std::io::Result<()> {
    stream.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes()).await
}

async fn write_json(stream: &mut BufReader<TcpStream>, text: &str, session: &str) -> std::io::Result<()> {
    let length = text.len();
    let session = if session.is_empty() { String::new() } else { format!("Mcp-Session-Id: {session}\r\n") };
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{session}");
    stream.write_all(format!("{head}Content-Length: {length}\r\n\r\n{text}").as_bytes()).await
}

/// Writes the test's data: a single answer as JSON, anything else as an event stream.
async fn write_pieces(
    stream: &mut BufReader<TcpStream>,
    pieces: &mut mpsc::Receiver<Piece>,
    mut begun: bool,
) -> std::io::Result<()> {
    const HEAD: &str =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    if begun {
        stream.write_all(HEAD.as_bytes()).await?;
    }
    loop {
        // Nothing is sent while an answer is pending, so a successful read means the connection's end.
        let piece = tokio::select! {
            piece = pieces.recv() => piece,
            _ = stream.fill_buf() => None,
        };
        let Some(piece) = piece else { return Err(std::io::ErrorKind::ConnectionAborted.into()) };
        let (text, last) = match piece {
            Piece::Last(text) if !begun => return write_json(stream, &text, "").await,
            Piece::Last(text) => (text, true),
            Piece::Event(text) => (text, false),
        };
        if !begun {
            stream.write_all(HEAD.as_bytes()).await?;
            begun = true;
        }
        let event = format!("data: {}\n\n", text.replace('\n', "\ndata: "));
        let mut bytes = format!("{:x}\r\n{event}\r\n", event.len());
        if last {
            bytes.push_str("0\r\n\r\n");
        }
        stream.write_all(bytes.as_bytes()).await?;
        if last {
            break;
        }
    }
    Ok(())
}
