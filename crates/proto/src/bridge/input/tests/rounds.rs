//! A server that asks through results, and a client that is asked through requests.

use super::*;

const REQUEST: &str = r#"{"id":5,"jsonrpc":"2.0","method":"tools/call","params":{"name":"t","arguments":{"n":1e0},"_meta":{"progressToken":5,"x":[1.0]}}}"#;
const FORM: &str = r#"{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","minimum":1.50}}}}}"#;

fn rounds(client: &'static Era, capabilities: &'static str, max: u32) -> Rounds {
    Rounds::new(&V2026_07_28, client, Bytes::from_static(capabilities.as_bytes()), max)
}

fn take(rounds: &mut Rounds, result: &str) -> Result<InputAction, RoundsFault> {
    let (text, members) = object(result);
    rounds.take(&text, &members, &mut || "minted".to_owned())
}

fn asked(rounds: &mut Rounds, result: &str) -> Vec<Question> {
    match take(rounds, result) {
        Ok(InputAction::Ask(questions)) => questions,
        other => panic!("{other:?}"),
    }
}

fn answer(rounds: &mut Rounds, index: usize, result: &str) -> RoundsReply {
    rounds.reply(index, &frame(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#))).unwrap()
}

fn retried(rounds: &Rounds) -> String {
    String::from_utf8(rounds.retry(&frame(REQUEST), b"6").to_vec()).unwrap()
}

#[test]
fn questions_are_put_and_the_retry_carries_the_answers_and_the_state_as_they_were_written() {
    let mut rounds = rounds(&V2025_11_25, ALL, 9);
    let questions = asked(
        &mut rounds,
        &format!(
            r#"{{"inputRequests":{{"a\u0062\"":{FORM},"r":{{"method":"roots\/list"}}}},"requestState":"s\u0074\/ \ud83d\ude00"}}"#
        ),
    );
    assert_eq!(
        questions.iter().map(|q| (q.index, q.method)).collect::<Vec<_>>(),
        [(0, Method::Elicit), (1, Method::RootsList)]
    );
    assert!(
        std::str::from_utf8(&questions[0].params).unwrap().contains("\"minimum\":1.50"),
        "the spelling stays"
    );
    assert_eq!(questions[1].params, "{}");
    assert_eq!(rounds.waiting(), 2);
    assert_eq!(answer(&mut rounds, 1, r#"{"roots":[{"uri":"file:///é"}]}"#), RoundsReply::Waiting);
    assert_eq!(answer(&mut rounds, 1, r#"{"roots":[]}"#), RoundsReply::Unknown, "each is answered once");
    assert_eq!(answer(&mut rounds, 2, "{}"), RoundsReply::Unknown);
    assert_eq!(
        answer(&mut rounds, 0, r#"{"action":"accept","content":{"n":1.50e0}}"#),
        RoundsReply::Complete
    );
    assert_eq!((rounds.waiting(), rounds.taken()), (0, 1));
    let responses = r#""inputResponses":{"a\u0062\"":{"action":"accept","content":{"n":1.50e0}},"r":{"roots":[{"uri":"file:///é"}]}}"#;
    let retry = retried(&rounds);
    assert!(retry.contains(responses), "{retry}");
    assert!(retry.contains(r#""requestState":"s\u0074\/ \ud83d\ude00""#), "{retry}");
    assert!(retry.contains(r#""arguments":{"n":1e0}"#) && retry.contains(r#""x":[1.0]"#), "{retry}");
    let sent = parsed(retry.as_bytes());
    assert_eq!((&sent["id"], &sent["params"]["_meta"]["progressToken"]), (&json!(6), &json!(6)));
}

#[test]
fn each_round_brings_its_own_answers_and_state_and_nothing_of_the_last() {
    let mut rounds = rounds(&V2025_11_25, ALL, 9);
    asked(&mut rounds, &format!(r#"{{"inputRequests":{{"a":{FORM}}},"requestState":"one"}}"#));
    answer(&mut rounds, 0, r#"{"action":"decline"}"#);
    asked(&mut rounds, &format!(r#"{{"inputRequests":{{"b":{FORM}}}}}"#));
    answer(&mut rounds, 0, r#"{"action":"accept","content":{}}"#);
    let sent = parsed(retried(&rounds).as_bytes());
    assert_eq!(sent["params"]["inputResponses"], json!({"b": {"action": "accept", "content": {}}}));
    assert_eq!(sent["params"].get("requestState"), None);
    assert_eq!(take(&mut rounds, r#"{"requestState":"two"}"#), Ok(InputAction::Again));
    let sent = parsed(retried(&rounds).as_bytes());
    assert_eq!(
        (sent["params"].get("inputResponses"), &sent["params"]["requestState"]),
        (None, &json!("two"))
    );
}

#[test]
fn nothing_to_ask_is_sent_again() {
    let mut rounds = rounds(&V2025_11_25, ALL, 9);
    assert_eq!(take(&mut rounds, r#"{"requestState":""}"#), Ok(InputAction::Again));
    assert_eq!(take(&mut rounds, r#"{"requestState":"s","inputRequests":null}"#), Ok(InputAction::Again));
    assert_eq!(take(&mut rounds, r#"{"inputRequests":{}}"#), Ok(InputAction::Again));
    assert_eq!(rounds.waiting(), 0);
}

#[test]
fn the_rounds_come_to_an_end() {
    let mut rounds = rounds(&V2025_11_25, ALL, 2);
    for _ in 0..2 {
        assert_eq!(take(&mut rounds, r#"{"requestState":"s"}"#), Ok(InputAction::Again));
    }
    let fault = take(&mut rounds, r#"{"requestState":"s"}"#).unwrap_err();
    assert_eq!(fault, RoundsFault::TooMany(2));
    assert_eq!(fault.to_string(), "asked for input 2 times and still needs more");
}

#[test]
fn a_result_that_does_not_say_what_it_wants_is_a_fault() {
    let many: Vec<String> = (0..=MAX_QUESTIONS).map(|n| format!("\"{n}\":{FORM}")).collect();
    let table = [
        ("{}".to_owned(), "has neither"),
        (r#"{"inputRequests":null}"#.to_owned(), "has neither"),
        (r#"{"inputRequests":[]}"#.to_owned(), "its inputRequests is not an object"),
        (r#"{"inputRequests":{"a":1}}"#.to_owned(), "entry of its inputRequests is not an object"),
        (r#"{"inputRequests":{"a":{}}}"#.to_owned(), "has no method"),
        (r#"{"inputRequests":{"a":{"method":7}}}"#.to_owned(), "has no method"),
        (r#"{"requestState":{}}"#.to_owned(), "is not a string"),
        (r#"{"requestState":"a","requestState":"b"}"#.to_owned(), "occurs twice"),
        (r#"{"inputRequests":{},"input\u0052equests":{}}"#.to_owned(), "occurs twice"),
        (format!(r#"{{"inputRequests":{{"a":{FORM},"\u0061":{FORM}}}}}"#), "have the same key"),
        (format!("{{\"inputRequests\":{{{}}}}}", many.join(",")), "it asks too many questions at once"),
    ];
    for (result, why) in table {
        match take(&mut rounds(&V2025_11_25, ALL, 9), &result) {
            Err(fault @ RoundsFault::Malformed(_)) => {
                assert!(fault.to_string().contains(why), "{fault}: {result}");
            }
            other => panic!("{result}: {other:?}"),
        }
    }
    let full: Vec<String> = (0..MAX_QUESTIONS).map(|n| format!("\"{n}\":{FORM}")).collect();
    let all = format!("{{\"inputRequests\":{{{}}}}}", full.join(","));
    assert_eq!(asked(&mut rounds(&V2025_11_25, ALL, 9), &all).len(), MAX_QUESTIONS);
}

#[test]
fn what_a_client_cannot_be_asked_ends_the_request_with_the_reason() {
    let table = [
        (ALL, "tools/call", "{}", "this method cannot be used to ask clients"),
        (ALL, "made/up", "{}", "this method cannot be used to ask clients"),
        ("{}", "roots/list", "{}", "did not declare"),
        ("{}", "sampling/createMessage", r#"{"messages":[]}"#, "did not declare"),
        (
            r#"{"sampling":{}}"#,
            "sampling/createMessage",
            r#"{"messages":[],"tools":[{"name":"t"}]}"#,
            "did not declare",
        ),
    ];
    for (capabilities, method, params, reason) in table {
        let result = format!(r#"{{"inputRequests":{{"k":{{"method":"{method}","params":{params}}}}}}}"#);
        match take(&mut rounds(&V2025_11_25, capabilities, 9), &result) {
            Err(RoundsFault::Unaskable { method: named, why }) => {
                assert_eq!(named, method);
                assert!(why.contains(reason), "{why}");
            }
            other => panic!("{method}: {other:?}"),
        }
    }
}

#[test]
fn a_user_who_cannot_be_asked_is_as_one_who_closed_the_question() {
    for (client, capabilities) in [(&V2025_11_25, "{}"), (&V2024_11_05, r#"{"elicitation":{}}"#)] {
        let mut rounds = rounds(client, capabilities, 9);
        let result = format!(r#"{{"inputRequests":{{"k":{FORM}}},"requestState":"s"}}"#);
        assert_eq!(take(&mut rounds, &result), Ok(InputAction::Again), "{client}");
        let sent = parsed(retried(&rounds).as_bytes());
        assert_eq!(sent["params"]["inputResponses"], json!({"k": {"action": "cancel"}}));
    }
    // One of the two questions can be asked.
    let mut rounds = rounds(&V2025_11_25, r#"{"roots":{}}"#, 9);
    let result = format!(r#"{{"inputRequests":{{"k":{FORM},"r":{{"method":"roots/list","params":{{}}}}}}}}"#);
    let questions = asked(&mut rounds, &result);
    assert_eq!((questions.len(), questions[0].index, rounds.waiting()), (1, 1, 1));
    assert_eq!(answer(&mut rounds, 1, r#"{"roots":[]}"#), RoundsReply::Complete);
}

#[test]
fn a_visit_gets_an_id_where_the_clients_version_wants_one() {
    let mut rounds = rounds(&V2025_11_25, ALL, 9);
    let url =
        r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://a.example/"}}"#;
    let questions = asked(&mut rounds, &format!(r#"{{"inputRequests":{{"k":{url}}}}}"#));
    assert_eq!(parsed(&questions[0].params)["elicitationId"], "minted");
}

#[test]
fn an_error_of_the_client_closes_a_users_question_and_ends_any_other() {
    let refused = frame(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"User \u0072ejected"}}"#);
    let mut elicited = rounds(&V2025_11_25, ALL, 9);
    asked(&mut elicited, &format!(r#"{{"inputRequests":{{"k":{FORM}}}}}"#));
    assert_eq!(elicited.reply(0, &refused), Ok(RoundsReply::Complete));
    assert!(retried(&elicited).contains(r#""inputResponses":{"k":{"action":"cancel"}}"#));
    for method in ["sampling/createMessage", "roots/list"] {
        let mut other = rounds(&V2025_11_25, ALL, 9);
        let result =
            format!(r#"{{"inputRequests":{{"k":{{"method":"{method}","params":{{"messages":[]}}}}}}}}"#);
        asked(&mut other, &result);
        let fault = other.reply(0, &refused).unwrap_err();
        assert!(fault.to_string().ends_with("but the client refused: User rejected"), "{fault}");
        let mut wordless = rounds(&V2025_11_25, ALL, 9);
        asked(&mut wordless, &result);
        let fault = wordless.reply(0, &frame(r#"{"jsonrpc":"2.0","id":1,"result":7}"#)).unwrap_err();
        assert!(fault.to_string().ends_with("the client gave no reason"), "{fault}");
    }
}

#[test]
fn answers_are_put_in_the_servers_words() {
    let mut rounds = rounds(&V2025_06_18, r#"{"sampling":{}}"#, 9);
    let result = r#"{"inputRequests":{"k":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"maxTokens":1}}}}"#;
    let questions = asked(&mut rounds, result);
    let messages = &parsed(&questions[0].params)["messages"];
    assert_eq!(messages.as_array().unwrap().len(), 2, "one block a message for this client: {messages}");
    assert_eq!(
        answer(
            &mut rounds,
            0,
            r#"{"role":"assistant","model":"m","content":{"type":"text","text":"c"},"n":1.0}"#
        ),
        RoundsReply::Complete
    );
    assert!(retried(&rounds).contains("\"n\":1.0"));
}

#[test]
fn what_the_first_request_had_of_earlier_rounds_does_not_stay() {
    let mut rounds = rounds(&V2025_11_25, ALL, 9);
    asked(&mut rounds, &format!(r#"{{"inputRequests":{{"k":{FORM}}}}}"#));
    answer(&mut rounds, 0, r#"{"action":"cancel"}"#);
    let first = r#"{"id":5,"jsonrpc":"2.0","method":"tools/call","params":{"inputResponses":{"old":{}},"name":"t","requestState":"old"}}"#;
    let sent = parsed(&rounds.retry(&frame(first), b"6"));
    assert_eq!(sent["params"], json!({"name": "t", "inputResponses": {"k": {"action": "cancel"}}}));
}
