//! The odd upstream has to misbehave exactly as specified; otherwise it proves nothing.

use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use super::{Init, Pages, Server, http, stdio, tools::TOOLS};

/// An output buffer that can be read afterwards.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The output of `server` for these lines, and its exit code.
fn talk(server: &Server, lines: &[String]) -> (String, u8) {
    let output = Output::default();
    let code = stdio::run(server, lines.join("\n").as_bytes(), output.clone()).unwrap();
    let bytes = output.0.lock().unwrap().clone();
    (String::from_utf8(bytes).unwrap(), code)
}

fn call(tool: &str, arguments: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
        .to_string()
}

fn proper() -> Server {
    Server::new(false, Init::Proper, None)
}

fn called(tool: &str, arguments: &Value) -> String {
    talk(&proper(), &[call(tool, arguments)]).0
}

const OK: &str =
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}}\n";

#[test]
fn each_tool_misbehaves_in_its_way() {
    let none = json!({});
    assert_eq!(called("ok", &none), OK);
    assert!(serde_json::from_str::<Value>(&called("garbage", &none)).is_err());
    assert_eq!(called("silent", &none), "");
    assert_eq!(called("twice", &none), OK.repeat(2));
    assert_eq!(
        called("late", &json!({ "ms": 600_000 })).as_str().trim(),
        "",
        "the process does not wait for it"
    );
    let foreign = called("foreign_id", &none);
    assert!(
        foreign.starts_with("{\"jsonrpc\":\"2.0\",\"id\":\"nobody-asked-this\"") && foreign.ends_with(OK)
    );
    assert!(called("bad_jsonrpc", &none).starts_with("{\"jsonrpc\":\"1.0\",\"id\":7,\"result\""));
    let both: Value = serde_json::from_str(&called("wrong_type", &none)).unwrap();
    assert!(both.get("result").is_some() && both.get("error").is_some());
    let deep = called("deep", &none);
    assert_eq!(deep.bytes().filter(|byte| *byte == b'[').count(), 1 << 20);
    assert_eq!(
        called("deep", &json!({ "bytes": 3, "balanced": true })).trim(),
        r#"{"jsonrpc":"2.0","id":7,"result":[[[]]]}"#
    );
}

#[test]
fn a_huge_line_is_one_proper_message() {
    let huge = called("huge_line", &json!({ "bytes": 300_000, "then_answer": true }));
    let (first, second) = huge.split_once('\n').unwrap();
    let first: Value = serde_json::from_str(first).unwrap();
    assert_eq!(first["result"]["content"][0]["text"].as_str().unwrap().len(), 300_000);
    assert_eq!(second, OK);
}

#[test]
fn dying_ends_with_the_code_and_answers_nobody_else() {
    let (printed, code) = talk(&proper(), &[call("die", &json!({ "code": 9 })), call("ok", &json!({}))]);
    assert_eq!((printed.as_str(), code), ("", 9));
    let (printed, code) = talk(&proper(), &[call("die", &json!({ "half": true }))]);
    assert_eq!((printed.as_str(), code), (&OK[..OK.trim().len() / 2], 3));
}

#[test]
fn raw_gives_and_takes_exact_bytes() {
    let odd = r#" {"x": 1.2345678901234567890e2,"id" : 12345678901234567890,"method":"tools/call", "params":{"_meta":{"a":"\u00e4"},"name":"raw"},"jsonrpc":"2.0"}"#;
    let (printed, _) = talk(&proper(), &[odd.into()]);
    let answer: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(answer["result"]["_meta"]["received"], odd);
    assert!(printed.contains("\"id\":12345678901234567890,"));

    let line = r#"{"id":"\u0061","method":"tools/call","params":{"name":"raw","arguments":{"notify":{"method": "n"},"reply":{"b":1e2, "a":-0.0}}}}"#;
    let (printed, _) = talk(&proper(), &[line.into()]);
    assert_eq!(
        printed,
        "{\"method\": \"n\"}\n{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\",\"result\":{\"b\":1e2, \"a\":-0.0}}\n"
    );
}

