//! The measured work: a `tools/call` of about one kilobyte, from the bytes of its request to the bytes of its answer,
//! and the other texts that the gateway reads constantly. Shared by the instruction budgets and the allocation counts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use config::{Profile, ToolMode};
use dragoman_engine::catalogue::{Gather, GatherLimits, NameLimit, UpstreamId, View, ViewSource, ViewSpec};
use dragoman_engine::exchange::{
    Binding, Dispatch, Event, Exchange, ExchangeAnswer, Headers, Sealer, Start, Step, Timeouts, dispatch,
};
use dragoman_engine::tasks::TaskIds;
use proto::era::{Era, EraEvidence, Mirrored, ServerHello, V2025_11_25, V2026_07_28, detect, read_envelope};
use proto::rpc::{Frame, FrameLimits, Message};

const SERVER_INFO: &str = r#"{"name":"dragoman","version":"1.0.0"}"#;
const TIMEOUTS: Timeouts = Timeouts::of_server(Duration::from_mins(1), Duration::from_mins(10));
const BINDING: Binding<'_> =
    Binding { principal: "anyone", server: "notes", now_ms: 1_800_000_000_000, lifetime_ms: 600_000 };
const KEY: u64 = 1_234_567;
const TEXT: &str = "The quick brown fox jumps over the lazy dog, and then it goes on to the next field. ";

/// The client's task ids; this client has no tasks.
fn ids(view: &View) -> TaskIds<'_> {
    TaskIds::new(&NoSeal, "anyone", view.era())
}

/// A prepared call, with the answer that its upstream will give.
pub(crate) struct Call {
    view: &'static View,
    request: Bytes,
    response: Bytes,
    now: Instant,
}

impl Call {
    /// A call in a session, as in 2025-11-25.
    pub(crate) fn in_session() -> Self {
        Self::new(&V2025_11_25, "")
    }

    /// A self-contained call, as in 2026-07-28.
    pub(crate) fn stateless() -> Self {
        let era = &V2026_07_28;
        let envelope = format!(
            r#","io.modelcontextprotocol/protocolVersion":"{}","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/clientInfo":{{"name":"client","version":"1.0.0"}}"#,
            era.version
        );
        Self::new(era, &envelope)
    }

    /// Creates the call, and makes it once so that the tool's schema is compiled.
    fn new(era: &'static Era, envelope: &str) -> Self {
        let call = || {
            let text = TEXT.repeat(if envelope.is_empty() { 9 } else { 7 });
            let request = format!(
                r#"{{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{{"name":"notes__write_42","arguments":{{"path":"journal/today.md","text":"{text}","mode":"append","limit":100}},"_meta":{{"progressToken":"token-41"{envelope}}}}}}}"#
            );
            let response = format!(
                r#"{{"jsonrpc":"2.0","id":{KEY},"result":{{"content":[{{"type":"text","text":"{}"}}],"isError":false}}}}"#,
                TEXT.repeat(11)
            );
            assert!((900..1100).contains(&request.len()), "{}", request.len());
            assert!((900..1100).contains(&response.len()), "{}", response.len());
            (Bytes::from(request), Bytes::from(response))
        };
        let view: &'static View = Box::leak(Box::new(view(era, 100)));
        let now = now();
        let (request, response) = call();
        Self { view, request, response, now }.make();
        let (request, response) = call();
        Self { view, request, response, now }
    }

