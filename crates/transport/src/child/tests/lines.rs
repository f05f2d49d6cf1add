//! Input and output of a child, line by line.

use bytes::Bytes;

use super::*;
use crate::child::ChildError;

#[tokio::test]
async fn lines_come_back_in_order_and_unchanged() {
    let (_supervisor, child) = start(&Spec::new("cat"), Limits::default()).await;
    let (handle, mut lines) = child.split();
    let sent: Vec<Bytes> =
        (0..5000).map(|n| format!("{{\"id\":{n},\"x\":\"{}\"}}", "ä".repeat(n % 300)).into()).collect();
    let all = sent.clone();
    let sender = tokio::spawn(async move {
        for line in all {
            handle.send(line).await.unwrap();
        }
        handle
    });
    for line in &sent {
        assert_eq!(within(lines.recv()).await.unwrap(), line);
    }
    drop(sender.await.unwrap());
}

#[tokio::test]
async fn a_line_larger_than_every_buffer_passes() {
    let limits = Limits { queue_bytes: 4096, ..Limits::default() };
    let (_supervisor, mut child) = start(&Spec::new("cat"), limits).await;
    let big = Bytes::from(vec![b'x'; 3 << 20]);
    child.send(big.clone()).await.unwrap();
    assert_eq!(within(child.recv()).await.unwrap(), big);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_pipe_of_a_child_grows_with_its_first_large_line() {
    let (_supervisor, child) = start(&Spec::new("cat"), Limits::default()).await;
    let (handle, mut lines) = child.split();
    let before = lines.capacity();
    for (line, has_grown) in [(vec![b'x'; 1000], false), (vec![b'x'; 1 << 20], true)] {
        handle.send(line.clone().into()).await.unwrap();
        assert_eq!(within(lines.recv()).await.unwrap(), line);
        assert_eq!(lines.capacity() > before, has_grown);
    }
}

#[tokio::test]
async fn line_breaks_in_a_message_do_not_end_it() {
    let (_supervisor, mut child) = start(&Spec::new("cat"), Limits::default()).await;
    child.send(Bytes::from_static(b"{\n  \"id\": 1\r\n}")).await.unwrap();
    child.send(Bytes::from_static(b"next")).await.unwrap();
    assert_eq!(line(&mut child).await, "{   \"id\": 1  }");
    assert_eq!(line(&mut child).await, "next");
}

#[tokio::test]
async fn garbage_is_handed_on_and_harms_nothing() {
    let script = r#"printf 'not json\n\n\r\n\377\376\000\n{"id":1}\r\n'; printf 'no newline'"#;
    let (_supervisor, mut child) = start(&shell(script), Limits::default()).await;
    assert_eq!(line(&mut child).await, "not json");
    assert_eq!(within(child.recv()).await.unwrap(), &b"\xff\xfe\x00"[..]);
    assert_eq!(line(&mut child).await, "{\"id\":1}");
    assert_eq!(line(&mut child).await, "no newline");
    let error = within(child.recv()).await.unwrap_err();
    assert_eq!(error.to_string(), "sh exited with code 0");
}

#[tokio::test]
async fn an_over_long_line_is_reported_once_and_skipped() {
    let limits = Limits { line_bytes: 1000, ..Limits::default() };
    let script = "echo before; head -c 300000 /dev/zero | tr '\\0' x; echo; echo after";
    let (_supervisor, mut child) = start(&shell(script), limits).await;
    assert_eq!(line(&mut child).await, "before");
    let error = within(child.recv()).await.unwrap_err();
    assert_eq!(error.to_string(), "sh sent a line longer than the limit of 1000 bytes; it was skipped");
    assert!(!error.is_final());
    assert_eq!(line(&mut child).await, "after");
}

#[tokio::test]
async fn the_end_is_explained_to_readers_and_writers_again_and_again() {
    let script = "echo answer; echo 'cannot open database' >&2; echo 'giving up' >&2; exit 3";
    let (_supervisor, mut child) = start(&shell(script), Limits::default()).await;
    assert_eq!(line(&mut child).await, "answer");
    let expected = "sh exited with code 3; its last output on stderr: cannot open database | giving up";
    for _ in 0..2 {
        let error = within(child.recv()).await.unwrap_err();
        assert!(error.is_final());
        assert_eq!(error.to_string(), expected);
    }
    let error = within(child.send(Bytes::from_static(b"x"))).await.unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert!(!child.handle().is_running());
}

#[tokio::test]
async fn what_was_written_before_the_exit_is_read_after_it() {
    let (_supervisor, mut child) = start(&shell("seq 1 9000"), Limits::default()).await;
    within(child.handle().gone()).await;
    for n in 1..=9000 {
        assert_eq!(number(&mut child).await, n);
    }
    assert!(within(child.recv()).await.unwrap_err().is_final());
}

#[tokio::test]
async fn a_child_that_closes_its_stdout_is_stopped() {
    let (_supervisor, mut child) = start(&shell("exec >&-; exec sleep 600"), impatient()).await;
    let error = within(child.recv()).await.unwrap_err();
    assert!(matches!(error, ChildError::Closed { stream: "stdout", .. }), "{error}");
    assert_eq!(
        within(child.handle().gone()).await.to_string(),
        "sh was stopped: it was ended by signal 15 (SIGTERM)"
    );
}

#[tokio::test]
async fn a_child_that_closes_its_stdin_is_stopped_when_it_is_written_to() {
    let (_supervisor, mut child) = start(&shell("exec <&-; echo ready; exec sleep 600"), impatient()).await;
    assert_eq!(line(&mut child).await, "ready");
    // The first line is accepted before writing it fails.
    let error = within(async {
        loop {
            if let Err(error) = child.send(Bytes::from_static(b"x")).await {
                return error;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(matches!(error, ChildError::Closed { stream: "stdin", .. }), "{error}");
    within(child.handle().gone()).await;
}
