//! The transports of a client's messages, in any version: over pipes, over HTTP with one endpoint, over HTTP+SSE. This module
//! must not read the messages.

use std::collections::VecDeque;

use tokio::net::TcpStream;

use super::{Http, Lines, MODERN, Reply};

/// A client's connection.
pub struct Wire {
    carrier: Carrier,
    version: String,
    /// Messages that arrived on a shared stream while other messages were awaited.
    inbox: VecDeque<String>,
}

enum Carrier {
    Lines(Box<Lines>),
    Streamable(Box<Streamable>),
    Sse(Box<Sse>),
}

/// Streamable HTTP.
struct Streamable {
    http: Http,
    session: Option<String>,
    standing: Option<Reply>,
}

/// HTTP+SSE: one event stream, and an endpoint to post to.
pub struct Sse {
    /// The server.
    pub http: Http,
    /// The stream.
    pub events: Reply,
    /// The path that messages are posted to.
    pub path: String,
}

/// The stream on which the answer to a request arrives.
pub enum Stream {
    /// The queue in which all messages arrive.
    Shared,
    /// A separate connection from which nothing has been read.
    Sent(TcpStream),
    /// A separate connection from which only the head of the answer has been read.
    Open(Box<Reply>),
}

impl Wire {
    /// A wire over pipes.
    pub fn lines(lines: Lines, version: &str) -> Self {
        Self::new(Carrier::Lines(Box::new(lines)), version)
    }

    /// A wire over HTTP as the version requires it: an event stream at `/sse`, or the single endpoint `/mcp`.
    pub async fn http(http: Http, version: &str) -> Self {
        if version < "2025-03-26" {
            return Self::sse(http, "/sse", version).await;
        }
        Self::new(Carrier::Streamable(Box::new(Streamable { http, session: None, standing: None })), version)
    }

    /// A wire over an event stream at this path.
    pub async fn sse(http: Http, path: &str, version: &str) -> Self {
        Self::new(Carrier::Sse(Box::new(Sse::open(http, path).await)), version)
    }

    fn new(carrier: Carrier, version: &str) -> Self {
        Self { carrier, version: version.to_owned(), inbox: VecDeque::new() }
    }

    /// The version that its headers name.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns true if there is no handshake.
    pub fn is_stateless(&self) -> bool {
        self.version == MODERN
    }

    /// Returns true if messages are lines.
    pub fn is_pipe(&self) -> bool {
        matches!(self.carrier, Carrier::Lines(_))
    }

    /// The underlying HTTP client, and the session's ID, which is empty if there is no session.
    pub fn web(&self) -> (Http, &str) {
        let Carrier::Streamable(web) = &self.carrier else { panic!("not over one endpoint") };
        (web.http, web.session.as_deref().unwrap_or_default())
    }

    /// Both halves of HTTP+SSE.
    pub fn halves(&mut self) -> &mut Sse {
        let Carrier::Sse(sse) = &mut self.carrier else { panic!("not over HTTP+SSE") };
        sse
    }

