//! The terminal's client against a server of all eras, over HTTP, over stdio and embedded.

use serde_json::{Value, json};
use testkit::fixture::Eras;

use super::run::{Folder, dragoman, golden, in_folder, program, server};
use super::support::{LEGACY, Puppet, Said};

const ERAS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

#[tokio::test]
async fn the_demo_word_for_word() {
    for (name, args) in [
        ("list", &["list", "demo"][..]),
        ("list-tools", &["list", "demo", "tools", "templates"]),
        ("add", &["call", "demo", "add", "a=2", "b=9007199254740993"]),
        ("prompt", &["prompt", "demo", "introduce", "topic=profiles"]),
        ("welcome", &["read", "demo", "demo://welcome"]),
    ] {
        let run = dragoman(args).await;
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{args:?}");
        golden(&format!("demo-{name}.txt"), run.text());
    }
    let raw = dragoman(&["list", "demo", "--json"]).await.json();
    assert_eq!(raw["refusals"], serde_json::json!([]), "all clients accept the demo");
    assert_eq!(raw["tools"][2]["name"], "add");
    assert_eq!(raw["resourceTemplates"][0]["uriTemplate"], "demo://greeting/{name}");
    let raw = dragoman(&["call", "demo", "echo", "text=hi", "--json"]).await.json();
    assert_eq!(raw["content"][0]["text"], "hi");
}

/// A server with this number of tools that some clients refuse.
pub(crate) async fn odd_tools(count: usize) -> Puppet {
    let tool = |number: usize| {
        json!({ "name": format!("odd_{number}"), "inputSchema": {
            "type": "object", "properties": { "a": { "type": ["string", "integer"] } },
        } })
    };
    Puppet::start(move |_, received| match received.method() {
        "tools/list" => {
            let tools: Vec<Value> = (0..count).map(tool).collect();
            Said::Result(json!({ "tools": tools }), String::new())
        }
        _ => Said::Proper,
    })
    .await
}

#[tokio::test]
async fn a_list_names_the_clients_that_refuse_its_tools() {
    let few = odd_tools(3).await;
    let text = dragoman(&["list", &few.url(), "tools"]).await.text().to_owned();
    assert!(
        text.contains("Clients that refuse tools") && text.contains("3 tools do not suit gemini: "),
        "{text}"
    );
    assert!(text.contains("/properties/a/type") && text.contains("schemas: portable"), "{text}");
    assert!(!text.contains("were examined") && !text.contains("suit cursor"), "{text}");
    let raw = dragoman(&["list", &few.url(), "--json"]).await.json();
    let gemini = raw["refusals"].as_array().expect("refusals").iter().find(|one| one["family"] == "gemini");
    let gemini = gemini.unwrap_or_else(|| panic!("{raw}"));
    assert_eq!((&gemini["count"], &gemini["tools"][0]["name"]), (&json!(3), &json!("odd_0")));
    let tokens = |of: &Value| of.as_u64().expect("a number");
    let each: u64 = raw["tokens"]["tools"].as_object().expect("tools").values().map(tokens).sum();
    assert!(each > 0 && tokens(&raw["tokens"]["total"]) >= each, "{raw}");
    let many = odd_tools(5_001).await;
    let text = dragoman(&["list", &many.url(), "tools"]).await.text().to_owned();
    assert!(
        text.contains("5000 tools do not suit gemini") && text.contains("first 5000 tools were examined"),
        "{text}"
    );
}

#[tokio::test]
async fn every_era_over_both_transports() {
    let http = server(Eras::default()).await;
    for era in ERAS {
        for place in [vec![http.url()], vec!["--".to_owned(), program().to_owned(), "--stdio".to_owned()]] {
            let place: Vec<&str> = place.iter().map(String::as_str).collect();
            let run = |front: &[&'static str]| {
                let url = place.first().filter(|word| **word != "--");
                let words = front[..1].iter().chain(url).chain(&front[1..]).copied().chain(["--era", era]);
                let behind = place.iter().copied().filter(|_| url.is_none());
                let args: Vec<String> = words.chain(behind).map(str::to_owned).collect();
                async move { dragoman(&args.iter().map(String::as_str).collect::<Vec<_>>()).await }
            };
            let ping = run(&["ping", "--json"]).await;
            assert_eq!(ping.json()["protocol"], era, "{ping:?}");
            let list = run(&["list", "tools", "--json"]).await.json();
            assert!(list["tools"].as_array().unwrap().len() > 20 && list.get("prompts").is_none());
            let text = run(&["call", "test_simple_text"]).await;
            assert_eq!(text.text(), "This is a simple text response for testing.\n", "{text:?}");
            let read = run(&["read", "test://template/7/data"]).await;
            assert!(read.code == Some(0) && read.text().contains('7'), "{read:?}");
            let prompt = run(&["prompt", "test_prompt_with_arguments", "arg1=x", "arg2=y"]).await;
            assert!(prompt.text().starts_with("user:\n") && prompt.text().contains('x'), "{prompt:?}");
            let failed = run(&["call", "test_error_handling"]).await;
            assert_eq!(failed.code, Some(1));
            assert!(
                failed.text().contains("intentionally") && failed.err.contains("the tool reported an error")
            );
        }
    }
}

