//! Tools that await approval: in no list and not callable, and nothing else changes because of them.

use super::*;
use crate::exchange::dispatch;
use crate::fault::Condition;
use crate::tasks::TaskIds;

const TWO: &str = "mcpServers: { docs: { command: x }, blog: { command: x } }\n";

/// A server with these tools, some of which are withheld.
fn server(id: u32, name: &str, tools: &[&str], held: &[&str]) -> ViewSource {
    let listed: Vec<String> = tools.iter().map(|tool| format!("{{\"name\":\"{tool}\"}}")).collect();
    let catalogue = catalogue(&V2025_11_25, [&listed.join(","), "", "", ""]);
    upstream(id, name, Ok(Arc::new(catalogue.holding(&held.iter().map(|name| (*name).into()).collect()))))
}

fn names(view: &View) -> Vec<String> {
    let page = view.pages(ListKind::Tools).page(None).unwrap().text();
    let page: serde_json::Value = serde_json::from_slice(page).unwrap();
    page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// The refusal of a call, and its kind.
fn refusal(view: &View, tool: &str) -> (String, Condition) {
    struct Plain;
    impl crate::sealer::Sealer for Plain {
        fn seal(&self, _: &[u8], _: &[u8]) -> String {
            String::new()
        }

        fn open(&self, _: &str, _: &[u8]) -> Option<Vec<u8>> {
            None
        }

        fn fresh_key(&self) -> u64 {
            0
        }

        fn epoch(&self) -> u64 {
            0
        }
    }
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
    let frame = Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap();
    let fault = dispatch(&frame, view, "{}", TaskIds::new(&Plain, "me", view.era())).unwrap_err();
    (fault.message, fault.condition)
}

#[test]
fn a_withheld_tool_is_in_no_list_and_its_call_names_the_command() {
    for era in [&V2025_11_25, &V2026_07_28] {
        let view = view(era, &Profile::default(), vec![server(1, "docs", &["a", "b"], &["a"])]);
        assert_eq!(names(&view), ["docs__b"]);
        let (message, condition) = refusal(&view, "docs__a");
        assert!(message.contains("is held") && message.ends_with(": dragoman definitions docs"), "{message}");
        assert_eq!(condition, Condition::HeldTool);
        assert_eq!(refusal(&view, "docs__c").1, Condition::UnknownTool);
    }
}

#[test]
fn a_withheld_tool_takes_no_name_from_another() {
    let profile = Profile { names: Naming::First, ..Profile::default() };
    let both = || vec![server(1, "docs", &["mine", "x"], &["x"]), server(2, "blog", &["x"], &[])];
    let view = view(&V2025_11_25, &profile, both());
    assert_eq!(view.tool("x").unwrap().upstream, UpstreamId(2));
    assert_eq!(view.held_by("x"), None);
    let plain = Profile { names: Naming::Plain, ..Profile::default() };
    assert_eq!(names(&super::view(&V2025_11_25, &plain, both())), ["mine", "x"], "no clash, so no prefix");
}

#[test]
fn a_caller_that_may_not_use_a_tool_does_not_learn_that_it_is_withheld() {
    let guard = guard(&format!("{TWO}access: [{{ deny: 'docs__secret' }}]\n"));
    let profile = Profile::default();
    let spec = ViewSpec { guard: Some(&guard), ..spec(&V2025_11_25, &profile) };
    let view = View::build(spec, vec![server(1, "docs", &["a", "other", "secret"], &["other", "secret"])]);
    assert_eq!(refusal(&view, "docs__secret").1, Condition::UnknownTool);
    assert_eq!(refusal(&view, "docs__other").1, Condition::HeldTool);
}

#[test]
fn a_class_of_clients_that_is_shown_another_definition_gets_neither() {
    let all = catalogue(&V2025_11_25, [r#"{"name":"a","title":"good"},{"name":"b"}"#, "", "", ""]);
    let own = catalogue(&V2025_11_25, [r#"{"name":"a","title":"evil"},{"name":"c"}"#, "", "", ""]);
    let held = |catalogue: &UpstreamCatalogue| catalogue.holding(&["a".into()].into());
    let keys = |catalogue: &UpstreamCatalogue| {
        let keys = |items: &[Item]| items.iter().map(|item| item.key.clone()).collect::<Vec<_>>().join(",");
        (keys(catalogue.list(ListKind::Tools)), keys(catalogue.held()))
    };
    assert_eq!(keys(&all.joined([&held(&own)])), ("b,c".to_owned(), "a".to_owned()));
    assert_eq!(
        keys(&held(&all).joined([&*own])),
        ("b,a,c".to_owned(), String::new()),
        "its own one is approved"
    );
    assert_eq!(keys(&held(&all).joined([&held(&own)])).0, "b,c");
}

#[test]
fn no_other_server_gets_the_calls_for_a_withheld_tool() {
    for (naming, called) in
        [(Naming::First, &["x"][..]), (Naming::Plain, &["x"]), (Naming::Prefix, &["x", "docs__x"])]
    {
        let profile = Profile { names: naming, ..Profile::default() };
        let book = std::sync::Mutex::new(NameBook::default());
        let shown = |sources| {
            let spec = ViewSpec {
                limit: NameLimit::behind("mcp__p__"),
                names: Some(&book),
                ..spec(&V2025_11_25, &profile)
            };
            View::build(spec, sources)
        };
        let before = shown(vec![server(1, "docs", &["x"], &[]), server(2, "blog", &["y"], &[])]);
        assert_eq!(before.tool("x").unwrap().upstream, UpstreamId(1), "{naming:?}");
        let held = shown(vec![server(1, "docs", &["x"], &["x"]), server(2, "blog", &["x", "y"], &[])]);
        for name in called {
            assert!(held.tool(name).is_none(), "{naming:?}: {name}");
        }
        assert_eq!(held.held_by("docs__x"), Some("docs"), "{naming:?}");
        // Once the tool is approved, everything is as before.
        let after = shown(vec![server(1, "docs", &["x"], &[]), server(2, "blog", &["y"], &[])]);
        assert_eq!(after.tool("x").unwrap().upstream, UpstreamId(1), "{naming:?}");
    }
}
