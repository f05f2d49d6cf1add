//! A hostile server at a terminal: nothing that it says moves the cursor, changes a colour, hides or reorders text, or
//! fills the screen.

use serde_json::{Value, json};

use super::person::Person;
use super::support::{LEGACY, Puppet, Said};

/// Sequences that clear the screen, set the title, move the cursor, ring the bell, and hide and reorder text.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\r\u{8}\u{202e}txt.exe\u{2066}\u{200b}\u{e0041}<script>alert(1)</script>";

fn huge() -> String {
    format!("{EVIL} {}", "all work and no play ".repeat(50_000))
}

/// A text that is long, but not so long that its item is left out of a list.
fn long() -> String {
    format!("{EVIL} {}", "all work and no play ".repeat(1_000))
}

fn answer(method: &str) -> Option<Value> {
    let schema = |name: &str| {
        let own = json!({"type": EVIL, "description": long(), "default": long(), "enum": [EVIL]});
        json!({"type": "object", "properties": {name: own}})
    };
    let tool = |name: String, argument: &str| json!({"name": name, "title": long(), "description": long(), "inputSchema": schema(argument)});
    let large = json!({"name": "large", "description": huge(), "inputSchema": {"type": "object"}});
    Some(match method {
        "initialize" => json!({
            "protocolVersion": LEGACY, "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": huge(), "version": EVIL}, "instructions": huge(),
        }),
        "tools/list" => {
            json!({"tools": [tool("ok".to_owned(), "a"), tool(long(), "a"), tool("no".to_owned(), EVIL), large]})
        }
        "tools/call" => json!({
            "content": [
                {"type": "text", "text": EVIL},
                {"type": "resource_link", "uri": format!("file:///{EVIL}"), "name": EVIL},
                {"type": "resource", "resource": {"uri": EVIL, "mimeType": EVIL, "text": EVIL}},
                {"type": EVIL, "data": EVIL},
            ],
            "structuredContent": {EVIL: EVIL},
            "isError": true,
        }),
        _ => return None,
    })
}

async fn evil() -> Puppet {
    Puppet::start(|_, request| match answer(request.method()) {
        Some(result) => Said::Result(result, String::new()),
        None if request.method() == "ping" => {
            let error = json!({"code": -32000, "message": huge(), "data": {"x": huge()}});
            let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
            Said::Status(200, "application/json", body.to_string())
        }
        None => Said::Proper,
    })
    .await
}

/// Our own sequence for the status line, which is the only one that may be on the screen.
const CLEAR: &str = "\r\u{1b}[K";

/// The text on a screen, without our own sequence.
fn text_of(screen: &str) -> String {
    screen.replace(CLEAR, "\n").replace("\r\n", "\n")
}

/// The characters in a text that control a terminal, or that hide or reorder others.
fn bad_in(text: &str) -> Vec<char> {
    let is_bad = |c: char| (c.is_control() && c != '\n') || ('\u{2028}'..='\u{202e}').contains(&c);
    text.chars().filter(|c| is_bad(*c) || "\u{200b}\u{2066}".contains(*c)).collect()
}

/// A server that asks a question during each call.
async fn curious(question: Value) -> Puppet {
    Puppet::start(move |_, request| {
        let event = |message: Value| format!("data: {message}\n\n");
        match request.method() {
            _ if request.body.get("result").is_some() => Said::Status(202, "text/plain", String::new()),
            "tools/call" => {
                let asks =
                    json!({"jsonrpc": "2.0", "id": 1000, "method": "elicitation/create", "params": question});
                let result = json!({"content": [{"type": "text", "text": "done"}]});
                let answers = json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result});
                Said::Status(200, "text/event-stream", event(asks) + &event(answers))
            }
            _ => Said::Proper,
        }
    })
    .await
}

#[tokio::test]
async fn its_questions_change_nothing_on_a_terminal() {
    let form = |own: Value| {
        let schema = json!({"type": "object", "properties": {EVIL: own}});
        json!({"message": EVIL, "requestedSchema": schema})
    };
    let choice = json!({"const": EVIL, "title": long()});
    let link = |url: String| json!({"mode": "url", "message": huge(), "elicitationId": "1", "url": url});
    for (question, says) in [
        (form(json!({"type": "string", "title": long(), "description": long(), "default": EVIL})), "text"),
        (
            form(json!({"type": "array", "items": {"enum": [EVIL, long()]}, "default": [EVIL, long()]})),
            "numbers of",
        ),
        (form(json!({"type": "array", "items": {"anyOf": [choice]}, "default": [EVIL]})), "numbers of"),
        (form(json!({"type": "string", "enum": [EVIL], "enumNames": [EVIL], "default": EVIL})), "a choice"),
        (form(json!({"type": "number", "default": {EVIL: [EVIL]}})), "number"),
        (form(json!({"type": "boolean", "default": long()})), "yes or no"),
        (link(format!("https://h.example/{EVIL}")), "Open it in a browser"),
        (link(format!("https://{EVIL}.example/")), "Open it in a browser"),
        (link(format!("https://h.example/{}", "x".repeat(1 << 20))), "declined to open an address"),
    ] {
        let server = curious(question).await;
        let args = ["call", &server.url(), "ok", "--era", LEGACY, "--color", "never"];
        let mut person = Person::at_width(80, &args);
        person.sees("The server asks").await;
        person.types("!\n");
        let (code, screen) = person.leaves().await;
        let shown = text_of(&screen);
        assert!(code == Some(0) && shown.contains(says), "{says}: {shown}");
        assert_eq!(bad_in(&shown), Vec::<char>::new(), "{says}");
        assert!(shown.len() < 60_000, "{says}: {} bytes", shown.len());
    }
}

#[tokio::test]
async fn it_changes_nothing_on_a_terminal() {
    let server = evil().await;
    let url = server.url();
    for words in [
        &["list"][..],
        &["list", "-v"],
        &["list", "ok"],
        &["list", "oc"],
        &["call", "ok"],
        &["call", "nothing"],
        &["call", "ok", "x=1"],
        &["ping"],
        &["call", "ok", "--json"],
        &["list", "--json", "ok"],
    ] {
        for width in [80, 40] {
            let args: Vec<&str> =
                [&words[..1], &[&url], &words[1..], &["--era", LEGACY, "--color", "never"]].concat();
            let (_, screen) = Person::at_width(width, &args).leaves().await;
            let shown = text_of(&screen);
            assert_eq!(bad_in(&shown), Vec::<char>::new(), "{words:?} at {width}");
            assert!(shown.len() > 40, "{words:?}: {shown}");
            assert!(words != ["list", "ok"] || shown.contains("Arguments"), "{shown}");
            let is_raw = words.contains(&"--json");
            assert!(is_raw || shown.len() < 60_000, "{words:?} at {width}: {} bytes", shown.len());
            let fits = |line: &&str| line.chars().count() <= usize::from(width) || !line.trim().contains(' ');
            let wide: Vec<&str> = shown.lines().filter(|line| !fits(line)).collect();
            assert!(is_raw || words[0] == "call" || wide.is_empty(), "{words:?} at {width}: {wide:?}");
        }
    }
    assert!(huge().len() > 1 << 20, "the texts are as long as they should be");
}
