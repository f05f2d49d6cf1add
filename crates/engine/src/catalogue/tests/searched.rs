//! Views whose tools are found by searching: what is listed, what is found, and what is called.

use config::{Glob, ToolMode, ToolRules};
use proptest::prelude::*;
use proto::era::{ERAS, V2024_10_07};

use super::uri_rules::NoTasks;
use super::*;
use crate::exchange::{Dispatch, dispatch, inner_request};
use crate::fault::Fault;
use crate::tasks::TaskIds;

fn profile(mode: ToolMode, direct: &[&str]) -> Profile {
    let direct = direct.iter().map(|text| Glob::parse(text).unwrap()).collect();
    Profile { tools: ToolRules { mode, direct, ..ToolRules::default() }, ..Profile::default() }
}

/// Two servers: one reads and writes notes and has a tool for its app, the other tells the weather.
fn servers(era: &'static Era) -> Vec<ViewSource> {
    let notes = r#"{"name":"read_note","description":"Reads a note.","inputSchema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"openWorldHint":false}},
        {"name":"write_note","title":"Write","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"},"annotations":{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}},
        {"name":"draw_note","description":"Draws a note.","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["app"]}}}"#;
    let weather = r#"{"name":"forecast","description":"Tells the weather.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"openWorldHint":false}}"#;
    let of = |tools| Ok(catalogue(era, [tools, "", "", ""]));
    vec![upstream(1, "notes", of(notes)), upstream(2, "sky", of(weather))]
}

fn searched(profile: &Profile, era: &'static Era) -> View {
    view(era, profile, servers(&V2025_11_25))
}

/// The listed names.
fn listed(view: &View) -> Vec<String> {
    let page: serde_json::Value =
        serde_json::from_slice(view.pages(ListKind::Tools).page(None).unwrap().text()).unwrap();
    let tools = page["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn call(name: &str, arguments: &str) -> Frame {
    let name = serde_json::to_string(name).unwrap();
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{name},"arguments":{arguments}}}}}"#
    );
    Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap()
}

fn dispatched<'v>(view: &'v View, frame: &Frame) -> Result<Dispatch<'v>, Fault> {
    let inner = inner_request(frame, view);
    let ids = TaskIds::new(&NoTasks, "me", view.era());
    dispatch(inner.as_ref().unwrap_or(frame), view, "{}", ids)
}

/// The result of a call that the gateway itself answers.
fn own(view: &View, name: &str, arguments: &str) -> serde_json::Value {
    match dispatched(view, &call(name, arguments)) {
        Ok(Dispatch::Own(result)) => serde_json::from_slice(&result).unwrap(),
        other => panic!("{name} {arguments}: {other:?}"),
    }
}

/// The tools that a search finds.
fn found(view: &View, query: &str, limit: usize) -> Vec<serde_json::Value> {
    let arguments = serde_json::json!({ "query": query, "limit": limit }).to_string();
    let result = own(view, "find_tools", &arguments);
    let text: serde_json::Value =
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    text["tools"].as_array().unwrap().clone()
}

#[test]
fn only_the_own_tools_those_chosen_and_those_for_apps_are_listed() {
    let own = ["find_tools", "call_tool"];
    let direct = ["notes__read_note", "notes__write_note", "notes__draw_note", "sky__forecast"];
    for (mode, chosen, wanted) in [
        (ToolMode::Direct, &[][..], direct.to_vec()),
        (ToolMode::Search, &[], [&own[..], &["notes__draw_note"]].concat()),
        (ToolMode::Hybrid, &["sky__*"], [&own[..], &["notes__draw_note", "sky__forecast"]].concat()),
    ] {
        for era in ERAS {
            let view = searched(&profile(mode, chosen), era);
            assert_eq!(listed(&view), wanted, "{era} {mode:?}");
            assert!(direct.iter().all(|name| view.tool(name).is_some()), "{era} {mode:?}");
        }
    }
}

#[test]
fn patterns_of_direct_refer_to_names_before_renaming() {
    let mut profile = profile(ToolMode::Hybrid, &["sky__*"]);
    profile.tools.rename.insert("sky__forecast".to_owned(), "weather".to_owned());
    assert_eq!(listed(&searched(&profile, &V2025_11_25))[2..], ["notes__draw_note", "weather"]);
}

