//! Tests of the lines of a complete server that misbehaves: either the child continues, or its end is explained.

use bytes::Bytes;

use super::*;
use crate::child::ChildError;

async fn odd(limits: Limits) -> (Supervisor, Child) {
    let program = crate::task::spawn_blocking(testkit::odd::program).await.unwrap();
    start(&Spec::new(program.to_str().unwrap()).arg("--stdio"), limits).await
}

fn call(id: u32, tool: &str, arguments: &str) -> Bytes {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#).into()
}

fn answer(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"ok"}}]}}}}"#)
}

/// The peak of this process's memory so far, in MiB.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() >> 10
}

#[tokio::test]
async fn a_line_of_two_gigabytes_costs_no_memory_and_the_next_is_read() {
    let (_supervisor, mut child) = odd(Limits { line_bytes: 1 << 20, ..Limits::default() }).await;
    let before = peak();
    child.send(call(1, "huge_line", "{}")).await.unwrap();
    child.send(call(2, "ok", "{}")).await.unwrap();
    let error = within(child.recv()).await.unwrap_err();
    assert!(matches!(error, ChildError::LineTooLong { limit: 1_048_576, .. }), "{error}");
    assert_eq!(line(&mut child).await, answer(2));
    assert!(peak() - before < 256, "{} MiB more than before", peak() - before);
    within(child.stop()).await;
}

#[tokio::test]
async fn what_the_server_should_not_send_arrives_and_nothing_is_lost() {
    let (_supervisor, mut child) = odd(Limits::default()).await;
    for (id, tool) in
        [(1, "garbage"), (2, "twice"), (3, "foreign_id"), (4, "silent"), (5, "noise"), (6, "ok")]
    {
        child.send(call(id, tool, "{}")).await.unwrap();
    }
    assert_eq!(line(&mut child).await, "this is not JSON, and it is not an answer either");
    assert_eq!(line(&mut child).await, answer(2));
    assert_eq!(line(&mut child).await, answer(2));
    assert!(line(&mut child).await.contains("nobody-asked-this"));
    assert_eq!(line(&mut child).await, answer(3));
    assert_eq!(line(&mut child).await, answer(5));
    assert_eq!(line(&mut child).await, answer(6));
    within(child.stop()).await;
}

#[tokio::test]
async fn a_late_answer_holds_no_other_up() {
    let (_supervisor, mut child) = odd(Limits::default()).await;
    child.send(call(1, "late", r#"{"ms":300}"#)).await.unwrap();
    child.send(call(2, "ok", "{}")).await.unwrap();
    assert_eq!(line(&mut child).await, answer(2));
    assert_eq!(line(&mut child).await, answer(1));
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_of_an_answer_is_explained() {
    let (_supervisor, mut child) = odd(Limits::default()).await;
    child.send(call(1, "ok", "{}")).await.unwrap();
    child.send(call(2, "die", r#"{"half":true,"code":42}"#)).await.unwrap();
    child.send(call(3, "ok", "{}")).await.unwrap();
    assert_eq!(line(&mut child).await, answer(1));
    let half = answer(2).len() / 2;
    assert_eq!(line(&mut child).await, answer(2)[..half], "no JSON, so nobody takes it for an answer");
    let error = within(child.recv()).await.unwrap_err();
    let words = "odd exited with code 42; its last output on stderr: odd: dying with code 42, as told";
    assert_eq!(error.to_string(), words);
}

#[tokio::test]
async fn a_server_that_is_deaf_for_a_while_gets_everything() {
    let (_supervisor, mut child) = odd(Limits { queue_bytes: 32 << 10, ..Limits::default() }).await;
    child.send(call(0, "deaf", r#"{"ms":300}"#)).await.unwrap();
    assert_eq!(line(&mut child).await, answer(0));
    let (handle, mut lines) = child.split();
    // This is more than the pipe and the queue hold, so the sender has to wait until the child reads again.
    let text = "y".repeat(1000);
    let sent: Vec<Bytes> = (1..300).map(|id| call(id, "ok", &format!(r#"{{"text":"{text}"}}"#))).collect();
    let sender = tokio::spawn(async move {
        for call in sent {
            handle.send(call).await.unwrap();
        }
        handle
    });
    for id in 1..300 {
        let got = within(lines.recv()).await.unwrap();
        assert!(got.starts_with(format!(r#"{{"jsonrpc":"2.0","id":{id},"#).as_bytes()), "{got:?}");
    }
    within(sender).await.unwrap();
}