#[tokio::test]
async fn the_era_is_found_out() {
    for (eras, want) in
        [(Eras::default(), "2026-07-28"), (Eras::Modern, "2026-07-28"), (Eras::Legacy, "2025-11-25")]
    {
        let http = server(eras).await;
        let ping = dragoman(&["ping", &http.url(), "--json"]).await;
        assert_eq!(ping.json()["protocol"], want);
        assert_eq!(ping.json()["transport"], "HTTP");
    }
    for (eras, want) in [("both", "2026-07-28"), ("legacy", "2025-11-25"), ("modern", "2026-07-28")] {
        let ping = dragoman(&["ping", "--json", "--", program(), "--stdio", "--eras", eras]).await;
        assert_eq!(ping.json()["protocol"], want, "{ping:?}");
    }
    let http = server(Eras::Legacy).await;
    let refused = dragoman(&["ping", &http.url(), "--era", "2026-07-28"]).await;
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("omit --era"), "{}", refused.err);
}

#[tokio::test]
async fn arguments_come_in_four_ways() {
    let folder = Folder::new().with("args.json", r#"{"a": 1, "b": 2}"#);
    for (args, stdin) in [
        (&["call", "demo", "add", "a=1", "b=2"][..], ""),
        (&["call", "demo", "add", "--args", r#"{"a":1,"b":2}"#], ""),
        (&["call", "demo", "add", "--args", "@args.json"], ""),
        (&["call", "demo", "add", "-"], r#"{"a":1,"b":2}"#),
    ] {
        let run = in_folder(&folder, args, stdin).await;
        assert_eq!((run.code, run.text()), (Some(0), "3\n"), "{args:?}: {}", run.err);
    }
    for (args, says) in [
        (&["call", "demo", "add", "a=x", "b=2"][..], "its type must be number"),
        (&["call", "demo", "add", "c=1"], "the tool takes a, b"),
        (&["call", "demo", "add", "a"], "key=value"),
        (&["call", "demo", "add", "--args", "[1]"], "not an object"),
        (&["call", "demo", "add", "--args", "{", "-"], "use one of them"),
        (&["call", "demo", "add", "a=1", "--args", "{}"], "pass the arguments either"),
        (&["call", "demo"], "the tool's name is missing"),
        (&["call", "demo", "add", "--args", "@none.json"], "cannot read none.json"),
    ] {
        let run = in_folder(&folder, args, "").await;
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(run.err.contains(says), "{args:?}: {}", run.err);
    }
}

#[tokio::test]
async fn arguments_that_headers_repeat() {
    let http = server(Eras::Modern).await;
    let arguments = r#"{"region":"Köln","priority":5,"dry_run":true,"target":{"tenant":"t"}}"#;
    let run = dragoman(&["call", &http.url(), "test_x_mcp_header", "--args", arguments]).await;
    assert_eq!(run.code, Some(0), "{run:?}");
    let echoed: Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!(echoed, serde_json::from_str::<Value>(arguments).unwrap());
}

#[tokio::test]
async fn content_of_every_kind() {
    let http = server(Eras::default()).await;
    let url = http.url();
    let mixed = dragoman(&["call", &url, "test_multiple_content_types"]).await;
    golden("content.txt", mixed.text());
    let folder = Folder::new();
    let saved = in_folder(&folder, &["call", &url, "test_multiple_content_types", "--save", "out"], "").await;
    assert!(saved.text().contains("saved as out/test_multiple_content_types.png"), "{saved:?}");
    let image = std::fs::read(folder.0.join("out/test_multiple_content_types.png")).unwrap();
    assert!(image.starts_with(b"\x89PNG"));
    assert!(folder.0.join("out/mixed-content-resource.json").is_file());
    let piped = dragoman(&["read", &url, "test://static-binary"]).await;
    assert_eq!(piped.out, image);
    let sound = dragoman(&["call", &url, "test_audio_content"]).await;
    assert!(sound.text().starts_with("[audio, audio/wav, "), "{}", sound.text());
}

#[tokio::test]
async fn what_a_server_says_meanwhile() {
    let http = server(Eras::default()).await;
    for era in ERAS {
        let quiet = dragoman(&["call", &http.url(), "test_tool_with_logging", "--era", era]).await;
        assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""), "{era}");
        let loud = dragoman(&["call", &http.url(), "test_tool_with_logging", "-v", "--era", era]).await;
        assert!(loud.err.contains("[info] fixture: Tool processing data\n"), "{era}: {}", loud.err);
        let progress = dragoman(&["call", &http.url(), "test_tool_with_progress", "-v", "--era", era]).await;
        assert!(progress.err.contains(" 50% working\n100% working\n"), "{era}: {}", progress.err);
    }
}

#[tokio::test]
async fn questions_are_declined_where_nobody_can_be_asked() {
    let http = server(Eras::default()).await;
    for era in &ERAS[1..] {
        let run = dragoman(&["call", &http.url(), "test_elicitation", "message=Who?", "--era", era]).await;
        assert_eq!(run.text(), "User response: action=decline, content=null\n", "{run:?}");
        assert!(run.err.contains("declined the server's question \"Who?\""), "{}", run.err);
        let sampling = dragoman(&["call", &http.url(), "test_sampling", "prompt=x", "--era", era]).await;
        assert_eq!(sampling.code, Some(1), "{sampling:?}");
    }
}

#[tokio::test]
async fn refusals_have_words_and_json() {
    let http = server(Eras::default()).await;
    let url = http.url();
    let unknown = dragoman(&["call", "demo", "nothing"]).await;
    assert_eq!(unknown.code, Some(1));
    golden("unknown-tool.txt", &unknown.err);
    let many = dragoman(&["call", &url, "nothing"]).await;
    assert!(many.err.contains("`dragoman list TARGET tools` shows all"), "{}", many.err);
    let missing = dragoman(&["read", &url, "test://nothing", "--json"]).await;
    assert_eq!(
        (missing.code, &missing.json()["error"]["data"]),
        (Some(1), &json!({"uri": "test://nothing"}))
    );
    for (args, code, says) in [
        (&["list"][..], 2, "which server?"),
        (&["prompt", "demo", "introduc"], 1, "did you mean \"introduce\"?"),
        (&["read", "demo", "demo://welcom"], 1, "did you mean \"demo://welcome\"?"),
        (
            &["list", "nobody"],
            2,
            "there is no server \"nobody\"; without a configuration, the only one is demo",
        ),
        (&["list", "demo", "toys"], 2, "did you mean \"tools\"?"),
        (&["list", "demo", "weather"], 2, "list tools, prompts, resources or templates"),
        (&["list", "127.0.0.1:8808/mcp"], 2, "did you mean http://127.0.0.1:8808/mcp?"),
        (&["list", "dmeo"], 2, "did you mean demo?"),
        (&["call", "demo", "add", "a=1"], 2, "the argument b (number) is missing"),
        (&["read", "demo"], 2, "one resource"),
        (&["prompt", "demo"], 2, "the prompt's name is missing"),
        (&["ping", "demo", "x"], 2, "unexpected argument"),
        (&["ping", "http://"], 2, "http"),
        (&["ping", "ftp://h/"], 1, "http"),
        (&["ping", "http://u:p@h/"], 2, "--header"),
        (&["ping", "http://127.0.0.1:9/mcp"], 1, "refused the connection"),
        (&["ping", "demo", "-H", "a: b"], 2, "omit --header"),
        (&["ping", "--", "/nowhere/server"], 1, "/nowhere/server"),
        (&["ping", "--", "true"], 1, "check that this command starts an MCP server"),
    ] {
        let run = dragoman(args).await;
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.err);
        assert!(run.err.contains(says) && run.out.is_empty(), "{args:?}: {}", run.err);
    }
}

/// A server may have tools that it does not list, so a mistyped name must not reach it.
#[tokio::test]
async fn a_mistyped_tool_is_not_called() {
    let careful = Puppet::start(|_, request| match request.method() {
        "tools/list" => {
            let tools = json!([{"name": "delete_draft", "inputSchema": {"type": "object"}}]);
            Said::Result(json!({"tools": tools}), String::new())
        }
        _ => Said::Proper,
    })
    .await;
    let url = careful.url();
    for name in ["delete_drafts", "deletedraft", "Delete_Draft"] {
        let refused = dragoman(&["call", &url, name, "--era", LEGACY]).await;
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains("did you mean \"delete_draft\"?"), "{refused:?}");
    }
    assert_eq!(careful.count("tools/call"), 0);
    for words in [&["delete_drafts", "--args", "{}"][..], &["other"], &["delete_draft"]] {
        let called = dragoman(&[&["call", &url][..], words, &["--era", LEGACY]].concat()).await;
        assert_eq!(called.code, Some(0), "{words:?}: {called:?}");
    }
    assert_eq!(careful.count("tools/call"), 3);
}

#[tokio::test]
async fn servers_of_the_configuration_by_name() {
    let http = server(Eras::default()).await;
    let text = format!(
        "mcpServers:\n  web: {{ url: '{}', headers: {{ X-Token: abc }} }}\n  child: {{ command: '{}', args: [--stdio] }}\n",
        http.url(),
        program()
    );
    let folder = Folder::new().with("dragoman.yaml", text);
    for (name, transport) in [("web", "HTTP"), ("child", "stdio")] {
        let run = in_folder(&folder, &["ping", name, "--json"], "").await;
        assert_eq!(run.json()["transport"], transport, "{run:?}");
    }
}

#[tokio::test]
async fn a_reader_that_goes_is_no_fault() {
    let folder = Folder::new();
    let mut command = super::run::command(&folder.0);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = command.args(["list", "demo"]).stdout(writer).status().await.unwrap();
    assert_eq!(status.code(), Some(0));
}
