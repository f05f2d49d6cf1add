//! A client of any version, which writes down all that it says and hears.

use serde_json::{Value, json};

use crate::face::{Face, Mirror, Stream};
use crate::section::{Line, Side};
use crate::support::{Output, request};
use crate::version::{Version, Way};

/// What says of whom a notice of a listen stream is.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The client with its one session, if its version has any.
pub(crate) struct Client {
    pub(crate) version: Version,
    pub(crate) capabilities: Value,
    /// What has been said and heard since it was taken.
    pub(crate) lines: Vec<Line>,
    /// Its requests' ids begin with this.
    topic: &'static str,
    way: Way,
    face: Face,
    next: u32,
    quiet: u32,
    /// Of a request of the version without a handshake.
    level: Option<&'static str>,
}

/// A request whose messages are still to be read.
pub(crate) struct Turn {
    pub(crate) id: Value,
    stream: Stream,
}

/// Whether it is a notice that belongs to no call.
fn is_news(message: &Value) -> bool {
    let method = message["method"].as_str().unwrap_or_default();
    method.ends_with("list_changed")
        || matches!(
            method,
            "notifications/resources/updated"
                | "notifications/tasks"
                | "notifications/tasks/status"
                | "notifications/elicitation/complete"
        )
        || message["params"]["_meta"].get(SUBSCRIPTION).is_some()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text:?}"))
}

impl Client {
    /// A client of a gateway of its own with this configuration, which has said nothing yet.
    pub(crate) async fn open(version: Version, way: Way, config: &str) -> Self {
        Self {
            version,
            capabilities: version.capabilities(),
            lines: Vec::new(),
            topic: "",
            way,
            face: Face::open(version, way, config).await,
            next: 1,
            quiet: 1,
            level: None,
        }
    }

    /// What the gateway has logged.
    pub(crate) fn log(&self) -> &Output {
        self.face.log()
    }

    /// What came and was never asked for.
    pub(crate) fn leftovers(&mut self) -> Vec<String> {
        self.face.leftovers()
    }

    /// Introduces itself; the answer to `initialize` or `server/discover`.
    pub(crate) async fn introduce(&mut self) -> Value {
        if self.version.is_stateless() {
            return self.ask("server/discover", &json!({})).await;
        }
        let params = json!({
            "protocolVersion": self.version.on_the_wire(), "capabilities": self.capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let mut turn = self.begin("initialize", &params).await;
        let hello = self.next(&mut turn).await;
        self.face.entered(&turn.stream);
        self.notify("notifications/initialized", None).await;
        hello
    }

    /// Asks for log messages from this level on.
    pub(crate) async fn set_level(&mut self, level: &'static str) {
        if self.version.is_stateless() {
            self.level = Some(level);
        } else {
            let answer = self.ask("logging/setLevel", &json!({"level": level})).await;
            assert_eq!(answer["result"], json!({}), "{answer}");
        }
    }

    /// Asks for no more log messages, where that can be said.
    pub(crate) fn forget_level(&mut self) {
        self.level = None;
    }

    fn note(&mut self, to_server: bool, message: Value) {
        self.lines.push(Line { side: Side::Client, to_server, what: Ok(message) });
    }

    /// Begins a feature: ids are counted from 1, as the one before may have taken more or fewer rounds.
    pub(crate) fn turn_to(&mut self, topic: &'static str) {
        (self.topic, self.next) = (topic, 1);
    }

    /// Sends a request.
    pub(crate) async fn begin(&mut self, method: &str, params: &Value) -> Turn {
        let id = json!(format!("{}/{}", self.topic, self.next));
        self.next += 1;
        let mut params = params.clone();
        if self.version.is_stateless() {
            params["_meta"] = self.envelope(&params["_meta"]);
        }
        let message = request(id.clone(), method, &params);
        let name = params["name"].as_str().or(params["uri"].as_str()).or(params["taskId"].as_str());
        let named = matches!(
            method,
            "tools/call" | "prompts/get" | "resources/read" | "tasks/get" | "tasks/update" | "tasks/cancel"
        );
        let mirror = Mirror { method, name: name.filter(|_| named) };
        let stream = self.face.request(&message.to_string(), &mirror).await;
        self.note(true, message);
        Turn { id, stream }
    }

    fn envelope(&self, own: &Value) -> Value {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": self.version.as_str(),
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        });
        if let Some(level) = self.level {
            meta["io.modelcontextprotocol/logLevel"] = json!(level);
        }
        for (key, value) in own.as_object().into_iter().flatten() {
            meta[key] = value.clone();
        }
        meta
    }

