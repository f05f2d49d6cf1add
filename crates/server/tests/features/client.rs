//! One client for every version and either transport, so that a feature is tried once for all of them.

use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::place::{Over, Place};
use crate::support::{Gateway, Http, Reply, Stdio, meta, request};

/// A client of a gateway of its own.
pub(crate) struct Client {
    pub(crate) place: Place,
    pub(crate) capabilities: Value,
    /// The answer to `initialize` or `server/discover`.
    pub(crate) hello: Value,
    face: Face,
    next: u64,
    /// Of a stateless request.
    log_level: Option<&'static str>,
}

enum Face {
    Http(Box<Web>),
    Stdio(Box<Stdio>),
}

/// A client over HTTP.
pub(crate) struct Web {
    gateway: Gateway,
    http: Http,
    session: Option<String>,
    standing: Option<Reply>,
}

/// A request whose messages are still to be read.
pub(crate) struct Turn {
    pub(crate) id: Value,
    stream: Stream,
}

enum Stream {
    Sent(TcpStream),
    Open(Box<Reply>),
    Piped,
}

impl Client {
    /// Starts a gateway with this configuration and introduces a client with these capabilities to it.
    pub(crate) async fn open(place: Place, config: &str, capabilities: &Value) -> Self {
        let face = match place.client {
            Over::Stdio => Face::Stdio(Box::new(Stdio::start_with(&crate::support::Start {
                config,
                env: &[("DRAGOMAN_LOG", "debug,dragoman=trace")],
                ..Default::default()
            }))),
            Over::Http => {
                let gateway = Gateway::start(config).await;
                let http = gateway.http();
                Face::Http(Box::new(Web { gateway, http, session: None, standing: None }))
            }
        };
        let capabilities = capabilities.clone();
        let mut client = Self { place, capabilities, hello: Value::Null, face, next: 1, log_level: None };
        client.introduce().await;
        client
    }

