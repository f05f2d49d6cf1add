//! Consistency of the rows, and the detection of eras that the specification prescribes.

use bytes::Bytes;

use super::*;
use crate::rpc::{Frame, FrameLimits, Id};

fn frame(text: &str) -> Frame {
    Frame::parse(Bytes::copy_from_slice(text.as_bytes()), FrameLimits::default()).unwrap()
}

#[test]
fn eras_are_in_order_and_found() {
    assert!(ERAS.is_sorted_by(|a, b| a.version < b.version));
    for era in ERAS {
        assert_eq!(by_version(era.version), Some(era));
    }
    for alias in ["1", "1.0", "1.0.0"] {
        assert_eq!(by_version(alias), Some(&V1));
    }
    assert_eq!(by_version("2024-01-01"), None);
    assert_eq!(negotiate("2025-06-18"), &V2025_06_18);
    assert_eq!(negotiate("1.0"), &V1);
    assert_eq!(negotiate("2026-07-28"), &V2025_11_25);
    assert_eq!(negotiate("nonsense"), &V2025_11_25);
}

const ENVELOPE: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

#[test]
fn the_body_decides_first_then_the_header() {
    let own = frame(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{ENVELOPE}}}}}"#));
    let hello = frame(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
    let bare = frame(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(detect(&own, Some("2025-11-25")), Ok(EraEvidence::Stateless));
    assert_eq!(detect(&hello, None), Ok(EraEvidence::Handshake));
    assert_eq!(detect(&hello, Some("2025-11-25")), Ok(EraEvidence::Handshake));
    assert!(matches!(detect(&hello, Some("2026-07-28")), Err(EraFault::Header(..))));
    assert_eq!(detect(&bare, Some("2026-07-28")), Ok(EraEvidence::Stateless));
    assert_eq!(detect(&bare, Some("2030-01-01")), Ok(EraEvidence::Stateless));
    assert_eq!(detect(&bare, Some("2025-06-18")), Ok(EraEvidence::Session));
    assert_eq!(detect(&bare, None), Ok(EraEvidence::Session));
}

fn call(meta: &str) -> Frame {
    frame(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a b","_meta":{meta}}}}}"#
    ))
}

fn fault(frame: &Frame, headers: Option<Mirrored<'_>>) -> i32 {
    read_envelope(frame, headers).map_or_else(|e| e.code(), |_| 0)
}

#[test]
fn envelope_before_headers_before_version() {
    let good = call(&ENVELOPE["\"_meta\":".len()..]);
    let headers =
        Mirrored { version: Some(b"2026-07-28"), method: Some(b"tools/call"), name: Some(b" a b ") };
    assert_eq!(fault(&good, None), 0);
    assert_eq!(fault(&good, Some(headers)), 0);
    assert_eq!(fault(&call("{}"), Some(headers)), -32602);
    assert_eq!(fault(&good, Some(Mirrored { version: None, ..headers })), -32020);
    assert_eq!(fault(&good, Some(Mirrored { method: Some(b"tools/Call"), ..headers })), -32020);
    assert_eq!(fault(&good, Some(Mirrored { name: Some(b"=?base64?YSBi?="), ..headers })), 0);
    assert_eq!(fault(&good, Some(Mirrored { name: Some(b"=?base64?!?="), ..headers })), -32020);
    let unknown = call(
        r#"{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}"#,
    );
    assert_eq!(fault(&unknown, Some(headers)), -32020);
    assert_eq!(fault(&unknown, Some(Mirrored { version: Some(b"2099-01-01"), ..headers })), -32022);
    let error = read_envelope(&unknown, None).unwrap_err();
    assert_eq!(error.data().unwrap(), r#"{"supported":["2026-07-28"],"requested":"2099-01-01"}"#);
}

#[test]
fn a_notification_needs_no_headers_but_true_ones() {
    let own = frame(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{{ENVELOPE}}}}}"#));
    let bare = frame(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#);
    let said = |version: &'static str, method: &'static str| {
        let header = |text: &'static str| Some(text.as_bytes()).filter(|text| !text.is_empty());
        Mirrored { version: header(version), method: header(method), name: None }
    };
    for (frame, headers, want) in [
        (&own, said("", ""), 0),
        (&bare, said("", ""), 0),
        (&bare, said("2026-07-28", "notifications/x"), 0),
        (&own, said(" 2026-07-28 ", "notifications/x"), 0),
        (&own, said("2025-11-25", ""), -32020),
        (&own, said("2026-07-28", "notifications/X"), -32020),
        (&bare, said("2026-07-28", "tools/call"), -32020),
    ] {
        assert_eq!(check_notification(frame, headers).map_or_else(|e| e.code(), |()| 0), want, "{headers:?}");
    }
}

