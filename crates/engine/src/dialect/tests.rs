//! The numbered requirements for messages of each of the five systems, and properties of every row.

use std::sync::Arc;

use bytes::Bytes;
use config::{Naming, Profile};
use proto::era::ServerHello;
use proto::rpc::{Frame, FrameLimits};
use serde_json::{Value, json};

use super::*;
use crate::catalogue::{
    Gather, GatherLimits, ListKind, NameLimit, UpstreamAbsence, UpstreamCatalogue, UpstreamId, View,
    ViewSource, ViewSpec,
};

mod any_row;
mod bb;
mod buddyboss;
mod columns;
mod gateway;
mod kulturarv;
mod wordpress;

const TOOLS: &str = r#"{"name":"hello","title":"Hi","description":"Greets","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"Who (default: all)"},"times":{"type":"integer","minimum":1},"per_page":{"type":"integer"},"loud":{"type":"boolean"},"tone":{"type":"string","enum":["low","high"]}},"required":["name"]}},{"name":"bare","inputSchema":{"type":"object"}},{"name":"add","description":"Adds","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"a":{"type":"number"}}}}"#;
const PROMPTS: &str = r#"{"name":"greet","description":"d","arguments":[{"name":"who","required":true}]}"#;
const RESOURCES: &str = r#"{"uri":"x://a","name":"A","description":"d","mimeType":"text/plain"}"#;

/// An endpoint with one row for one profile.
struct Endpoint {
    row: Dialect,
    view: View,
    initialized: bool,
}

fn catalogue(lists: [&str; 4]) -> Arc<UpstreamCatalogue> {
    let hello = ServerHello {
        era: proto::era::newest_handshake(),
        capabilities: Bytes::from_static(br#"{"tools":{},"prompts":{},"resources":{}}"#),
        info: Bytes::from_static(b"{}"),
        instructions: Some("Be kind.".to_owned()),
    };
    let mut gather = Gather::new(hello, GatherLimits { pages: 9, entries: 100 }, "{}");
    while let Some(kind) = gather.wants() {
        let at = ListKind::ALL.iter().position(|k| *k == kind).unwrap();
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"{}":[{}]}}}}"#, kind.member(), lists[at]);
        gather.feed(&Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap()).unwrap();
    }
    Arc::new(gather.finish())
}

fn upstream(id: u32, name: &str, catalogue: Result<Arc<UpstreamCatalogue>, UpstreamAbsence>) -> ViewSource {
    ViewSource { id: UpstreamId(id), name: name.into(), over_http: false, catalogue }
}

fn gone() -> UpstreamAbsence {
    UpstreamAbsence { reason: "does not answer".to_owned(), retry: true }
}

fn view(names: Naming, upstreams: Vec<ViewSource>) -> View {
    let profile = Profile { names, ..Profile::default() };
    let era = proto::era::newest_handshake();
    View::build(
        ViewSpec {
            era,
            profile: &profile,
            limit: NameLimit::of_dialect(),
            names: None,
            server_info: "{}",
            schema_bytes: 4096,
            guard: None,
            separate: false,
            personal: false,
        },
        upstreams,
    )
}

impl Endpoint {
    fn of(base: &str) -> Self {
        let own = vec![upstream(1, "own", Ok(catalogue([TOOLS, PROMPTS, RESOURCES, ""])))];
        let row = Dialect::base(base).unwrap();
        Self { row, view: view(Naming::Plain, own), initialized: true }
    }

    fn set(mut self, column: &str, value: &Value) -> Self {
        self.row.set(column, value).unwrap();
        self
    }

    fn fresh(self) -> Self {
        Self { initialized: false, ..self }
    }

    fn read(&self, text: &str) -> DialectMessage {
        read(&self.row, &Bytes::copy_from_slice(text.as_bytes()), FrameLimits::default())
    }

    fn ask(&self, text: &str) -> DialectRequest {
        match self.read(text) {
            DialectMessage::Ask(ask) => ask,
            other => panic!("{text} is no request: {other:?}"),
        }
    }

    fn begin(&self, text: &str) -> DialectStep {
        let facts = Facts {
            initialized: self.initialized,
            view: Some(&self.view),
            profile: "team",
            ..Facts::default()
        };
        begin(&self.row, &self.ask(text), facts)
    }

    /// The answer without any server.
    fn reply(&self, text: &str) -> DialectReply {
        match self.read(text) {
            DialectMessage::Done(reply) | DialectMessage::Notified(reply, _) => return reply,
            DialectMessage::Ask(_) | DialectMessage::Batch(_) => {}
        }
        match self.begin(text) {
            DialectStep::Done(reply) | DialectStep::Introduced(reply) => reply,
            other => panic!("{text} is not answered: {other:?}"),
        }
    }

    fn says(&self, text: &str) -> Value {
        json(&self.reply(text))
    }

    /// The error's code and message, its id, and the HTTP status.
    fn error(&self, text: &str) -> (i64, String, Value, u16) {
        let reply = self.reply(text);
        let body = json(&reply);
        let message = body["error"]["message"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned();
        (body["error"]["code"].as_i64().unwrap(), message, body["id"].clone(), reply.status)
    }

    /// The message that is forwarded to the gateway.
    fn forwarded(&self, text: &str) -> Value {
        match self.begin(text) {
            DialectStep::Forward(frame) => serde_json::from_slice(frame.text()).unwrap(),
            other => panic!("{text} is not forwarded: {other:?}"),
        }
    }

    /// The answer if the gateway returns this result.
    fn result(&self, text: &str, result: &str) -> Value {
        self.forwarded(text);
        let outcome = DialectOutcome::Result(Bytes::copy_from_slice(result.as_bytes()));
        json(&finish(&self.row, &self.ask(text), outcome))
    }

    /// The answer if the gateway reports this fault.
    fn fault(&self, text: &str, fault: DialectFault) -> Value {
        json(&finish(&self.row, &self.ask(text), DialectOutcome::Fault(fault)))
    }
}

fn json(reply: &DialectReply) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or_else(|e| panic!("{e}: {reply:?}"))
}

/// The error of an upstream server, as received.
fn upstream_error(server: &str) -> DialectFault {
    let text = br#"{"jsonrpc":"2.0","id":7,"error":{"code":-32042,"message":"no rights","data":{"a":1e2}}}"#;
    let frame = Frame::parse(Bytes::from_static(text), FrameLimits::default()).unwrap();
    DialectFault::of_answer(&frame, Some(server)).unwrap()
}

/// The error of a server in Dragoman's own binary; it names the condition.
fn own_error(condition: &str) -> DialectFault {
    let text = json!({"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"in words",
        "data":{"condition":condition,"status":404,"body":{"code":"rest_x"}}}});
    let frame = Frame::parse(Bytes::from(text.to_string()), FrameLimits::default()).unwrap();
    DialectFault::of_own_answer(&frame, Some("site")).unwrap()
}

/// A call of the tool `hello`, with the id 3.
const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hello","arguments":{"name":"World"}}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
/// A result as a server returns it.
const HELLO: &str =
    r#"{"content":[{"type":"text","text":"Hello, World!"}],"structuredContent":{"a":1},"isError":false}"#;
const FAILED: &str = r#"{"content":[{"type":"text","text":"it broke"}],"isError":true}"#;

fn initialize(version: &str) -> String {
    json!({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":version,"capabilities":{},"clientInfo":{"name":"test","version":"1.0"}}}).to_string()
}
