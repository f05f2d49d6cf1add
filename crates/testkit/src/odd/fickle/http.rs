//! The fickle upstream over HTTP/1.1: one thread per connection, no runtime.

use super::call_stream;
use super::lifecycle::Lifecycle;
use super::resumable::ResumableVoice;
use super::server::{Fickle, Voice};
use super::session::Session;
use super::stdio::acknowledged;
use crate::odd::act::pause;
use crate::odd::request::{self, Request};
use serde_json::{Value, json};
use std::io::{self, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The longest time that a connection may be idle.
const PATIENCE: Duration = Duration::from_mins(10);
/// The interval at which an idle stream of notifications writes a comment, and so detects that its client has
/// disconnected.
const BEAT: Duration = Duration::from_secs(1);
/// The lifetime of a stream of notifications under the switch `deafen`.
const DEAFENED: Duration = Duration::from_millis(200);

/// Serves until accepting fails.
pub(super) fn serve(listener: &TcpListener, server: &Arc<Fickle>) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept()?;
        let server = Arc::clone(server);
        std::thread::spawn(move || {
            // A failed connection is the client's concern.
            let _ = connection(&stream, &server);
            let _ = stream.shutdown(Shutdown::Both);
        });
    }
}

fn connection(stream: &TcpStream, server: &Fickle) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream.try_clone()?);
    let mut out = stream.try_clone()?;
    let mut early = stream.try_clone()?;
    let mut idle_since = Instant::now();
    let mut first = true;
    while let Some(request) = request::read(&mut input, || early.write_all(b"HTTP/1.1 100 Continue\r\n\r\n"))?
    {
        let idle_close = server.switches().number("idle-close");
        if !first && idle_close > 0 && idle_since.elapsed() >= Duration::from_millis(idle_close) {
            // Behaves like a server whose timer closed the connection while the request was on its way.
            return Ok(());
        }
        while server.switches().has("hang") {
            pause(Duration::from_millis(20));
        }
        if !serve_one(&mut out, server, &request)? || request.close {
            return Ok(());
        }
        (first, idle_since) = (false, Instant::now());
    }
    Ok(())
}

/// Answers one request; returns false if the connection is to be closed.
fn serve_one(out: &mut TcpStream, server: &Fickle, request: &Request) -> io::Result<bool> {
    let session = request.header("mcp-session-id").map(|id| (id.to_owned(), server.session(id)));
    match (request.method.as_str(), session) {
        ("POST", session) => post(out, server, request, session),
        ("GET", Some((_, Some(session)))) => {
            if let Some((number, seen)) = request.header("last-event-id").and_then(call_stream::position) {
                let Some(stream) = session.stream(number) else {
                    return plain(out, "400 Bad Request", "text/plain", "no such stream");
                };
                head(out, "200 OK", "text/event-stream", "Transfer-Encoding: chunked\r\n")?;
                return stream.resume(number, seen, out).map(|()| true);
            }
            let deafened = server.switches().has("deafen");
            notices(out, &session.listen(), deafened)
        }
        ("DELETE", Some((id, Some(_)))) => {
            server.end(&id);
            plain(out, "200 OK", "text/plain", "")
        }
        ("GET" | "DELETE", session) => {
            refused(out, server, session.as_ref().map(|(id, _)| id.as_str()), &Value::Null)
        }
        _ => plain(out, "405 Method Not Allowed", "text/plain", ""),
    }
}

fn post(
    out: &mut TcpStream,
    server: &Fickle,
    request: &Request,
    session: Option<(String, Option<Arc<Session>>)>,
) -> io::Result<bool> {
    let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
        return plain(out, "400 Bad Request", "text/plain", "no JSON");
    };
    if message["method"] == "initialize" && server.era != Lifecycle::Stateless {
        let (id, session) = server.open(&message);
        let answer = server.answer(&message, &session, &mut Mute);
        return json_answer(out, &answer, &format!("Mcp-Session-Id: {id}\r\n"));
    }
    let session = if server.is_stateless(&message) || server.era == Lifecycle::Stateless {
        Arc::new(Session::default())
    } else {
        match session {
            Some((_, Some(session))) => session,
            session => {
                let id = session.as_ref().map(|(id, _)| id.as_str());
                return refused(out, server, id, &message["id"]);
            }
        }
    };
    if message["method"].is_null() {
        session.answered(message);
        return plain(out, "202 Accepted", "text/plain", "");
    }
    if message["id"].is_null() {
        if message["method"] == "notifications/cancelled" {
            server.cancelled(&message["params"]["requestId"]);
        }
        return plain(out, "202 Accepted", "text/plain", "");
    }
    if message["method"] == "subscriptions/listen" {
        let (sender, receiver) = channel();
        let _ = sender.send(acknowledged(&message));
        server.follow(message["id"].clone(), sender);
        return notices(out, &receiver, server.switches().has("deafen"));
    }
    let tool = message["params"]["name"].as_str().unwrap_or_default();
    let cut = message["method"] == "tools/call" && server.switches().has("cut");
    if !cut && !["talk", "ask"].contains(&tool) {
        let answer = server.answer(&message, &session, &mut Mute);
        return json_answer(out, &answer, "");
    }
    streamed(out, server, (&message, &session), cut)
}

