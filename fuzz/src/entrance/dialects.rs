//! Messages at endpoints with a dialect: every row reads any message as `serde_json` does, and answers in JSON.

use std::sync::OnceLock;

use bytes::Bytes;
use config::{Naming, Profile};
use engine::Condition;
use engine::catalogue::{Gather, GatherLimits, NameLimit, UpstreamId, View, ViewSource, ViewSpec};
use engine::dialect::{
    Dialect, DialectFault, DialectMessage, DialectOutcome, DialectReply, DialectRequest, DialectStep, Facts,
    begin, finish, gather, read, refuse,
};
use proto::era::{ServerHello, newest_handshake};
use proto::rpc::{Frame, FrameLimits};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// The list of tools of a server behind the endpoint.
const TOOLS: &str = r#"{"tools":[{"name":"hello","title":"Hi","description":"Greets","inputSchema":{"type":"object","properties":{"name":{"type":"string"},"times":{"type":"integer","minimum":1},"loud":{"type":"boolean"}},"required":["name"]}},{"name":"bare","inputSchema":{"type":"object"}}]}"#;

/// The fuzzer's entry: the first byte selects the row, and the second one selects the known facts and the outcome of a
/// call.
pub fn fuzz(input: &[u8]) {
    let [row, facts, text @ ..] = input else { return };
    let rows = rows();
    message(&rows[usize::from(*row) % rows.len()], text, *facts);
}

/// Returns all built-in rows with their variants, and a row that accepts arrays of messages.
pub fn rows() -> &'static [Dialect] {
    static ROWS: OnceLock<Vec<Dialect>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut rows: Vec<Dialect> = Dialect::all().collect();
        for row in rows.clone() {
            for variant in row.variants {
                let mut other = row.clone();
                other.set("variant", &json!(variant.name)).expect("a variant of its own");
                rows.push(other);
            }
        }
        let mut each = rows[0].clone();
        each.set("batches", &json!("each")).expect("a column");
        rows.push(each);
        rows
    })
}

/// Checks any bytes as a message, from parsing to the answer.
pub fn message(row: &Dialect, text: &[u8], facts: u8) {
    let document: Option<Value> = serde_json::from_slice(text).ok();
    if document.is_none() && serde_json::from_slice::<IgnoredAny>(text).is_ok() {
        // The message contains numbers beyond the range of `serde_json`.
        let _ = read(row, &Bytes::copy_from_slice(text), FrameLimits::default());
        return;
    }
    match read(row, &Bytes::copy_from_slice(text), FrameLimits::default()) {
        DialectMessage::Batch(all) => {
            let document = document.expect("an array is JSON");
            assert_eq!(document.as_array().map(Vec::len), Some(all.len()));
            let replies: Vec<DialectReply> =
                all.into_iter().filter_map(|one| reading(row, one, None, facts)).collect();
            answer(&gather(row, replies));
        }
        one => {
            if document.is_none() {
                assert!(matches!(one, DialectMessage::Done(_)), "what is no JSON is a request");
            }
            if let Some(reply) = reading(row, one, document.as_ref(), facts) {
                answer(&reply);
            }
        }
    }
}

/// Returns the reply to a parsed message; `said` is the same message as parsed by `serde_json`.
fn reading(row: &Dialect, one: DialectMessage, said: Option<&Value>, facts: u8) -> Option<DialectReply> {
    match one {
        DialectMessage::Done(reply) => Some(reply),
        DialectMessage::Notified(reply, ask) => {
            if let Some(ask) = ask {
                normal(&ask, said);
            }
            Some(reply)
        }
        DialectMessage::Ask(ask) => {
            normal(&ask, said);
            let reply = answered(row, &ask, facts);
            if let Some(reply) = &reply {
                echoes(row, &ask, reply);
            }
            reply
        }
        DialectMessage::Batch(_) => None,
    }
}

