//! A client of any version over any transport, which records all messages.

use serde_json::{Value, json};

use super::message::{hello, notification, with_meta};
use super::{Stream, Wire, meta, request};

/// The metadata key with which a notification identifies its listen stream.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The requests that repeat a name from their body in a header.
const NAMED: [&str; 6] =
    ["tools/call", "prompts/get", "resources/read", "tasks/get", "tasks/update", "tasks/cancel"];

/// A client's answer to a request of the server: a result, or an error.
pub type Answer = Result<Value, Value>;

/// A message that was sent or received, or an action without a message.
#[derive(Clone, Debug)]
pub struct Line {
    /// True for messages that the client sent.
    pub to_server: bool,
    /// The message, or the action.
    pub what: Result<Value, String>,
}

/// The client, with its one session if its version has sessions.
pub struct Peer {
    /// The transport of its messages.
    pub wire: Wire,
    /// The protocol version that the client requests; a number for the oldest version, otherwise a string.
    pub version: Value,
    /// The capabilities that the client declares.
    pub capabilities: Value,
    /// The level of log messages that each request asks for, in the version without a handshake.
    pub level: Option<&'static str>,
    /// All messages that the client has sent and received since a test last took the record.
    pub record: Vec<Line>,
    /// The prefix of its IDs; may be empty.
    pub topic: &'static str,
    /// The number of its next request.
    pub next: u64,
}

/// A request that was sent, and whose messages have not all been read.
pub struct Turn {
    /// The request's ID.
    pub id: Value,
    /// The stream on which its answer arrives.
    pub stream: Stream,
}

/// Returns true if a notification belongs to no call.
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

impl Peer {
    /// A client that has sent nothing yet.
    pub fn new(wire: Wire, version: &Value, capabilities: &Value) -> Self {
        let (version, capabilities) = (version.clone(), capabilities.clone());
        Self { wire, version, capabilities, level: None, record: Vec::new(), topic: "", next: 1 }
    }

    /// Performs the handshake or, in the stateless version, sends `server/discover`; returns the answer.
    pub async fn introduce(&mut self) -> Value {
        if self.wire.is_stateless() {
            return self.ask("server/discover", &json!({})).await;
        }
        let answer = self.ask("initialize", &hello(&self.version, &self.capabilities)).await;
        self.notify("notifications/initialized", &Value::Null).await;
        answer
    }

    /// Requests log messages of this level and above.
    pub async fn set_level(&mut self, level: &'static str) {
        if self.wire.is_stateless() {
            self.level = Some(level);
        } else {
            let answer = self.ask("logging/setLevel", &json!({"level": level})).await;
            assert_eq!(answer["result"], json!({}), "{answer}");
        }
    }

    /// Sends a request.
    pub async fn begin(&mut self, method: &str, params: &Value) -> Turn {
        let number = self.next;
        self.next += 1;
        let id =
            if self.topic.is_empty() { json!(number) } else { json!(format!("{}/{number}", self.topic)) };
        self.begin_as(&id, method, params).await
    }

    /// Sends a request with an ID that the test chooses.
    pub async fn begin_as(&mut self, id: &Value, method: &str, params: &Value) -> Turn {
        let mut params = params.clone();
        if self.wire.is_stateless() {
            let mut own = meta(&self.capabilities);
            if let Some(level) = self.level {
                own["io.modelcontextprotocol/logLevel"] = json!(level);
            }
            params = with_meta(&params, own);
        }
        let message = request(id.clone(), method, &params);
        let name = params["name"].as_str().or(params["uri"].as_str()).or(params["taskId"].as_str());
        let name = name.filter(|_| NAMED.contains(&method));
        let stream = self.wire.request(&message.to_string(), method, name).await;
        self.note(true, Ok(message));
        Turn { id: id.clone(), stream }
    }

    fn note(&mut self, to_server: bool, what: Result<Value, String>) {
        self.record.push(Line { to_server, what });
    }

    async fn read(&mut self, turn: &mut Turn, news: bool) -> Value {
        let text = self.wire.next_that(&mut turn.stream, |text| is_news(&parsed(text)) == news).await;
        let message = parsed(&text);
        self.note(false, Ok(message.clone()));
        message
    }

    /// The next message that belongs to a request; notifications that belong to no call are skipped.
    pub async fn next(&mut self, turn: &mut Turn) -> Value {
        self.read(turn, false).await
    }

