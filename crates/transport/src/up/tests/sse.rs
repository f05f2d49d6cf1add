//! Tests of HTTP+SSE with servers that conform to the protocol but differ in their behavior.

use bytes::Bytes;
use proto::era::V2024_11_05;
use proto::rpc::{Frame, FrameKind};
use tokio::time::timeout;

use super::{Asked, LONG, Server, Stream, client};
use crate::net::client::Client;
use crate::up::{MuxCall, SseLink, UnaskedMessages};

/// An open link and the server's end of it.
pub(super) struct Open {
    pub(super) link: SseLink,
    pub(super) client: Client,
    pub(super) unasked: UnaskedMessages,
    pub(super) stream: Stream,
    pub(super) server: Server,
}

/// Opens a link to a server that sends `first`.
pub(super) async fn open(first: &str) -> Open {
    let mut server = Server::start().await;
    let (client, target) = (client(), server.target(LONG));
    let opening = {
        let client = client.clone();
        tokio::spawn(async move {
            let (link, reader, unasked) = SseLink::open(&client, target, super::ROOM).await.unwrap();
            tokio::spawn(reader);
            (link, unasked)
        })
    };
    let asked = server.next().await;
    assert!(asked.head.starts_with("GET /api/sse HTTP/1.1\r\n"), "{}", asked.head);
    assert!(asked.head.contains("accept: text/event-stream\r\n"), "{}", asked.head);
    assert!(asked.head.contains("authorization: Bearer configured\r\n"), "{}", asked.head);
    let mut stream = asked.stream().await;
    stream.write(first).await;
    let (link, unasked) = timeout(LONG, opening).await.expect("open in time").unwrap();
    Open { link, client, unasked, stream, server }
}

pub(super) const ENDPOINT: &str = "event: endpoint\ndata: messages?sessionId=0123456789abcdef\n\n";

impl Open {
    /// Starts a call in a task, which ends with the result of [`SseLink::call`].
    pub(super) fn call(&self, key: u64) -> tokio::task::JoinHandle<Result<MuxCall, crate::up::LinkError>> {
        let (link, client) = (self.link.clone(), self.client.clone());
        let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"tools/call\"}}");
        tokio::spawn(
            async move { link.call(&client, key, Bytes::from(text), crate::up::Owner::unique()).await },
        )
    }

    /// The next POST.
    pub(super) async fn post(&mut self) -> Asked {
        let asked = self.server.next().await;
        let line = "POST /api/messages?sessionId=0123456789abcdef HTTP/1.1\r\n";
        assert!(asked.head.starts_with(line), "{}", asked.head);
        assert!(asked.head.contains("content-type: application/json\r\n"), "{}", asked.head);
        assert!(asked.head.contains("authorization: Bearer configured\r\n"), "{}", asked.head);
        asked
    }

    /// An open call whose POST was accepted.
    pub(super) async fn accepted(&mut self, key: u64) -> MuxCall {
        let call = self.call(key);
        self.post().await.accepted().await;
        timeout(LONG, call).await.unwrap().unwrap().unwrap()
    }
}

pub(super) async fn next(call: &mut MuxCall) -> Frame {
    timeout(LONG, call.next()).await.expect("a message in time").unwrap()
}

pub(super) fn answer(key: u64) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{key},\"result\":{{}}}}")
}

