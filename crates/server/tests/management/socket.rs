//! The management API over the socket in the state folder.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use super::place::{Answer, Place};
use crate::support::*;

/// Sends a request over the socket of a state folder.
pub(crate) async fn ask_local(state: &Path, method: &str, path: &str, body: &Value) -> Answer {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut text = Vec::new();
    soon("an answer on the socket", async {
        let mut stream = UnixStream::connect(state.join("control.sock")).await.expect("the socket accepts");
        stream.write_all(format!("{head}{body}").as_bytes()).await.expect("it takes the request");
        stream.read_to_end(&mut text).await.expect("it answers");
    })
    .await;
    let text = String::from_utf8(text).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let (line, fields) = head.split_once("\r\n").expect("a status line");
    let status = line.split(' ').nth(1).expect("a status").parse().expect("a number");
    let fields = fields.lines().filter_map(|line| line.split_once(": "));
    let headers = fields.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    let body = if body.is_empty() { Value::Null } else { serde_json::from_str(body).expect("JSON") };
    Answer { status, body, headers }
}

/// Waits until the socket exists.
pub(crate) async fn socket_of(state: &Path) {
    let there = async {
        while UnixStream::connect(state.join("control.sock")).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    soon("the control socket", there).await;
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("it exists").permissions().mode() & 0o777
}

#[tokio::test]
async fn the_local_user_reaches_it_without_management_and_it_is_gone_afterwards() {
    let place = Place::with("").await;
    let state = place.state.path().to_owned();
    socket_of(&state).await;
    assert_eq!((mode(&state), mode(&state.join("control.sock"))), (0o700, 0o600));
    assert_eq!(place.ask("GET", "/api/mcp-servers", &Value::Null).await.status, 404, "not over the network");
    let servers = ask_local(&state, "GET", "/api/mcp-servers", &Value::Null).await;
    assert_eq!((servers.status, &servers.body["servers"][0]["id"]), (200, &json!("good")));
    assert_eq!(ask_local(&state, "GET", "/mcp", &Value::Null).await.status, 404);
    let server = json!({"name": "more", "type": "builtin", "config": {"native": "plain"}});
    let refused = ask_local(&state, "POST", "/api/mcp-servers", &server).await;
    assert_eq!(refused.refusal(), (409, "NOT_STORED"));
    assert_eq!(place.gateway.stop().await.code, Some(0));
    assert!(!state.join("control.sock").exists());
}

#[tokio::test]
async fn changes_are_recorded_as_those_of_the_local_user() {
    let place =
        Place::with("management: { who: { key: [nobody] } }\nauth: { keys: true }\naudit: {}\n").await;
    let state = place.state.path().to_owned();
    socket_of(&state).await;
    let server = json!({"name": "more", "type": "builtin", "config": {"native": "plain"}});
    let made = ask_local(&state, "POST", "/api/mcp-servers", &server).await;
    assert_eq!((made.status, &made.body["id"]), (201, &json!("more")));
    place.gateway.log().has("who=local").await;
    place.gateway.log().has("added: server more").await;
    assert_eq!(place.ask("GET", "/api/mcp-servers", &Value::Null).await.status, 401, "others need a key");
}

#[tokio::test]
async fn a_second_gateway_says_who_has_the_folder_and_takes_over() {
    let first = Place::with("").await;
    let state = first.state.path().to_owned();
    socket_of(&state).await;
    let with = Start { config: &first.config(""), env: &[("DRAGOMAN_LOG", "info")], ..Start::default() };
    let second = Gateway::start_with(&with).await;
    second.log().has("another gateway uses the state folder").await;
    second.log().has(&format!("the process {} already listens", first.gateway.pid())).await;
    let reached = ask_local(&state, "GET", "/api/mcp-servers", &Value::Null).await;
    assert_eq!(reached.status, 200);
    // A killed process leaves its socket behind.
    kill(first.gateway.pid(), Signal::KILL);
    second.log().has("commands now reach this gateway").await;
    assert_eq!(ask_local(&state, "GET", "/api/mcp-servers", &Value::Null).await.status, 200);
    assert_eq!(second.stop().await.code, Some(0));
    assert!(!state.join("control.sock").exists());
}