    /// The answer to a request, and the messages before it.
    pub async fn finish(&mut self, mut turn: Turn) -> (Vec<Value>, Value) {
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
    pub async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let turn = self.begin(method, params).await;
        self.finish(turn).await.1
    }

    /// Calls a tool and waits for its answer.
    pub async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await
    }

    /// Sends a request, answers the server's questions with `answer`, and waits for the final answer. Returns the
    /// questions and the final answer.
    pub async fn converse(
        &mut self,
        method: &str,
        params: &Value,
        answer: impl Fn(&str, &Value) -> Answer,
    ) -> (Vec<(String, Value)>, Value) {
        let mut asked = Vec::new();
        let mut params = params.clone();
        loop {
            let mut turn = self.begin(method, &params).await;
            let result = loop {
                let message = self.next(&mut turn).await;
                let Some(question) = message["method"].as_str() else { break message };
                if message.get("id").is_some() {
                    asked.push((question.to_owned(), message["params"].clone()));
                    let answer = answer(question, &message["params"]);
                    self.reply(&message["id"], &answer).await;
                }
            };
            assert_eq!(result["id"], turn.id, "{result}");
            if result["result"]["resultType"] != "input_required" {
                return (asked, result);
            }
            assert!(self.wire.is_stateless(), "a round for a client that has none: {result}");
            let mut responses = json!({});
            for (key, question) in result["result"]["inputRequests"].as_object().into_iter().flatten() {
                let kind = question["method"].as_str().expect("a method");
                asked.push((kind.to_owned(), question["params"].clone()));
                responses[key] = answer(kind, &question["params"]).expect("rounds have no errors");
            }
            let params = params.as_object_mut().expect("an object");
            params.shift_remove("inputResponses");
            params.shift_remove("requestState");
            if result["result"].get("inputRequests").is_some() {
                params.insert("inputResponses".to_owned(), responses);
            }
            if let Some(state) = result["result"].get("requestState") {
                params.insert("requestState".to_owned(), state.clone());
            }
        }
    }

    /// Answers a question.
    pub async fn reply(&mut self, id: &Value, answer: &Answer) {
        self.send(match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        })
        .await;
    }

    /// Sends a notification; null params are omitted.
    pub async fn notify(&mut self, method: &str, params: &Value) {
        self.send(notification(method, params)).await;
    }

    async fn send(&mut self, message: Value) {
        self.wire.tell(&message.to_string()).await;
        self.note(true, Ok(message));
    }

    /// Cancels a request in the manner that the version and the transport require. If a turn is returned, keep it
    /// until the request has ended: the notification cancels the request, and the connection must stay open.
    pub async fn cancel(&mut self, turn: Turn) -> Option<Turn> {
        let stateless = self.wire.is_stateless();
        if !stateless || self.wire.is_pipe() {
            self.notify("notifications/cancelled", &json!({"requestId": turn.id})).await;
        }
        if !stateless {
            return Some(turn);
        }
        // Over HTTP, closing the stream is the cancellation. The message over a pipe is not recorded, so that both transports
        // have the same record.
        if self.wire.is_pipe() {
            self.record.pop();
        }
        self.note(true, Err(format!("gives up {}", turn.id)));
        None
    }

    /// Opens the stream for notifications of this kind: the standing stream, or a listen stream with this filter.
    pub async fn listen(&mut self, filter: &Value) -> Turn {
        if self.wire.is_stateless() {
            let mut turn = self.begin("subscriptions/listen", &json!({"notifications": filter})).await;
            let first = self.news(&mut turn).await;
            assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
            assert_eq!(first["params"]["notifications"], *filter, "{first}");
            return turn;
        }
        self.wire.listen().await;
        for uri in filter["resourceSubscriptions"].as_array().into_iter().flatten() {
            let answer = self.ask("resources/subscribe", &json!({"uri": uri})).await;
            assert_eq!(answer["result"], json!({}), "{answer}");
        }
        Turn { id: Value::Null, stream: Stream::Shared }
    }

    /// The next message of the stream that [`Self::listen`] opened.
    pub async fn news(&mut self, turn: &mut Turn) -> Value {
        let message = self.read(turn, true).await;
        if self.wire.is_stateless() {
            assert_eq!(message["params"]["_meta"][SUBSCRIPTION], turn.id, "{message}");
        }
        message
    }

    /// Closes the stream that [`Self::listen`] opened.
    pub async fn unlisten(&mut self, turn: Turn) {
        if self.wire.is_stateless() {
            drop(self.cancel(turn).await);
        }
    }
}
