//! An MCP client of either kind: it sends requests and checks the answers.

use super::check::{Checker, answer_in_events, result, start_of};
use super::connection::{Connection, Target};
use crate::bench::json::{member, unquoted};
use std::borrow::Cow;
use std::io::Write;

/// The common headers of every POST.
const COMMON: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
const MODERN: &str = "2026-07-28";

/// The capabilities of a client that supports every kind of request from the server.
const ASKABLE: &str = r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#;

/// The parts of a client's handshake that vary.
#[derive(Clone, Debug)]
pub(super) struct Introduction {
    /// The protocol version.
    pub(super) version: String,
    /// True if the server may ask for roots, sampling and elicitation.
    pub(super) askable: bool,
}

/// The reason why a call failed.
#[derive(Debug)]
pub(super) enum Fault {
    /// The connection is no longer usable.
    Broken(String),
    /// An answer came, but it was not correct.
    Wrong(String),
}

/// One client with one connection.
#[derive(Debug)]
pub(super) struct Client {
    target: Target,
    introduction: Introduction,
    connection: Connection,
    /// The headers of every request after `initialize`: version and session.
    headers: String,
    last_id: u64,
    /// The ID of the current request, as text.
    id: Vec<u8>,
    out: Vec<u8>,
    body: Vec<u8>,
}

/// A request that is sent repeatedly: its head, and its body before and after the part that changes.
#[derive(Debug)]
pub(super) struct Template {
    head: Vec<u8>,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Client {
    pub(super) fn new(target: &Target, introduction: Introduction) -> Self {
        Self {
            target: target.clone(),
            introduction,
            connection: Connection::new(target),
            headers: String::new(),
            last_id: 0,
            id: Vec::new(),
            out: Vec::new(),
            body: Vec::new(),
        }
    }

    /// The handshake: `initialize`, then `notifications/initialized`.
    pub(super) async fn open_session(&mut self) -> Result<(), Fault> {
        let Introduction { version, askable } = &self.introduction;
        let capabilities = if *askable { ASKABLE } else { "{}" };
        let params = format!(
            r#"{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"bench-load","version":"1"}}}}"#
        );
        self.headers.clear();
        self.next_id();
        let body = [b"{\"jsonrpc\":\"2.0\",\"id\":", &self.id[..], b",\"method\":\"initialize\",\"params\":"]
            .concat();
        self.post(&[&body[..], params.as_bytes(), b"}"].concat());
        let (head, body) = self.connection.exchange(&self.out).await.map_err(Fault::Broken)?;
        if head.status != 200 {
            return Err(Fault::Wrong(format!("initialize: status {}: {}", head.status, start_of(body))));
        }
        let message =
            if head.events { answer_in_events(body).map_err(Fault::Wrong)? } else { Cow::Borrowed(body) };
        let result = result(&message, &self.id).map_err(|why| Fault::Wrong(format!("initialize: {why}")))?;
        let spoken = member(result, b"protocolVersion").and_then(unquoted);
        if spoken != Some(self.introduction.version.as_bytes()) {
            return Err(Fault::Wrong(format!("initialize: another version: {}", start_of(result))));
        }
        self.headers = format!("MCP-Protocol-Version: {}\r\n", self.introduction.version);
        if let Some(session) = &head.session {
            let session = String::from_utf8_lossy(session);
            self.headers.extend(["Mcp-Session-Id: ", &session, "\r\n"]);
        }
        self.post(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        let (head, body) = self.connection.exchange(&self.out).await.map_err(Fault::Broken)?;
        expect(head.status == 202, "notifications/initialized", head.status, body)
    }

    /// Ends the session with a DELETE.
    pub(super) async fn end_session(&mut self) -> Result<(), Fault> {
        let request = self.target.head("DELETE", &self.headers) + "\r\n";
        let (head, body) = self.connection.exchange(request.as_bytes()).await.map_err(Fault::Broken)?;
        expect((200..300).contains(&head.status), "DELETE", head.status, body)
    }

    /// Opens the session's GET stream on a separate connection, which stays open as long as the returned
    /// value exists.
    pub(super) async fn open_stream(&self) -> Result<Connection, Fault> {
        let request = self.target.head("GET", &self.headers) + "Accept: text/event-stream\r\n\r\n";
        let mut stream = Connection::new(&self.target);
        let head = stream.open_stream(request.as_bytes()).await.map_err(Fault::Broken)?;
        expect(head.status == 200 && head.events, "GET", head.status, b"")?;
        Ok(stream)
    }

    /// A request without a changing part: `tools/list`.
    pub(super) fn list(&self) -> Template {
        Template {
            head: self.head("").into_bytes(),
            before: b",\"method\":\"tools/list\",\"params\":{}}".to_vec(),
            after: Vec::new(),
        }
    }

    /// A call of `tool` with one argument; `quoted` is true if the argument is a string.
    pub(super) fn call(&self, tool: &str, argument: &str, quoted: bool, modern: bool) -> Template {
        let (head, meta) = if modern {
            let headers =
                format!("MCP-Protocol-Version: {MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
            let meta = concat!(
                r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
                r#""io.modelcontextprotocol/clientCapabilities":{},"#,
                r#""io.modelcontextprotocol/clientInfo":{"name":"bench-load","version":"1"}}"#
            );
            (self.head(&headers), meta)
        } else {
            (self.head(""), "")
        };
        let quote = if quoted { "\"" } else { "" };
        Template {
            head: head.into_bytes(),
            before: format!(
                r#","method":"tools/call","params":{{"name":"{tool}","arguments":{{"{argument}":{quote}"#
            )
            .into_bytes(),
            after: format!("{quote}}}{meta}}}}}").into_bytes(),
        }
    }

    /// Sends a request made from a template, and checks the answer.
    pub(super) async fn ask(
        &mut self,
        template: &Template,
        part: &[u8],
        checker: &mut Checker,
    ) -> Result<(), Fault> {
        self.next_id();
        self.body.clear();
        for piece in [b"{\"jsonrpc\":\"2.0\",\"id\":", &self.id[..], &template.before, part, &template.after]
        {
            self.body.extend_from_slice(piece);
        }
        self.out.clear();
        self.out.extend_from_slice(&template.head);
        finish(&mut self.out, &self.body);
        let (head, body) = self.connection.exchange(&self.out).await.map_err(Fault::Broken)?;
        expect(head.status == 200, "the call", head.status, body)?;
        checker.check(body, head.events, &self.id).map_err(Fault::Wrong)
    }

    fn next_id(&mut self) {
        self.last_id += 1;
        self.id.clear();
        put_number(&mut self.id, self.last_id);
    }

    fn head(&self, more: &str) -> String {
        self.target.head("POST", COMMON) + &self.headers + more
    }

    fn post(&mut self, body: &[u8]) {
        self.out = self.head("").into_bytes();
        finish(&mut self.out, body);
    }
}

/// Appends the length, a blank line and the body to a head.
fn finish(out: &mut Vec<u8>, body: &[u8]) {
    out.extend_from_slice(b"Content-Length: ");
    put_number(out, body.len() as u64);
    out.extend_from_slice(b"\r\n\r\n");
    out.extend_from_slice(body);
}

pub(super) fn put_number(out: &mut Vec<u8>, number: u64) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{number}");
}

fn expect(good: bool, what: &str, status: u16, body: &[u8]) -> Result<(), Fault> {
    if good {
        return Ok(());
    }
    Err(Fault::Wrong(format!("{what} was answered with status {status}: {}", start_of(body))))
}