    /// The headers of a message: the session's headers and, in the stateless version, the headers that repeat parts
    /// of the body.
    fn headers<'a>(&'a self, method: &'a str, name: Option<&'a str>) -> (Http, Vec<(&'a str, &'a str)>) {
        let (http, session) = self.web();
        let mut headers = Vec::new();
        if !session.is_empty() {
            headers.push(("Mcp-Session-Id", session));
        }
        if !session.is_empty() || self.is_stateless() {
            headers.push(("MCP-Protocol-Version", &self.version));
        }
        if self.is_stateless() {
            headers.push(("Mcp-Method", method));
            headers.extend(name.map(|name| ("Mcp-Name", name)));
        }
        (http, headers)
    }

    /// Sends a request; `name` is the value of the `Mcp-Name` header, if the request has one.
    pub async fn request(&mut self, text: &str, method: &str, name: Option<&str>) -> Stream {
        if !matches!(self.carrier, Carrier::Streamable(_)) {
            self.tell(text).await;
            return Stream::Shared;
        }
        let (http, headers) = self.headers(method, name);
        Stream::Sent(http.start("POST", "/mcp", &headers, text.as_bytes()).await)
    }

    /// Sends a message that gets no answer.
    pub async fn tell(&mut self, text: &str) {
        let status = match &mut self.carrier {
            // Between the tokens of a message, a line break becomes a space.
            Carrier::Lines(lines) => return lines.send(&text.replace('\n', " ")).await,
            Carrier::Sse(sse) => sse.post(text).await.status,
            Carrier::Streamable(_) => {
                let (http, headers) = self.headers("", None);
                http.post("/mcp", &headers, text).await.status
            }
        };
        assert_eq!(status, 202, "{text}");
    }

    /// The next message of a request's stream.
    pub async fn next(&mut self, stream: &mut Stream) -> String {
        self.next_that(stream, |_| true).await
    }

    /// The next message of a stream. On a shared stream, returns the next message for which `wanted` returns true,
    /// and keeps the others for later.
    pub async fn next_that(&mut self, stream: &mut Stream, wanted: impl Fn(&str) -> bool) -> String {
        if !matches!(stream, Stream::Shared) {
            let reply = stream.reply().await;
            let id = reply.header("mcp-session-id");
            if let Carrier::Streamable(web) = &mut self.carrier
                && web.session.is_none()
                && !id.is_empty()
            {
                web.session = Some(id.to_owned());
            }
            let message = if reply.is_stream() { reply.data().await } else { Some(reply.text().await) };
            return message.expect("one more message");
        }
        if let Some(at) = self.inbox.iter().position(|text| wanted(text)) {
            return self.inbox.remove(at).expect("just found");
        }
        loop {
            let text = self.arrival().await;
            if wanted(&text) {
                return text;
            }
            self.inbox.push_back(text);
        }
    }

    /// The next message that belongs to no request.
    pub async fn unasked(&mut self) -> String {
        self.next(&mut Stream::Shared).await
    }

    async fn arrival(&mut self) -> String {
        let text = match &mut self.carrier {
            Carrier::Lines(lines) => lines.line().await,
            Carrier::Sse(sse) => return sse.message().await,
            Carrier::Streamable(web) => web.standing.as_mut().expect("`listen` opened it").data().await,
        };
        text.expect("the server goes on")
    }

    /// The messages that arrived and were never read.
    pub fn leftovers(&mut self) -> Vec<String> {
        self.inbox.drain(..).collect()
    }

    /// Opens the stream for messages that belong to no request, if the transport has a separate one.
    pub async fn listen(&mut self) {
        if let Carrier::Streamable(web) = &mut self.carrier
            && web.standing.is_none()
        {
            let session = web.session.as_deref().expect("a session");
            let headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", &self.version)];
            let reply = web.http.get("/mcp", &headers).await;
            assert!(reply.is_stream(), "status {}", reply.status);
            web.standing = Some(reply);
        }
    }
}

impl Sse {
    /// Opens the stream at this path; its first event must name the endpoint.
    pub async fn open(http: Http, path: &str) -> Self {
        let mut events = http.get(path, &[("Accept", "text/event-stream")]).await;
        assert!(events.status == 200 && events.is_stream(), "{path}: {}", events.status);
        let first = events.event().await.expect("an event");
        let place = first.strip_prefix("event: endpoint\ndata: ").expect("the endpoint first");
        let path = place.strip_prefix(&format!("http://{}", http.address)).unwrap_or(place).to_owned();
        Self { http, events, path }
    }

    /// Sends a body unchanged.
    pub async fn post(&self, body: &str) -> Reply {
        self.http.post(&self.path, &[], body).await
    }

    /// The next message of the stream.
    pub async fn message(&mut self) -> String {
        loop {
            let event = self.events.event().await.expect("one more event");
            // A comment is a keep-alive signal, which occurs on a slow machine.
            if !event.starts_with(':') {
                let data = event.strip_prefix("event: message\ndata: ");
                return data.unwrap_or_else(|| panic!("{event:?}")).to_owned();
            }
        }
    }
}

impl Stream {
    /// The HTTP answer on this stream; its head is read first if necessary.
    pub async fn reply(&mut self) -> &mut Reply {
        if let Self::Sent(_) = self {
            let Self::Sent(sent) = std::mem::replace(self, Self::Shared) else { unreachable!("just seen") };
            *self = Self::Open(Box::new(Reply::read(sent).await));
        }
        let Self::Open(reply) = self else { panic!("the answer has no stream of its own") };
        reply
    }
}
