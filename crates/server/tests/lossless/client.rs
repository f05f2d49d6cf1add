//! The client's side: raw messages to the gateway and back, over HTTP or over `dragoman stdio`.

use tokio::net::TcpStream;

use crate::corpus::members;
use crate::support::{Gateway, Http, Reply, Stdio, soon};
use crate::upstream::Over;

/// A client.
pub(crate) enum Client {
    Http(Box<HttpClient>),
    Stdio(Box<Stdio>),
}

/// A client over HTTP, with its gateway.
pub(crate) struct HttpClient {
    _gateway: Gateway,
    http: Http,
    version: &'static str,
    stateless: bool,
    session: Option<String>,
    standing: Option<Reply>,
}

/// A request that waits for its messages.
pub(crate) enum Turn {
    Sent(TcpStream),
    Answered(Box<Reply>),
    Piped,
}

impl Client {
    /// Starts a gateway with this configuration, to be talked to in this version.
    pub(crate) async fn start(over: Over, config: &str, version: &'static str, stateless: bool) -> Self {
        if over == Over::Stdio {
            return Self::Stdio(Box::new(Stdio::start(config)));
        }
        let gateway = Gateway::start(config).await;
        let http = gateway.http();
        let (session, standing) = (None, None);
        let client = HttpClient { _gateway: gateway, http, version, stateless, session, standing };
        Self::Http(Box::new(client))
    }

    /// Whether it is a pipe.
    pub(crate) fn is_pipe(&self) -> bool {
        matches!(self, Self::Stdio(_))
    }

    /// Sends `initialize` with these params and then says that it is done; the answer.
    pub(crate) async fn introduce(&mut self, params: &str) -> String {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{params}}}"#);
        let mut turn = self.send(&text, "initialize", None).await;
        let answer = self.next(&mut turn).await;
        if let (Self::Http(client), Turn::Answered(reply)) = (&mut *self, &turn) {
            client.session = Some(reply.header("mcp-session-id").to_owned());
        }
        self.notify(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        answer
    }

    /// Sends a request; `name` is what its header mirrors, if anything.
    pub(crate) async fn send(&mut self, text: &str, method: &str, name: Option<&str>) -> Turn {
        match self {
            Self::Stdio(stdio) => {
                stdio.send(&text.replace('\n', " ")).await;
                Turn::Piped
            }
            Self::Http(client) => Turn::Sent(client.post(text, method, name).await),
        }
    }

    /// The next message of a request.
    pub(crate) async fn next(&mut self, turn: &mut Turn) -> String {
        if let Self::Stdio(stdio) = self {
            return match stdio.line().await {
                Some(line) => line,
                None => panic!("the gateway has ended:\n{}", stdio.log().text()),
            };
        }
        if let Turn::Sent(_) = turn {
            let Turn::Sent(stream) = std::mem::replace(turn, Turn::Piped) else { unreachable!("just seen") };
            *turn = Turn::Answered(Box::new(Reply::read(stream).await));
        }
        let Turn::Answered(reply) = turn else { unreachable!("a pipe has no HTTP client") };
        if reply.is_stream() { reply.data().await.expect("one more message") } else { reply.text().await }
    }

    /// Sends a notification, or an answer to a question.
    pub(crate) async fn notify(&mut self, text: &str) {
        match self {
            Self::Stdio(stdio) => stdio.send(&text.replace('\n', " ")).await,
            Self::Http(client) => {
                let stream = client.post(text, "", None).await;
                let reply = Reply::read(stream).await;
                assert_eq!(reply.status, 202, "{text}");
            }
        }
    }

    /// The next message that belongs to no request.
    pub(crate) async fn unasked(&mut self) -> String {
        match self {
            Self::Stdio(_) => self.next(&mut Turn::Piped).await,
            Self::Http(client) => client.standing().await.data().await.expect("the stream stays open"),
        }
    }

    /// Opens the standing stream, so that nothing said before it is read gets lost.
    pub(crate) async fn listen(&mut self) {
        if let Self::Http(client) = self {
            client.standing().await;
        }
    }
}

impl HttpClient {
    async fn post(&self, text: &str, method: &str, name: Option<&str>) -> TcpStream {
        let mut headers = Vec::new();
        if self.session.is_some() || self.stateless {
            headers.push(("MCP-Protocol-Version", self.version));
        }
        if let Some(session) = &self.session {
            headers.push(("Mcp-Session-Id", session));
        }
        if self.stateless {
            headers.push(("Mcp-Method", method));
            headers.extend(name.map(|name| ("Mcp-Name", name)));
        }
        let mut bytes = self.http.head("POST", "/mcp", &headers, text.len()).into_bytes();
        bytes.extend_from_slice(text.as_bytes());
        self.http.raw(&bytes).await
    }

    async fn standing(&mut self) -> &mut Reply {
        if self.standing.is_none() {
            let session = self.session.clone().expect("a session");
            let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", self.version)];
            let reply = soon("a standing stream", self.http.get("/mcp", &headers)).await;
            assert!(reply.is_stream(), "status {}", reply.status);
            self.standing = Some(reply);
        }
        self.standing.as_mut().expect("just opened")
    }
}

/// A member of a message's result, as written.
pub(crate) fn result_member(answer: &str, name: &str) -> String {
    let result = members(answer).remove("result").unwrap_or_else(|| panic!("no result: {answer}"));
    members(&result).remove(name).unwrap_or_else(|| panic!("no {name}: {answer}"))
}
