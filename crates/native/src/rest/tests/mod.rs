//! A client that only records requests, and the interpreter with hostile values.

mod answers;
mod entry;
mod interpreter;
mod lists;
mod moved;
mod passing;
mod routes;
mod rows;
mod site_tools;
mod unknown;

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use proto::era::newest_handshake;
use proto::rpc::{Frame, FrameLimits};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use crate::passing::HttpBody;
use crate::port::{
    ArrivingBody, HttpClient, HttpFault, HttpFaultKind, HttpRequest, HttpResponse, OpenedResponse, Pending,
};
use crate::server::{Mapped, NativeCall, NativeServer, SiteLogin};

type Answer = dyn Fn(&HttpRequest) -> Result<HttpResponse, HttpFault> + Send + Sync;

/// A client without a network.
pub(crate) struct Fake {
    answer: Box<Answer>,
    pub(crate) asked: Mutex<Vec<HttpRequest>>,
    /// The requests that check credentials. A fake that is not strict answers them like all others.
    pub(crate) entries: Mutex<Vec<HttpRequest>>,
    strict: bool,
    clock: Mutex<Duration>,
}

impl Fake {
    pub(crate) fn new(
        answer: impl Fn(&HttpRequest) -> Result<HttpResponse, HttpFault> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            answer: Box::new(answer),
            asked: Mutex::default(),
            entries: Mutex::default(),
            strict: false,
            clock: Mutex::default(),
        })
    }

    /// A client that answers credential checks itself.
    pub(crate) fn strict(
        answer: impl Fn(&HttpRequest) -> Result<HttpResponse, HttpFault> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let mut fake = Self::new(answer);
        if let Some(fake) = Arc::get_mut(&mut fake) {
            fake.strict = true;
        }
        fake
    }

    /// A client that always answers.
    pub(crate) fn replying(
        answer: impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::new(move |request| Ok(answer(request)))
    }

    /// A client that gives this answer to every request.
    pub(crate) fn json(answer: Value) -> Arc<Self> {
        Self::new(move |_| Ok(reply(200, &answer)))
    }

    /// The request lines so far, with any bodies.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(line).collect()
    }

    pub(crate) fn pass(&self, time: Duration) {
        *self.clock.lock().unwrap() += time;
    }
}

/// A request as `METHOD URL BODY`. Of a multipart body, only the names and values are included.
fn line(request: &HttpRequest) -> String {
    let body = String::from_utf8_lossy(request.body.whole().unwrap());
    let said = match request.headers.iter().find(|(name, _)| *name == "content-type") {
        Some((_, kind)) if kind.starts_with("multipart/") => format!(" {}", parts(&body, kind).join(" ")),
        Some(_) => format!(" {body}"),
        None => String::new(),
    };
    format!("{} {}{said}", request.method.name(), request.url)
}

fn parts(body: &str, kind: &str) -> Vec<String> {
    let boundary = kind.split("boundary=").nth(1).unwrap();
    assert!(body.ends_with(&format!("--{boundary}--\r\n")));
    let mark = format!("--{boundary}");
    let parts = body.split(&mark).skip(1).filter(|part| !part.starts_with("--"));
    let shown = parts.map(|part| {
        let (head, text) = part.trim_start().split_once("\r\n\r\n").unwrap();
        let names: Vec<&str> = head.lines().next().unwrap().split("; ").skip(1).collect();
        let kind = head.lines().nth(1).map(|line| format!(" {line}")).unwrap_or_default();
        format!("[{}{kind}: {}]", names.join(" "), text.strip_suffix("\r\n").unwrap())
    });
    shown.collect()
}

/// A whole body, as one piece.
struct OnePiece(Bytes);

impl ArrivingBody for OnePiece {
    fn poll_piece(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpFault>>> {
        let piece = std::mem::take(&mut self.0);
        Poll::Ready((!piece.is_empty()).then_some(Ok(piece)))
    }
}

/// Reads the whole body of a request, as its receiver does.
fn received(body: &mut HttpBody) -> Result<(), HttpFault> {
    let HttpBody::Passing(passed) = body else { return Ok(()) };
    let mut bytes = passed.before.to_vec();
    while let Some(piece) = ready(std::future::poll_fn(|cx| passed.file.poll_piece(cx))) {
        bytes.extend_from_slice(&piece?);
    }
    bytes.extend_from_slice(&passed.after);
    assert!(passed.length().is_none_or(|length| length == bytes.len() as u64));
    *body = Bytes::from(bytes).into();
    Ok(())
}

impl HttpClient for Fake {
    fn send(&self, mut request: HttpRequest) -> Pending<Result<HttpResponse, HttpFault>> {
        if let Err(fault) = received(&mut request.body) {
            return Box::pin(std::future::ready(Err(fault)));
        }
        if ["?", "&"]
            .iter()
            .any(|sign| request.url.ends_with(&format!("/users/me{sign}context=edit&_fields=id")))
        {
            let answer =
                if self.strict { (self.answer)(&request) } else { Ok(reply(200, &json!({"id": 1}))) };
            self.entries.lock().unwrap().push(request);
            return Box::pin(std::future::ready(answer));
        }
        let answer = (self.answer)(&request);
        self.asked.lock().unwrap().push(request);
        Box::pin(std::future::ready(answer))
    }

    fn open(&self, request: HttpRequest, _: Duration) -> Pending<Result<OpenedResponse, HttpFault>> {
        let answer = self.send(request);
        Box::pin(async move {
            let HttpResponse { status, headers, body } = answer.await?;
            let length = Some(body.len() as u64);
            Ok(OpenedResponse { status, headers, length, body: Box::new(OnePiece(body)) })
        })
    }