#[test]
fn odd_calls_are_no_trouble() {
    for call in [
        r#"{"id":1,"method":"tools/call","params":{"name":"raw","arguments":{"text":5,"ms":"x","bytes":-1},"_meta":7}}"#,
        r#"{"id":1,"method":"tools/call","params":{"name":"raw","arguments":[]}}"#,
        r#"{"id":1,"method":"tools/call","params":{"name":"raw","arguments":null}}"#,
    ] {
        let answer: Value = serde_json::from_str(&talk(&proper(), &[call.into()]).0).unwrap();
        assert_eq!(answer["result"]["_meta"]["received"], call);
    }
    let none = r#"{"id":1,"method":"tools/call","params":[]}"#;
    assert!(talk(&proper(), &[none.into()]).0.contains("-32602"));
    assert!(talk(&proper(), &["[".repeat(100_000), call("ok", &json!({}))]).0.ends_with(OK));
}

#[test]
fn it_shakes_hands_as_told() {
    let hello = r#"{"id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#.to_owned();
    let discover = r#"{"id":2,"method":"server/discover","params":{}}"#.to_owned();
    let lines = [hello.clone(), discover];
    let answers = |server: Server| talk(&server, &lines).0;
    let legacy = answers(proper());
    assert!(legacy.contains(r#""protocolVersion":"2025-06-18""#) && legacy.contains("-32601"));
    assert!(answers(Server::new(true, Init::Proper, None)).contains(r#""supportedVersions":["2026-07-28"]"#));
    assert_eq!(answers(Server::new(true, Init::Silent, None)), "");
    assert!(answers(Server::new(true, Init::Garbage, None)).lines().all(|line| line.ends_with("not JSON.")));
    assert_eq!(answers(Server::new(true, Init::Error, None)).matches("-32603").count(), 2);
    assert_eq!(talk(&Server::new(false, Init::Die, None), &[hello]), (String::new(), 3));
}

#[test]
fn lists_are_complete_and_endless_on_request() {
    let ask = vec![r#"{"id":1,"method":"tools/list"}"#.to_owned(); 3];
    let tools = |server: Server| -> Vec<Value> {
        let (printed, _) = talk(&server, &ask);
        printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["result"].clone()).collect()
    };
    for page in tools(proper()) {
        assert_eq!(page["tools"].as_array().unwrap().len(), TOOLS.len());
        assert_eq!(page.get("nextCursor"), None);
    }
    assert!(
        tools(Server::new(false, Init::Proper, Some(Pages::Same)))
            .iter()
            .all(|page| page["nextCursor"] == "again")
    );
    let fresh = tools(Server::new(false, Init::Proper, Some(Pages::Fresh)));
    assert_ne!(fresh[0]["nextCursor"], fresh[1]["nextCursor"]);
    assert_ne!(fresh[0]["tools"].as_array().unwrap().last(), fresh[1]["tools"].as_array().unwrap().last());
}

/// The whole response over one connection to these bodies.
fn post(bodies: &[String]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || http::serve(&listener, &Arc::new(proper())));
    let mut stream = TcpStream::connect(address).unwrap();
    for (index, body) in bodies.iter().enumerate() {
        let last = if index + 1 == bodies.len() { "Connection: close\r\n" } else { "" };
        write!(stream, "POST /mcp HTTP/1.1\r\n{last}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn over_http_it_misbehaves_too() {
    let ok = OK.trim();
    let none = json!({});
    let answer = post(&[call("ok", &none)]);
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n") && answer.ends_with(ok)
    );
    let answer = post(&[call("twice", &none)]);
    assert!(answer.contains("text/event-stream") && answer.matches(&format!("data: {ok}\n\n")).count() == 2);
    let answer = post(&[call("late", &json!({ "ms": 1 })), call("huge_line", &json!({ "bytes": 100_000 }))]);
    assert!(answer.contains(ok) && answer.ends_with("xxx\"}]}}"));
    let answer = post(&[call("die", &json!({ "half": true })), call("ok", &none)]);
    assert!(
        answer.ends_with(&ok[..ok.len() / 2]),
        "closed in the middle, the next call is not answered: {answer}"
    );
    assert_eq!(post(&[call("die", &none)]), "");
    assert!(post(&[call("garbage", &none)]).ends_with("not an answer either"));
    assert!(post(&[r#"{"method":"notifications/initialized"}"#.into()]).starts_with("HTTP/1.1 202"));
}
