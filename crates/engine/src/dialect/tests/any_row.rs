//! Properties that hold for every row and any bytes.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::fault::Condition;

fn rows() -> Vec<Dialect> {
    let mut rows: Vec<Dialect> = Dialect::all().collect();
    for row in rows.clone() {
        for variant in row.variants {
            let mut other = row.clone();
            other.set("variant", &json!(variant.name)).unwrap();
            rows.push(other);
        }
    }
    let mut each = rows[0].clone();
    each.set("batches", &json!("each")).unwrap();
    rows.push(each);
    rows
}

const CONDITIONS: [Condition; 23] = [
    Condition::ParseError,
    Condition::InvalidRequest,
    Condition::UnknownMethod,
    Condition::InvalidParams,
    Condition::MissingToolName,
    Condition::UnknownTool,
    Condition::HeldTool,
    Condition::InvalidArguments,
    Condition::DeniedArguments,
    Condition::ToolFailed,
    Condition::UpstreamError,
    Condition::UpstreamDown,
    Condition::UnknownResource,
    Condition::UnknownPrompt,
    Condition::UnknownProfile,
    Condition::NoCredentials,
    Condition::BadCredentials,
    Condition::Forbidden,
    Condition::AuthUnavailable,
    Condition::RateLimited,
    Condition::NotInitialized,
    Condition::PlatformMissing,
    Condition::Internal,
];

#[test]
fn over_pipes_every_row_answers_each_id_in_json_rpc_and_nothing_else() {
    for row in rows() {
        let e = Endpoint { row: row.over_pipes(), ..Endpoint::of("gateway") };
        for condition in CONDITIONS {
            for text in [CALL, LIST] {
                let (reply, ask) = (DialectFault::new(condition, "why"), e.ask(text));
                let reply = refuse(&e.row, Some(&ask), &reply);
                let said = json(&reply);
                assert_eq!(said["id"].to_string().as_bytes(), ask.id(), "{} {condition:?} {said}", row.name);
                assert!(said["error"].is_object() || said["result"].is_object(), "{condition:?} {said}");
                assert_eq!((&said["jsonrpc"], reply.failed), (&json!("2.0"), true), "{condition:?} {said}");
            }
        }
        if let DialectMessage::Notified(reply, _) =
            e.read(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        {
            assert!(reply.body.is_empty(), "{} {reply:?}", row.name);
        }
    }
}

#[test]
fn every_row_has_words_for_every_condition() {
    for row in rows() {
        let e = Endpoint { row, ..Endpoint::of("gateway") };
        for condition in CONDITIONS {
            for ask in [None, Some(e.ask(CALL)), Some(e.ask(LIST))] {
                let reply = refuse(&e.row, ask.as_ref(), &DialectFault::new(condition, "why"));
                let said = json(&reply);
                let error = said["error"]["message"].as_str().or(said["message"].as_str());
                let text = error.or(said["result"]["content"][0]["text"].as_str());
                assert!(
                    text.is_some_and(|t| !t.is_empty() && !t.contains('{')),
                    "{} {condition:?} {said}",
                    e.row.name
                );
            }
        }
    }
}

#[test]
fn every_row_answers_every_example_of_a_message() {
    for row in rows() {
        let e = Endpoint { row, ..Endpoint::of("gateway") };
        for method in
            ["initialize", "ping", "tools/list", "tools/call", "resources/list", "prompts/get", "x", ""]
        {
            for params in
                ["{}", "null", "[]", "7", r#"{"name":"hello","cursor":"p9"}"#, r#"{"name":"a","name":"b"}"#]
            {
                let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
                if let DialectMessage::Ask(ask) = e.read(&text) {
                    let begun = begin(&e.row, &ask, Facts { view: Some(&e.view), ..Facts::default() });
                    if let DialectStep::Done(reply) | DialectStep::Introduced(reply) = begun {
                        json(&reply);
                    }
                }
            }
        }
    }
}

#[test]
fn without_a_view_what_needs_one_says_so() {
    for row in rows() {
        let e = Endpoint { row, ..Endpoint::of("gateway") };
        let facts = Facts { initialized: true, ..Facts::default() };
        assert!(matches!(begin(&e.row, &e.ask(CALL), facts), DialectStep::NeedsView), "{}", e.row.name);
        assert!(matches!(begin(&e.row, &e.ask(LIST), facts), DialectStep::NeedsView), "{}", e.row.name);
    }
}

#[test]
fn ready_tools_are_used_as_they_are() {
    for row in rows().into_iter().filter(|row| !row.lists.pages) {
        let e = Endpoint { row, ..Endpoint::of("gateway") };
        let ready = tools(&e.row, &e.view);
        let facts = Facts { initialized: true, tools: Some(&ready), ..Facts::default() };
        let DialectStep::Done(reply) = begin(&e.row, &e.ask(LIST), facts) else { panic!("not answered") };
        assert_eq!(json(&reply), e.says(LIST));
    }
}

#[test]
fn names_and_ids_are_not_repeated_without_bound() {
    let long = "x".repeat(100_000);
    for row in rows() {
        let e = Endpoint { row, ..Endpoint::of("gateway") };
        let text = format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"{long}"}}"#);
        if let DialectMessage::Done(reply) = e.read(&text) {
            assert!(reply.body.len() < 20_000, "{}", e.row.name);
        }
        let fault = DialectFault::new(Condition::UnknownTool, long.clone()).about(long.clone());
        assert!(refuse(&e.row, None, &fault).body.len() < 20_000, "{}", e.row.name);
    }
}

