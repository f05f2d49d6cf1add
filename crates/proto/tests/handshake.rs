//! Requests between eras, there and back: everything that a client added itself must come back byte for byte.

use bytes::Bytes;
use dragoman_proto::bridge::handshake::{Envelope, client_capabilities, request, server_capabilities};
use dragoman_proto::era::{ERAS, Era, newest_stateless, read_envelope};
use dragoman_proto::json::{MAX_DEPTH, Members};
use dragoman_proto::rpc::{Frame, FrameLimits};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const RESERVED: &str = "io.modelcontextprotocol/";

fn space() -> impl Strategy<Value = &'static str> {
    select(&["", "", "", " ", "\r\n\t"][..])
}

/// Values in spellings that no serializer would produce.
fn value() -> impl Strategy<Value = String> {
    const ODD: [&str; 14] = [
        "1.2345678901234567890",
        "-0.0E-0",
        "9007199254740993",
        "1E+400",
        "null",
        "\"\"",
        "\"\\ud83d\"",
        "\"na\\u006de\"",
        "\"\\/é\u{2028}\"",
        "[ ]",
        "{ }",
        "[1e2 ,{\"_meta\":{}}]",
        "{\"task\" :1,\"task\":[]}",
        "{\"io.modelcontextprotocol/clientInfo\":{}}",
    ];
    prop_oneof![select(&ODD[..]).prop_map(str::to_owned), any::<i64>().prop_map(|number| number.to_string())]
}

/// Members that no era removes. Some are duplicated, and some have keys that only resemble known ones.
fn members() -> impl Strategy<Value = Vec<String>> {
    const KEYS: [&str; 12] = [
        "name",
        "n\\u0061me",
        "uri",
        "arguments",
        "traceparent",
        "com.example/x",
        "io.modelcontextprotocol/other",
        "Task",
        "",
        "é",
        "\\ud800",
        "meta",
    ];
    let member = (space(), select(&KEYS[..]), space(), space(), value(), space());
    let one = member.prop_map(|(a, key, b, c, value, d)| format!("{a}\"{key}\"{b}:{c}{value}{d}"));
    vec(one, 0..4)
}

/// Inserts one more member.
fn with(mut members: Vec<String>, at: usize, member: Option<String>) -> String {
    if let Some(member) = member {
        members.insert(at % (members.len() + 1), member);
    }
    format!("{{{}}}", members.join(","))
}

/// A client's request, with `envelope` in its `_meta` unless that is empty.
fn message(envelope: &'static str) -> impl Strategy<Value = String> {
    let method = select(&["tools/call", "prompts/get", "resources/read", "completion/complete", "x/y"][..]);
    let token = select(&["", "\"progressToken\":\"\\u0070\""][..]);
    let parts = (members(), members(), members(), method, token, any::<[u8; 3]>(), 0..4_u8);
    parts.prop_map(move |(top, params, mut meta, method, token, at, depth)| {
        let [a, b, c] = at.map(usize::from);
        meta.extend(Some(token).filter(|token| !token.is_empty()).map(str::to_owned));
        let meta = match envelope {
            "" => (depth > 1).then(|| format!("\"_meta\":{}", with(meta, 0, None))),
            own => Some(format!("\"_m\\u0065ta\":{}", with(meta, a, Some(own.to_owned())))),
        };
        let params = (depth > 0 || meta.is_some()).then(|| format!("\"params\":{}", with(params, b, meta)));
        let mut top = top;
        top.extend([
            r#""jsonrpc":"2.0""#.to_owned(),
            r#""id":7"#.to_owned(),
            format!("\"method\" : \"{method}\""),
        ]);
        with(top, c, params)
    })
}

fn frame(text: &[u8]) -> Frame {
    Frame::parse(Bytes::copy_from_slice(text), FrameLimits::default()).expect("a message")
}

