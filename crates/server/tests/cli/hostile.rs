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
            let shown = screen.replace(CLEAR, "\n").replace("\r\n", "\n");
            let is_bad = |c: char| (c.is_control() && c != '\n') || ('\u{2028}'..='\u{202e}').contains(&c);
            let bad: Vec<char> =
                shown.chars().filter(|c| is_bad(*c) || "\u{200b}\u{2066}".contains(*c)).collect();
            assert!(bad.is_empty(), "{words:?} at {width}: {bad:?}");
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