fn ids() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        "-?[1-9][0-9]{0,29}\\.[0-9]{1,9}",
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        select(vec![
            "1e5",
            "-0",
            "\"\\u0041\\/\"",
            "99999999999999999999999",
            "null",
            "{\"a\":[1.0]}",
            "[]",
            "true"
        ])
        .prop_map(str::to_owned),
    ]
}

/// Text that resembles a message, built from significant pieces.
fn almost() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"jsonrpc\"",
        "\"2.0\"",
        "\"id\"",
        "1",
        "null",
        "\"method\"",
        "\"tools/call\"",
        "\"params\"",
        "\"name\"",
        "\"arguments\"",
        "\"\\u0069d\"",
        " ",
        "\"_meta\"",
        "\"result\"",
        "-",
        "\\",
        "\"",
    ]);
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_answered_with_json(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in almost()) {
        for row in rows() {
            for text in [&bytes[..], text.as_bytes()] {
                if let DialectMessage::Done(reply) = read(&row, &Bytes::copy_from_slice(text), FrameLimits::default()) {
                    prop_assert!(serde_json::from_slice::<Value>(&reply.body).is_ok());
                }
            }
        }
    }

    #[test]
    fn an_id_that_comes_back_is_the_same_bytes(id in ids(), missing in any::<bool>(), spaces in " {0,3}") {
        for row in rows() {
            let version = if missing { "" } else { r#""jsonrpc":"2.0","# };
            let text = format!(r#"{{{version}"method":"nope"{spaces},"id"{spaces}:{spaces}{id}}}"#);
            let reply = match read(&row, &Bytes::from(text), FrameLimits::default()) {
                DialectMessage::Ask(ask) => {
                    // The gateway's own form is still a request, whatever the id was.
                    prop_assert!(ask.frame().id().is_some());
                    refuse(&row, Some(&ask), &DialectFault::new(Condition::UnknownMethod, "x"))
                }
                DialectMessage::Done(reply) => reply,
                other => {
                    prop_assert!(matches!(other, DialectMessage::Notified(..)));
                    continue;
                }
            };
            let body = String::from_utf8_lossy(&reply.body).into_owned();
            let with = |id: &str| body.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#));
            prop_assert!(with(&id) || with("null"), "{}: {id} became {body}", row.name);
        }
    }

    #[test]
    fn what_is_not_understood_is_forwarded_as_it_is(inner in "[a-z ]{0,9}", number in "[1-9][0-9]{0,24}\\.[0-9]{1,9}") {
        let arguments = format!(r#"{{ "b" :{number}, "{inner}b": [ ] }}"#);
        let text = format!(r#"{{"id":null,"method":"tools/call","params":{{"x":{number},"name":"own","arguments":{arguments}}}}}"#);
        let mut row = Dialect::base("gateway").unwrap();
        row.set("jsonrpcOptional", &json!(true)).unwrap();
        let DialectMessage::Ask(ask) = read(&row, &Bytes::from(text), FrameLimits::default()) else { panic!("no request") };
        let sent = String::from_utf8_lossy(ask.frame().text()).into_owned();
        let params = format!(r#""params":{{"x":{number},"name":"own","arguments":{arguments}}}}}"#);
        prop_assert!(sent.ends_with(&params), "{}", sent);
        prop_assert_eq!(ask.id(), b"null");
    }
}
