//! An MCP client for any version, on plain threads; it checks every message that it receives.
//!
//! | file | concern |
//! |---|---|
//! | `era` | the versions, and their transports |
//! | `http` | one HTTP exchange |
//! | `hearing` | received messages, and the check that they were meant for this client |
//! | `calls` | calls with nonces, and their results |
//! | `streams` | event streams that a client leaves and resumes |

mod calls;
mod era;
mod hearing;
pub(crate) mod http;
mod streams;

pub(crate) use calls::{Called, End};
pub(crate) use era::{Era, Way};
pub(crate) use hearing::Hearing;
use hearing::short;
pub(crate) use streams::EventStream;

use http::{Reply, Sent, exchange};
use serde_json::{Value, json};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum lifetime of a stream of notices.
const STREAM: Duration = Duration::from_hours(12);
/// The number of rounds of questions in one call.
const ROUNDS: usize = 5;

/// The reason why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The request was answered with an error.
    Refused(String),
    /// No answer arrived.
    Lost(String),
}

/// One client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) era: Era,
    pub(crate) hearing: Arc<Hearing>,
    address: SocketAddr,
    capabilities: Value,
    /// The session's id or, in HTTP+SSE, the path to post to.
    session: Option<String>,
    /// The value of the header `Authorization`.
    authorization: Option<String>,
    /// The id of the last request; clients that continue the same session share this counter.
    last: Arc<AtomicU64>,
    /// The connections of streams, which are shut down at the end.
    streams: Mutex<Vec<TcpStream>>,
}

const PATH: &str = "/mcp";

impl Client {
    /// Creates a client that has introduced itself, with an API key if there is one.
    pub(crate) fn open(
        address: SocketAddr,
        hearing: Hearing,
        era: Era,
        capabilities: Value,
        key: Option<&str>,
        within: Duration,
    ) -> Result<Arc<Self>, Failure> {
        let mut client = Self {
            era,
            hearing: Arc::new(hearing),
            address,
            capabilities,
            session: None,
            authorization: key.map(|key| format!("Bearer {key}")),
            last: Arc::default(),
            streams: Mutex::default(),
        };
        let deadline = Instant::now() + within;
        if era.way == Way::Stateless {
            return Ok(Arc::new(client));
        }
        if era.way == Way::Sse {
            client.session = Some(client.open_stream(deadline)?);
        }
        let info = json!({ "name": "chaos", "version": "1" });
        let params = json!({ "protocolVersion": era.version, "capabilities": client.capabilities, "clientInfo": info });
        let message = client.message("initialize", params);
        let (mut reply, id) = (client.send(&message, deadline)?, message["id"].as_u64().unwrap_or_default());
        if era.way == Way::Session {
            client.session = reply.header("mcp-session-id").map(str::to_owned);
        }
        client.read_answer(&mut reply, id, deadline)?;
        client.notify("notifications/initialized", deadline)?;
        Ok(Arc::new(client))
    }

    /// Creates a client that continues this client's session at another address.
    pub(crate) fn resumed(&self, address: SocketAddr) -> Arc<Self> {
        Arc::new(Self {
            era: self.era,
            hearing: Arc::clone(&self.hearing),
            address,
            capabilities: self.capabilities.clone(),
            session: self.session.clone(),
            authorization: self.authorization.clone(),
            last: Arc::clone(&self.last),
            streams: Mutex::default(),
        })
    }

    /// Sends a request and waits for its result; answers the server's questions in the meantime.
    pub(crate) fn request(&self, method: &str, params: &Value, within: Duration) -> Result<Value, Failure> {
        let deadline = Instant::now() + within;
        let mut params = params.clone();
        for _ in 0..ROUNDS {
            let result = self.round(method, &params, deadline.saturating_duration_since(Instant::now()))?;
            if result["resultType"] != "input_required" {
                return Ok(result);
            }
            params = self.with_answers(&params, &result);
        }
        Err(Failure::Lost("the server asked for input too many times".to_owned()))
    }

