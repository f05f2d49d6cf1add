//! The common parts of both models: a view, a sealer, messages, and the beginning of an exchange.

use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use config::Profile;
use dragoman_engine::catalogue::{Gather, GatherLimits, NameLimit, UpstreamId, View, ViewSource, ViewSpec};
use dragoman_engine::exchange::{Binding, Dispatch, Exchange, Sealer, Start, Timeouts, dispatch};
use dragoman_engine::tasks::TaskIds;
use proto::era::{Era, ServerHello};
use proto::rpc::{Frame, FrameLimits};
use serde_json::{Value, json};

pub(crate) const TIMEOUTS: Timeouts =
    Timeouts::of_server(Duration::from_millis(700), Duration::from_millis(2500));

pub(crate) const LIFETIME: Duration = Duration::from_millis(1500);

/// All questions that a client can be asked.
pub(crate) fn all_questions() -> Value {
    json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}})
}

/// The start of the replayed events; all other times are relative to it.
#[expect(clippy::disallowed_methods, reason = "a replay has to begin at some time")]
pub(crate) fn start() -> Instant {
    Instant::now()
}

pub(crate) fn frame(value: &Value) -> Frame {
    Frame::parse(Bytes::from(value.to_string()), FrameLimits::default()).expect("a message")
}

pub(crate) fn parsed(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("JSON")
}

/// The view that clients of `client` have of one server of `server` with one tool.
pub(crate) fn view(client: &'static Era, server: &'static Era) -> View {
    let hello = ServerHello {
        era: server,
        capabilities: Bytes::from_static(br#"{"tools":{}}"#),
        info: Bytes::from_static(b"{}"),
        instructions: None,
    };
    let mut gather = Gather::new(hello, GatherLimits { pages: 9, entries: 9 }, "{}");
    let tools =
        json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}], "resultType": "complete"});
    gather.feed(&frame(&json!({"jsonrpc": "2.0", "id": 1, "result": tools}))).expect("a list");
    let catalogue = Ok(Arc::new(gather.finish()));
    let upstream = ViewSource { id: UpstreamId(0), name: "up".into(), over_http: true, catalogue };
    let spec = ViewSpec {
        era: client,
        profile: &Profile::default(),
        limit: NameLimit::behind(""),
        names: None,
        server_info: "{}",
        schema_bytes: 4096,
        guard: None,
        separate: false,
        personal: false,
    };
    View::build(spec, vec![upstream])
}

/// A sealer that writes the owner and the content in plain text, with a checksum of both.
pub(crate) struct Toy {
    generation: u64,
    keys: Cell<u64>,
}

impl Toy {
    pub(crate) fn new(generation: u64) -> Self {
        // Keys of one run of the gateway have no meaning in the next, but the model looks up each call by its
        // key.
        Self { generation, keys: Cell::new(generation << 32) }
    }

    fn sum(&self, bytes: &[u8]) -> u64 {
        bytes
            .iter()
            .fold(self.generation.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xcbf2_9ce4_8422_2325, |sum, byte| {
                (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            })
    }

    fn signed(&self, plain: &[u8], bound: &[u8]) -> Vec<u8> {
        let all = [plain, b"|", bound].concat();
        [plain, &self.sum(&all).to_be_bytes()].concat()
    }
}

impl Sealer for Toy {
    fn seal(&self, plain: &[u8], bound: &[u8]) -> String {
        self.signed(plain, bound).iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    fn open(&self, sealed: &str, bound: &[u8]) -> Option<Vec<u8>> {
        let bytes: Option<Vec<u8>> = (0..sealed.len().div_ceil(2))
            .map(|at| u8::from_str_radix(sealed.get(at * 2..at * 2 + 2)?, 16).ok())
            .collect();
        let bytes = bytes?;
        let plain = bytes.get(..bytes.len().checked_sub(8)?)?;
        (self.signed(plain, bound) == bytes).then(|| plain.to_vec())
    }

    fn fresh_key(&self) -> u64 {
        self.keys.set(self.keys.get() + 1);
        self.keys.get()
    }

    fn epoch(&self) -> u64 {
        1
    }
}

/// The gateway's clock, as an exchange gets it.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) start: Instant,
    pub(crate) passed: Duration,
}

impl Clock {
    pub(crate) fn now(self) -> Instant {
        self.start + self.passed
    }

    pub(crate) fn binding(self, principal: &str) -> Binding<'_> {
        let millis = |time: Duration| u64::try_from(time.as_millis()).expect("few");
        Binding { principal, server: "up", now_ms: millis(self.passed), lifetime_ms: millis(LIFETIME) }
    }
}

/// Begins the exchange of a call.
pub(crate) fn begin(
    request: Frame,
    view: &View,
    server: &'static Era,
    sealer: &Toy,
    clock: Clock,
    principal: &str,
) -> Exchange {
    let ids = TaskIds::new(sealer, principal, view.era());
    let Ok(Dispatch::Forward(route)) = dispatch(&request, view, "{}", ids) else { panic!("not forwarded") };
    let capabilities = all_questions().to_string();
    Exchange::begin(Start {
        frame: request,
        client: view.era(),
        server,
        capabilities: capabilities.as_bytes(),
        capabilities_upstream: capabilities.as_bytes(),
        level: None,
        client_info: b"{}",
        route,
        key: sealer.fresh_key(),
        binding: clock.binding(principal),
        sealer,
        headers: None,
        timeouts: TIMEOUTS,
        server_info: "{}",
        trace: None,
        now: clock.now(),
    })
    .expect("a call that fits")
}

/// The methods by which servers ask, in turn.
pub(crate) const METHODS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

/// The params of a question that can be recognized by its number.
pub(crate) fn question(method: &str, number: u64) -> Value {
    match method {
        "elicitation/create" => json!({
            "message": "?", "requestedSchema": {"type": "object", "properties": {}},
            "_meta": {"number": number},
        }),
        "sampling/createMessage" => json!({"messages": [], "maxTokens": 1, "_meta": {"number": number}}),
        _ => json!({"_meta": {"number": number}}),
    }
}

/// The number of a question.
pub(crate) fn number(params: &Value) -> u64 {
    params["_meta"]["number"].as_u64().unwrap_or_else(|| panic!("no number in {params}"))
}

/// The answer of a client: the question's number, and the client's identity.
pub(crate) fn reply(method: &str, number: u64, by: &str) -> Value {
    match method {
        "elicitation/create" => json!({"action": "accept", "content": {"number": number, "by": by}}),
        "sampling/createMessage" => {
            json!({"role": "assistant", "model": format!("{number} {by}"), "content": {"type": "text", "text": ""}})
        }
        _ => json!({"roots": [{"uri": format!("file:///{number}/{by}")}]}),
    }
}
