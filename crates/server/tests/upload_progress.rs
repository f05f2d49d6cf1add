//! The progress of uploads by URL: a caller who sends a progress token learns how much of the file has been passed on.

mod support;

use std::net::Ipv4Addr;
use std::time::Duration;

use serde_json::{Value, json};
use support::*;
use testkit::site::{Options, Site, accounts, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The size of one piece of the file, larger than a file that is read at once.
const PIECE: usize = 300_000;
/// The number of pieces.
const PIECES: usize = 3;
/// The time between two pieces, longer than the time between two reports.
const PAUSE: Duration = Duration::from_millis(1300);

/// The server of a picture that arrives slowly. It stops when dropped.
struct SlowPicture {
    url: String,
    task: JoinHandle<()>,
}

impl Drop for SlowPicture {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SlowPicture {
    async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let url = format!("http://{}/lake.png", listener.local_addr().expect("its address"));
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                open.spawn(async move {
                    let _ = stream.read(&mut [0; 4096]).await;
                    let length = PIECE * PIECES;
                    let head = format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: {length}\r\n\r\n"
                    );
                    stream.write_all(head.as_bytes()).await?;
                    for at in 0..PIECES {
                        if at > 0 {
                            tokio::time::sleep(PAUSE).await;
                        }
                        stream.write_all(&vec![b'x'; PIECE]).await?;
                    }
                    stream.flush().await
                });
            }
        });
        Self { url, task }
    }
}

/// A gateway in front of one site, which belongs to the editor.
async fn started() -> (Gateway, Site) {
    let site = serve((Ipv4Addr::LOCALHOST, 0).into(), Options::default()).await.expect("a site");
    let editor = accounts::EDITOR;
    let gateway = Gateway::start(&format!(
        "mcpServers: {{ blog: {{ native: wordpress, site: {{ url: '{}', username: {}, password: '{}', privateFiles: true }} }} }}",
        site.url(),
        editor.user,
        editor.password
    ))
    .await;
    (gateway, site)
}

fn upload(url: &str, token: Option<&Value>) -> Value {
    let mut params = json!({"name": "blog__wp_upload_media_from_url", "arguments": {"url": url}});
    if let Some(token) = token {
        params["_meta"] = json!({"progressToken": token});
    }
    params
}

/// Reads an answer with the reports before it.
async fn read(mut reply: Reply) -> (Vec<Value>, Value) {
    assert!(reply.is_stream(), "{}", reply.text().await);
    let mut reports = Vec::new();
    while let Some(message) = reply.message().await {
        if message["method"] != "notifications/progress" {
            return (reports, message);
        }
        reports.push(message["params"].clone());
    }
    panic!("no answer after {reports:?}");
}

#[tokio::test]
async fn a_caller_with_a_progress_token_learns_how_much_was_passed_on() {
    let ((gateway, _site), picture) = (started().await, SlowPicture::start().await);
    let session = Legacy::open(gateway.http()).await;
    let modern = Modern::new(gateway.http());
    for token in [json!("up-1"), json!(7)] {
        let params = upload(&picture.url, Some(&token));
        let replies = [session.begin("tools/call", &params).await, modern.begin("tools/call", &params).await];
        for reply in replies {
            let (reports, answer) = read(reply).await;
            assert!(!answer["result"]["isError"].as_bool().unwrap_or(true), "{answer}");
            assert!(reports.len() >= 2, "{reports:?}");
            let total = PIECE * PIECES;
            let mut before = 0;
            for report in &reports {
                assert_eq!((&report["progressToken"], &report["total"]), (&token, &json!(total)), "{report}");
                let progress = report["progress"].as_u64().expect("a number");
                assert!(progress > before && progress <= total as u64, "{reports:?}");
                before = progress;
            }
        }
    }
}

#[tokio::test]
async fn a_caller_without_a_token_and_a_fast_call_get_the_answer_alone() {
    let ((gateway, _site), picture) = (started().await, SlowPicture::start().await);
    let session = Legacy::open(gateway.http()).await;
    let mut reply = session.begin("tools/call", &upload(&picture.url, None)).await;
    let text = reply.text().await;
    assert!(text.contains("\"result\"") && !text.contains("notifications/progress"), "{text}");
    let fast = json!({"name": "blog__wp_get_posts", "arguments": {}, "_meta": {"progressToken": 1}});
    let mut reply = session.begin("tools/call", &fast).await;
    let text = reply.text().await;
    assert!(text.contains("\"result\"") && !text.contains("notifications/progress"), "{text}");
}

#[tokio::test]
async fn a_cancelled_upload_is_not_finished() {
    let ((gateway, site), picture) = (started().await, SlowPicture::start().await);
    let session = Legacy::open(gateway.http()).await;
    let mut reply = session.begin("tools/call", &upload(&picture.url, Some(&json!("up")))).await;
    let first = reply.message().await.expect("a report");
    assert_eq!(first["method"], "notifications/progress", "{first}");
    session.notify("notifications/cancelled", &json!({"requestId": session.last()})).await;
    tokio::time::sleep(PAUSE * 3).await;
    let is_upload = |one: &testkit::site::Received| one.method == "POST" && one.path.contains("/media");
    assert!(!site.received().iter().any(is_upload), "the site got the whole file");
}
