//! A client of the extension, or without tasks, with a server of the experiment, request by request.

use dragoman_proto::bridge::tasks::{TaskStep, Watch, related_to};
use dragoman_proto::era::V2025_06_18;

use super::*;

#[test]
fn a_modern_client_gets_all_of_a_task_at_once() {
    let outcome = json!({"content": [], "isError": true, "_meta": {"io.modelcontextprotocol/related-task": {"taskId": "T"}}});
    for status in ["completed", "failed"] {
        let mut machine = get(TaskMethod::Get);
        let fetch = machine.answer(&result(&legacy_task(status))).unwrap();
        assert_eq!(fetch, TaskStep::Send(TaskMethod::Result, Bytes::from_static(br#""taskId":"T""#)));
        let Some(TaskStep::Result(shown)) = machine.answer(&result(&outcome)) else { panic!("no result") };
        let shown = parsed(&shown);
        assert_eq!(
            (&shown["status"], &shown["ttlMs"], &shown["resultType"]),
            (&json!("completed"), &json!(9), &json!("complete"))
        );
        assert_eq!((&shown["result"]["isError"], shown.get("ttl")), (&json!(true), None));
        assert!(!shown.to_string().contains("related-task"));

        let mut machine = get(TaskMethod::Get);
        machine.answer(&result(&legacy_task(status)));
        let Some(TaskStep::Result(shown)) = machine.answer(&error(-32603, "broken")) else {
            panic!("no result")
        };
        let shown = parsed(&shown);
        assert_eq!((&shown["status"], &shown["error"]["message"]), (&json!("failed"), &json!("broken")));
        assert_eq!(shown.get("result"), None);
    }
    for status in ["working", "cancelled"] {
        let Some(TaskStep::Result(shown)) = get(TaskMethod::Get).answer(&result(&legacy_task(status))) else {
            panic!("no result")
        };
        assert_eq!(parsed(&shown)["status"], status);
    }
    let mut machine = get(TaskMethod::Get);
    assert_eq!(machine.answer(&result(&legacy_task("input_required"))), Some(TaskStep::Questions));
    let Some(TaskStep::Result(shown)) = machine.questions("") else { panic!("no result") };
    assert_eq!(parsed(&shown)["status"], "working", "nothing can be answered yet");
    assert!(matches!(get(TaskMethod::Get).answer(&error(-32602, "unknown")), Some(TaskStep::Error(_))));
    assert!(matches!(get(TaskMethod::Get).answer(&result(&json!({}))), Some(TaskStep::Error(_))));
}

#[test]
fn a_modern_client_may_cancel_again() {
    let acknowledged = |next: Option<TaskStep>| match next {
        Some(TaskStep::Result(result)) => assert_eq!(parsed(&result)["resultType"], "complete"),
        other => panic!("{other:?}"),
    };
    acknowledged(get(TaskMethod::Cancel).answer(&result(&legacy_task("cancelled"))));
    let mut machine = get(TaskMethod::Cancel);
    assert!(matches!(machine.answer(&error(-32602, "has ended")), Some(TaskStep::Send(TaskMethod::Get, _))));
    acknowledged(machine.answer(&result(&legacy_task("completed"))));
    let mut machine = get(TaskMethod::Cancel);
    machine.answer(&error(-32600, "not now"));
    let Some(TaskStep::Error(refused)) = machine.answer(&result(&legacy_task("working"))) else {
        panic!("no error")
    };
    assert_eq!(parsed(&refused)["message"], "not now");
    let mut machine = get(TaskMethod::Cancel);
    machine.answer(&error(-32602, "unknown"));
    assert!(matches!(machine.answer(&error(-32602, "unknown")), Some(TaskStep::Error(_))));
    acknowledged(get(TaskMethod::Update).answer(&result(&legacy_task("working"))));
    assert!(matches!(get(TaskMethod::Update).answer(&error(-32602, "unknown")), Some(TaskStep::Error(_))));
}

#[test]
fn a_call_is_a_task_for_who_takes_one_and_an_outcome_for_who_does_not() {
    let created = result(&json!({"task": legacy_task("working")}));
    let mut takes = ModernToLegacy::called(modern_client(), true);
    let Some(TaskStep::Result(flat)) = takes.answer(&created) else { panic!("no result") };
    assert_eq!(parsed(&flat)["resultType"], "task");

    for client in [&V2026_07_28, &V2025_06_18] {
        let mut waits = ModernToLegacy::called(Sides { client, ..modern_client() }, false);
        assert!(waits.unattended().is_none());
        assert!(matches!(waits.answer(&created), Some(TaskStep::Send(TaskMethod::Result, _))));
        assert_eq!(waits.unattended(), Some(&id()));
        let outcome = related_to(&Bytes::from_static(br#"{"content":[]}"#), br#""T""#);
        let Some(TaskStep::Result(outcome)) = waits.answer(&result(&parsed(&outcome))) else {
            panic!("no result")
        };
        let outcome = parsed(&outcome);
        assert_eq!((outcome.get("task"), &outcome["content"]), (None, &json!([])));
        assert!(!outcome.to_string().contains("related-task"));
        assert!(waits.unattended().is_none());
        let mut waits = ModernToLegacy::called(Sides { client, ..modern_client() }, false);
        waits.answer(&created);
        assert!(matches!(waits.answer(&error(-32603, "broken")), Some(TaskStep::Error(_))));
    }
    // An answer that is not a task is passed on unchanged.
    let mut machine = ModernToLegacy::called(modern_client(), true);
    assert_eq!(machine.answer(&result(&json!({"content": []}))), None);
    let mut machine = ModernToLegacy::called(modern_client(), true);
    assert_eq!(machine.answer(&error(-32602, "no")), None);
}

#[test]
fn questions_wait_for_a_client_that_can_be_asked() {
    let mut watch = Watch::new(&V2025_11_25, 4);
    watch.ask(&question(1)).unwrap();
    assert_eq!(watch.shown(&V2026_07_28, b"{}"), "");
    let shown: Value = serde_json::from_str(&format!("{{{}}}", watch.shown(&V2026_07_28, CAN))).unwrap();
    assert_eq!(shown["t4-1"]["method"], "elicitation/create");
    assert!(!shown.to_string().contains("related-task"));
    assert!(watch.ask(&frame(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))).is_err());
    for number in 2..=16 {
        watch.ask(&question(number)).unwrap();
    }
    assert!(watch.ask(&question(17)).is_err(), "bounded");
    assert!(watch.withdraw(b"\"s1\"") && !watch.withdraw(b"\"s1\""));
    assert_eq!((watch.give_up().len(), watch.len(), watch.is_empty()), (15, 0, true));
}
