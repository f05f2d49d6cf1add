//! The fickle upstream has to fail exactly as its switches specify; otherwise a run with it proves nothing.

use super::server::{Fickle, Voice, watch};
use super::session::Session;
use super::{Lifecycle, WORDINGS, http};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

/// A voice that keeps all messages.
#[derive(Default)]
struct Kept(Vec<Value>);

impl Voice for Kept {
    fn send(&mut self, message: &Value) -> std::io::Result<()> {
        self.0.push(message.clone());
        Ok(())
    }
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("fickle-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

/// Serves over HTTP for as long as the test runs.
fn serve(switches: &str) -> (SocketAddr, PathBuf) {
    let path = file(&format!("http-{:?}", std::thread::current().id()), switches);
    let server = Arc::new(Fickle::new(Lifecycle::Handshake, Some(path.clone()), None));
    watch(&server);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || http::serve(&listener, &server));
    (address, path)
}

/// The whole answer to one request, over a connection of its own.
fn ask(address: SocketAddr, headers: &str, message: &Value) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = message.to_string();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn every_call_is_written_down_once_with_its_nonce() {
    let ledger = file("ledger", "");
    let server = Fickle::new(Lifecycle::Handshake, None, Some(ledger.clone()));
    let session = Session::default();
    let mut kept = Kept::default();
    let answer = server.answer(&call("write", &json!({ "nonce": "n1" })), &session, &mut kept);
    assert_eq!(answer["result"]["content"][0]["text"], "write:n1");
    let mut talk = call("talk", &json!({ "nonce": "n2", "notes": 2 }));
    talk["params"]["_meta"] = json!({ "progressToken": 5 });
    server.answer(&talk, &session, &mut kept);
    assert_eq!(kept.0.len(), 4);
    assert!(kept.0.iter().all(|message| message.to_string().contains("n2")), "{:?}", kept.0);
    let lines = std::fs::read_to_string(&ledger).unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(server.answer(&call("write", &json!({})), &session, &mut kept)["error"]["code"] == -32602);
    std::fs::remove_file(ledger).unwrap();
}

#[test]
fn lists_follow_the_switches_and_the_client() {
    let path = file("lists", "tool=more gate malformed deep");
    let server = Fickle::new(Lifecycle::Handshake, Some(path.clone()), None);
    let names = |capabilities: Value| -> BTreeSet<String> {
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let answer = server.answer(&list, &Session::new(0, capabilities), &mut Kept::default());
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let (some, all) = (names(json!({})), names(json!({ "sampling": {} })));
    assert!(some.contains("more") && some.contains("malformed") && some.contains("deep"));
    assert_eq!(all.difference(&some).collect::<Vec<_>>(), ["gated"]);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_forgotten_session_is_refused_as_told() {
    let (address, path) = serve("");
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25" } });
    let answer = ask(address, "", &hello);
    let id = answer.split("Mcp-Session-Id: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
    let header = format!("Mcp-Session-Id: {id}\r\n");
    let read = call("read", &json!({ "nonce": "n" }));
    assert!(ask(address, &header, &read).contains("read:n"));
    for wording in &WORDINGS {
        std::fs::write(&path, format!("forget=1 wording={}", wording.name)).unwrap();
        let status = format!("HTTP/1.1 {}\r\n", wording.status);
        // The file is read every few milliseconds.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(5);
        loop {
            let refused = ask(address, &header, &read);
            let code = wording.code.is_none_or(|code| refused.contains(&code.to_string()));
            if refused.starts_with(&status) && refused.contains(wording.words) && code {
                break;
            }
            assert!(std::time::Instant::now() < until, "{}: {refused}", wording.name);
        }
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn wordings_differ() {
    let all: BTreeSet<_> =
        WORDINGS.iter().map(|wording| (wording.status, wording.code, wording.words)).collect();
    assert_eq!(all.len(), WORDINGS.len());
}

#[test]
fn a_cut_stream_has_no_answer() {
    let (address, path) = serve("cut");
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} });
    let answer = ask(address, "", &hello);
    let id = answer.split("Mcp-Session-Id: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
    let cut = ask(address, &format!("Mcp-Session-Id: {id}\r\n"), &call("write", &json!({ "nonce": "n" })));
    assert!(cut.contains("text/event-stream") && !cut.contains("write:n"), "{cut}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn stateless_clients_are_asked_by_results() {
    let server = Fickle::new(Lifecycle::Both, None, None);
    let mut ask = call("ask", &json!({ "nonce": "n" }));
    ask["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "sampling": {} },
    });
    let round = server.answer(&ask, &Session::default(), &mut Kept::default());
    assert_eq!(round["result"]["resultType"], "input_required");
    assert!(round["result"]["inputRequests"]["who"].to_string().contains("nonce n"));
    ask["params"]["inputResponses"] = json!({ "who": { "content": { "type": "text", "text": "me" } } });
    let done = server.answer(&ask, &Session::default(), &mut Kept::default());
    assert_eq!(done["result"]["content"][0]["text"], "ask:n:me");
    assert_eq!(done["result"]["resultType"], "complete");
}