    /// Performs the engine's part of a call (steps 3 to 7 and 9 in `ARCHITECTURE.md`): parses the request, finds its
    /// target, checks the arguments, and builds the request to the server; then converts the answer for the client.
    pub(crate) fn make(self) -> ExchangeAnswer {
        let era = self.view.era();
        let limits = FrameLimits::default();
        let Ok(Message::Single(frame)) = Message::parse(self.request, limits) else { panic!("no message") };
        let spoken = detect(&frame, Some(era.version)).expect("an era");
        if spoken == EraEvidence::Stateless {
            let headers =
                Mirrored { version: header(era.version), method: header("tools/call"), name: header(NAME) };
            assert_eq!(read_envelope(&frame, Some(headers)).expect("an envelope").era, era);
        }
        let Ok(Dispatch::Forward(route)) = dispatch(&frame, self.view, SERVER_INFO, ids(self.view)) else {
            panic!("not forwarded")
        };
        let mut exchange = Exchange::begin(Start {
            frame,
            client: era,
            server: era,
            capabilities: b"{}",
            capabilities_upstream: b"{}",
            level: None,
            client_info: b"{}",
            route,
            key: KEY,
            binding: BINDING,
            sealer: &NoSeal,
            headers: (spoken == EraEvidence::Stateless).then_some(&NoHeaders as &dyn Headers),
            timeouts: TIMEOUTS,
            server_info: SERVER_INFO,
            trace: None,
            now: self.now,
        })
        .expect("arguments that fit");
        let Some(Step::Send(outbound)) = exchange.poll() else { panic!("nothing is sent") };
        std::hint::black_box(&outbound.body);
        let answer = Frame::parse(self.response, limits).expect("a response");
        exchange.feed(Event::Frame(answer, Some(200)), &NoSeal, BINDING, self.now);
        let Some(Step::Answer(answer)) = exchange.poll() else { panic!("no answer") };
        answer
    }
}

const NAME: &str = "notes__write_42";

#[expect(clippy::unnecessary_wraps, reason = "headers may be missing elsewhere")]
fn header(value: &str) -> Option<&[u8]> {
    Some(value.as_bytes())
}

#[expect(clippy::disallowed_methods, reason = "a measurement has to begin at some time")]
fn now() -> Instant {
    Instant::now()
}

/// A sealer for these calls, which seal no state.
struct NoSeal;

impl Sealer for NoSeal {
    fn seal(&self, _: &[u8], _: &[u8]) -> String {
        panic!("nothing is sealed")
    }

    fn open(&self, _: &str, _: &[u8]) -> Option<Vec<u8>> {
        panic!("nothing is opened")
    }

    fn fresh_key(&self) -> u64 {
        panic!("nothing is sent twice")
    }

    fn epoch(&self) -> u64 {
        1
    }
}

/// A request without `Mcp-Param-*` headers.
struct NoHeaders;

impl Headers for NoHeaders {
    fn get(&self, _: &str) -> Option<&[u8]> {
        None
    }
}

/// The view that a profile with one server and this many tools shows to clients of `era`.
pub(crate) fn view(era: &'static Era, tools: usize) -> View {
    let listed: Vec<String> = (0..tools)
        .map(|n| {
            format!(
                r#"{{"name":"write_{n}","description":"Writes text to a note.","inputSchema":{{"type":"object","properties":{{"path":{{"type":"string"}},"text":{{"type":"string","maxLength":10000}},"mode":{{"enum":["append","replace"]}},"limit":{{"type":"integer","minimum":0}}}},"required":["path","text"],"additionalProperties":false}}}}"#
            )
        })
        .collect();
    view_of(hello(era), &Profile::default(), &listed)
}

fn hello(era: &'static Era) -> ServerHello {
    ServerHello {
        era,
        capabilities: Bytes::from_static(br#"{"tools":{"listChanged":true},"logging":{}}"#),
        info: Bytes::from_static(b"{}"),
        instructions: None,
    }
}

/// The view of a server that lists these tools.
fn view_of(hello: ServerHello, profile: &Profile, listed: &[String]) -> View {
    let era = hello.era;
    let page = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]}}}}"#, listed.join(","));
    let mut gather = Gather::new(hello, GatherLimits { pages: 1, entries: listed.len() }, "{}");
    gather.feed(&Frame::parse(Bytes::from(page), FrameLimits::default()).expect("a page")).expect("a list");
    let upstream = ViewSource {
        id: UpstreamId(0),
        name: "notes".into(),
        over_http: true,
        catalogue: Ok(Arc::new(gather.finish())),
    };
    let spec = ViewSpec {
        era,
        profile,
        limit: NameLimit::behind(""),
        names: None,
        server_info: SERVER_INFO,
        schema_bytes: 256 * 1024,
        guard: None,
        separate: false,
        personal: false,
    };
    View::build(spec, vec![upstream])
}

/// A list of a thousand tools that is about to be requested.
#[derive(Clone)]
pub(crate) struct List {
    view: &'static View,
    request: Bytes,
}