    /// Sends a request once; returns its result, which may contain questions.
    pub(crate) fn round(&self, method: &str, params: &Value, within: Duration) -> Result<Value, Failure> {
        let deadline = Instant::now() + within;
        let message = self.message(method, params.clone());
        let id = message["id"].as_u64().unwrap_or_default();
        let mut reply = self.send(&message, deadline)?;
        self.read_answer(&mut reply, id, deadline)
    }

    /// The params of a request's next attempt: with the answers to the questions in its result.
    pub(crate) fn with_answers(&self, params: &Value, result: &Value) -> Value {
        self.hearing.check_nonces("questions in a result", result);
        let mut answers = json!({});
        for (key, question) in result["inputRequests"].as_object().into_iter().flatten() {
            answers[key] = question["method"].as_str().and_then(|method| self.hearing.reply(method)).into();
        }
        let mut params = params.clone();
        params["inputResponses"] = answers;
        params["requestState"] = result["requestState"].clone();
        params
    }

    fn notify(&self, method: &str, deadline: Instant) -> Result<(), Failure> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method }), deadline).map(drop)
    }

    /// Opens the stream of notices; in HTTP+SSE, it is already open.
    pub(crate) fn listen(self: &Arc<Self>) -> Result<(), Failure> {
        let deadline = Instant::now() + STREAM;
        let reply = match self.era.way {
            Way::Sse => return Ok(()),
            Way::Session => self.exchange("GET", PATH, &[("Accept", "text/event-stream")], "", deadline)?,
            Way::Stateless => {
                let wanted = json!({ "notifications": { "toolsListChanged": true } });
                self.send(&self.message("subscriptions/listen", wanted), deadline)?
            }
        };
        if reply.status != 200 || !reply.is_stream() {
            return Err(Failure::Refused(format!("the stream of notices: status {}", reply.status)));
        }
        self.follow(reply, Arc::downgrade(self));
        Ok(())
    }

    /// Ends the session, and all streams.
    pub(crate) fn close(&self) {
        if self.era.way == Way::Session && self.session.is_some() {
            let _ = self.exchange("DELETE", PATH, &[], "", Instant::now() + Duration::from_secs(5));
        }
        self.abandon();
    }

    /// Ends all streams, but not the session.
    pub(crate) fn abandon(&self) {
        for stream in self.streams.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn message(&self, method: &str, mut params: Value) -> Value {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        if self.era.way == Way::Stateless {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(self.era.version);
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "chaos", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    fn send(&self, message: &Value, deadline: Instant) -> Result<Reply, Failure> {
        let mut headers =
            vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        if self.era.way == Way::Stateless {
            headers.push(("Mcp-Method", message["method"].as_str().unwrap_or_default()));
            headers.extend(message["params"]["name"].as_str().map(|name| ("Mcp-Name", name)));
        }
        let path = match (self.era.way, &self.session) {
            (Way::Sse, Some(path)) => path,
            _ => PATH,
        };
        self.exchange("POST", path, &headers, &message.to_string(), deadline)
    }

    fn exchange(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
        deadline: Instant,
    ) -> Result<Reply, Failure> {
        let mut all = headers.to_vec();
        all.extend(self.authorization.as_deref().map(|value| ("Authorization", value)));
        if self.era.way != Way::Sse {
            all.push(("MCP-Protocol-Version", self.era.version));
            all.extend(self.session.as_deref().map(|id| ("Mcp-Session-Id", id)));
        }
        exchange(self.address, &Sent { method, path, headers: &all, body }, deadline)
            .map_err(|error| Failure::Lost(format!("{method}: {error}")))
    }

    /// Opens the stream of HTTP+SSE; returns the path to post to.
    fn open_stream(&self, deadline: Instant) -> Result<String, Failure> {
        let lost = |error: std::io::Error| Failure::Lost(format!("the stream: {error}"));
        let until = Instant::now() + STREAM;
        let mut reply = self.exchange("GET", PATH, &[("Accept", "text/event-stream")], "", until)?;
        if reply.status != 200 {
            return Err(Failure::Refused(format!("the stream: status {}", reply.status)));
        }
        loop {
            let (name, data) =
                reply.event().map_err(lost)?.ok_or(Failure::Lost("the stream ended".to_owned()))?;
            if name == "endpoint" {
                let hearing = Arc::clone(&self.hearing);
                self.keep(&reply);
                let (address, path) = (self.address, data.clone());
                thread::spawn(move || {
                    while let Ok(Some((_, data))) = reply.event() {
                        let reply =
                            serde_json::from_str(&data).ok().and_then(|message| hearing.hear(&message));
                        if let Some(reply) = reply {
                            let headers = &[("Content-Type", "application/json")];
                            let sent =
                                Sent { method: "POST", path: &path, headers, body: &reply.to_string() };
                            let _ = exchange(address, &sent, Instant::now() + Duration::from_secs(10));
                        }
                    }
                    hearing.end();
                });
                return Ok(data);
            }
            if Instant::now() > deadline {
                return Err(Failure::Lost("the stream names no endpoint".to_owned()));
            }
        }
    }

    fn keep(&self, reply: &Reply) {
        if let Ok(closer) = reply.closer() {
            self.streams.lock().unwrap_or_else(PoisonError::into_inner).push(closer);
        }
    }

    /// Reads a stream of notices to its end, in its own thread.
    fn follow(&self, mut reply: Reply, client: std::sync::Weak<Self>) {
        self.keep(&reply);
        let hearing = Arc::clone(&self.hearing);
        thread::spawn(move || {
            while let Ok(Some((_, data))) = reply.event() {
                let Ok(message) = serde_json::from_str::<Value>(&data) else { continue };
                let answer = hearing.hear(&message);
                if let (Some(answer), Some(client)) = (answer, client.upgrade()) {
                    let _ = client.send(&answer, Instant::now() + Duration::from_secs(10));
                }
            }
            hearing.end();
        });
    }

    /// Reads the result of the request `id`; `reply` is the beginning of the answer.
    fn read_answer(&self, reply: &mut Reply, id: u64, deadline: Instant) -> Result<Value, Failure> {
        let answer = if reply.is_stream() {
            self.answer_in_stream(reply, id, deadline)?
        } else {
            let text = reply.text().map_err(|error| Failure::Lost(format!("the answer: {error}")))?;
            if self.era.way == Way::Sse && (200..300).contains(&reply.status) {
                let within = deadline.saturating_duration_since(Instant::now());
                self.hearing.answer(id, within).ok_or_else(|| {
                    // The numbers distinguish a stream that stalled from an answer that was lost.
                    Failure::Lost(format!("no answer came; received: {}", self.hearing.summary()))
                })?
            } else {
                let message: Value = serde_json::from_str(&text).unwrap_or_default();
                if message["error"].is_object() {
                    self.hearing.check_nonces("an error", &message);
                    return Err(Failure::Refused(format!("{}: {}", reply.status, short(&text))));
                }
                if reply.status != 200 || message["id"].as_u64() != Some(id) {
                    return Err(Failure::Refused(format!("status {}: {}", reply.status, short(&text))));
                }
                self.hearing.take_answer(&message);
                message
            }
        };
        match &answer["error"] {
            Value::Null => Ok(answer["result"].clone()),
            error => Err(Failure::Refused(short(&error.to_string()))),
        }
    }

    fn answer_in_stream(&self, reply: &mut Reply, id: u64, deadline: Instant) -> Result<Value, Failure> {
        let mut answer = None;
        loop {
            match reply.event() {
                Ok(Some((_, data))) => {
                    let message: Value = serde_json::from_str(&data)
                        .map_err(|error| Failure::Lost(format!("{error}: {}", short(&data))))?;
                    if message["method"].is_null() && message["id"].as_u64() == Some(id) {
                        self.hearing.take_answer(&message);
                        answer = Some(message);
                    } else if let Some(back) = self.hearing.hear(&message) {
                        self.send(&back, deadline)?;
                    }
                }
                Ok(None) => {
                    return answer.ok_or(Failure::Lost("the stream ended without an answer".to_owned()));
                }
                Err(error) => return answer.ok_or(Failure::Lost(format!("the stream: {error}"))),
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.abandon();
    }
}
