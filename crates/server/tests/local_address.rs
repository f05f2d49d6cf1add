//! `listenSocket`: clients at a Unix socket get what clients at other addresses get, within the rights of its file, until the gateway stops.

mod support;

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use support::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// A path for a socket, short enough for every system.
fn place(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("dragoman-{}-{name}.sock", std::process::id()))
}

fn config(path: &Path, more: &str) -> String {
    format!("listenSocket: {}\nmcpServers: {{ demo: {{ native: demo }} }}\n{more}", path.display())
}

/// Posts `initialize` with these headers; returns the whole answer.
async fn asked(path: &Path, headers: &str) -> String {
    let mut stream = UnixStream::connect(path).await.expect("somebody listens");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("it is read");
    let mut answer = Vec::new();
    soon("the answer", stream.read_to_end(&mut answer)).await.expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn clients_at_the_socket_are_served_and_its_file_goes_with_the_gateway() {
    let path = place("served");
    let gateway = Gateway::start_with(&Start { config: &config(&path, ""), ..Start::default() }).await;
    let answer = asked(&path, "Host: localhost\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("serverInfo"), "{answer}");
    let file = std::fs::metadata(&path).expect("a file");
    assert!(file.file_type().is_socket());
    assert_eq!(file.permissions().mode() & 0o777, 0o660, "the owner and the group");
    // Names are checked as everywhere: a page in a browser cannot get through by another name.
    let answer = asked(&path, "Host: evil.example\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 403") || answer.starts_with("HTTP/1.1 421"), "{answer}");
    assert_eq!(gateway.stop().await.code, Some(0));
    assert!(!path.exists());
}

#[tokio::test]
async fn callers_must_prove_who_they_are_there_as_well() {
    let path = place("keys");
    let more = "auth: { keys: true }\n";
    let gateway = Gateway::start_with(&Start { config: &config(&path, more), ..Start::default() }).await;
    let answer = asked(&path, "Host: localhost\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert_eq!(gateway.stop().await.code, Some(0));
}

#[tokio::test]
async fn a_second_gateway_does_not_take_the_socket_and_a_left_over_file_is_replaced() {
    let path = place("twice");
    // A process that was killed leaves its file behind.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
    let config = config(&path, "");
    let gateway = Gateway::start_with(&Start { config: &config, ..Start::default() }).await;
    let second = run_to_end("serve", &Start { config: &config, ..Start::default() }).await;
    assert_eq!(second.code, Some(1));
    assert!(second.err.contains("listenSocket") && second.err.contains("already listens"), "{}", second.err);
    assert!(asked(&path, "Host: localhost\r\n").await.starts_with("HTTP/1.1 200"));
    assert_eq!(gateway.stop().await.code, Some(0));
    let lock = path.with_extension("sock.lock");
    let _ = std::fs::remove_file(lock);
}

#[tokio::test]
async fn a_file_that_is_no_socket_is_never_removed() {
    let path = place("file");
    std::fs::write(&path, "precious").expect("a file");
    let ended = run_to_end("serve", &Start { config: &config(&path, ""), ..Start::default() }).await;
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("not a socket"), "{}", ended.err);
    assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), Some("precious"));
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("sock.lock")));
}