    /// The next message of a request: what belongs to it, not the news.
    pub(crate) async fn next(&mut self, turn: &mut Turn) -> Value {
        let text = self.face.next(&mut turn.stream, |text| !is_news(&parsed(text))).await;
        let message = parsed(&text);
        self.note(false, message.clone());
        message
    }

    /// The answer to a request, and the notifications before it.
    pub(crate) async fn finish(&mut self, mut turn: Turn) -> (Vec<Value>, Value) {
        let mut said = Vec::new();
        loop {
            let message = self.next(&mut turn).await;
            if message.get("method").is_none() {
                assert_eq!(message["id"], turn.id, "{message}");
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

    /// Sends a request of which nothing is written down, and waits for its answer.
    pub(crate) async fn ask_quietly(&mut self, method: &str, params: &Value) -> Value {
        let (lines, next, topic) = (self.lines.len(), self.next, self.topic);
        (self.next, self.topic) = (self.quiet, "quiet");
        let answer = self.ask(method, params).await;
        self.quiet = self.next;
        (self.next, self.topic) = (next, topic);
        self.lines.truncate(lines);
        answer
    }

    /// Calls a tool of the upstream and waits for its answer.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": format!("up__{tool}"), "arguments": arguments})).await
    }

    /// Answers a question of the upstream.
    pub(crate) async fn reply(&mut self, id: &Value, answer: &Answer) {
        let message = match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        };
        self.face.tell(&message.to_string()).await;
        self.note(true, message);
    }

    /// Sends a notification.
    pub(crate) async fn notify(&mut self, method: &str, params: Option<&Value>) {
        let message = match params {
            Some(params) => json!({"jsonrpc": "2.0", "method": method, "params": params}),
            None => json!({"jsonrpc": "2.0", "method": method}),
        };
        self.face.tell(&message.to_string()).await;
        self.note(true, message);
    }

    /// Gives a request up, as the version and the transport have it. What is left of it is to be kept until its end
    /// is known: a connection that closes is no cancellation where there is a notification for it.
    pub(crate) async fn cancel(&mut self, turn: Turn) -> Option<Turn> {
        if !self.version.is_stateless() {
            self.notify("notifications/cancelled", Some(&json!({"requestId": turn.id}))).await;
            return Some(turn);
        }
        if self.way == Way::Pipes {
            self.notify("notifications/cancelled", Some(&json!({"requestId": turn.id}))).await;
            self.lines.pop();
        }
        // Over HTTP the closed stream says it.
        let what = Err(format!("gives up {}", turn.id));
        self.lines.push(Line { side: Side::Client, to_server: true, what });
        None
    }

    /// Opens what brings news of this kind: the standing stream, or a listen stream with this filter.
    pub(crate) async fn listen(&mut self, filter: &Value) -> Turn {
        if self.version.is_stateless() {
            let params = json!({"notifications": filter});
            let mut turn = self.begin("subscriptions/listen", &params).await;
            let first = self.news(&mut turn).await;
            assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
            assert_eq!(first["params"]["notifications"], *filter, "{first}");
            return turn;
        }
        self.face.listen().await;
        for uri in filter["resourceSubscriptions"].as_array().into_iter().flatten() {
            let answer = self.ask("resources/subscribe", &json!({"uri": uri})).await;
            assert_eq!(answer["result"], json!({}), "{answer}");
        }
        Turn { id: Value::Null, stream: Stream::Shared }
    }

    /// The next message of what [`Self::listen`] opened.
    pub(crate) async fn news(&mut self, turn: &mut Turn) -> Value {
        let text = self.face.next(&mut turn.stream, |text| is_news(&parsed(text))).await;
        let message = parsed(&text);
        if self.version.is_stateless() {
            assert_eq!(message["params"]["_meta"][SUBSCRIPTION], turn.id, "{message}");
        }
        self.note(false, message.clone());
        message
    }

    /// Ends what [`Self::listen`] opened.
    pub(crate) async fn unlisten(&mut self, turn: Turn) {
        if self.version.is_stateless() {
            drop(self.cancel(turn).await);
        }
    }
}

/// What a client answers to a question: a result, or an error.
pub(crate) type Answer = Result<Value, Value>;
