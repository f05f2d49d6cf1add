//! A server that asks through requests, and a client that is asked through results.

use super::*;
use crate::json::quote;

const FORM: &str = r#"{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","minimum":1.50}}},"_meta":{"progressToken":9,"x":1}}"#;

fn parking() -> Parking {
    Parking::new(&V2025_11_25, &V2026_07_28, Bytes::from_static(ALL.as_bytes()))
}

fn ask(parking: &mut Parking, id: &str, method: &str, params: &str) -> Result<(), String> {
    let question = frame(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
    parking.ask(&question).map_err(|e| e.to_string())
}

fn answered(parking: &mut Parking, responses: &str) -> Vec<String> {
    let (text, members) = object(responses);
    let answers = parking.answer(&text, &members);
    answers.into_iter().map(|answer| String::from_utf8(answer.to_vec()).unwrap()).collect()
}

fn keys(parking: &Parking) -> Vec<String> {
    let required = parsed(&parking.required("s", "{}"));
    required["inputRequests"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn what_the_server_asks_is_shown_with_the_state_and_answered_under_the_servers_own_ids() {
    let mut parking = parking();
    ask(&mut parking, r#""a\u0062""#, "elicitation/create", FORM).unwrap();
    ask(&mut parking, "7", "roots/list", "{}").unwrap();
    let shown = parking.required("a \"state\"", r#"{"name":"d"}"#);
    let text = std::str::from_utf8(&shown).unwrap();
    assert!(text.contains("\"minimum\":1.50"), "the spelling stays: {text}");
    assert!(text.contains(&format!("\"requestState\":{}", quote("a \"state\""))));
    let shown = parsed(&shown);
    assert_eq!(shown["resultType"], "input_required");
    assert_eq!(shown["_meta"]["io.modelcontextprotocol/serverInfo"], json!({"name": "d"}));
    assert_eq!(shown["inputRequests"]["q1"]["method"], "elicitation/create");
    assert_eq!(shown["inputRequests"]["q1"]["params"]["_meta"], json!({"x": 1}), "a token of nobody's");
    assert_eq!(shown["inputRequests"]["q2"], json!({"method": "roots/list", "params": {}}));
    let answers = answered(
        &mut parking,
        r#"{"q2":{"roots":[{"uri":"file:///x"}]},"\u00711":{"action":"accept","content":{"n":1.50e0}},"q3":{}}"#,
    );
    assert_eq!(
        answers,
        [
            r#"{"jsonrpc":"2.0","id":"a\u0062","result":{"action":"accept","content":{"n":1.50e0}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"roots":[{"uri":"file:///x"}]}}"#,
        ]
    );
    assert!(parking.is_empty());
    assert!(
        answered(&mut parking, r#"{"q1":{"action":"accept"},"q2":{}}"#).is_empty(),
        "each is answered once"
    );
}

#[test]
fn what_is_not_answered_stays_open_under_its_key() {
    let mut parking = parking();
    ask(&mut parking, "1", "elicitation/create", FORM).unwrap();
    ask(&mut parking, "2", "roots/list", "{}").unwrap();
    for responses in [
        "{}",
        r#"{"x":{}}"#,
        r#"{"q1":null,"q2":[]}"#,
        r#"{"q1":"accept"}"#,
        r#"{"q1":{"action":"accept"},"q1":{"action":"decline"}}"#,
        r#"{"q1":{"action":"accept"},"\u00711":{"action":"decline"}}"#,
    ] {
        assert!(answered(&mut parking, responses).is_empty(), "{responses}");
        assert_eq!(keys(&parking), ["q1", "q2"], "{responses}");
    }
    assert_eq!(answered(&mut parking, r#"{"q2":{"roots":[]}}"#).len(), 1);
    assert_eq!(keys(&parking), ["q1"]);
    ask(&mut parking, "3", "roots/list", "{}").unwrap();
    assert_eq!(keys(&parking), ["q1", "q3"], "no key is used twice");
}

#[test]
fn a_question_is_taken_back_by_its_id_whatever_the_spelling() {
    let mut parking = parking();
    ask(&mut parking, r#""\u0061""#, "roots/list", "{}").unwrap();
    ask(&mut parking, "1", "roots/list", "{}").unwrap();
    assert!(!parking.withdraw(b"\"1\"") && !parking.withdraw(b"a") && !parking.withdraw(b"2"));
    assert!(parking.withdraw(b"\"a\"") && !parking.withdraw(b"\"a\""));
    assert_eq!(keys(&parking), ["q2"]);
    assert!(answered(&mut parking, r#"{"q1":{"roots":[]}}"#).is_empty());
    assert!(parking.withdraw(b"1") && parking.is_empty());
}

#[test]
fn a_question_that_comes_twice_is_one() {
    let mut parking = parking();
    for id in [r#""a""#, r#""\u0061""#, r#""a""#] {
        ask(&mut parking, id, "roots/list", "{}").unwrap();
    }
    assert_eq!(parking.len(), 1);
    assert_eq!(answered(&mut parking, r#"{"q1":{"roots":[]}}"#).len(), 1);
}

#[test]
fn what_cannot_be_asked_is_refused_with_the_reason() {
    let mut parking = parking();
    let refused = |parking: &mut Parking, method, params| ask(parking, "1", method, params).unwrap_err();
    assert!(refused(&mut parking, "made/up", "{}").contains("this method cannot be used to ask clients"));
    assert!(refused(&mut parking, "tools/call", "{}").contains("this method cannot be used to ask clients"));
    let notice = frame(r#"{"jsonrpc":"2.0","method":"roots/list"}"#);
    assert!(parking.ask(&notice).unwrap_err().to_string().contains("no id"));
    let mut shy = Parking::new(&V2025_11_25, &V2026_07_28, Bytes::from_static(b"{\"roots\":{}}"));
    assert!(refused(&mut shy, "elicitation/create", FORM).contains("did not declare"));
    assert!(refused(&mut shy, "sampling/createMessage", r#"{"messages":[]}"#).contains("did not declare"));
    assert!(parking.is_empty() && shy.is_empty());
    let url = r#"{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"e"}"#;
    ask(&mut parking, "1", "elicitation/create", url).unwrap();
    let shown = parsed(&parking.required("s", "{}"));
    assert_eq!(shown["inputRequests"]["q1"]["params"].get("elicitationId"), None);
}

#[test]
fn no_more_questions_are_open_than_may_be() {
    let mut parking = parking();
    for id in 0..MAX_QUESTIONS {
        ask(&mut parking, &id.to_string(), "roots/list", "{}").unwrap();
    }
    assert!(ask(&mut parking, "99", "roots/list", "{}").unwrap_err().contains("too many"));
    assert_eq!(parking.len(), MAX_QUESTIONS);
    assert!(parking.withdraw(b"0"));
    ask(&mut parking, "99", "roots/list", "{}").unwrap();
}

#[test]
fn a_client_that_will_not_come_back_is_answered_for() {
    let mut parking = parking();
    ask(&mut parking, "1", "elicitation/create", FORM).unwrap();
    ask(&mut parking, "2", "sampling/createMessage", r#"{"messages":[]}"#).unwrap();
    ask(&mut parking, "3", "roots/list", "{}").unwrap();
    let answers: Vec<Value> = parking.give_up().iter().map(|answer| parsed(answer)).collect();
    assert_eq!(answers[0]["result"], json!({"action": "cancel"}));
    for (answer, id) in answers[1..].iter().zip([2, 3]) {
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32603)));
    }
    assert!(parking.is_empty() && parking.give_up().is_empty());
}

fn urls(data: &str, capabilities: &str) -> Option<Value> {
    let (text, members) = object(data);
    let questions = url_questions(&text, &members, &V2026_07_28, capabilities.as_bytes(), "s", "{}")?;
    Some(parsed(&questions))
}

#[test]
fn pages_to_visit_first_become_questions() {
    let data = r#"{"elicitations":[{"mode":"url","elicitationId":"e","url":"https:\/\/a.example/?x=\"","message":"A\u0021"},{"url":"https://b.example/"}]}"#;
    let required = urls(data, ALL).unwrap();
    assert_eq!(required["requestState"], "s");
    assert_eq!(
        required["inputRequests"]["u1"],
        json!({"method": "elicitation/create", "params": {"mode": "url", "url": "https://a.example/?x=\"", "message": "A!"}})
    );
    let second = &required["inputRequests"]["u2"]["params"];
    assert_eq!(second["url"], "https://b.example/");
    assert!(second["message"].as_str().is_some_and(|message| !message.is_empty()));
}

#[test]
fn an_error_that_names_no_pages_or_a_client_that_visits_none_stays_an_error() {
    let one = r#"{"url":"https://a.example/","message":"m"}"#;
    for data in [
        "{}".to_owned(),
        r#"{"elicitations":{}}"#.to_owned(),
        r#"{"elicitations":[]}"#.to_owned(),
        r#"{"elicitations":[7]}"#.to_owned(),
        r#"{"elicitations":[{"message":"m"}]}"#.to_owned(),
        r#"{"elicitations":[{"url":7}]}"#.to_owned(),
        format!("{{\"elicitations\":[{}]}}", vec![one; MAX_QUESTIONS + 1].join(",")),
    ] {
        assert_eq!(urls(&data, ALL), None, "{data}");
    }
    let data = format!("{{\"elicitations\":[{one}]}}");
    assert!(urls(&data, ALL).is_some());
    assert_eq!(urls(&data, r#"{"elicitation":{}}"#), None);
}
