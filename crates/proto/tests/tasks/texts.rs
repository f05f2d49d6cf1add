//! What a task, a call's answer and what belongs to a task become on the other side.

use bytes::Bytes;
use dragoman_proto::bridge::tasks::{
    Task, flattened, related_to, to_experiment, to_extension, unrelated, wrapped,
};
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
    // Neither is a task: an outcome, and a member of that name.
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