#[tokio::test]
async fn an_introduction_and_a_call_in_whatever_pieces_the_stream_comes() {
    let mut open =
        open("\u{feff}: hi\r\n\r\nevent: endpoint\r\ndata: ./messages?sessionId=0123456789abcdef\r\n\r\n")
            .await;
    let hello = {
        let (link, client) = (open.link.clone(), open.client.clone());
        let request = Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}");
        tokio::spawn(async move { link.introduce(&client, request, 1, &V2024_11_05).await })
    };
    let asked = open.post().await;
    assert!(asked.body.contains("initialize"), "{}", asked.body);
    asked.accepted().await;
    let result = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2024-11-05\",\"capabilities\":{},\
                  \"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}";
    for piece in ["event: mess", "age\r", "\ndata: ", &result[..30], &result[30..], "\r\n", "\r\n"] {
        open.stream.write(piece).await;
    }
    let asked = open.post().await;
    assert!(asked.body.contains("notifications/initialized"), "{}", asked.body);
    asked.reply("200 OK", "", "").await;
    let hello = timeout(LONG, hello).await.unwrap().unwrap().unwrap();
    assert_eq!(hello.era, &V2024_11_05);

    let mut call = open.accepted(2).await;
    // An event without a name is a message; other events, comments and repeated addresses are ignored.
    open.stream.write("event: ping\ndata: {\"id\":2}\n\n: still here\n\n").await;
    open.stream.write("event: endpoint\ndata: http://evil.example/\n\ndata: no message\n\n").await;
    open.stream.write(&format!("data: {}\ndata: {}\n\n", &answer(2)[..10], &answer(2)[10..])).await;
    let frame = next(&mut call).await;
    assert_eq!(frame.kind(), FrameKind::Response);
    assert!(!open.link.is_closed());
}

#[tokio::test]
async fn calls_get_what_concerns_them_and_the_rest_is_unasked() {
    let mut open = open(ENDPOINT).await;
    let (mut one, mut two) = (open.accepted(1).await, open.accepted(2).await);
    for key in [2, 1] {
        let progress = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{key}}}}}"
        );
        open.stream.message(&progress).await;
    }
    open.stream.message("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}").await;
    open.stream.message("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}").await;
    open.stream.message(&answer(2)).await;
    open.stream.message(&answer(1)).await;
    assert_eq!(next(&mut one).await.method(), "notifications/progress");
    assert_eq!(next(&mut one).await.kind(), FrameKind::Response);
    assert_eq!(next(&mut two).await.method(), "notifications/progress");
    assert_eq!(next(&mut two).await.method(), "roots/list");
    assert_eq!(next(&mut two).await.kind(), FrameKind::Response);
    let unasked = timeout(LONG, open.unasked.recv()).await.unwrap().unwrap();
    assert_eq!(unasked.frame.method(), "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_server_may_ask_before_it_answers_the_post() {
    let mut open = open(ENDPOINT).await;
    let call = open.call(5);
    let held = open.post().await;
    open.stream.message("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\"}").await;
    let mut call = timeout(LONG, call).await.unwrap().unwrap().unwrap();
    assert_eq!(next(&mut call).await.method(), "elicitation/create");
    let said = Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{}}");
    let (notify, answered) = tokio::join!(open.link.notify(&open.client, said), async {
        let asked = open.server.next().await;
        let body = asked.body.clone();
        asked.accepted().await;
        body
    });
    notify.unwrap();
    assert!(answered.contains("\"id\":\"q\""), "{answered}");
    open.stream.message(&answer(5)).await;
    assert_eq!(next(&mut call).await.kind(), FrameKind::Response);
    held.reply("200 OK", "", "").await;
}

#[tokio::test]
async fn a_post_may_be_answered_with_the_response_itself() {
    let mut open = open(ENDPOINT).await;
    for (key, status, body) in [
        (1, "200 OK", answer(1)),
        (
            2,
            "404 Not Found",
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":\"m\"}}".to_owned(),
        ),
    ] {
        let call = open.call(key);
        open.post().await.reply(status, "application/json", &body).await;
        let mut call = timeout(LONG, call).await.unwrap().unwrap().unwrap();
        assert_eq!(next(&mut call).await.text(), body.as_bytes());
    }
    // Any other content of a body is ignored.
    let call = open.call(3);
    open.post().await.reply("200 OK", "application/json", "{\"status\":\"queued\"}").await;
    let mut call = timeout(LONG, call).await.unwrap().unwrap().unwrap();
    open.stream.message(&answer(3)).await;
    assert_eq!(next(&mut call).await.kind(), FrameKind::Response);
}

#[tokio::test]
async fn the_stream_ends_with_the_link() {
    let stopped = open(ENDPOINT).await;
    stopped.link.stop();
    stopped.stream.closed().await;

    let Open { link, stream, .. } = open(ENDPOINT).await;
    drop(link);
    stream.closed().await;
}