    fn now(&self) -> Duration {
        *self.clock.lock().unwrap()
    }

    fn digest(&self, secret: &[u8]) -> [u8; 32] {
        let mut digest = [0_u8; 32];
        for (at, byte) in secret.iter().enumerate() {
            digest[at % 32] = digest[at % 32].wrapping_mul(31).wrapping_add(*byte);
        }
        digest
    }

    fn pause(&self, time: Duration) -> Pending<()> {
        self.pass(time);
        Box::pin(std::future::ready(()))
    }
}

/// A site that answers with this body, and with the headers for the totals of a list.
pub(crate) fn listing(body: Value) -> Arc<Fake> {
    Fake::replying(move |_| {
        let headers =
            vec![("X-WP-Total".to_owned(), "31".to_owned()), ("X-WP-TotalPages".to_owned(), "4".to_owned())];
        HttpResponse { headers, ..reply(200, &body) }
    })
}

pub(crate) fn reply(status: u16, body: &Value) -> HttpResponse {
    HttpResponse { status, headers: Vec::new(), body: Bytes::from(body.to_string()) }
}

pub(crate) fn fault(kind: HttpFaultKind) -> HttpFault {
    HttpFault { kind, message: "as the test wants it".to_owned() }
}

/// The answer to a call.
pub(crate) fn asked(server: &dyn NativeServer, tool: &str, arguments: &Value) -> Value {
    asked_with(server, tool, arguments, None)
}

/// The answer to a call that carries credentials.
pub(crate) fn asked_with(
    server: &dyn NativeServer,
    tool: &str,
    arguments: &Value,
    mapped: Option<&Mapped>,
) -> Value {
    request(server, "tools/call", &json!({"name": tool, "arguments": arguments}), mapped)
}

pub(crate) fn request(
    server: &dyn NativeServer,
    method: &str,
    params: &Value,
    mapped: Option<&Mapped>,
) -> Value {
    request_from(server, (method, params), mapped, true)
}

/// The answer to a call through an endpoint of MCP itself, for which no dialect documents the form of failures.
pub(crate) fn asked_by_mcp(server: &dyn NativeServer, tool: &str, arguments: &Value) -> Value {
    request_from(server, ("tools/call", &json!({"name": tool, "arguments": arguments})), None, false)
}

fn request_from(
    server: &dyn NativeServer,
    (method, params): (&str, &Value),
    mapped: Option<&Mapped>,
    documented: bool,
) -> Value {
    let text = json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}).to_string();
    let frame = Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap();
    let call = NativeCall { mapped, documented, ..NativeCall::new(&frame, newest_handshake()) };
    let answer = ready(server.answer(call).bytes());
    assert!(Frame::parse(answer.clone(), FrameLimits::default()).is_ok());
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer["id"], "q");
    answer
}

/// The output of a future that is ready immediately.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the fake client waits for nothing"),
    }
}

/// The text of a result, and true if it is an error.
pub(crate) fn content(answer: &Value) -> (String, bool) {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no result: {answer}"));
    (text.to_owned(), result["isError"].as_bool().unwrap())
}

/// The JSON of a result's text.
pub(crate) fn shown(answer: &Value) -> Value {
    let (text, is_error) = content(answer);
    assert!(!is_error, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The code, the message and the condition of an error.
pub(crate) fn refused(answer: &Value) -> (i64, String, String) {
    let error = &answer["error"];
    let condition = error["data"]["condition"].as_str().unwrap_or_else(|| panic!("no error: {answer}"));
    (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned(), condition.to_owned())
}

pub(crate) fn login(url: &str, username: &str, password: &str) -> SiteLogin {
    SiteLogin {
        url: url.to_owned(),
        username: username.to_owned(),
        password: SecretString::from(password.to_owned()),
        is_fixed: false,
    }
}

pub(crate) fn authorization(request: &HttpRequest) -> Option<String> {
    request.authorization.as_ref().map(|secret| secret.expose_secret().to_owned())
}

/// Calls tools according to a table, and compares the requests that they send. A line without indentation is a tool
/// with its arguments; the indented lines after it are its requests, with control characters as `\u{..}`. A tool
/// without an expectation fails the test, and so does an expectation without a tool.
pub(crate) fn check_lines(
    server: &dyn Fn(Arc<Fake>) -> crate::ToolServer,
    answer: fn(&HttpRequest) -> HttpResponse,
    table: &str,
) {
    let names: Vec<&str> = server(Fake::replying(answer)).tools().collect();
    let mut unseen = names.clone();
    let mut lines = table.lines().filter(|line| !line.starts_with('#')).peekable();
    while let Some(call) = lines.next() {
        let (tool, arguments) = call.split_once(' ').unwrap();
        assert!(names.contains(&tool), "{tool} is no tool");
        unseen.retain(|name| *name != tool);
        let mut wanted = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with("  ")) {
            wanted.push(line.trim_start().to_owned());
        }
        let fake = Fake::replying(answer);
        let answer = asked(&server(fake.clone()), tool, &serde_json::from_str(arguments).unwrap());
        let lines: Vec<String> = fake.lines().iter().map(|line| visible(line)).collect();
        assert_eq!(lines, wanted, "{call}: {answer}");
        assert!(answer["result"]["isError"] == false, "{call}: {answer}");
    }
    assert!(unseen.is_empty(), "without an expectation: {unseen:?}");
}

fn visible(line: &str) -> String {
    let odd = |c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER;
    line.chars().map(|c| if odd(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}
