//! A client of the experiment with a server of the extension, request by request.

use dragoman_proto::bridge::tasks::{LegacyToModern, TaskStep};

use super::*;

fn ask(method: TaskMethod) -> LegacyToModern {
    let (machine, first) = LegacyToModern::begin(legacy_client(), method, id()).unwrap();
    assert_eq!(first, TaskStep::Send(TaskMethod::Get, Bytes::from_static(br#""taskId":"T""#)));
    machine
}

fn one(nexts: impl IntoIterator<Item = TaskStep>) -> TaskStep {
    let mut nexts = nexts.into_iter();
    let only = nexts.next().expect("nothing is to be done");
    assert_eq!(nexts.next(), None);
    only
}

#[test]
fn a_legacy_client_sees_the_task_alone() {
    let mut machine = ask(TaskMethod::Get);
    let mut told = task("completed");
    told["result"] = json!({"content": []});
    let TaskStep::Result(shown) = one(machine.answer(&result(&told))) else { panic!("no result") };
    assert_eq!(parsed(&shown), json!({"taskId": "T", "status": "completed", "ttl": 9, "pollInterval": 70}));
    assert!(machine.answer(&result(&told)).is_empty(), "it is over");
    assert!(LegacyToModern::begin(legacy_client(), TaskMethod::List, id()).is_none());
    let TaskStep::Error(unknown) = one(ask(TaskMethod::Get).answer(&error(-32602, "no such task"))) else {
        panic!("no error")
    };
    assert_eq!(parsed(&unknown), json!({"code": -32602, "message": "no such task"}));
}

#[test]
fn a_legacy_client_gets_the_outcome_as_it_would_have_come() {
    let mut machine = ask(TaskMethod::Result);
    assert_eq!(one(machine.answer(&result(&task("working")))), TaskStep::Wait(70));
    assert_eq!(
        one(machine.waited()),
        TaskStep::Send(TaskMethod::Get, Bytes::from_static(br#""taskId":"T""#))
    );
    assert!(machine.waited().is_empty(), "an answer is awaited, no time");
    let mut ended = task("completed");
    ended["result"] = json!({"resultType": "complete", "content": [], "isError": true});
    let TaskStep::Result(outcome) = one(machine.answer(&result(&ended))) else { panic!("no result") };
    assert_eq!(
        parsed(&outcome),
        json!({"content": [], "isError": true, "_meta": {"io.modelcontextprotocol/related-task": {"taskId": "T"}}})
    );
    let mut failed = task("failed");
    failed["error"] = json!({"code": -32603, "message": "broken", "data": 7});
    let TaskStep::Error(told) = one(ask(TaskMethod::Result).answer(&result(&failed))) else {
        panic!("no error")
    };
    assert_eq!(parsed(&told), failed["error"]);
    for odd in [task("cancelled"), task("completed"), task("failed"), json!({"resultType": "complete"})] {
        let TaskStep::Error(told) = one(ask(TaskMethod::Result).answer(&result(&odd))) else {
            panic!("no error")
        };
        assert_eq!(parsed(&told)["code"], -32603, "{odd}");
    }
}

#[test]
fn a_legacy_client_cancels_once() {
    let mut machine = ask(TaskMethod::Cancel);
    let cancel = one(machine.answer(&result(&task("input_required"))));
    assert_eq!(cancel, TaskStep::Send(TaskMethod::Cancel, Bytes::from_static(br#""taskId":"T""#)));
    assert!(matches!(one(machine.answer(&result(&json!({})))), TaskStep::Send(TaskMethod::Get, _)));
    assert_eq!(one(machine.answer(&result(&task("working")))), TaskStep::Wait(70));
    assert!(matches!(one(machine.waited()), TaskStep::Send(TaskMethod::Get, _)));
    let TaskStep::Result(shown) = one(machine.answer(&result(&task("cancelled")))) else {
        panic!("no result")
    };
    assert_eq!(parsed(&shown)["status"], "cancelled");

    let TaskStep::Error(late) = one(ask(TaskMethod::Cancel).answer(&result(&task("cancelled")))) else {
        panic!("no error")
    };
    assert_eq!(parsed(&late)["code"], -32602);

    // A task that continues in spite of the cancellation is reported in its actual state.
    let mut machine = ask(TaskMethod::Cancel);
    machine.answer(&result(&task("working")));
    machine.answer(&result(&json!({})));
    let mut looks = 0;
    let last = loop {
        match one(machine.answer(&result(&task("working")))) {
            TaskStep::Wait(_) => machine.waited(),
            last => break last,
        };
        looks += 1;
        assert!(looks < 9);
    };
    assert!(matches!(last, TaskStep::Result(_)));
}

#[test]
fn what_a_legacy_client_cannot_be_asked_is_not_left_open() {
    let mut asks = task("input_required");
    asks["inputRequests"] = json!({"u": {"method": "elicitation/create", "params": {"mode": "url", "url": "http://x", "message": "m"}}});
    let mut machine = ask(TaskMethod::Result);
    let TaskStep::Send(TaskMethod::Update, params) = one(machine.answer(&result(&asks))) else {
        panic!("no update")
    };
    assert_eq!(text(&params), r#""taskId":"T","inputResponses":{"u":{"action":"cancel"}}"#);
    asks["inputRequests"] = json!({"s": {"method": "sampling/createMessage", "params": {}}});
    let TaskStep::Error(told) = one(ask(TaskMethod::Result).answer(&result(&asks))) else {
        panic!("no error")
    };
    assert!(parsed(&told)["message"].as_str().unwrap().contains("sampling/createMessage"));
    for odd in [json!({"a": 7}), json!({"a": {}}), json!({"a": {"method": "tools/call"}})] {
        asks["inputRequests"] = odd;
        assert!(matches!(one(ask(TaskMethod::Result).answer(&result(&asks))), TaskStep::Error(_)));
    }
    let many: serde_json::Map<String, Value> =
        (0..100).map(|i| (i.to_string(), json!({"method": "roots/list"}))).collect();
    asks["inputRequests"] = Value::Object(many);
    assert!(matches!(one(ask(TaskMethod::Result).answer(&result(&asks))), TaskStep::Error(_)));
}

#[test]
fn a_refused_question_ends_the_wait_with_its_reason() {
    let mut asks = task("input_required");
    asks["inputRequests"] = json!({"r": {"method": "roots/list"}, "e": {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": {}}}});
    let mut machine = ask(TaskMethod::Result);
    let nexts = machine.answer(&result(&asks));
    let [TaskStep::Ask(first), TaskStep::Ask(second), TaskStep::Wait(_)] = &nexts[..] else {
        panic!("{nexts:?}")
    };
    let (roots, elicit) = if first.method.name() == "roots/list" { (first, second) } else { (second, first) };
    assert_eq!(machine.asking(), 2);
    let closed = one(machine.reply(elicit.index, &error(-1, "no")));
    let TaskStep::Send(TaskMethod::Update, params) = closed else { panic!("no update") };
    assert!(text(&params).ends_with(r#"{"e":{"action":"cancel"}}"#));
    assert!(machine.reply(elicit.index, &result(&json!({}))).is_empty(), "answered once");
    let TaskStep::Error(told) = one(machine.reply(roots.index, &error(-32603, "nothing is open"))) else {
        panic!("no error")
    };
    assert!(parsed(&told)["message"].as_str().unwrap().ends_with("nothing is open"));
}
