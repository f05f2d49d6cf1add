//! How a client's messages travel: over pipes, over HTTP with one endpoint, over HTTP with two.

use std::collections::VecDeque;

use tokio::net::TcpStream;

use crate::support::{Gateway, Http, Output, Reply, Start, Stdio};
use crate::version::{Version, Way};

/// A client's connection to a gateway of its own.
pub(crate) struct Face {
    carrier: Carrier,
    /// Messages that came while others were awaited, where all come the same way.
    inbox: VecDeque<String>,
}

enum Carrier {
    Pipes(Box<Stdio>),
    OneEndpoint(Box<OneEndpoint>),
    TwoEndpoints(Box<TwoEndpoints>),
}

/// Streamable HTTP.
struct OneEndpoint {
    gateway: Gateway,
    http: Http,
    version: Version,
    session: Option<String>,
    standing: Option<Reply>,
}

/// HTTP+SSE.
struct TwoEndpoints {
    gateway: Gateway,
    http: Http,
    events: Reply,
    path: String,
}

/// Where the answer to a request comes.
pub(crate) enum Stream {
    /// Where all messages come.
    Shared,
    Sent(TcpStream),
    Open(Box<Reply>),
}

/// Of what a request's headers speak.
pub(crate) struct Mirror<'a> {
    pub(crate) method: &'a str,
    pub(crate) name: Option<&'a str>,
}

impl Face {
    /// Starts a gateway with this configuration, and connects to it.
    pub(crate) async fn open(version: Version, way: Way, config: &str) -> Self {
        let carrier = match way {
            Way::Pipes => {
                let with = Start { config, env: &[("DRAGOMAN_LOG", "debug")], ..Start::default() };
                Carrier::Pipes(Box::new(Stdio::start_with(&with)))
            }
            Way::Web => {
                let with = Start { config, env: &[("DRAGOMAN_LOG", "debug")], ..Start::default() };
                let gateway = Gateway::start_with(&with).await;
                let http = gateway.http();
                if version.has_two_endpoints() {
                    Carrier::TwoEndpoints(Box::new(TwoEndpoints::open(gateway, http).await))
                } else {
                    let (session, standing) = (None, None);
                    Carrier::OneEndpoint(Box::new(OneEndpoint { gateway, http, version, session, standing }))
                }
            }
        };
        Self { carrier, inbox: VecDeque::new() }
    }

    /// What the gateway has logged.
    pub(crate) fn log(&self) -> &Output {
        match &self.carrier {
            Carrier::Pipes(stdio) => stdio.log(),
            Carrier::OneEndpoint(web) => web.gateway.log(),
            Carrier::TwoEndpoints(web) => web.gateway.log(),
        }
    }

    /// Sends a request.
    pub(crate) async fn request(&mut self, text: &str, mirror: &Mirror<'_>) -> Stream {
        if let Carrier::OneEndpoint(web) = &self.carrier {
            return Stream::Sent(web.post(text, mirror).await);
        }
        self.tell(text).await;
        Stream::Shared
    }

    /// Sends a message that gets no answer.
    pub(crate) async fn tell(&mut self, text: &str) {
        match &mut self.carrier {
            Carrier::Pipes(stdio) => stdio.send(text).await,
            Carrier::OneEndpoint(web) => {
                let sent = web.post(text, &Mirror { method: "", name: None }).await;
                assert_eq!(Reply::read(sent).await.status, 202, "{text}");
            }
            Carrier::TwoEndpoints(web) => {
                let reply = web.http.post(&web.path, &[], text).await;
                assert_eq!(reply.status, 202, "{text}");
            }
        }
    }

    /// The next message of a request's stream for which `wanted` is true; others stay for later.
    pub(crate) async fn next(&mut self, stream: &mut Stream, wanted: impl Fn(&str) -> bool) -> String {
        if !matches!(stream, Stream::Shared) {
            return stream.next().await;
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

    /// The next message that is no part of a request.
    async fn arrival(&mut self) -> String {
        let text = match &mut self.carrier {
            Carrier::Pipes(stdio) => stdio.line().await,
            Carrier::TwoEndpoints(web) => web.events.data().await,
            Carrier::OneEndpoint(web) => {
                web.standing.as_mut().expect("a standing stream was opened").data().await
            }
        };
        text.expect("the gateway goes on")
    }

    /// What came and was never asked for.
    pub(crate) fn leftovers(&mut self) -> Vec<String> {
        self.inbox.drain(..).collect()
    }

    /// Notes the session that the answer to `initialize` opened.
    pub(crate) fn entered(&mut self, stream: &Stream) {
        if let (Carrier::OneEndpoint(web), Stream::Open(reply)) = (&mut self.carrier, stream) {
            web.session = Some(reply.header("mcp-session-id").to_owned());
        }
    }

    /// Opens the stream for what belongs to no request, where there is one of its own.
    pub(crate) async fn listen(&mut self) {
        if let Carrier::OneEndpoint(web) = &mut self.carrier
            && web.standing.is_none()
        {
            let session = web.session.clone().expect("a session");
            let headers =
                [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", web.version.as_str())];
            let reply = web.http.get("/mcp", &headers).await;
            assert!(reply.is_stream(), "status {}", reply.status);
            web.standing = Some(reply);
        }
    }
}

impl OneEndpoint {
    async fn post(&self, text: &str, mirror: &Mirror<'_>) -> TcpStream {
        let mut headers = Vec::new();
        if let Some(session) = &self.session {
            headers.push(("Mcp-Session-Id", session.as_str()));
        }
        if self.session.is_some() || self.version.is_stateless() {
            headers.push(("MCP-Protocol-Version", self.version.as_str()));
        }
        if self.version.is_stateless() {
            headers.push(("Mcp-Method", mirror.method));
            headers.extend(mirror.name.map(|name| ("Mcp-Name", name)));
        }
        let mut bytes = self.http.head("POST", "/mcp", &headers, text.len()).into_bytes();
        bytes.extend_from_slice(text.as_bytes());
        self.http.raw(&bytes).await
    }
}

impl TwoEndpoints {
    async fn open(gateway: Gateway, http: Http) -> Self {
        let mut events = http.get("/sse", &[("Accept", "text/event-stream")]).await;
        assert!(events.is_stream(), "status {}", events.status);
        let first = events.event().await.expect("an event");
        assert!(first.starts_with("event: endpoint\n"), "{first}");
        let place = first.lines().find_map(|line| line.strip_prefix("data: ")).expect("where to post");
        let path = place.strip_prefix(&format!("http://{}", http.address)).unwrap_or(place).to_owned();
        Self { gateway, http, events, path }
    }
}

impl Stream {
    async fn next(&mut self) -> String {
        if let Self::Sent(_) = self {
            let Self::Sent(sent) = std::mem::replace(self, Self::Shared) else { unreachable!("just seen") };
            *self = Self::Open(Box::new(Reply::read(sent).await));
        }
        let Self::Open(reply) = self else { unreachable!("it was just opened") };
        if reply.is_stream() { reply.data().await.expect("one more message") } else { reply.text().await }
    }
}
