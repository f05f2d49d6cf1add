//! Views of upstreams whose eras differ from those of their clients.

use proto::era::{CacheScope, CacheableResult, ERAS, V1, V2024_11_05, V2025_06_18};
use serde_json::{Value, json};

use super::*;

/// The catalogue of a server that has these capabilities and answers each list request with this text.
fn told(
    era: &'static Era,
    capabilities: &'static str,
    said: impl Fn(ListKind) -> String,
) -> Arc<UpstreamCatalogue> {
    let hello = ServerHello { capabilities: Bytes::from_static(capabilities.as_bytes()), ..hello(era) };
    let mut gather = Gather::new(hello, LIMITS, "{}");
    while let Some(kind) = gather.wants() {
        gather.feed(&answer(&said(kind))).unwrap();
    }
    Arc::new(gather.finish())
}

/// One item of each kind, with the members of the newest versions.
fn modern(kind: ListKind) -> String {
    let item = match kind {
        ListKind::Tools => {
            r#"{"name":"t","title":"T","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"}}},"outputSchema":{"type":"array"},"odd":1e2},
            {"name":"number","inputSchema":{"type":"number"}}"#
        }
        ListKind::Prompts => r#"{"name":"p","title":"P","icons":[]}"#,
        ListKind::Resources => r#"{"uri":"f://1","name":"one","title":"One"}"#,
        ListKind::Templates => r#"{"uriTemplate":"f://{n}","name":"n","odd":-0.0}"#,
    };
    format!(r#"{{"{}":[{item}],"ttlMs":5000,"cacheScope":"public"}}"#, kind.member())
}

const ALL: &str = r#"{"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{}}"#;

fn of(era: &'static Era, upstreams: Vec<ViewSource>) -> View {
    view(era, &Profile::default(), upstreams)
}

fn page(view: &View, kind: ListKind) -> Value {
    serde_json::from_slice(view.pages(kind).page(None).unwrap().text()).unwrap()
}

#[test]
fn every_client_sees_every_upstream_in_its_own_words() {
    for from in ERAS.into_iter().filter(|era| era.shapes.pages) {
        for to in ERAS {
            let view = of(to, vec![upstream(3, "u", Ok(told(from, ALL, modern)))]);
            let tool = view.tool("u__t").unwrap_or_else(|| panic!("{from} -> {to}"));
            assert_eq!(tool.upstream, UpstreamId(3));
            assert_eq!(tool.real_name.as_deref(), Some(b"\"t\"".as_slice()));
            assert_eq!(view.upstream_era(UpstreamId(3)), Some(from));
            assert_eq!(view.upstream_era(UpstreamId(4)), None);
            let text = view.pages(ListKind::Tools).page(None).unwrap().text();
            assert!(memchr::memmem::find(text, b"\"odd\":1e2").is_some(), "{from} -> {to}: {text:?}");
            // A tool whose input is not an object cannot be called, so it was left out while gathering.
            assert!(view.tool("u__number").is_none(), "{from} -> {to}");
            assert!(view.notes().is_empty(), "{from} -> {to}: {:?}", view.notes());
            let listed = &page(&view, ListKind::Tools)["tools"][0];
            assert_eq!(listed["name"], "u__t");
            let kept = from == to || !to.shapes.strict;
            assert_eq!(listed.get("title").is_some(), kept, "{from} -> {to}");
            assert_eq!(view.prompt("u__p").unwrap().upstream, UpstreamId(3));
            assert_eq!(view.resource_owner("f://1"), Some(UpstreamId(3)));
            assert_eq!(view.resource_owner("f://2"), Some(UpstreamId(3)));
            let prompt = &page(&view, ListKind::Prompts)["prompts"][0];
            assert_eq!(prompt.get("icons").is_some(), kept, "{from} -> {to}");
        }
    }
}

#[test]
fn nothing_is_rewritten_within_an_era() {
    let catalogue = told(&V2026_07_28, ALL, modern);
    let text = catalogue.list(ListKind::Resources)[0].text.clone();
    let view = of(&V2026_07_28, vec![upstream(1, "u", Ok(catalogue))]);
    let page = view.pages(ListKind::Resources).page(None).unwrap().text();
    assert!(memchr::memmem::find(page, &text).is_some());
    assert_eq!(
        view.capabilities(),
        r#"{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"completions":{}}"#
    );
}

#[test]
fn capabilities_of_a_mixed_profile_are_those_of_all_in_the_clients_words() {
    let old = || upstream(1, "old", Ok(told(&V2024_11_05, r#"{"prompts":{},"logging":{}}"#, modern)));
    let tasks = r#"{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}},"x":{"y":1}}"#;
    let new = || upstream(2, "new", Ok(told(&V2025_11_25, tasks, modern)));
    let declared =
        |era| -> Value { serde_json::from_str(of(era, vec![old(), new()]).capabilities()).unwrap() };
    let changing = json!({"listChanged": true});
    let (tools, prompts, x) = (&changing, &changing, json!({"y": 1}));
    assert_eq!(
        declared(&V2026_07_28),
        json!({"tools": tools, "prompts": prompts, "completions": {}, "logging": {}, "x": x,
            "extensions": {"io.modelcontextprotocol/tasks": {}}})
    );
    assert_eq!(
        declared(&V2025_11_25),
        json!({"tools": tools, "prompts": prompts, "completions": {}, "logging": {}, "x": x,
            "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}}})
    );
    let plain = json!({"tools": tools, "prompts": prompts, "logging": {}, "x": x});
    assert_eq!(declared(&V2024_11_05), plain);
    assert_eq!(declared(&V1), plain);
}

#[test]
fn completion_is_tried_where_there_was_no_word_for_it() {
    let with = |era, capabilities| of(era, vec![upstream(1, "u", Ok(told(era, capabilities, modern)))]);
    let may = |view: &View| view.declares("completions", None);
    assert!(may(&with(&V2024_11_05, r#"{"prompts":{}}"#)));
    assert!(!may(&with(&V2024_11_05, r#"{"tools":{}}"#)));
    assert!(!may(&with(&V2025_11_25, r#"{"prompts":{}}"#)));
    let said = of(&V2024_11_05, vec![upstream(1, "u", Ok(told(&V2026_07_28, ALL, modern)))]);
    assert!(may(&said) && !said.capabilities().contains("completions"));
    let silent = of(&V1, vec![upstream(1, "u", Ok(told(&V2025_11_25, r#"{"prompts":{}}"#, modern)))]);
    assert!(!may(&silent));
}

#[test]
fn promises_of_freshness_are_those_of_servers_that_can_make_them() {
    let hint = |from, to| -> Value {
        let list = page(&of(to, vec![upstream(1, "u", Ok(told(from, ALL, modern)))]), ListKind::Tools);
        json!([list["ttlMs"], list["cacheScope"], list["resultType"]])
    };
    assert_eq!(hint(&V2026_07_28, &V2026_07_28), json!([5000, "public", "complete"]));
    assert_eq!(hint(&V2025_11_25, &V2026_07_28), json!([0, "private", "complete"]));
    assert_eq!(hint(&V2026_07_28, &V2025_11_25), json!([null, null, null]));
    let catalogue = told(&V2025_11_25, ALL, modern);
    assert_eq!((catalogue.cache.ttl_ms, catalogue.cache.scope), (0, CacheScope::Private));
}

#[test]
fn the_first_version_lists_templates_with_the_resources_and_has_no_pages() {
    let both = r#"{"resources":[{"uri":"f://1","name":"a"}],"resourceTemplates":[{"uriTemplate":"f://{n}","name":"b"}],"nextCursor":"x"}"#;
    let templates = r#"{"resourceTemplates":[{"uriTemplate":"f://{n}","name":"b"}]}"#;
    for (said, resources, found) in [(both, 1, 1), (templates, 0, 1), ("{}", 0, 0)] {
        let hello = ServerHello { capabilities: Bytes::from_static(br#"{"resources":{}}"#), ..hello(&V1) };
        let mut gather = Gather::new(hello, LIMITS, "{}");
        assert_eq!(gather.wants(), Some(ListKind::Resources));
        gather.feed(&answer(said)).unwrap();
        assert_eq!(gather.wants(), None, "no list of templates, no pages");
        let catalogue = gather.finish();
        let counts = [ListKind::Resources, ListKind::Templates].map(|kind| catalogue.list(kind).len());
        assert_eq!((counts, catalogue.notes.len()), ([resources, found], 0), "{said}");
    }
    let mut gather = Gather::new(hello(&V1), LIMITS, "{}");
    assert!(gather.feed(&answer(r#"{"tool":[]}"#)).is_err());

    let many = |kind: ListKind| {
        let items: Vec<String> =
            (0..2500).map(|n| format!(r#"{{"{}":"x{n}","name":"n{n}"}}"#, kind.key())).collect();
        format!(r#"{{"{}":[{}]}}"#, kind.member(), items.join(","))
    };
    let hello =
        ServerHello { capabilities: Bytes::from_static(br#"{"resources":{}}"#), ..hello(&V2025_06_18) };
    let mut gather = Gather::new(hello, GatherLimits { pages: 1, entries: 9000 }, "{}");
    while let Some(kind) = gather.wants() {
        gather.feed(&answer(&many(kind))).unwrap();
    }
    let catalogue = Arc::new(gather.finish());
    // The numbers of resources and templates on each page.
    let counts = |era, kind| -> Vec<(usize, usize)> {
        let view = of(era, vec![upstream(1, "u", Ok(catalogue.clone()))]);
        let count = |page: &CacheableResult| {
            let list: Value = serde_json::from_slice(page.text()).unwrap();
            let of = |member: &str| list[member].as_array().map_or(0, Vec::len);
            (of("resources"), of("resourceTemplates"))
        };
        view.pages(kind).all().map(count).collect()
    };
    assert_eq!(counts(&V1, ListKind::Resources), [(2500, 2500)]);
    assert_eq!(counts(&V2024_11_05, ListKind::Resources), [(2000, 0), (500, 0)]);
    assert_eq!(counts(&V2024_11_05, ListKind::Templates), [(0, 2000), (0, 500)]);
}

#[test]
fn headers_are_known_where_either_side_has_them() {
    let tools = |_: ListKind| {
        let tool = |name: &str, kind: &str| {
            format!(
                r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{{"r":{{"type":"{kind}","x-mcp-header":"R"}}}}}}}}"#
            )
        };
        format!(r#"{{"tools":[{},{}]}}"#, tool("good", "string"), tool("bad", "number"))
    };
    let seen = |from, to, over_http| {
        let catalogue = told(from, r#"{"tools":{}}"#, tools);
        let view = of(to, vec![ViewSource { over_http, ..upstream(1, "u", Ok(catalogue)) }]);
        let good = view.tool("u__good").unwrap();
        (good.mirrored.len(), view.tool("u__bad").is_some())
    };
    let (old, new) = (&V2025_11_25, &V2026_07_28);
    assert_eq!(seen(new, new, true), (1, false));
    assert_eq!(seen(new, new, false), (1, true));
    // The gateway must send these headers for any client.
    assert_eq!(seen(new, old, true), (1, false));
    assert_eq!(seen(old, new, true), (1, true));
    assert_eq!(seen(old, old, true), (0, true));
}