impl List {
    /// The list in a session, as in 2025-11-25.
    pub(crate) fn of_1000_tools() -> Self {
        let request = r#"{"jsonrpc":"2.0","id":"a-client's-id","method":"tools/list","params":{}}"#;
        let list =
            Self { view: Box::leak(Box::new(view(&V2025_11_25, 1000))), request: Bytes::from(request) };
        // The first allocation also cleans up the memory that building the view has freed, so one happens
        // here.
        drop(list.clone().answer());
        list
    }

    /// The whole answer, in the pieces that are written to the client.
    pub(crate) fn answer(self) -> Vec<Bytes> {
        let frame = Frame::parse(self.request, FrameLimits::default()).expect("a request");
        let Ok(Dispatch::Listed(result)) = dispatch(&frame, self.view, SERVER_INFO, ids(self.view)) else {
            panic!("not answered")
        };
        proto::rpc::result_pieces(frame.id().expect("an id"), result.pieces(|| 60_000))
    }
}

/// About 18 kB of JSON with short members: 270 records.
pub(crate) fn records() -> String {
    let record = |n: u32| format!(r#"{{"id":{n},"name":"item {n}","ok":true,"tags":["a","b"],"x":null}}"#);
    let text = format!("[{}]", (1000..1270).map(record).collect::<Vec<_>>().join(","));
    assert!((17_500..18_500).contains(&text.len()), "{}", text.len());
    text
}

/// About 17 kB of JSON with one long text.
pub(crate) fn prose() -> String {
    let text = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, TEXT.repeat(205));
    assert!((17_000..18_000).contains(&text.len()), "{}", text.len());
    text
}

/// An event of about one kilobyte, received in one piece.
pub(crate) fn event() -> Bytes {
    Bytes::from(format!(
        "id: 7\nevent: message\ndata: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"text\":\"{}\"}}}}\n\n",
        TEXT.repeat(11)
    ))
}

/// A search over a thousand tools whose words overlap, as those of real servers do.
#[derive(Clone)]
pub(crate) struct Search {
    view: &'static View,
    request: Bytes,
}

const VERBS: [&str; 10] =
    ["get", "list", "create", "update", "delete", "search", "export", "merge", "approve", "archive"];
const NOUNS: [&str; 20] = [
    "issue", "comment", "file", "folder", "branch", "commit", "page", "message", "channel", "invoice",
    "customer", "order", "product", "event", "calendar", "task", "label", "user", "report", "query",
];
const PLACES: [&str; 5] = ["repository", "workspace", "site", "database", "account"];

impl Search {
    /// A search for several words: one is misspelt, and two have synonyms.
    pub(crate) fn of_1000_tools() -> Self {
        let tool = |verb: &str, noun: &str, place: &str| {
            format!(
                r#"{{"name":"{verb}_{noun}_{place}","title":"{verb} a {noun}","description":"Can {verb} a {noun} in the {place}. Use it if the user asks about one {noun} of the {place}, and not about all of them.","inputSchema":{{"type":"object","properties":{{"{noun}_id":{{"type":"string","description":"The id of the {noun}"}},"{place}":{{"type":"string"}},"limit":{{"type":"integer"}}}}}}}}"#
            )
        };
        let pairs = VERBS.iter().flat_map(|verb| NOUNS.iter().map(move |noun| (verb, noun)));
        let listed: Vec<String> =
            pairs.flat_map(|(verb, noun)| PLACES.iter().map(move |place| tool(verb, noun, place))).collect();
        let mut profile = Profile::default();
        profile.tools.mode = ToolMode::Search;
        let request = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"find_tools","arguments":{"query":"remove old comments of a repositry and show the files in the folder","limit":5}}}"#;
        let view = Box::leak(Box::new(view_of(hello(&V2025_11_25), &profile, &listed)));
        let search = Self { view, request: Bytes::from(request) };
        assert!(String::from_utf8_lossy(&search.clone().answer()).contains("delete_comment_repository"));
        search
    }

    /// The answer of `find_tools`.
    pub(crate) fn answer(self) -> Bytes {
        let frame = Frame::parse(self.request, FrameLimits::default()).expect("a request");
        let Ok(Dispatch::Own(result)) = dispatch(&frame, self.view, SERVER_INFO, ids(self.view)) else {
            panic!("not answered")
        };
        result
    }
}