/// Answers a request with a stream. `cut` streams end without the answer.
fn streamed(
    out: &mut TcpStream,
    server: &Fickle,
    (message, session): (&Value, &Arc<Session>),
    cut: bool,
) -> io::Result<bool> {
    head(out, "200 OK", "text/event-stream", "Transfer-Encoding: chunked\r\n")?;
    if server.switches().has("event-ids") && !cut {
        let number = server.number();
        let mut voice = ResumableVoice::new(session.keep_stream(number), number, out.try_clone()?);
        let answer = server.answer(message, session, &mut voice);
        voice.end(&answer);
        return Ok(true);
    }
    let mut events = Events(out.try_clone()?);
    let answer = server.answer(message, session, &mut events);
    if cut {
        return Ok(false);
    }
    events.send(&answer)?;
    out.write_all(b"0\r\n\r\n")?;
    Ok(true)
}

/// Refuses a session with the error message that was selected when the session was forgotten.
fn refused(out: &mut TcpStream, server: &Fickle, session: Option<&str>, id: &Value) -> io::Result<bool> {
    let wording = server.wording(session);
    server.refused(wording.name);
    let Some(code) = wording.code else { return plain(out, wording.status, "text/plain", wording.words) };
    let id = if wording.names_request { id } else { &Value::Null };
    let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": wording.words } });
    plain(out, wording.status, "application/json", &error.to_string())
}

fn head(out: &mut TcpStream, status: &str, kind: &str, headers: &str) -> io::Result<()> {
    write!(out, "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nCache-Control: no-cache\r\n{headers}\r\n")
}

fn plain(out: &mut TcpStream, status: &str, kind: &str, body: &str) -> io::Result<bool> {
    head(out, status, kind, &format!("Content-Length: {}\r\n", body.len()))?;
    out.write_all(body.as_bytes())?;
    Ok(true)
}

fn json_answer(out: &mut TcpStream, answer: &Value, headers: &str) -> io::Result<bool> {
    let body = answer.to_string();
    head(out, "200 OK", "application/json", &format!("{headers}Content-Length: {}\r\n", body.len()))?;
    out.write_all(body.as_bytes())?;
    Ok(true)
}

/// The [`Voice`] of a call that sends nothing before its answer.
struct Mute;

impl Voice for Mute {
    fn send(&mut self, _: &Value) -> io::Result<()> {
        Ok(())
    }
}

/// The stream of one call.
struct Events(TcpStream);

impl Voice for Events {
    fn send(&mut self, message: &Value) -> io::Result<()> {
        let event = format!("event: message\ndata: {message}\n\n");
        // One write, so that a chunk is not split unnecessarily.
        self.0.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
    }
}

/// Writes a stream of notifications until its client or its session has ended.
fn notices(out: &mut TcpStream, messages: &Receiver<Value>, deafened: bool) -> io::Result<bool> {
    head(out, "200 OK", "text/event-stream", "Transfer-Encoding: chunked\r\n")?;
    let mut events = Events(out.try_clone()?);
    loop {
        match messages.recv_timeout(if deafened { DEAFENED } else { BEAT }) {
            Ok(message) => events.send(&message)?,
            Err(RecvTimeoutError::Timeout) if deafened => return Ok(false),
            Err(RecvTimeoutError::Timeout) => out.write_all(b"3\r\n:\n\n\r\n")?,
            Err(RecvTimeoutError::Disconnected) => {
                out.write_all(b"0\r\n\r\n")?;
                return Ok(true);
            }
        }
    }
}