/// The members that a client wrote at each level, except the levels themselves and the envelope.
fn foreign(frame: &Frame) -> [Vec<(Vec<u8>, Vec<u8>)>; 3] {
    let text = frame.text();
    let own = |members: Option<&Members>| -> Vec<(Vec<u8>, Vec<u8>)> {
        let all = members.into_iter().flat_map(Members::iter);
        let read = all.map(|member| (member.key.of(text).to_vec(), member.value.of(text).to_vec()));
        let ours = |key: &[u8]| {
            let key = String::from_utf8_lossy(key);
            let envelope = ["protocolVersion", "clientCapabilities", "clientInfo", "logLevel"];
            ["params", "_meta", "_m\\u0065ta"].contains(&&*key)
                || key.strip_prefix(RESERVED).is_some_and(|name| envelope.contains(&name))
        };
        read.filter(|(key, _)| !ours(key)).collect()
    };
    let params = frame.params();
    [
        own(Some(frame.members())),
        own(params.map(|params| &params.members)),
        own(params.and_then(|params| params.meta.as_ref())),
    ]
}

const ENVELOPE: Envelope<'_> =
    Envelope { capabilities: br#"{"roots":{}}"#, client_info: br#"{"name":"c"}"#, level: Some(b"\"info\"") };

const STATELESS: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}},"io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/logLevel":"info""#;

fn sessions() -> impl Iterator<Item = &'static Era> {
    ERAS.into_iter().filter(|era| era.has_sessions())
}

proptest! {
    #[test]
    fn a_session_s_request_comes_back_from_where_there_are_none(text in message("")) {
        let asked = frame(text.as_bytes());
        for era in sessions() {
            let there = frame(&request(&asked, era, newest_stateless(), &ENVELOPE));
            prop_assert!(read_envelope(&there, None).is_ok(), "{:?}", there.text());
            prop_assert_eq!(foreign(&there), foreign(&asked));
            let back = frame(&request(&there, newest_stateless(), era, &ENVELOPE));
            prop_assert_eq!(foreign(&back), foreign(&asked));
            prop_assert!(read_envelope(&back, None).is_err());
        }
    }

    #[test]
    fn a_request_for_itself_comes_back_from_a_session(text in message(STATELESS)) {
        let asked = frame(text.as_bytes());
        for era in sessions() {
            let there = frame(&request(&asked, newest_stateless(), era, &ENVELOPE));
            prop_assert_eq!(foreign(&there), foreign(&asked));
            let back = frame(&request(&there, era, newest_stateless(), &ENVELOPE));
            prop_assert_eq!(foreign(&back), foreign(&asked));
            let [read, was] = [&back, &asked].map(|frame| read_envelope(frame, None).expect("an envelope"));
            prop_assert_eq!(read.capabilities.of(back.text()), was.capabilities.of(asked.text()));
        }
    }

    #[test]
    fn between_sessions_nothing_of_it_changes(text in message("")) {
        let asked = frame(text.as_bytes());
        for (from, to) in sessions().flat_map(|from| sessions().map(move |to| (from, to))) {
            prop_assert_eq!(request(&asked, from, to, &ENVELOPE), asked.text());
        }
    }

    #[test]
    fn capabilities_that_nobody_knows_stay(text in members()) {
        let text = with(text, 0, None);
        for (from, to) in ERAS.into_iter().flat_map(|from| ERAS.into_iter().map(move |to| (from, to))) {
            prop_assert_eq!(client_capabilities(text.as_bytes(), from, to), text.as_bytes());
            prop_assert_eq!(server_capabilities(text.as_bytes(), from, to), text.as_bytes());
        }
    }

    #[test]
    fn capabilities_stay_json_whatever_they_hold(
        inner in vec((select(&["roots", "sampling", "elicitation", "tasks", "extensions", "completions", "prompts"][..]), members()), 0..5)
    ) {
        let known = ["listChanged", "tools", "form", "url", "io.modelcontextprotocol/tasks", "requests"];
        let each: Vec<String> = inner.into_iter().enumerate().map(|(at, (key, mut own))| {
            own.push(format!("\"{}\":{{}}", known[at % known.len()]));
            format!("\"{key}\": {}", with(own, 0, None))
        }).collect();
        let text = format!("{{{}}}", each.join(" ,"));
        for (from, to) in ERAS.into_iter().flat_map(|from| ERAS.into_iter().map(move |to| (from, to))) {
            for said in [client_capabilities(text.as_bytes(), from, to), server_capabilities(text.as_bytes(), from, to)] {
                prop_assert!(Members::of_document(&said, MAX_DEPTH).is_ok(), "{} {:?}", text, said);
            }
        }
    }
}
