//! Arguments that the tools of embedded servers do not have: refused, except in presets.

use serde_json::{Value, json};

use super::run::{Folder, in_folder};

const CONFIG: &str = "mcpServers:\n  demo: { native: demo }\n  strict: { native: plain }\n  loose: { native: plain, unknownArguments: ignore }\n";

/// The outcome of a call at the server that `dragoman stdio` with these words provides.
async fn called(words: &[&str], tool: &str, arguments: &Value) -> Value {
    let folder = Folder::new().with("mine.yaml", CONFIG);
    let arguments = arguments.to_string();
    let front = ["call", tool, "--args", &arguments, "--json", "--", env!("CARGO_BIN_EXE_dragoman"), "stdio"];
    let run = in_folder(&folder, &[&front[..], words].concat(), "").await;
    assert!(run.code < Some(2), "{run:?}");
    run.json()
}

#[tokio::test]
async fn they_are_refused_with_the_name_that_was_meant_except_in_presets() {
    let call = json!({"name": "Ada", "nam": "x"});
    let mine = ["--config", "mine.yaml"];
    let refused = called(&mine, "strict__hello", &call).await;
    assert_eq!(refused["isError"], true, "{refused}");
    let said = "unknown argument \"nam\": did you mean \"name\"? The tool takes name";
    assert_eq!(refused["content"][0]["text"], said, "{refused}");
    for (words, tool) in [(&mine[..], "loose__hello"), (&["--preset", "bb"], "hello")] {
        let answer = called(words, tool, &call).await;
        assert_eq!(answer["content"][0]["text"], "Hello, Ada!", "{tool}: {answer}");
    }
    let demo = called(&mine, "demo__echo", &json!({"text": "a", "txt": "b"})).await;
    let said = "unknown argument \"txt\": did you mean \"text\"? The tool takes text";
    assert_eq!(demo["content"][0]["text"], said, "{demo}");
    // The arguments that n8n adds to each call.
    let call = json!({"name": "Ada", "toolCallId": "call_1", "tool": "hello", "sessionId": "s", "action": "sendMessage"});
    for tool in ["strict__hello", "demo__hello"] {
        let answer = called(&mine, tool, &call).await;
        assert_eq!(answer["content"][0]["text"], "Hello, Ada!", "{tool}: {answer}");
    }
}