/// Checks that the request in the gateway's own form is equivalent to the message.
fn normal(ask: &DialectRequest, said: Option<&Value>) {
    let own: Value = serde_json::from_slice(ask.frame().text()).expect("a frame is JSON");
    assert_eq!(own["jsonrpc"], "2.0");
    assert!(own["id"].is_string() || own["id"].is_number(), "{own}");
    assert_eq!(own["method"].as_str(), Some(&*ask.method()));
    assert!(own.get("params").is_none_or(Value::is_object));
    if let Some(said) = said {
        assert_eq!(own["method"], said["method"]);
        if said["params"].is_object() {
            assert_eq!(own["params"], said["params"]);
        }
    }
    if let Some(tool) = ask.tool() {
        assert_eq!(own["params"]["name"].as_str(), Some(&*tool));
    }
}

fn answered(row: &Dialect, ask: &DialectRequest, facts: u8) -> Option<DialectReply> {
    let known = Facts {
        initialized: facts & 1 == 0,
        view: (facts & 2 == 0).then(view),
        profile: "team",
        ..Facts::default()
    };
    match begin(row, ask, known) {
        DialectStep::Done(reply) | DialectStep::Introduced(reply) => Some(reply),
        DialectStep::Standard => None,
        DialectStep::NeedsView => {
            assert!(known.view.is_none());
            None
        }
        DialectStep::Forward(frame) => {
            let sent: Value = serde_json::from_slice(frame.text()).expect("a frame is JSON");
            assert!(sent["method"].is_string());
            let outcome = match facts >> 2 & 3 {
                0 => DialectOutcome::Result(Bytes::from_static(
                    br#"{"content":[{"type":"text","text":"hi"}]}"#,
                )),
                1 => DialectOutcome::Result(Bytes::from_static(
                    br#"{"content":[],"isError":true,"structuredContent":{}}"#,
                )),
                2 => DialectOutcome::Fault(DialectFault::new(Condition::UpstreamDown, "gone").of("own")),
                _ => DialectOutcome::Fault(
                    DialectFault::new(Condition::UnknownTool, "none").about(ask.method()),
                ),
            };
            Some(finish(row, ask, outcome))
        }
    }
}

/// Checks the form of a reply: a status, valid headers, and JSON if there is a body.
fn answer(reply: &DialectReply) {
    assert!((200..600).contains(&reply.status), "{reply:?}");
    assert!(reply.body.is_empty() || serde_json::from_slice::<Value>(&reply.body).is_ok(), "{reply:?}");
    for (name, value) in &reply.headers {
        assert!(http::HeaderName::from_static(name) == *name && http::HeaderValue::from_str(value).is_ok());
    }
}

/// Checks that an answer repeats the id of its request byte for byte.
fn echoes(row: &Dialect, ask: &DialectRequest, reply: &DialectReply) {
    answer(reply);
    let start = [b"{\"jsonrpc\":\"2.0\",\"id\":", ask.id(), b","].concat();
    let own = reply.body.starts_with(b"{\"jsonrpc\"");
    assert!(!own || reply.body.starts_with(&start), "{}: {reply:?}", row.name);
    let refused = refuse(row, Some(ask), &DialectFault::new(Condition::RateLimited, "soon"));
    answer(&refused);
}

fn view() -> &'static View {
    static VIEW: OnceLock<View> = OnceLock::new();
    VIEW.get_or_init(|| {
        let hello = ServerHello {
            era: newest_handshake(),
            capabilities: Bytes::from_static(br#"{"tools":{}}"#),
            info: Bytes::from_static(b"{}"),
            instructions: None,
        };
        let mut gather = Gather::new(hello, GatherLimits { pages: 9, entries: 100 }, "{}");
        while gather.wants().is_some() {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{TOOLS}}}"#);
            let page = Frame::parse(Bytes::from(text), FrameLimits::default()).expect("a page");
            gather.feed(&page).expect("a page of tools");
        }
        let catalogue = ViewSource {
            id: UpstreamId(1),
            name: "own".into(),
            over_http: false,
            catalogue: Ok(std::sync::Arc::new(gather.finish())),
        };
        let profile = Profile { names: Naming::Plain, ..Profile::default() };
        let spec = ViewSpec {
            era: newest_handshake(),
            profile: &profile,
            limit: NameLimit::of_dialect(),
            names: None,
            server_info: "{}",
            schema_bytes: 4096,
            guard: None,
            separate: false,
            personal: false,
        };
        View::build(spec, vec![catalogue])
    })
}
