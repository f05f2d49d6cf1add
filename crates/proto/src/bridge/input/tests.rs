//! The questions and answers of one request, in both directions.

use bytes::Bytes;
use serde_json::{Value, json};

use super::*;
use crate::era::{Era, V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28};
use crate::json::{MAX_DEPTH, Members, Scanner};
use crate::rpc::{Frame, FrameLimits};

mod parked;
mod rounds;

const ALL: &str = r#"{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}"#;

fn frame(text: &str) -> Frame {
    Frame::parse(Bytes::copy_from_slice(text.as_bytes()), FrameLimits::default()).unwrap()
}

fn object(text: &str) -> (Bytes, Members) {
    let text = Bytes::copy_from_slice(text.as_bytes());
    let members = Members::of_document(&text, MAX_DEPTH).unwrap();
    (text, members)
}

fn parsed(text: &[u8]) -> Value {
    Scanner::new(text, MAX_DEPTH).unwrap().document().unwrap();
    serde_json::from_slice(text).unwrap()
}

fn declares(era: &Era, capabilities: &str, method: Method, params: &str) -> bool {
    declares_question(era, capabilities.as_bytes(), method, params.as_bytes())
}

#[test]
fn only_the_capabilities_to_be_asked_are_kept_and_as_they_were_written() {
    let kept = |text: &str| questions_of(text.as_bytes());
    assert_eq!(
        kept(r#"{"x":{},"sampling":{"n":1.0e0},"elicitation":{}}"#),
        r#"{"elicitation":{},"sampling":{"n":1.0e0}}"#
    );
    assert_eq!(kept(r#"{"ro\u006fts":{}}"#), r#"{"roots":{}}"#);
    for none in ["{}", "[]", "", r#"{"roots":null,"sampling":false,"elicitation":"yes"}"#] {
        assert_eq!(kept(none), "{}", "{none}");
    }
}

#[test]
fn a_client_is_asked_what_it_declared_and_nothing_else() {
    let methods = [Method::RootsList, Method::CreateMessage, Method::Elicit];
    for (own, key) in methods.into_iter().zip(["roots", "sampling", "elicitation"]) {
        for method in methods {
            let capabilities = format!("{{\"{key}\":{{}}}}");
            assert_eq!(
                declares(&V2026_07_28, &capabilities, method, "{}"),
                method == own,
                "{key} {method:?}"
            );
            let absent = format!("{{\"{key}\":null}}");
            assert!(!declares(&V2026_07_28, &absent, method, "{}"), "null is no declaration");
        }
    }
    assert!(!declares(&V2026_07_28, ALL, Method::ToolsCall, "{}"));
    assert!(!declares(&V2026_07_28, "nothing", Method::RootsList, "{}"));
}

#[test]
fn the_modes_of_a_question_need_their_own_declaration() {
    let (form, url) = (r#"{"mode":"form"}"#, r#"{"mode":"url"}"#);
    let elicitation = |era, modes: &str, params| {
        declares(era, &format!("{{\"elicitation\":{modes}}}"), Method::Elicit, params)
    };
    for era in [&V2025_11_25, &V2026_07_28] {
        assert!(elicitation(era, "{}", form) && elicitation(era, "{}", "{}"), "empty means the form");
        assert!(!elicitation(era, "{}", url) && !elicitation(era, r#"{"form":{}}"#, url));
        assert!(elicitation(era, r#"{"url":{}}"#, url) && !elicitation(era, r#"{"url":{}}"#, form));
    }
    assert!(!elicitation(&V2025_06_18, r#"{"url":{}}"#, url), "that version has no such mode");
    let tools = r#"{"tools":[{"name":"t"}]}"#;
    let sampling =
        |era, sub: &str| declares(era, &format!("{{\"sampling\":{sub}}}"), Method::CreateMessage, tools);
    assert!(sampling(&V2026_07_28, r#"{"tools":{}}"#) && !sampling(&V2026_07_28, "{}"));
    assert!(!sampling(&V2025_06_18, r#"{"tools":{}}"#), "that version has no such thing");
}
