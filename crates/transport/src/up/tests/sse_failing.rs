//! Tests of HTTP+SSE with servers that misbehave, or that use another protocol.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;

use super::sse::{ENDPOINT, answer, next, open};
use super::{LONG, Server, client};
use crate::up::{LinkError, SseLink};

/// Opens a link while the GET is answered with `said` on an event stream that stays open.
async fn refused(said: &str, patience: Duration) -> LinkError {
    let mut server = Server::start().await;
    let (client, target) = (client(), server.target(patience));
    let opening = tokio::spawn(async move { SseLink::open(&client, target, super::ROOM).await.map(|_| ()) });
    let mut stream = server.next().await.stream().await;
    stream.write(said).await;
    let error = timeout(LONG, opening).await.unwrap().unwrap().unwrap_err();
    stream.closed().await;
    assert!(server.asked.try_recv().is_err(), "nothing else was asked for");
    error
}

/// Opens a link while the GET is answered with this status, type and body.
async fn answered(status: &str, kind: &str, body: &str) -> LinkError {
    let mut server = Server::start().await;
    let (client, target) = (client(), server.target(LONG));
    let opening = tokio::spawn(async move { SseLink::open(&client, target, super::ROOM).await.map(|_| ()) });
    server.next().await.reply(status, kind, body).await;
    timeout(LONG, opening).await.unwrap().unwrap().unwrap_err()
}

#[tokio::test]
async fn messages_go_nowhere_but_to_the_same_origin() {
    let error =
        refused("event: endpoint\ndata: http://169.254.169.254/m?sessionId=secret-one\n\n", LONG).await;
    let told = error.to_string();
    assert!(matches!(error, LinkError::EventStream(_)), "{told}");
    assert!(told.contains("http://169.254.169.254,") && !told.contains("secret"), "{told}");
    assert!(!error.not_executed());
}

#[tokio::test]
async fn a_stream_that_does_not_say_where_messages_go_is_refused() {
    let error = refused("event: message\ndata: {}\n\n: nothing else\n\n", Duration::from_millis(50)).await;
    assert!(matches!(error, LinkError::Late(_)), "{error}");
    let endless = format!("event: endpoint\ndata: /{}", "x".repeat(100 << 10));
    let error = refused(&endless, LONG).await.to_string();
    assert!(error.contains("longer than 65536 bytes"), "{error}");
    let long = format!("event: endpoint\ndata: /{}\n\n", "x".repeat(9 << 10));
    let error = refused(&long, LONG).await.to_string();
    assert!(error.contains("longer than 8192 bytes"), "{error}");
    let error = answered("200 OK", "text/event-stream", "event: message\ndata: {}\n\n").await.to_string();
    assert!(error.contains("closed its event stream"), "{error}");
}

#[tokio::test]
async fn what_is_no_event_stream_is_refused() {
    for (status, code) in [("404 Not Found", 404), ("405 Method Not Allowed", 405)] {
        let error = answered(status, "text/plain", "no").await;
        assert!(
            matches!(&error, LinkError::Status { status, body } if *status == code && body == "no"),
            "{error}"
        );
    }
    let error = answered("401 Unauthorized", "text/plain", "no").await;
    assert!(
        matches!(&error, LinkError::Unauthorized(refusal) if refusal.status == 401 && refusal.body == "no"),
        "{error}"
    );
    for (status, kind) in [("200 OK", "text/html"), ("204 No Content", ""), ("200 OK", "application/json")] {
        let error = answered(status, kind, "").await;
        assert!(matches!(error, LinkError::EventStream(_)), "{error}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_fails_all_calls() {
    let mut open = open(ENDPOINT).await;
    let (mut one, mut two) = (open.accepted(1).await, open.accepted(2).await);
    open.stream.message(&answer(1)).await;
    assert_eq!(next(&mut one).await.text(), answer(1).as_bytes());
    drop(open.stream);
    for call in [&mut one, &mut two] {
        let error = timeout(LONG, call.next()).await.unwrap().unwrap_err();
        assert!(matches!(error, LinkError::Closed | LinkError::Broken(_)), "{error}");
    }
    assert!(open.link.is_closed() && open.link.why_closed().is_some());
    assert!(timeout(LONG, open.unasked.recv()).await.unwrap().is_none());
    assert!(
        open.link.call(&open.client, 3, Bytes::from(answer(3)), crate::up::Owner::unique()).await.is_err()
    );
    assert!(open.link.notify(&open.client, Bytes::from(answer(3))).await.is_err());
    assert!(open.server.asked.try_recv().is_err(), "nothing is sent to a session that has ended");
}

#[tokio::test]
async fn a_refused_post_fails_its_call_alone_and_shows_no_session() {
    let mut open = open(ENDPOINT).await;
    let mut other = open.accepted(1).await;
    let call = open.call(2);
    open.post().await.reply("500 Oops", "text/plain", "session 0123456789abcdef is broken").await;
    let error = timeout(LONG, call).await.unwrap().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "answered HTTP 500: session … is broken");
    open.stream.message(&answer(1)).await;
    assert_eq!(next(&mut other).await.text(), answer(1).as_bytes());
    let shown = format!("{:?}", open.link);
    assert!(!shown.contains("0123456789abcdef"), "{shown}");
}

#[tokio::test]
async fn a_post_may_be_refused_late() {
    let mut open = open(ENDPOINT).await;
    let call = open.call(2);
    let held = open.post().await;
    let progress =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":2}}";
    open.stream.message(progress).await;
    let mut call = timeout(LONG, call).await.unwrap().unwrap().unwrap();
    assert_eq!(next(&mut call).await.text(), progress.as_bytes());
    held.reply("503 Busy", "", "").await;
    let error = timeout(LONG, call.next()).await.unwrap().unwrap_err();
    assert!(matches!(error, LinkError::Status { status: 503, .. }), "{error}");
}

#[tokio::test]
async fn a_forgotten_session_ends_the_link() {
    let mut open = open(ENDPOINT).await;
    let call = open.call(2);
    open.post().await.reply("404 Not Found", "text/plain", "no such session").await;
    let error = timeout(LONG, call).await.unwrap().unwrap().unwrap_err();
    assert!(matches!(error, LinkError::SessionGone) && error.not_executed(), "{error}");
    open.stream.closed().await;
    assert!(timeout(LONG, open.unasked.recv()).await.unwrap().is_none());
    assert!(open.link.is_closed());
}

#[tokio::test]
async fn a_message_that_is_too_long_is_left_out() {
    let mut open = open(ENDPOINT).await;
    let mut call = open.accepted(1).await;
    open.stream.message(&format!("\"{}\"", "x".repeat(2 << 20))).await;
    let error = timeout(LONG, call.next()).await.unwrap().unwrap_err();
    assert!(matches!(error, LinkError::TooLong(_)), "{error}");
    let mut call = open.accepted(2).await;
    open.stream.message(&answer(2)).await;
    assert_eq!(next(&mut call).await.text(), answer(2).as_bytes());
}

#[tokio::test]
async fn more_calls_than_allowed_are_refused() {
    let mut open = open(ENDPOINT).await;
    let mut calls = Vec::new();
    for key in 1..=8 {
        calls.push(open.accepted(key).await);
    }
    let error = open
        .link
        .call(&open.client, 9, Bytes::from(answer(9)), crate::up::Owner::unique())
        .await
        .unwrap_err();
    assert!(matches!(error, LinkError::Busy(8)), "{error}");
    calls.pop();
    open.accepted(9).await;
}
