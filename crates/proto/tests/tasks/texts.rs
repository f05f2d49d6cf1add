//! The other side's form of a task, of a call's answer and of everything that belongs to a task.

use bytes::Bytes;
use dragoman_proto::bridge::tasks::{
    Task, TaskSupport, declares_extension, flattened, offers_tasks, related_to, status_notice,
    supporting_tasks, to_experiment, to_extension, unrelated, with_extension, wrapped,
};
use dragoman_proto::era::V2025_06_18;
use dragoman_proto::json::Span;

use super::*;

const META: &str = r#""_meta":{"x":[1.0]}"#;

#[test]
fn a_task_keeps_what_neither_side_knows() {
    let flat = format!(
        r#"{{"resultType":"task", "taskId":"\u0031","status":"working","ttlMs":6e4,"odd":1.0,"pollIntervalMs":5,{META}}}"#
    );
    let task = to_experiment(flat.as_bytes(), &members(&flat));
    assert_eq!(
        text(&task),
        format!(r#"{{"ttl":6e4,"pollInterval":5,"taskId":"\u0031","status":"working","odd":1.0,{META}}}"#)
    );
    let back = to_extension(&task, &members(text(&task)), "complete", None, b",\"result\":{}");
    assert_eq!(
        text(&back),
        format!(
            r#"{{"resultType":"complete","ttlMs":6e4,"pollIntervalMs":5,"taskId":"\u0031","status":"working","odd":1.0,{META},"result":{{}}}}"#
        )
    );
    assert_eq!(
        text(&wrapped(flat.as_bytes(), &members(&flat)).unwrap()),
        format!(
            r#"{{"task":{{"ttl":6e4,"pollInterval":5,"taskId":"\u0031","status":"working","odd":1.0}},{META}}}"#
        )
    );
    let created = r#"{"task":{"taskId":"1","status":"working","ttl":null,"lastUpdatedAt":"t"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}"#;
    assert_eq!(
        text(&flattened(created.as_bytes(), &members(created)).unwrap()),
        r#"{"resultType":"task","ttlMs":null,"taskId":"1","status":"working","lastUpdatedAt":"t"}"#
    );
    // Neither of these is a task: an outcome, and a member of that name.
    let outcome = r#"{"content":[],"resultType":"complete","task":{"taskId":"1"}}"#;
    assert_eq!(wrapped(outcome.as_bytes(), &members(outcome)), None);
    assert_eq!(flattened(outcome.as_bytes(), &members(outcome)), None);
}

#[test]
fn a_time_to_live_is_always_told() {
    let without = r#"{"taskId":"1","status":"working"}"#;
    assert!(text(&to_experiment(without.as_bytes(), &members(without))).contains(r#""ttl":null"#));
    let extension = to_extension(without.as_bytes(), &members(without), "task", None, b"");
    assert!(text(&extension).contains(r#""ttlMs":null"#));
    let read = Task::read(without.as_bytes(), Span::new(0, without.len())).unwrap();
    assert_eq!((read.interval, read.id(without.as_bytes())), (None, br#""1""#.as_slice()));
    assert!(Task::read(br#"{"taskId":"1","status":"odd"}"#, Span::new(0, 29)).is_none());
    assert!(Task::read(br#"{"taskId":1,"status":"working"}"#, Span::new(0, 31)).is_none());
}

#[test]
fn what_belongs_to_a_task_says_so_only_in_the_experiment() {
    for (bare, said) in [
        ("{}", r#"{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}"#),
        (
            r#"{"_meta":{"a":1}}"#,
            r#"{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"},"a":1}}"#,
        ),
    ] {
        let related = related_to(&Bytes::from_static(bare.as_bytes()), br#""1""#);
        assert_eq!(text(&related), said);
        assert_eq!(text(&unrelated(&related).unwrap()), bare);
        assert_eq!(unrelated(bare.as_bytes()), None);
    }
}

#[test]
fn who_has_tasks_says_so() {
    let extension = br#"{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    let experiment = br#"{"tasks":{"requests":{"tools":{"call":{}}}}}"#;
    assert!(offers_tasks(&V2026_07_28, extension) && !offers_tasks(&V2025_11_25, extension));
    assert!(offers_tasks(&V2025_11_25, experiment) && !offers_tasks(&V2026_07_28, experiment));
    assert!(
        !offers_tasks(&V2025_11_25, br#"{"tasks":{"list":{}}}"#) && !offers_tasks(&V2025_06_18, experiment)
    );
    for (before, after) in [
        ("{}", r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#),
        ("nonsense", r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#),
        (r#"{"extensions":{"a/b":{}}}"#, r#"{"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{}}}"#),
    ] {
        let with = with_extension(before.as_bytes());
        assert_eq!(text(&with), after);
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {
            "_meta": {"io.modelcontextprotocol/clientCapabilities": parsed(&with)}}});
        assert!(declares_extension(&frame(&request)));
    }
}

#[test]
fn tools_say_whether_they_run_as_tasks() {
    let bare = r#"{"name":"t","execution":{"taskSupport":"required"}}"#;
    assert_eq!(TaskSupport::of_tool(bare.as_bytes()), TaskSupport::Required);
    let marked = supporting_tasks(bare.as_bytes()).unwrap();
    assert_eq!(TaskSupport::of_tool(&marked), TaskSupport::Optional);
    for none in [r#"{"name":"t"}"#, r#"{"execution":{"taskSupport":"forbidden"}}"#, r#"{"execution":7}"#] {
        assert_eq!(TaskSupport::of_tool(none.as_bytes()), TaskSupport::Forbidden);
    }
}

#[test]
fn a_notice_becomes_one_of_the_experiment() {
    let notice = frame(&json!({"jsonrpc": "2.0", "method": "notifications/tasks", "params": {
        "_meta": {"io.modelcontextprotocol/subscriptionId": 3, "x": 1}, "taskId": "T", "status": "completed",
        "ttlMs": 5, "result": {"content": []}}}));
    assert_eq!(
        parsed(&status_notice(&notice).unwrap()),
        json!({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": {
            "_meta": {"x": 1}, "taskId": "T", "status": "completed", "ttl": 5}})
    );
    let other = json!({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": {"taskId": "T", "status": "working"}});
    assert!(status_notice(&frame(&other)).is_none());
}
