//! The capabilities of peers and the contents of requests, between every two eras. Unknown members are
//! preserved.

use bytes::Bytes;

use super::*;
use crate::era::{ERAS, Era, V1, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use crate::rpc::{Frame, FrameLimits};

fn client(text: &str, from: &'static Era, to: &'static Era) -> String {
    String::from_utf8(client_capabilities(text.as_bytes(), from, to).to_vec()).unwrap()
}

fn server(text: &str, from: &'static Era, to: &'static Era) -> String {
    String::from_utf8(server_capabilities(text.as_bytes(), from, to).to_vec()).unwrap()
}

#[test]
fn nothing_changes_within_an_era() {
    let odd = r#" {"tasks":{"list":{}},"x":[1e2], "extensions":{},"completions":7}"#;
    for era in ERAS {
        assert_eq!(client(odd, era, era), odd);
        assert_eq!(server(odd, era, era), odd);
    }
    for nonsense in ["[]", "", "{", "null"] {
        assert_eq!(client(nonsense, &V1, &V2026_07_28), "{}");
        assert_eq!(server(nonsense, &V1, &V1), "{}");
    }
}

#[test]
fn what_a_client_can_do_is_said_in_the_words_of_the_server() {
    let newest = &V2025_11_25;
    for (text, from, to, want) in [
        // Roots exist from 2024-10-07 on. Eras without sessions have no notices of their changes.
        (r#"{"roots":{"listChanged":true,"x":1}}"#, newest, &V2026_07_28, r#"{"roots":{"x":1}}"#),
        (r#"{"roots":{"listChanged":true}}"#, &V2024_11_05, newest, r#"{"roots":{"listChanged":true}}"#),
        (r#"{"roots":{},"experimental":{"e":{}}}"#, newest, &V1, r#"{"experimental":{"e":{}}}"#),
        // Elicitation: first a form without a name, then named modes.
        (r#"{"elicitation":{}}"#, &V2025_06_18, &V2026_07_28, r#"{"elicitation":{"form":{}}}"#),
        (r#"{"elicitation":{"url":{},"x":0}}"#, &V2025_06_18, newest, r#"{"elicitation":{"form":{},"x":0}}"#),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, newest, &V2025_06_18, r#"{"elicitation":{}}"#),
        (r#"{"elicitation":{}}"#, &V2026_07_28, &V2025_06_18, r#"{"elicitation":{}}"#),
        (r#"{"elicitation":{"url":{}}}"#, &V2026_07_28, &V2025_06_18, "{}"),
        (r#"{"elicitation":{"form":{}}}"#, newest, &V2025_03_26, "{}"),
        (r#"{"elicitation":{"form":{}}}"#, &V2025_03_26, &V2026_07_28, "{}"),
        (r#"{"elicitation":{"url":{}}}"#, newest, &V2026_07_28, r#"{"elicitation":{"url":{}}}"#),
        // Sampling: with tools from 2025-11-25 on.
        (r#"{"sampling":{"tools":{},"context":{},"x":1}}"#, newest, &V2025_06_18, r#"{"sampling":{"x":1}}"#),
        (r#"{"sampling":{"tools":{}}}"#, &V2026_07_28, newest, r#"{"sampling":{"tools":{}}}"#),
        (r#"{"sampling":{"tools":{}}}"#, &V2024_11_05, &V2026_07_28, r#"{"sampling":{}}"#),
        // Tasks on the client's side exist in one era only, and so does the extension.
        (r#"{"tasks":{"list":{}},"sampling":{}}"#, newest, &V2026_07_28, r#"{"sampling":{}}"#),
        (r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#, &V2026_07_28, newest, "{}"),
        (
            r#"{"extensions":{"a/ui":{"m":[1e2]},"io.modelcontextprotocol/tasks":{}}}"#,
            &V2026_07_28,
            newest,
            r#"{"extensions":{"a/ui":{"m":[1e2]}}}"#,
        ),
        (r#"{"extensions":{"a/ui":{}},"n":1}"#, &V2026_07_28, &V2024_11_05, r#"{"n":1}"#),
    ] {
        assert_eq!(client(text, from, to), want, "{text} {from} -> {to}");
    }
}

#[test]
fn what_a_server_can_do_is_said_in_the_words_of_the_client() {
    let newest = &V2025_11_25;
    let experiment = r#"{"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}"#;
    for (text, from, to, want) in [
        (r#"{"tools":{},"completions":{}}"#, newest, &V2024_11_05, r#"{"tools":{}}"#),
        (r#"{"prompts":{}}"#, &V2024_11_05, newest, r#"{"completions":{},"prompts":{}}"#),
        (r#"{"tools":{}}"#, &V2024_11_05, newest, r#"{"tools":{}}"#),
        (r#"{"prompts":{}}"#, &V2025_03_26, &V2026_07_28, r#"{"prompts":{}}"#),
        (r#"{"logging":{},"y":{"z":1}}"#, &V2025_06_18, &V2026_07_28, r#"{"logging":{},"y":{"z":1}}"#),
        (r#"{"tools":{"listChanged":true}}"#, newest, &V1, r#"{"tools":{"listChanged":true}}"#),
        (experiment, newest, &V2026_07_28, r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#),
        (experiment, newest, &V2025_06_18, "{}"),
        (r#"{"tasks":{"list":{}}}"#, newest, &V2026_07_28, "{}"),
        (r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#, &V2026_07_28, newest, experiment),
        (r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#, &V2026_07_28, &V2025_06_18, "{}"),
        (
            r#"{"extensions":{"a/b":{}},"tasks":{"requests":{"tools":{"call":{}}}}}"#,
            newest,
            &V2026_07_28,
            r#"{"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{}}}"#,
        ),
        (r#"{"extensions":{"a/b":{}},"tools":{}}"#, &V2026_07_28, &V1, r#"{"tools":{}}"#),
    ] {
        assert_eq!(server(text, from, to), want, "{text} {from} -> {to}");
    }
}

const ENVELOPE: Envelope<'_> =
    Envelope { capabilities: br#"{"roots":{}}"#, client_info: br#"{"name":"c"}"#, level: Some(b"\"info\"") };

const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}},"io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/logLevel":"info""#;

/// A request with these members of `params`, and otherwise only the members that every request has.
fn frame(method: &str, params: &str) -> Frame {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"{params}}}"#);
    Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap()
}

fn params(method: &str, params: &str, from: &'static Era, to: &'static Era) -> String {
    let text = request(&frame(method, params), from, to, &ENVELOPE);
    let head = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}""#);
    let text = std::str::from_utf8(&text).unwrap();
    let read = Frame::parse(Bytes::copy_from_slice(text.as_bytes()), FrameLimits::default());
    assert!(read.is_ok(), "{text}");
    // Added members come first.
    let added = text.strip_prefix(r#"{"params":"#).map(|rest| rest.split_once(r#","jsonrpc""#).unwrap().0);
    added.unwrap_or_else(|| text.strip_prefix(&head).unwrap().strip_suffix('}').unwrap()).to_owned()
}

#[test]
fn requests_get_an_envelope_where_there_is_no_session() {
    let to = &V2026_07_28;
    for from in ERAS.into_iter().filter(|era| era.has_sessions()) {
        assert_eq!(params("tools/list", "", from, to), format!(r#"{{"_meta":{{{META}}}}}"#));
        for (given, want) in [
            (r#"{"name":"t"}"#, format!(r#"{{"_meta":{{{META}}},"name":"t"}}"#)),
            (
                r#"{"name":"t", "_meta" : {"progressToken":1e2,"traceparent":"00"}}"#,
                format!(r#"{{"name":"t", "_meta" : {{{META},"progressToken":1e2,"traceparent":"00"}}}}"#),
            ),
            // These have no meaning for the client of a session.
            (
                r#"{"task":{"ttl":1},"requestState":"x","name":"t"}"#,
                format!(r#"{{"_meta":{{{META}}},"name":"t"}}"#),
            ),
        ] {
            assert_eq!(
                params("tools/call", &format!(r#","params":{given}"#), from, to),
                format!(r#","params":{want}"#)
            );
        }
    }
    // If the envelope has no level, the request has none either: metadata that the client sets in `_meta` is ignored.
    let spoofed = r#","params":{"_meta":{"io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/client\u0049nfo":{}}}"#;
    let quiet = Envelope { level: None, ..ENVELOPE };
    let text = request(&frame("tools/list", spoofed), &V2025_11_25, to, &quiet);
    let sent = Frame::parse(text, FrameLimits::default()).unwrap();
    let meta = |key| sent.meta(key).unwrap().map(|span| span.of(sent.text()).to_vec());
    assert_eq!(meta("io.modelcontextprotocol/clientInfo").unwrap(), ENVELOPE.client_info);
    assert_eq!(meta("io.modelcontextprotocol/logLevel"), None);
    assert!(crate::era::read_envelope(&sent, None).is_ok());
}

#[test]
fn requests_lose_their_envelope_where_there_is_a_session() {
    let from = &V2026_07_28;
    for to in ERAS.into_iter().filter(|era| era.has_sessions()) {
        for (given, want) in [
            (format!(r#"{{"_meta":{{{META}}}}}"#), "{}"),
            (r#"{"_meta":{},"name":"t"}"#.to_owned(), r#"{"name":"t"}"#),
            (
                format!(r#"{{"name":"t","_meta":{{{META},"x/y":[ 1 ],"progressToken":7}}}}"#),
                r#"{"name":"t","_meta":{"x/y":[ 1 ],"progressToken":7}}"#,
            ),
            (
                format!(
                    r#"{{"inputResponses":{{}},"name":"t","requestState":"s","task":{{}},"_meta":{{{META}}}}}"#
                ),
                r#"{"name":"t"}"#,
            ),
        ] {
            let got = params("tools/call", &format!(r#","params":{given}"#), from, to);
            assert_eq!(got, format!(r#","params":{want}"#), "{to}");
        }
    }
}

#[test]
fn parameters_go_only_where_they_mean_something_else() {
    let given = r#","params":{"context":{"arguments":{}},"task":{},"requestState":"s","inputResponses":{}}"#;
    for (method, from, to, want) in [
        (
            "completion/complete",
            &V2025_11_25,
            &V2025_03_26,
            r#","params":{"task":{},"requestState":"s","inputResponses":{}}"#,
        ),
        ("completion/complete", &V2025_11_25, &V2025_06_18, given),
        ("a/b", &V2025_11_25, &V2024_11_05, given),
        ("tasks/update", &V2026_07_28, &V2025_11_25, given),
        (
            "tools/call",
            &V2025_11_25,
            &V2025_06_18,
            r#","params":{"context":{"arguments":{}},"requestState":"s","inputResponses":{}}"#,
        ),
        ("prompts/get", &V2026_07_28, &V1, r#","params":{"context":{"arguments":{}},"task":{}}"#),
    ] {
        assert_eq!(params(method, given, from, to), want, "{method} {from} -> {to}");
    }
    let untouched = frame("tools/call", given);
    for era in ERAS {
        assert_eq!(request(&untouched, era, era, &ENVELOPE), untouched.text());
    }
}

#[test]
fn a_request_is_alike_only_if_it_is_written_the_same() {
    let envelope = Envelope { capabilities: b"{}", client_info: b"{}", level: None };
    let mut alike = 0;
    for params in [
        r#"{"name":"a","arguments":{"task":1},"_meta":{"progressToken":1}}"#,
        r#"{"name":"a","task":{"ttl":1}}"#,
        r#"{"name":"a","task":1,"task":2}"#,
        r#"{"ref":{"type":"ref/prompt","name":"p"},"context":{"arguments":{}}}"#,
        r#"{"uri":"a:b","requestState":"s"}"#,
        "{}",
    ] {
        for method in ["tools/call", "prompts/get", "resources/read", "completion/complete", "x/y"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            let frame = Frame::parse(Bytes::from(text.clone()), FrameLimits::default()).unwrap();
            for (from, to) in ERAS.iter().flat_map(|from| ERAS.iter().map(move |to| (*from, *to))) {
                if is_alike(&frame, from, to) {
                    assert_eq!(request(&frame, from, to, &envelope), text, "{from} to {to}");
                    alike += 1;
                }
            }
        }
    }
    assert!(alike > 500, "{alike}");
}