    async fn introduce(&mut self) {
        if self.place.is_stateless() {
            self.hello = self.ask("server/discover", &json!({})).await;
            return;
        }
        let params = json!({
            "protocolVersion": self.place.version, "capabilities": self.capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let mut turn = self.begin("initialize", &params).await;
        self.hello = self.next(&mut turn).await;
        assert_eq!(self.hello["result"]["protocolVersion"], self.place.version, "{}", self.hello);
        if let (Face::Http(web), Stream::Open(reply)) = (&mut self.face, &turn.stream) {
            web.session = Some(reply.header("mcp-session-id").to_owned());
        }
        self.notify("notifications/initialized", &json!({})).await;
    }

    /// The HTTP client beneath, and the session's id.
    pub(crate) fn web(&self) -> (Http, &str) {
        let Face::Http(web) = &self.face else { panic!("a client over a pipe") };
        (web.http, web.session.as_deref().unwrap_or_default())
    }

    /// Asks for log messages from this level on.
    pub(crate) async fn set_level(&mut self, level: &'static str) {
        if self.place.is_stateless() {
            self.log_level = Some(level);
        } else {
            let answer = self.ask("logging/setLevel", &json!({"level": level})).await;
            assert_eq!(answer["result"], json!({}), "{answer}");
        }
    }

    /// Sends a request.
    pub(crate) async fn begin(&mut self, method: &str, params: &Value) -> Turn {
        let id = json!(self.next);
        self.next += 1;
        self.begin_as(&id, method, params).await
    }

    /// Sends a request under an id of one's own choice.
    pub(crate) async fn begin_as(&mut self, id: &Value, method: &str, params: &Value) -> Turn {
        let mut params = params.clone();
        if self.place.is_stateless() {
            let mut own = meta(&self.capabilities);
            if let Some(level) = self.log_level {
                own["io.modelcontextprotocol/logLevel"] = json!(level);
            }
            for (key, value) in params["_meta"].as_object().into_iter().flatten() {
                own[key] = value.clone();
            }
            params["_meta"] = own;
        }
        let text = request(id.clone(), method, &params).to_string();
        let stream = match &mut self.face {
            Face::Stdio(stdio) => {
                stdio.send(&text).await;
                Stream::Piped
            }
            Face::Http(web) => {
                let name = params["name"].as_str().or(params["uri"].as_str());
                let named = matches!(method, "tools/call" | "prompts/get" | "resources/read");
                Stream::Sent(web.post(self.place, method, name.filter(|_| named), &text).await)
            }
        };
        Turn { id: id.clone(), stream }
    }

    /// The next message of a request: of its stream, or of the pipe.
    pub(crate) async fn next(&mut self, turn: &mut Turn) -> Value {
        match &mut self.face {
            Face::Stdio(stdio) => stdio.message().await,
            Face::Http(_) => {
                turn.open().await;
                let Stream::Open(reply) = &mut turn.stream else { unreachable!("it was just opened") };
                if reply.is_stream() {
                    reply.message().await.expect("one more message")
                } else {
                    reply.json().await
                }
            }
        }
    }

    /// The answer to a request, and the notifications before it.
    pub(crate) async fn finish(&mut self, mut turn: Turn) -> (Vec<Value>, Value) {
        let mut said = Vec::new();
        loop {
            let message = self.next(&mut turn).await;
            if message.get("method").is_none() && message["id"] == turn.id {
                return (said, message);
            }
            said.push(message);
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let turn = self.begin(method, params).await;
        self.finish(turn).await.1
    }

    /// Calls a tool and waits for its answer.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await
    }

    /// Sends a request and answers what the upstream asks meanwhile; its answer, and what was asked.
    pub(crate) async fn converse(
        &mut self,
        method: &str,
        params: &Value,
        answer: impl Fn(&str, &Value) -> Value,
    ) -> (Vec<String>, Value) {
        let mut asked = Vec::new();
        let mut params = params.clone();
        loop {
            let mut turn = self.begin(method, &params).await;
            let result = loop {
                let message = self.next(&mut turn).await;
                let Some(question) = message["method"].as_str() else { break message };
                if message.get("id").is_none() {
                    continue;
                }
                asked.push(question.to_owned());
                let result = answer(question, &message["params"]);
                self.reply(&message["id"], &result).await;
            };
            assert_eq!(result["id"], turn.id, "{result}");
            if result["result"]["resultType"] != "input_required" {
                return (asked, result);
            }
            let mut responses = json!({});
            for (key, question) in result["result"]["inputRequests"].as_object().into_iter().flatten() {
                let kind = question["method"].as_str().expect("a method");
                asked.push(kind.to_owned());
                responses[key] = answer(kind, &question["params"]);
            }
            params["inputResponses"] = responses;
            params["requestState"] = result["result"]["requestState"].clone();
            if params["requestState"].is_null() {
                params.as_object_mut().expect("an object").remove("requestState");
            }
        }
    }

    /// Answers a question of the upstream.
    pub(crate) async fn reply(&mut self, id: &Value, result: &Value) {
        self.tell(&json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    }

    /// Sends a notification.
    pub(crate) async fn notify(&mut self, method: &str, params: &Value) {
        self.tell(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    async fn tell(&mut self, message: &Value) {
        let text = message.to_string();
        match &mut self.face {
            Face::Stdio(stdio) => stdio.send(&text).await,
            Face::Http(web) => {
                let reply = Reply::read(web.post(self.place, "", None, &text).await).await;
                assert_eq!(reply.status, 202, "{text}");
            }
        }
    }

    /// Gives a request up, as the version and the transport have it.
    pub(crate) async fn cancel(&mut self, turn: Turn) {
        match turn.stream {
            Stream::Sent(_) | Stream::Open(_) if self.place.is_stateless() => drop(turn),
            _ => self.notify("notifications/cancelled", &json!({"requestId": turn.id})).await,
        }
    }

    /// Opens what brings news of this kind: the standing stream, or a listen stream with this filter.
    pub(crate) async fn listen(&mut self, filter: &Value) -> Turn {
        if self.place.is_stateless() {
            let mut turn = self.begin("subscriptions/listen", &json!({"notifications": filter})).await;
            let first = self.next(&mut turn).await;
            assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
            assert_eq!(first["params"]["notifications"], *filter, "{first}");
            assert_eq!(
                first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], turn.id,
                "{first}"
            );
            return turn;
        }
        if let Face::Http(web) = &mut self.face {
            web.listen(self.place.version).await;
        }
        for uri in filter["resourceSubscriptions"].as_array().into_iter().flatten() {
            let answer = self.ask("resources/subscribe", &json!({"uri": uri})).await;
            assert_eq!(answer["result"], json!({}), "{answer}");
        }
        Turn { id: Value::Null, stream: Stream::Piped }
    }

    /// The next message of a stream that [`Self::listen`] opened.
    pub(crate) async fn news(&mut self, turn: &mut Turn) -> Value {
        if self.place.is_stateless() {
            let news = self.next(turn).await;
            let id = &news["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
            assert_eq!(*id, turn.id, "{news}");
            return news;
        }
        match &mut self.face {
            Face::Stdio(stdio) => stdio.message().await,
            Face::Http(web) => {
                let standing = web.standing.as_mut().expect("a standing stream");
                standing.message().await.expect("the stream stays open")
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = match &self.face {
                Face::Http(web) => web.gateway.log().text(),
                Face::Stdio(stdio) => stdio.log().text(),
            };
            #[expect(clippy::print_stdout, reason = "captured with the test's own words")]
            let () = println!("the gateway's log:\n{log}");
        }
    }
}

impl Turn {
    async fn open(&mut self) {
        if let Stream::Sent(_) = self.stream {
            let Stream::Sent(stream) = std::mem::replace(&mut self.stream, Stream::Piped) else {
                unreachable!("just seen")
            };
            self.stream = Stream::Open(Box::new(Reply::read(stream).await));
        }
    }

    /// The answer's head, over HTTP.
    pub(crate) async fn reply(&mut self) -> &mut Reply {
        self.open().await;
        let Stream::Open(reply) = &mut self.stream else { panic!("a pipe has no replies") };
        reply
    }
}

impl Web {
    async fn post(&self, place: Place, method: &str, name: Option<&str>, text: &str) -> TcpStream {
        let mut headers = Vec::new();
        if let Some(session) = &self.session {
            headers.push(("Mcp-Session-Id", session.as_str()));
        }
        if self.session.is_some() || place.is_stateless() {
            headers.push(("MCP-Protocol-Version", place.version));
        }
        if place.is_stateless() {
            headers.push(("Mcp-Method", method));
            headers.extend(name.map(|name| ("Mcp-Name", name)));
        }
        let mut bytes = self.http.head("POST", "/mcp", &headers, text.len()).into_bytes();
        bytes.extend_from_slice(text.as_bytes());
        self.http.raw(&bytes).await
    }

    async fn listen(&mut self, version: &str) {
        if self.standing.is_some() {
            return;
        }
        let session = self.session.clone().expect("a session");
        let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", version)];
        let reply = self.http.get("/mcp", &headers).await;
        assert!(reply.is_stream(), "status {}", reply.status);
        self.standing = Some(reply);
    }
}