#[test]
fn log_levels_are_checked() {
    let with = |level: &str| {
        call(&format!(
            r#"{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/logLevel":{level}}}"#
        ))
    };
    assert_eq!(fault(&with("\"info\""), None), 0);
    assert_eq!(fault(&with("\"loud\""), None), -32602);
}

#[test]
fn introductions_are_read_back() {
    let id = Id::number(4);
    let answer = frame(
        std::str::from_utf8(&initialize_result(
            &id,
            &V2025_06_18,
            b"\"2025-06-18\"",
            "{\"tools\":{}}",
            "{}",
            Some("x\n"),
        ))
        .unwrap(),
    );
    let hello = server_hello(&answer, &V2025_11_25).unwrap();
    assert_eq!((hello.era, hello.instructions.as_deref()), (&V2025_06_18, Some("x\n")));
    assert_eq!(hello.capabilities.as_ref(), b"{\"tools\":{}}");

    let asked = initialize_request(
        &id,
        &V2025_11_25,
        &Bytes::from_static(br#"{"odd":1e2,"protocolVersion":"x","capabilities":{"roots":{}}}"#),
    );
    let client = client_hello(&frame(std::str::from_utf8(&asked).unwrap())).unwrap();
    assert_eq!(client.version, "2025-11-25");
    assert!(client.can_be_asked);
    assert!(client.params.starts_with(br#"{"odd":1e2,"#));

    let result = discover_result(&V2026_07_28, "{}", "{\"name\":\"g\"}", None, CacheHint::NONE);
    let answer = crate::rpc::result_response(&id, result.text());
    let hello = server_hello(&frame(std::str::from_utf8(&answer).unwrap()), &V2026_07_28).unwrap();
    assert_eq!(hello.info.as_ref(), b"{\"name\":\"g\"}");
}

#[test]
fn versions_are_numbers_and_strings_and_come_back_as_they_were_asked_for() {
    let ask = |version: &str| {
        frame(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":{version},"capabilities":{{}}}}}}"#
        ))
    };
    for (written, era, answered) in [
        ("1", &V1, "1"),
        ("\"1\"", &V1, "\"1\""),
        ("\"1.0\"", &V1, "\"1.0\""),
        ("\"1.0\\u002e0\"", &V1, "\"1.0\\u002e0\""),
        ("\"2024-10-07\"", &V2024_10_07, "\"2024-10-07\""),
        ("2", &V2025_11_25, "\"2025-11-25\""),
        ("\"2.0\"", &V2025_11_25, "\"2025-11-25\""),
        ("\"2026-07-28\"", &V2025_11_25, "\"2025-11-25\""),
    ] {
        let hello = client_hello(&ask(written)).unwrap();
        assert_eq!((negotiate(&hello.version), hello.version_json.as_ref()), (era, written.as_bytes()));
        let answer = initialize_result(&Id::number(1), era, &hello.version_json, "{}", "{}", None);
        let text = std::str::from_utf8(&answer).unwrap();
        assert!(text.contains(&format!("\"protocolVersion\":{answered},")), "{text}");
        assert_eq!(server_hello(&frame(text), &V2025_11_25).unwrap().era, era);
    }
    // If the negotiated version is older than the requested one, the answer spells it as its era does.
    let less = initialize_result(&Id::number(1), &V1, b"\"2025-11-25\"", "{}", "{}", None);
    assert!(less.windows(20).any(|at| at == b"\"protocolVersion\":1,"), "{less:?}");
    for bad in ["[]", "null", "true", &format!("\"{}\"", "9".repeat(300))] {
        assert!(matches!(client_hello(&ask(bad)), Err(HelloFault::Member("protocolVersion", _))), "{bad}");
    }
    let unknown = frame(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":7}}"#);
    assert_eq!(server_hello(&unknown, &V2025_11_25).unwrap_err(), HelloFault::Version("7".to_owned()));
}

#[test]
fn servers_are_asked_for_a_version_that_all_of_them_can_read() {
    for (era, offered) in [
        (&V1, "2024-11-05"),
        (&V2024_10_07, "2024-11-05"),
        (&V2024_11_05, "2024-11-05"),
        (&V2025_06_18, "2025-06-18"),
    ] {
        let params = Bytes::from_static(br#"{"protocolVersion":1,"capabilities":{}}"#);
        let asked = initialize_request(&Id::number(1), era, &params);
        let version =
            |asked: &[u8]| client_hello(&frame(std::str::from_utf8(asked).unwrap())).unwrap().version_json;
        assert_eq!(version(&asked), format!("\"{offered}\""));
        assert_eq!(version(&initialize_request_exactly(&Id::number(1), era, &params)), era.version_json());
    }
}

#[test]
fn old_peers_hear_nothing_that_their_version_has_no_place_for() {
    let info =
        r#"{"name":"n","title":"T","odd":1e2,"icons":[{}],"version":"1","websiteUrl":"u","description":"d"}"#;
    assert_eq!(identity(info.as_bytes(), &V2025_11_25).as_ref(), info.as_bytes());
    assert_eq!(identity(info.as_bytes(), &V1).as_ref(), br#"{"name":"n","odd":1e2,"version":"1"}"#);
    let hello = |era| {
        initialize_result(&Id::number(1), era, b"0", "{}", r#"{"title":"T","name":"n"}"#, Some("Be kind."))
    };
    for (era, bare, silent) in [
        (&V1, true, true),
        (&V2024_10_07, true, true),
        (&V2024_11_05, true, false),
        (&V2025_03_26, false, false),
    ] {
        let text = hello(era);
        let has = |part: &[u8]| memchr::memmem::find(&text, part).is_some();
        assert_eq!((!has(b"title"), !has(b"instructions")), (bare, silent), "{era}");
    }
}

#[test]
fn only_versions_that_have_descriptions_and_icons_hear_them() {
    let info = r#"{"name":"n","title":"T","version":"1","description":"d","websiteUrl":"u","icons":[{}]}"#;
    for (era, wanted) in [
        (&V2024_11_05, r#""serverInfo":{"name":"n","version":"1"}"#),
        (&V2025_03_26, r#""serverInfo":{"name":"n","title":"T","version":"1"}"#),
        (&V2025_06_18, r#""serverInfo":{"name":"n","title":"T","version":"1"}"#),
        (
            &V2025_11_25,
            r#""serverInfo":{"name":"n","title":"T","version":"1","description":"d","websiteUrl":"u","icons":[{}]}"#,
        ),
    ] {
        let text = initialize_result(&Id::number(1), era, b"0", "{}", info, None);
        assert!(memchr::memmem::find(&text, wanted.as_bytes()).is_some(), "{era}: {text:?}");
    }
}

#[test]
fn a_version_that_is_refused_but_listed_may_be_asked_for_again() {
    let refusal = |code: i32, data: &str| {
        frame(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no"{data}}}}}"#))
    };
    let listed = r#","data":{"supported":["2025-11-25","2026\u002d07-28"]}"#;
    assert!(refused_but_supported(&refusal(-32022, listed), &V2026_07_28));
    assert!(!refused_but_supported(&refusal(-32601, listed), &V2026_07_28));
    for other in ["", r#","data":{"supported":["2025-11-25"]}"#, r#","data":["2026-07-28"]"#] {
        assert!(!refused_but_supported(&refusal(-32022, other), &V2026_07_28), "{other}");
    }
    let result = frame(r#"{"jsonrpc":"2.0","id":1,"result":{"supported":["2026-07-28"]}}"#);
    assert!(!refused_but_supported(&result, &V2026_07_28));
}

#[test]
fn asking_results_are_told_from_text_that_mentions_them() {
    let asks =
        frame(r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}"#);
    let says =
        frame(r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":["input_required"]}}"#);
    assert!(is_input_required(&V2026_07_28, &asks).is_some());
    assert!(is_input_required(&V2026_07_28, &says).is_none());
    assert!(is_input_required(&V2025_11_25, &asks).is_none());
}
