//! The index and its ranking, on small lists that a reader can judge.

use super::*;

struct Tool {
    server: &'static str,
    own: &'static str,
    text: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool {
        server: "blog",
        own: "wp_get_posts",
        text: r#"{"name":"wp_get_posts","description":"List WordPress posts","inputSchema":{"type":"object","properties":{"status":{"type":"string","enum":["draft","publish"]},"tagIds":{"type":"array"}}}}"#,
    },
    Tool {
        server: "blog",
        own: "wp_delete_post",
        text: r#"{"name":"wp_delete_post","description":"Moves a post to the trash.","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}}}}"#,
    },
    Tool {
        server: "code",
        own: "createIssue",
        text: r#"{"name":"createIssue","title":"Create an issue","description":"Opens an issue in a repository."}"#,
    },
    Tool {
        server: "code",
        own: "search",
        text: r#"{"name":"search","description":"Finds code.","inputSchema":{"$defs":{"Scope":{"properties":{"organisation":{"description":"Limits the results"}}}}}}"#,
    },
    Tool {
        server: "weather",
        own: "get_forecast",
        text: r#"{"name":"get_forecast","description":"Tells if it will rain."}"#,
    },
];

fn index() -> ToolIndex {
    let text = |tool: &'static Tool| (format!("{}__{}", tool.server, tool.own), tool);
    let all: Vec<(String, &Tool)> = TOOLS.iter().map(text).collect();
    ToolIndex::build(all.iter().map(|(name, tool)| ToolText {
        server: tool.server,
        name,
        own_name: tool.own,
        text: tool.text.as_bytes(),
    }))
}

fn found(query: &str) -> Vec<&'static str> {
    index().search(query, 3).into_iter().map(|tool| TOOLS[tool as usize].own).collect()
}

fn first(query: &str) -> &'static str {
    found(query).first().copied().unwrap_or("nothing")
}

#[test]
fn tools_are_found_by_every_part_of_their_text() {
    for (query, wanted) in [
        ("list the posts", "wp_get_posts"),
        ("drafts", "wp_get_posts"),
        ("tag ids", "wp_get_posts"),
        ("create issues", "createIssue"),
        ("Will it rain?", "get_forecast"),
        ("weather", "get_forecast"),
        ("organisations", "search"),
    ] {
        assert_eq!(first(query), wanted, "{query}");
    }
    assert_eq!(found("volcano"), [""; 0]);
    assert_eq!(found(""), [""; 0]);
}

#[test]
fn synonyms_abbreviations_and_slips_are_understood() {
    for (query, wanted) in [
        ("remove a post", "wp_delete_post"),
        ("new ticket", "createIssue"),
        ("repo", "createIssue"),
        ("forcast", "get_forecast"),
        ("organization", "search"),
    ] {
        assert_eq!(first(query), wanted, "{query}");
    }
}

#[test]
fn a_whole_name_comes_first() {
    for (query, wanted) in [
        ("wp_delete_post", "wp_delete_post"),
        ("Which arguments does blog__wp_delete_post have when posts are listed?", "wp_delete_post"),
        ("create-issue", "createIssue"),
        ("wp delete post", "wp_delete_post"),
        ("search", "search"),
        ("SEARCH", "search"),
    ] {
        assert_eq!(first(query), wanted, "{query}");
    }
    // In a sentence, `search` is not the name of the tool.
    assert_ne!(first("Search for posts of the blog"), "search");
}

#[test]
fn the_server_narrows_down_equal_matches() {
    assert_eq!(found("blog"), ["wp_get_posts", "wp_delete_post"]);
}

