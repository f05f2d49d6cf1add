//! Exchanges replayed from events, without a runtime.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use config::{Lookup, Profile, load};
use proto::era::{Era, ServerHello, V2025_06_18, V2025_11_25, V2026_07_28};
use proto::rpc::{Frame, FrameLimits};

use super::*;
use crate::Fault;
use crate::access::{Asker, Guard, Principal, Rules};
use crate::catalogue::{
    Gather, GatherLimits, NameLimit, ReadsArguments, UpstreamId, View, ViewSource, ViewSpec,
};
use crate::tasks::TaskIds;

/// The start of the replayed events; all other times are relative to it.
#[expect(clippy::disallowed_methods, reason = "a replay has to begin at some time")]
pub(super) fn start() -> Instant {
    Instant::now()
}

pub(super) fn frame(text: &str) -> Frame {
    Frame::parse(Bytes::copy_from_slice(text.as_bytes()), FrameLimits::default()).unwrap()
}

pub(super) fn view(era: &'static Era) -> View {
    view_under(None, era, r#"{"tools":{},"logging":{},"completions":{},"prompts":{}}"#)
}

fn view_under(guard: Option<&Guard>, era: &'static Era, capabilities: &'static str) -> View {
    let hello = ServerHello {
        era,
        capabilities: Bytes::from_static(capabilities.as_bytes()),
        info: Bytes::from_static(b"{}"),
        instructions: None,
    };
    let mut gather = Gather::new(hello, GatherLimits { pages: 9, entries: 9 }, "{}");
    let tools = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{
        "n":{"type":"integer"},"h":{"type":"string","x-mcp-header":"H"}}}}]}}"#;
    gather.feed(&frame(tools)).unwrap();
    gather.feed(&frame(r#"{"jsonrpc":"2.0","id":1,"result":{"prompts":[{"name":"p"}]}}"#)).unwrap();
    let mut catalogue = gather.finish();
    catalogue.reader = Some(Arc::new(Unsigned));
    let catalogue = Ok(Arc::new(catalogue));
    let upstream = ViewSource { id: UpstreamId(3), name: "up".into(), over_http: true, catalogue };
    let spec = ViewSpec {
        era,
        profile: &Profile::default(),
        limit: NameLimit::behind(""),
        names: None,
        server_info: "{\"name\":\"d\"}",
        schema_bytes: 4096,
        guard,
        separate: false,
        personal: false,
    };
    View::build(spec, vec![upstream])
}

/// A server's interpretation of arguments that drops the sign of numbers.
#[derive(Debug)]
struct Unsigned;

impl ReadsArguments for Unsigned {
    fn readings(&self, tool: &str, arguments: &[u8]) -> Vec<String> {
        assert_eq!(tool, "t", "the server's own name");
        vec![String::from_utf8(arguments.to_vec()).unwrap().replace('-', "")]
    }
}

/// The outcome of a request under rules, at a server that would accept it.
fn under(rules: &str, era: &'static Era, method: &str, params: &str) -> Result<UpstreamId, Fault> {
    let lookup = Lookup { env: &|_| None, file: &|_| Err(String::new()) };
    let config = format!("access: [{rules}]\nmcpServers: {{ up: {{ command: x }} }}\n");
    let rules = Arc::new(Rules::compile(&load(&config, "test", &lookup).unwrap().config.access));
    let class = rules.class(&Asker { principal: &Principal::anyone(), address: None });
    let guard = Guard { rules, class, profile: "default".into() };
    let view = view_under(Some(&guard), era, r#"{"tools":{},"prompts":{},"experimental":{"acme":{}}}"#);
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    match dispatch(&frame(&text), &view, "{}", TaskIds::new(&Plain, "me", era))? {
        Dispatch::Forward(route) => Ok(route.upstream),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rules_hold_for_arguments_as_their_server_reads_them() {
    let call = |rules: &str, n: &str| {
        let params = format!(r#"{{"name":"up__t","arguments":{{"n":{n}}}}}"#);
        under(rules, &V2025_11_25, "tools/call", &params).is_ok()
    };
    let deny = "{ deny: '*', when: { arguments: { n: 42 } } }";
    assert_eq!(["42", "-42", "\"-42\"", "7", "-7"].map(|n| call(deny, n)), [false, false, false, true, true]);
    let allow = "{ allow: '*', when: { arguments: { n: [42, '-7'] } } }";
    assert_eq!(["42", "-42", "7", "-7"].map(|n| call(allow, n)), [true, false, false, false]);
}

#[test]
fn who_may_use_nothing_of_a_server_does_not_reach_its_other_methods() {
    let code = |rules: &str, era| match under(rules, era, "acme/run", "{}") {
        Ok(_) => 0,
        Err(fault) => fault.code,
    };
    for era in [&V2025_11_25, &V2026_07_28] {
        let unknown = under("{ deny: '*', servers: up }", era, "acme/run", "{}").unwrap_err();
        let request = frame(r#"{"jsonrpc":"2.0","id":1,"method":"acme/run"}"#);
        let view = view(era);
        let nothing = dispatch(&request, &view, "{}", TaskIds::new(&Plain, "me", era));
        assert_eq!(unknown.message, nothing.unwrap_err().message, "{era}");
        assert_eq!([code("{ deny: 'up__*' }", era), code("{ allow: other }", era)], [-32601; 2], "{era}");
        assert_eq!([code("{ deny: up__t }", era), code("{ allow: up__p }", era)], [0; 2], "{era}");
    }
}

/// A sealer that only writes its input in plain text.
pub(super) struct Plain;

impl Sealer for Plain {
    fn seal(&self, plain: &[u8], bound: &[u8]) -> String {
        plain.iter().chain(b"|").chain(bound).fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    fn fresh_key(&self) -> u64 {
        78
    }

    fn epoch(&self) -> u64 {
        1
    }

    fn open(&self, sealed: &str, bound: &[u8]) -> Option<Vec<u8>> {
        let bytes: Option<Vec<u8>> = (0..sealed.len() / 2)
            .map(|i| u8::from_str_radix(sealed.get(i * 2..i * 2 + 2)?, 16).ok())
            .collect();
        let bytes = bytes?;
        bytes.strip_suffix(bound)?.strip_suffix(b"|").map(<[u8]>::to_vec)
    }
}

pub(super) fn binding(principal: &str, now_ms: u64) -> Binding<'_> {
    Binding { principal, server: "up", now_ms, lifetime_ms: 1000 }
}

pub(super) const TIMEOUTS: Timeouts = Timeouts::of_server(Duration::from_mins(1), Duration::from_mins(10));

fn begin(view: &View, text: &str, principal: &str, now_ms: u64, now: Instant) -> Result<Exchange, Fault> {
    let frame = frame(text);
    let Dispatch::Forward(route) = dispatch(&frame, view, "{}", TaskIds::new(&Plain, principal, view.era()))?
    else {
        panic!("not forwarded")
    };
    Exchange::begin(Start {
        frame,
        client: view.era(),
        server: view.era(),
        capabilities: b"{}",
        capabilities_upstream: b"{}",
        level: None,
        client_info: b"{}",
        route,
        key: 77,
        binding: binding(principal, now_ms),
        sealer: &Plain,
        headers: None,
        timeouts: TIMEOUTS,
        server_info: "{}",
        trace: None,
        now,
    })
}

fn sent(exchange: &mut Exchange) -> Outbound {
    match exchange.poll() {
        Some(Step::Send(outbound)) => outbound,
        other => panic!("{other:?}"),
    }
}

fn answered(exchange: &mut Exchange) -> ExchangeAnswer {
    match exchange.poll() {
        Some(Step::Answer(answer)) => answer,
        other => panic!("{other:?}"),
    }
}

fn feed(exchange: &mut Exchange, text: &str) {
    exchange.feed(Event::Frame(frame(text), None), &Plain, binding("me", 0), start());
}

const CALL: &str = r#"{"id":"c\u0031", "jsonrpc":"2.0","method":"tools/call","params":{"odd":1.0,"name":"up__t","arguments":{"n":1e0},"_meta":{"x":[{}],"progressToken":"P"}}}"#;

#[test]
fn only_the_spliced_spans_change() {
    let view = view(&V2025_11_25);
    let mut x = begin(&view, CALL, "me", 0, start()).unwrap();
    let out = sent(&mut x);
    assert_eq!(out.upstream, UpstreamId(3));
    assert_eq!(out.mirror, None);
    assert_eq!(
        out.body,
        r#"{"id":77, "jsonrpc":"2.0","method":"tools/call","params":{"odd":1.0,"name":"t","arguments":{"n":1e0},"_meta":{"x":[{}],"progressToken":77}}}"#
    );
    feed(
        &mut x,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":77,"progress":1e0}}"#,
    );
    let Some(Step::Relay(progress)) = x.poll() else { panic!("no progress") };
    assert!(progress.ends_with(br#"{"progressToken":"P","progress":1e0}}"#));
    feed(&mut x, r#"{"jsonrpc":"2.0","id":78,"result":{"not":"ours"}}"#);
    assert!(x.poll().is_none());
    feed(&mut x, r#"{"result":{"content":[],"new":1e2},"jsonrpc":"2.0","id":77}"#);
    let answer = answered(&mut x);
    assert_eq!(answer.body, r#"{"result":{"content":[],"new":1e2},"jsonrpc":"2.0","id":"c\u0031"}"#);
    feed(&mut x, r#"{"result":{},"jsonrpc":"2.0","id":77}"#);
    assert!(x.poll().is_none(), "a second answer is dropped");
}

#[test]
fn ill_fitting_arguments_never_leave() {
    let text =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__t","arguments":{"n":"x"}}}"#;
    let mut x = begin(&view(&V2025_11_25), text, "me", 0, start()).unwrap();
    let answer = answered(&mut x);
    assert!(std::str::from_utf8(&answer.body).unwrap().contains(r#""isError":true"#));
    let fault = begin(&view(&V2025_06_18), text, "me", 0, start()).unwrap_err();
    assert_eq!(fault.code, -32602);
}

#[test]
fn a_silent_upstream_is_cancelled_and_answered_for() {
    let now = start();
    let mut x = begin(&view(&V2025_11_25), CALL, "me", 0, now).unwrap();
    sent(&mut x);
    assert_eq!(x.deadline(), now + Duration::from_mins(1));
    x.feed(Event::Expired, &Plain, binding("me", 0), now + Duration::from_secs(59));
    assert!(x.poll().is_none());
    x.feed(Event::Expired, &Plain, binding("me", 0), now + Duration::from_mins(1));
    assert!(matches!(x.poll(), Some(Step::Cancel(text)) if text.ends_with(br#"{"requestId":77}}"#)));
    let body = answered(&mut x).body;
    assert!(std::str::from_utf8(&body).unwrap().contains("did not answer"));
}

#[test]
fn the_time_in_the_queue_is_not_called_the_servers() {
    let (now, minute) = (start(), Duration::from_mins(1));
    let mut x = begin(&view(&V2025_11_25), CALL, "me", 0, now).unwrap();
    sent(&mut x);
    x.note_queued(Duration::from_secs(50));
    assert!(x.was_mostly_queued(now + minute) && !x.was_mostly_queued(now + 2 * minute));
    x.feed(Event::Expired, &Plain, binding("me", 0), now + minute);
    assert!(matches!(x.poll(), Some(Step::Cancel(_))));
    let body = answered(&mut x).body;
    let body = std::str::from_utf8(&body).unwrap();
    assert!(body.contains("within 10 s") && body.contains("waited 50 s for its turn"), "{body}");
}

#[test]
fn progress_moves_the_idle_deadline_but_not_the_last_one() {
    let now = start();
    let mut x = begin(&view(&V2025_11_25), CALL, "me", 0, now).unwrap();
    for minute in 1..=20 {
        let note = frame(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#);
        let at = now + Duration::from_secs(50 * minute);
        x.feed(Event::Frame(note, None), &Plain, binding("me", 0), at);
    }
    assert_eq!(x.deadline(), now + Duration::from_mins(10));
}

#[test]
fn an_upstream_that_waits_for_the_client_is_not_silent() {
    let (now, minute) = (start(), Duration::from_mins(1));
    let question = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}"#;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
    let withdrawal = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}"#;
    let event = |text: &str| Event::Frame(frame(text), None);
    for over in [Event::Answered, event(note), event(withdrawal)] {
        let mut x = begin(&view(&V2025_11_25), CALL, "me", 0, now).unwrap();
        sent(&mut x);
        x.feed(event(question), &Plain, binding("me", 0), now);
        assert!(matches!(x.poll(), Some(Step::Ask(_))));
        assert_eq!(x.deadline(), now + 10 * minute, "the time in all");
        x.feed(Event::Expired, &Plain, binding("me", 0), now + 3 * minute);
        assert!(x.poll().is_none());
        x.feed(over, &Plain, binding("me", 0), now + 5 * minute);
        assert_eq!(x.deadline(), now + 6 * minute, "from the answer on");
    }
    let mut x = begin(&view(&V2025_11_25), CALL, "me", 0, now).unwrap();
    sent(&mut x);
    x.feed(event(question), &Plain, binding("me", 0), now);
    x.feed(Event::Expired, &Plain, binding("me", 0), now + 10 * minute);
    assert!(matches!(x.poll(), Some(Step::Ask(_))));
    assert!(matches!(x.poll(), Some(Step::Cancel(_))));
    assert!(std::str::from_utf8(&answered(&mut x).body).unwrap().contains("did not answer"));
}

#[test]
fn a_client_that_cancels_gets_no_answer() {
    let mut x = begin(&view(&V2025_11_25), CALL, "me", 0, start()).unwrap();
    sent(&mut x);
    let notice = frame(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"r","requestId":"c\u0031"}}"#,
    );
    x.feed(Event::Cancelled(Some(notice)), &Plain, binding("me", 0), start());
    assert!(
        matches!(x.poll(), Some(Step::Cancel(text)) if text.ends_with(br#"{"reason":"r","requestId":77}}"#))
    );
    assert!(matches!(x.poll(), Some(Step::End)));
    feed(&mut x, r#"{"result":{},"jsonrpc":"2.0","id":77}"#);
    assert!(x.poll().is_none());
}

const MODERN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__t","arguments":{"h":"é"}STATE,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

fn asked_state(view: &View) -> String {
    let mut x = begin(view, &MODERN.replace("STATE", ""), "me", 0, start()).unwrap();
    let mirror = sent(&mut x).mirror.unwrap();
    assert_eq!((mirror.method.as_ref(), mirror.name.as_deref()), ("tools/call", Some("t")));
    assert_eq!(mirror.params, [("mcp-param-h".to_owned(), "=?base64?w6k=?=".to_owned())]);
    feed(
        &mut x,
        r#"{"jsonrpc":"2.0","id":77,"result":{"resultType":"input_required","inputRequests":{},"requestState":"a\u0062"}}"#,
    );
    let body = answered(&mut x).body;
    let frame = frame(std::str::from_utf8(&body).unwrap());
    let result = proto::json::Members::of_value(&body, frame.payload().unwrap()).unwrap();
    frame.string(result.get(&body, "requestState").unwrap()).unwrap().into_owned()
}

#[test]
fn an_upstreams_state_comes_back_only_for_the_same_request() {
    let view = view(&V2026_07_28);
    let state = asked_state(&view);
    let retry = MODERN.replace("STATE", &format!(r#","requestState":"{state}""#));
    let mut x = begin(&view, &retry, "me", 999, start()).unwrap();
    let body = sent(&mut x).body;
    assert!(std::str::from_utf8(&body).unwrap().contains(r#""requestState":"a\u0062""#), "byte for byte");
    let refused = |text: &str, who: &str, now: u64| begin(&view, text, who, now, start()).unwrap_err();
    assert_eq!(refused(&retry, "other", 0).code, -32602);
    assert!(refused(&retry, "me", 1000).message.contains("has expired"));
    assert!(
        refused(&retry.replace("\"é\"", "\"e\""), "me", 0).message.contains("issued for another request")
    );
    assert!(
        refused(&MODERN.replace("STATE", r#","requestState":"forged""#), "me", 0).message.contains("altered")
    );
}

#[test]
fn what_is_not_offered_is_refused_with_a_reason() {
    let fault = |era, text: &str| {
        dispatch(&frame(text), &view(era), "{}", TaskIds::new(&Plain, "me", era)).unwrap_err()
    };
    let request =
        |method: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"uri":"x"}}}}"#);
    assert_eq!(fault(&V2025_11_25, &request("resources/read")).code, -32601);
    assert_eq!(fault(&V2026_07_28, &request("ping")).code, -32601);
    assert_eq!(fault(&V2025_11_25, &request("server/discover")).code, -32601);
    assert_eq!(fault(&V2025_11_25, &request("made/up")).code, -32601);
    assert_eq!(fault(&V2025_11_25, &request("tools/call")).message, "params.name is required");
    let unknown = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
    assert!(fault(&V2025_11_25, unknown).message.contains("tools/list"));
    let cursor = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#;
    assert_eq!(fault(&V2025_11_25, cursor).code, -32602);
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__t","name":"x"}}"#;
    assert!(fault(&V2025_11_25, twice).message.contains("occurs twice"));
}

#[test]
fn completion_of_a_prompt_is_renamed() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"up__p"}}}"#;
    let mut x = begin(&view(&V2025_11_25), text, "me", 0, start()).unwrap();
    assert!(sent(&mut x).body.ends_with(br#""ref":{"type":"ref/prompt","name":"p"}}}"#));
}