#[test]
fn the_cost_without_a_search_is_that_of_listing_all_tools() {
    let listed = searched(&profile(ToolMode::Direct, &[]), &V2025_11_25);
    for (mode, pinned) in
        [(ToolMode::Direct, &[][..]), (ToolMode::Search, &[]), (ToolMode::Hybrid, &["sky__*"])]
    {
        let view = searched(&profile(mode, pinned), &V2025_11_25);
        let (costs, listed) = (ViewCosts::of(&view), ViewCosts::of(&listed));
        assert_eq!(costs.unsearched, listed.listed, "{mode:?}");
        assert_eq!(costs.searched.is_some(), mode != ToolMode::Direct, "{mode:?}");
    }
}

#[test]
fn a_found_tool_is_complete_for_a_model_and_has_its_public_name() {
    let view = searched(&profile(ToolMode::Search, &[]), &V2025_11_25);
    let tools = found(&view, "read notes", 1);
    assert_eq!(tools.len(), 1);
    let mut tool = tools[0].clone();
    let tokens = tool.as_object_mut().unwrap().remove("tokens").unwrap().as_u64().unwrap();
    assert!((30..60).contains(&tokens), "{tokens}");
    assert_eq!(
        tool,
        serde_json::json!({
            "name": "notes__read_note", "description": "Reads a note.",
            "inputSchema": { "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] },
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        })
    );
    let write = found(&view, "write_note", 5);
    assert_eq!(write[0]["execution"]["taskSupport"], "optional");
    assert!(found(&view, "draw", 5).is_empty(), "tools for apps are not for models");
    let nothing = own(&view, "find_tools", r#"{"query":"volcano"}"#);
    assert!(nothing["content"][0]["text"].as_str().unwrap().contains("no tool matches"), "{nothing}");
}

#[test]
fn call_tool_has_the_annotations_of_the_worst_tool() {
    let hints = |view: &View, name: &str| {
        let page: serde_json::Value =
            serde_json::from_slice(view.pages(ListKind::Tools).page(None).unwrap().text()).unwrap();
        let tool =
            page["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
        (tool["annotations"].clone(), tool["execution"].clone())
    };
    let hinted = |read_only, destructive, idempotent, open_world| {
        serde_json::json!({ "readOnlyHint": read_only, "destructiveHint": destructive,
                            "idempotentHint": idempotent, "openWorldHint": open_world })
    };
    let view = searched(&profile(ToolMode::Search, &[]), &V2025_11_25);
    assert_eq!(hints(&view, "call_tool").0, hinted(false, false, true, false));
    assert_eq!(hints(&view, "find_tools").0, hinted(true, false, true, false));
    let mut reading = profile(ToolMode::Search, &[]);
    reading.tools.deny = vec![Glob::parse("*write*").unwrap()];
    assert_eq!(hints(&searched(&reading, &V2025_11_25), "call_tool").0, hinted(true, false, true, false));
    let unknown = upstream(3, "x", Ok(catalogue(&V2025_11_25, [r#"{"name":"y"}"#, "", "", ""])));
    let view = self::view(&V2025_11_25, &reading, vec![unknown]);
    assert_eq!(hints(&view, "call_tool").0, hinted(false, true, false, true));
}

#[test]
fn an_inner_call_goes_where_a_direct_call_goes() {
    for era in ERAS {
        let view = searched(&profile(ToolMode::Search, &[]), era);
        let through = call("call_tool", r#"{"name":"notes__read_note","arguments":{"title":"a"}}"#);
        for frame in [through, call("notes__read_note", r#"{"title":"a"}"#)] {
            let Ok(Dispatch::Forward(route)) = dispatched(&view, &frame) else { panic!("{era}") };
            assert_eq!(route.upstream, UpstreamId(1), "{era}");
            assert_eq!(&*route.tool.unwrap().name, "notes__read_note", "{era}");
            assert_eq!(route.rename.unwrap().1, "\"read_note\"", "{era}");
        }
        let unknown = call("call_tool", r#"{"name":"notes__erase"}"#);
        let fault = dispatched(&view, &unknown).unwrap_err();
        assert!(fault.message.contains("unknown tool \"notes__erase\""), "{era} {}", fault.message);
    }
}

#[test]
fn calls_of_own_tools_with_wrong_arguments_are_answered_as_their_version_requires() {
    let wrong = [
        ("find_tools", "{}"),
        ("find_tools", r#"{"query":" "}"#),
        ("find_tools", r#"{"query":7}"#),
        ("find_tools", r#"{"query":"x","limit":0}"#),
        ("find_tools", r#"{"query":"x","limit":"many"}"#),
        ("find_tools", r#"{"query":"x","limit":21}"#),
        ("find_tools", r#"{"query":"x","server":"notes"}"#),
        ("find_tools", "[]"),
        ("call_tool", "{}"),
        ("call_tool", r#"{"name":7}"#),
        ("call_tool", r#"{"name":"call_tool","arguments":{"name":"notes__read_note"}}"#),
    ];
    let view = searched(&profile(ToolMode::Search, &[]), &V2025_11_25);
    for (name, arguments) in wrong {
        let result = own(&view, name, arguments);
        assert_eq!(result["isError"], true, "{name} {arguments}");
    }
    let injected = own(&view, "find_tools", r#"{"query":"x","toolCallId":"c","sessionId":"s"}"#);
    assert_ne!(injected["isError"], true, "n8n adds arguments to every call: {injected}");
    let view = searched(&profile(ToolMode::Search, &[]), &V2024_10_07);
    for (name, arguments) in wrong {
        assert!(dispatched(&view, &call(name, arguments)).is_err(), "{name} {arguments}");
    }
    let long = serde_json::json!({ "query": "x".repeat(1001) }).to_string();
    assert!(dispatched(&view, &call("find_tools", &long)).is_err());
}

#[test]
fn a_query_may_be_anything_and_the_limit_is_bounded() {
    let view = searched(&profile(ToolMode::Search, &[]), &V2025_11_25);
    assert_eq!(found(&view, "note", 20).len(), 2);
    let odd = r#"{"query":"\"}{\\ \u0000 ' é 漢字 _","limit":null}"#;
    assert_eq!(own(&view, "find_tools", odd)["isError"], false);
    assert_eq!(searched(&profile(ToolMode::Search, &[]), &V2024_10_07).era(), &V2024_10_07);
}

#[test]
fn the_first_versions_get_the_answer_in_their_own_form() {
    let view = searched(&profile(ToolMode::Search, &[]), &V2024_10_07);
    let result = own(&view, "find_tools", r#"{"query":"weather"}"#);
    assert!(result["toolResult"].as_str().unwrap().contains("sky__forecast"), "{result}");
    let view = searched(&profile(ToolMode::Search, &[]), &V2026_07_28);
    assert_eq!(own(&view, "find_tools", r#"{"query":"weather"}"#)["resultType"], "complete");
}

#[test]
fn a_servers_tool_cannot_have_the_name_of_an_own_one() {
    let mut profile = profile(ToolMode::Search, &[]);
    profile.names = Naming::Plain;
    let sources = || {
        let tools = r#"{"name":"call_tool"},{"name":"find_tools"},{"name":"x"}"#;
        vec![upstream(1, "one", Ok(catalogue(&V2025_11_25, [tools, "", "", ""])))]
    };
    let view = view(&V2025_11_25, &profile, sources());
    assert_eq!(listed(&view), ["find_tools", "call_tool"]);
    assert!(view.tool("call_tool").is_none() && view.tool("find_tools").is_none());
    assert_eq!(view.notes().len(), 2);
    assert!(
        view.notes()[0].contains("the gateway itself already uses the name \"call_tool\"; rename one"),
        "{:?}",
        view.notes()
    );
    // Under another name it can be used, and without a search nothing is reserved.
    profile.tools.rename.insert("call_tool".to_owned(), "their_call_tool".to_owned());
    let view = self::view(&V2025_11_25, &profile, sources());
    assert_eq!(found(&view, "their_call_tool", 1)[0]["name"], "their_call_tool");
    profile.tools.mode = ToolMode::Direct;
    let view = self::view(&V2025_11_25, &profile, sources());
    assert!(
        view.tool("find_tools").is_some()
            && inner_request(&call("call_tool", r#"{"name":"x"}"#), &view).is_none()
    );
}

#[test]
fn a_view_without_its_index_still_calls_and_says_that_it_cannot_search() {
    let view = searched(&profile(ToolMode::Search, &[]), &V2025_11_25);
    let bytes = view.page_bytes();
    let bare = view.without_pages();
    assert!(bytes > 0 && bare.page_bytes() == 0 && view.has_pages() && !bare.has_pages());
    let inner = call("call_tool", r#"{"name":"sky__forecast"}"#);
    assert!(matches!(dispatched(&bare, &inner), Ok(Dispatch::Forward(_))));
    assert!(dispatched(&bare, &call("find_tools", r#"{"query":"x"}"#)).is_err());
}

#[test]
fn definitions_name_the_servers_that_the_clients_may_use() {
    let view = searched(&profile(ToolMode::Search, &[]), &V2025_11_25);
    let page = view.pages(ListKind::Tools).page(None).unwrap().text().clone();
    let page = String::from_utf8_lossy(&page).into_owned();
    assert!(page.contains("notes (2), sky (1)"), "{page}");
}

const WORDS: [&str; 6] = ["read", "write", "note", "secret", "delete", "weather"];

fn tool_names() -> impl Strategy<Value = Vec<String>> {
    let name = prop::collection::vec(prop::sample::select(WORDS.to_vec()), 1..3);
    prop::collection::vec(name.prop_map(|words| words.join("_")), 1..8)
}

fn patterns() -> impl Strategy<Value = Vec<String>> {
    let shape = prop::sample::select(vec!["*W*", "s1__*W*", "s2__*", "s1__W", "*__W"]);
    let pattern = (shape, prop::sample::select(WORDS.to_vec()))
        .prop_map(|(shape, word): (&str, &str)| shape.replace('W', word));
    prop::collection::vec(pattern, 1..4)
}

/// Access rules that allow or deny these patterns, some of them only for certain arguments.
fn rules() -> impl Strategy<Value = String> {
    let rule = (
        prop::bool::ANY,
        patterns(),
        prop::sample::select(vec![
            "",
            ", when: { arguments: { /title: 'a*' } }",
            ", when: { annotations: { readOnlyHint: true } }",
            ", servers: s1",
        ]),
    );
    let rule = rule.prop_map(|(allows, patterns, when): (bool, Vec<String>, &str)| {
        let word = if allows { "allow" } else { "deny" };
        format!("{{ {word}: ['{}']{when} }}", patterns.join("', '"))
    });
    prop::collection::vec(rule, 1..4).prop_map(|rules| format!("[{}]", rules.join(", ")))
}

proptest! {
    #[test]
    fn find_tools_never_shows_a_tool_that_the_caller_may_not_call(
        servers in prop::collection::vec(tool_names(), 1..3),
        rules in rules(),
        denied in patterns(),
        query in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 1..4),
        mode in prop::sample::select(vec![ToolMode::Search, ToolMode::Hybrid]),
    ) {
        let listed_tools = |names: &[String]| {
            let one = |(at, name): (usize, &String)| {
                format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":{}}}}}"#, at % 2 == 0)
            };
            names.iter().enumerate().map(one).collect::<Vec<_>>().join(",")
        };
        let sources = || (1..).zip(&servers).map(|(id, names)| {
            upstream(id, &format!("s{id}"), Ok(catalogue(&V2025_11_25, [&listed_tools(names), "", "", ""])))
        }).collect::<Vec<_>>();
        let guard = guard(&format!("mcpServers: {{ s1: {{ command: x }}, s2: {{ command: x }} }}\naccess: {rules}\n"));
        let built = |mode| {
            let mut profile = profile(mode, &["*note*"]);
            profile.tools.deny = denied.iter().map(|text| Glob::parse(text).unwrap()).collect();
            let spec = ViewSpec { guard: Some(&guard), ..spec(&V2025_11_25, &profile) };
            View::build(spec, sources())
        };
        let (view, direct) = (built(mode), built(ToolMode::Direct));
        // Without a tool that may be used, nothing has the capability.
        prop_assume!(direct.declares("tools", None) && view.declares("tools", None));
        let callable = listed(&direct);
        for tool in found(&view, &query.join(" "), 20) {
            let name = tool["name"].as_str().unwrap();
            prop_assert!(callable.iter().any(|one| one == name), "{name} under {rules}");
            // For some arguments, the call goes to the server.
            let goes = ["{}", r#"{"title":"a"}"#, r#"{"title":"b"}"#].iter().any(|arguments| {
                let through = call("call_tool", &format!(r#"{{"name":"{name}","arguments":{arguments}}}"#));
                matches!(dispatched(&view, &through), Ok(Dispatch::Forward(_)))
            });
            prop_assert!(goes, "{name} under {rules}");
        }
        // Everything that can be called is found by its name.
        for name in callable {
            let first = found(&view, &name, 1);
            prop_assert_eq!(first[0]["name"].as_str(), Some(name.as_str()));
        }
    }
}
