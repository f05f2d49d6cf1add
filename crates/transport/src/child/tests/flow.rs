//! Tests with children that do not read, or that write too much: memory and waiting times are bounded, and no other
//! child is affected.

use std::time::Instant;

use bytes::Bytes;
use rustix::process::{Pid, Signal, kill_process};

use super::*;
use crate::child::ChildError;

#[tokio::test]
async fn a_child_that_does_not_read_fails_the_send_and_nothing_else() {
    let patience = Duration::from_millis(500);
    let limits = Limits { queue_bytes: 64 << 10, send: patience, ..Limits::default() };
    // The child is stopped until it gets SIGCONT.
    let (_supervisor, mut child) = start(&shell("kill -STOP $$; exec cat"), limits).await;
    let big = |n: u8| Bytes::from(vec![b'a' + n; 32 << 10]);
    let mut accepted = 0;
    let error = loop {
        match within(child.send(big(accepted))).await {
            Ok(()) => accepted += 1,
            Err(error) => break error,
        }
        assert!(accepted < 20, "the queue is bounded");
    };
    assert!(matches!(error, ChildError::Stalled { queued: 1.., .. }) && !error.is_final(), "{error}");
    let begun = Instant::now();
    within(child.send(big(20))).await.unwrap_err();
    assert!(begun.elapsed() < patience / 2, "the next sender is not kept as long");

    let pid = Pid::from_raw(child.handle().pid().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::CONT).unwrap();
    for n in 0..accepted {
        assert_eq!(within(child.recv()).await.unwrap(), big(n), "all that was accepted arrives");
    }
    child.send(Bytes::from_static(b"well again")).await.unwrap();
    assert_eq!(line(&mut child).await, "well again");
}

#[tokio::test]
async fn a_child_that_never_reads_can_be_stopped() {
    let limits = Limits { queue_bytes: 1 << 20, ..impatient() };
    let (_supervisor, child) = start(&shell("exec sleep 600"), limits).await;
    child.send(Bytes::from(vec![b'x'; 500_000])).await.unwrap();
    let exit = within(child.stop()).await;
    assert_eq!(exit.to_string(), "sh was stopped: it was ended by signal 15 (SIGTERM)");
    let error = within(child.send(Bytes::from_static(b"x"))).await.unwrap_err();
    assert_eq!(error, ChildError::Exited(exit));
}

#[tokio::test]
async fn a_sender_that_waits_for_room_is_told_when_the_child_ends() {
    let limits = Limits { queue_bytes: 1000, ..impatient() };
    let (_supervisor, child) = start(&shell("exec sleep 600"), limits).await;
    // This is more than the pipe holds, so the queue stays full.
    child.send(Bytes::from(vec![b'x'; 1 << 20])).await.unwrap();
    let handle = child.handle().clone();
    let waiting = tokio::spawn(async move { handle.send(Bytes::from(vec![b'y'; 900])).await });
    tokio::task::yield_now().await;
    within(child.stop()).await;
    let error = within(waiting).await.unwrap().unwrap_err();
    assert!(error.is_final(), "{error}");
}

#[tokio::test]
async fn a_flood_on_stderr_is_drained_and_only_its_end_is_kept() {
    let script =
        "head -c 50000000 /dev/zero | tr '\\0' 'x' >&2; echo >&2; echo 'the end' >&2; echo answer; cat";
    let (_supervisor, mut child) = start(&shell(script), Limits::default()).await;
    assert_eq!(line(&mut child).await, "answer");
    let exit = within(child.stop()).await;
    assert_eq!(&*exit.stderr.text, "the end");
    assert_eq!(&*child.handle().stderr().text, "the end");
}

#[tokio::test]
async fn children_are_counted_until_they_are_gone() {
    let supervisor = super::supervisor(2);
    let first = within(supervisor.spawn(&Spec::new("cat"), Limits::default())).await.unwrap();
    let second = within(supervisor.spawn(&Spec::new("cat"), Limits::default())).await.unwrap();
    let error = within(supervisor.spawn(&Spec::new("cat"), Limits::default())).await.unwrap_err();
    let expected = "2 child processes are running, which is the limit; stop one or raise the limit";
    assert_eq!(error.to_string(), expected);
    within(first.stop()).await;
    let third = within(supervisor.spawn(&Spec::new("cat"), Limits::default())).await.unwrap();
    within(supervisor.spawn(&Spec::new("/no/such/program"), Limits::default())).await.unwrap_err();
    assert_eq!(supervisor.count(), 2);
    drop((second, third));
    assert_eq!(within(supervisor.shutdown(Duration::from_secs(30))).await, 0);
    within(supervisor.spawn(&Spec::new("/no/such/program"), Limits::default())).await.unwrap_err();
    assert_eq!(supervisor.count(), 0, "a failed start takes no place");
}

#[tokio::test]
async fn lines_that_a_child_cannot_have_read_are_told_from_those_that_it_may_have() {
    // The child reads one line, confirms it, and waits.
    let (_supervisor, mut child) = start(&shell("read line; echo $line; exec sleep 600"), impatient()).await;
    let handle = child.handle().clone();
    let read = within(handle.send(Bytes::from_static(b"first"))).await.unwrap();
    assert_eq!(line(&mut child).await, "first");
    // This is more than a pipe holds, so it is written in part, and the following line not at all.
    let partly = within(handle.send(Bytes::from(vec![b'x'; 1 << 20]))).await.unwrap();
    let waits = within(handle.send(Bytes::from_static(b"last"))).await.unwrap();
    within(child.stop()).await;
    assert!(!read.is_unread());
    assert!(partly.is_unread() && waits.is_unread());
}