#[test]
fn a_long_tool_and_a_long_request_are_bounded() {
    let many: Vec<String> = (0..100_000).map(|n| format!("word{n}x")).collect();
    let text = format!(r#"{{"name":"long","description":"{}"}}"#, many.join(" "));
    let tool = ToolText { server: "s", name: "s__long", own_name: "long", text: text.as_bytes() };
    let index = ToolIndex::build(std::iter::once(tool));
    assert!(index.bytes() < 8_000, "{}", index.bytes());
    assert_eq!(index.search(&many.join(" "), 5), [0]);
}

#[test]
fn schemas_nested_without_end_are_read_to_a_limit() {
    let deep = format!(
        r#"{{"name":"deep","inputSchema":{}1{}}}"#,
        r#"{"properties":{"a":"#.repeat(60),
        "}}".repeat(60)
    );
    let tool = ToolText { server: "s", name: "deep", own_name: "deep", text: deep.as_bytes() };
    assert_eq!(ToolIndex::build(std::iter::once(tool)).search("deep", 5), [0]);
}

#[test]
fn an_answer_has_a_limit_and_names_what_it_leaves_out() {
    let long = |name: &str| {
        bytes::Bytes::from(format!(r#"{{"name":"{name}","description":"{}"}}"#, "x".repeat(60_000)))
    };
    let tools = ["a", "b", "c"].map(|name| (name, long(name)));
    let text = found_text(tools.iter().map(|(name, text)| FoundTool { name, text }));
    let text: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(text["tools"].as_array().unwrap().len(), 1, "the first one is shown, however long it is");
    assert_eq!(text["omitted"], serde_json::json!(["b", "c"]));
    assert!(text["note"].as_str().unwrap().contains("search for one of them"));
}

mod hostile {
    //! Tools and requests from an attacker.

    use proptest::prelude::*;
    use proto::rpc::{Frame, FrameLimits};

    use super::*;

    /// JSON values, some of them nested, with the keys that the search reads.
    fn json() -> impl Strategy<Value = serde_json::Value> {
        let keys = prop::sample::select(vec![
            "name",
            "title",
            "description",
            "inputSchema",
            "properties",
            "items",
            "anyOf",
            "$defs",
            "enum",
            "arguments",
            "query",
        ]);
        let leaf = prop_oneof![
            any::<String>().prop_map(serde_json::Value::from),
            any::<i64>().prop_map(serde_json::Value::from),
            Just(serde_json::Value::Null),
        ];
        leaf.prop_recursive(6, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
                prop::collection::vec((keys.clone(), inner), 0..5).prop_map(|members| {
                    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_tool_can_be_indexed_and_any_request_be_answered(
            tools in prop::collection::vec(("[a-zA-Z0-9_.-]{1,12}", json()), 0..6),
            query in any::<String>(),
        ) {
            let texts: Vec<String> = tools.iter().map(|(_, tool)| tool.to_string()).collect();
            let index = ToolIndex::build(tools.iter().zip(&texts).map(|((name, _), text)| ToolText {
                server: "s", name, own_name: name, text: text.as_bytes(),
            }));
            let found = index.search(&query, 5);
            prop_assert!(found.len() <= 5 && found.iter().all(|tool| (*tool as usize) < tools.len()));
            for (name, _) in &tools {
                let first = index.search(name, 5).into_iter().next().map(|tool| &tools[tool as usize].0);
                prop_assert!(first.is_some_and(|first| config::nearest::plain(first) == config::nearest::plain(name)), "{name:?}: {first:?}");
            }
        }

        #[test]
        fn an_inner_call_has_exactly_the_name_and_the_arguments_that_were_given(
            name in any::<String>(),
            arguments in json(),
            is_text in any::<bool>(),
        ) {
            let given = if is_text { serde_json::Value::from(arguments.to_string()) } else { arguments.clone() };
            let outer = serde_json::json!({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": { "name": CALL_TOOL, "arguments": { "name": name, "arguments": given } },
            });
            let frame = Frame::parse(outer.to_string().into(), FrameLimits::default()).unwrap();
            let inner = inner_call(&frame).expect("it has a name");
            let inner: serde_json::Value = serde_json::from_slice(inner.text()).unwrap();
            prop_assert_eq!(&inner["params"]["name"], &serde_json::json!(name));
            let wanted = if is_text && !arguments.is_object() { &given } else { &arguments };
            prop_assert_eq!(&inner["params"]["arguments"], wanted);
            let read = inner_name(&frame);
            prop_assert_eq!(read.as_deref(), Some(name.as_str()));
        }

        #[test]
        fn arguments_of_find_tools_are_read_or_refused(arguments in json()) {
            let text = arguments.to_string();
            if let Ok(wanted) = FindTools::of(Some(text.as_bytes())) {
                prop_assert!(!wanted.query.trim().is_empty() && (1..=20).contains(&wanted.limit));
            }
        }
    }
}
