//! Tests of the requests that are allowed, and of the tools and answers that are made from a site's index and
//! abilities.

use serde_json::{Value, json};

use crate::port::{HttpFaultKind, HttpRequest, HttpResponse};
use crate::rest::tests::{Fake, asked, content, fault, login, refused, reply, request, shown};
use crate::site::{Requests, SiteSettings};
use crate::{ToolServer, wordpress};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn over(requests: Requests, read_only: bool, fake: Arc<Fake>) -> ToolServer {
    let login = Some(login("https://x.example", "a", "b"));
    let settings = SiteSettings { login, read_only, requests, ..SiteSettings::default() };
    wordpress::server(&settings, wordpress::Sets { extended: false, discover: true }, fake).unwrap()
}

fn reading(fake: Arc<Fake>) -> ToolServer {
    over(Requests::default(), false, fake)
}

fn writing(allow: &[&str], fake: Arc<Fake>) -> ToolServer {
    let allow = allow.iter().map(|route| (*route).to_owned()).collect();
    over(Requests { allow, write: true }, false, fake)
}

#[test]
fn requests_go_where_they_say() {
    for (call, line) in [
        (json!({"route": "/wc/v3/products/7"}), "GET https://x.example/wp-json/wc/v3/products/7"),
        (json!({"route": "/wp-json/wp/v2/posts/"}), "GET https://x.example/wp-json/wp/v2/posts"),
        (
            json!({"route": "/wc/v3/orders", "parameters": {"status": ["a", "b"], "f": {"x": 1}, "q": "a&b=c"}}),
            "GET https://x.example/wp-json/wc/v3/orders?status%5B0%5D=a&status%5B1%5D=b&f%5Bx%5D=1&q=a%26b%3Dc",
        ),
        (
            json!({"route": "/wc/v3/orders", "method": "POST", "body": {"a": [1]}}),
            "POST https://x.example/wp-json/wc/v3/orders {\"a\":[1]}",
        ),
        (
            json!({"route": "/a b/\u{e4}", "method": "DELETE", "parameters": {"force": true}}),
            "DELETE https://x.example/wp-json/a%20b/%C3%A4?force=true",
        ),
    ] {
        let fake = Fake::json(json!({"ok": true}));
        shown(&asked(&writing(&[], fake.clone()), "site_request", &call));
        assert_eq!(fake.lines(), [line]);
    }
}

#[test]
fn nothing_gets_past_what_is_allowed() {
    let refuses = |server: &dyn Fn(Arc<Fake>) -> ToolServer, call: &Value| {
        let fake = Fake::json(json!({}));
        let (_, words, _) = refused(&asked(&server(fake.clone()), "site_request", call));
        assert!(fake.lines().is_empty(), "{call}: {:?}", fake.lines());
        words
    };
    for call in [
        json!({"route": "wp/v2/posts"}),
        json!({"route": "/wp/v2/../../../x"}),
        json!({"route": "/wp/v2/posts?_method=DELETE"}),
        json!({"route": "/wp/v2/posts#x"}),
        json!({"route": "/wp/v2/%2e%2e/x"}),
        json!({"route": "/a\\b"}),
        json!({"route": "/a\nb"}),
        json!({"route": "/x", "parameters": {"_method": "DELETE"}}),
        json!({"route": "/x", "parameters": {".method": "DELETE"}}),
        json!({"route": "/x", "parameters": {"  [method": "DELETE"}}),
        json!({"route": "/x", "parameters": {"_method\u{0}x": "DELETE"}}),
        json!({"route": "/x", "parameters": {"rest_route": "/wp/v2/users"}}),
        json!({"route": "/x", "parameters": {"rest.route[]": "/wp/v2/users"}}),
        json!({"route": "/x", "parameters": [1]}),
        json!({"route": "/x", "method": "CONNECT"}),
    ] {
        refuses(&|fake| writing(&[], fake), &call);
    }
    let listed = |fake: Arc<Fake>| writing(&["/wc/v3/*", "/wp/v2/posts", "*/end"], fake);
    for route in ["/wp/v2/users", "/wp/v2/posts/7", "/wc/v3", "/wc/v30/x", "/batch/v1", "/", "/x/ending"] {
        assert!(refuses(&listed, &json!({"route": route})).contains("does not allow this route"), "{route}");
    }
    for route in ["/wc/v3/products", "/wp/v2/posts", "/wc/v3//products/7/", "/x/y/end"] {
        shown(&asked(&listed(Fake::json(json!({}))), "site_request", &json!({"route": route})));
    }
    for name in ["_embed", " .embed", "_embed[]"] {
        let call = json!({"route": "/wp/v2/posts", "parameters": {name: "author"}});
        assert!(refuses(&listed, &call).contains("one by one"), "{name}");
        shown(&asked(&writing(&[], Fake::json(json!({}))), "site_request", &call));
    }
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let call = json!({"route": "/wp/v2/posts", "method": method});
        assert!(refuses(&reading, &call).contains("one of: GET"), "{method}");
        let only_reads = |fake: Arc<Fake>| over(Requests { allow: vec![], write: true }, true, fake);
        assert!(refuses(&only_reads, &call).contains("one of: GET"), "{method}");
    }
}

fn index() -> Value {
    json!({"name": "S", "url": "https://x.example", "namespaces": ["wp/v2", "wc/v3", "odd"], "routes": {
        "/": {"namespace": "", "methods": ["GET"], "endpoints": []},
        "/wc/v3/products": {"namespace": "wc/v3", "methods": ["GET", "POST"], "endpoints": [
            {"methods": ["GET"], "args": {"page": {"type": "integer", "default": 1, "sanitize": "x"}}},
            {"methods": ["POST"], "args": []}]},
        "/wc/v3/products/(?P<id>[\\d)]+)/notes": {"namespace": "wc/v3", "methods": ["GET"], "endpoints": []},
        "/wc/v3": {"namespace": "wc/v3", "methods": ["GET"], "endpoints": []},
        "/wc/v3/orders": {"namespace": "wc/v3", "methods": ["GET"], "endpoints": []},
        "/wp/v2/posts": {"namespace": "wp/v2", "methods": ["GET"], "endpoints": []}
    }})
}

#[test]
fn the_index_is_shown_step_by_step() {
    let routes = |call: Value| shown(&asked(&reading(Fake::json(index())), "site_routes", &call));
    assert_eq!(
        routes(json!({}))["namespaces"],
        json!([
            {"namespace": "wp/v2", "version": "v2", "routes": 1, "components": ["posts"]},
            {"namespace": "wc/v3", "version": "v3", "routes": 4, "components": ["orders", "products"]},
            {"namespace": "odd", "version": null, "routes": 0, "components": []}
        ])
    );
    let shop = routes(json!({"namespace": "wc/v3"}));
    assert_eq!(shop["total"], 4);
    assert_eq!(shop["routes"][1], json!({"route": "/wc/v3/products/{id}/notes", "methods": ["GET"]}));
    assert_eq!(routes(json!({"search": "POSTS"}))["routes"][0]["route"], "/wp/v2/posts");
    let products = json!([
        {"methods": ["GET"], "parameters": {"page": {"type": "integer", "default": 1}}},
        {"methods": ["POST"], "parameters": {}}
    ]);
    assert_eq!(routes(json!({"route": "/wc/v3/products"}))["endpoints"], products);
    for as_asked in ["wc/v3/products/", "/wp-json/wc/v3/products", "/WC/v3/Products"] {
        assert_eq!(routes(json!({"route": as_asked}))["endpoints"], products, "{as_asked}");
    }
    for one in
        ["/wc/v3/products/7/notes", "/wc/v3/products/{id}/notes", "/wc/v3/products/(?P<id>[\\d)]+)/notes"]
    {
        assert_eq!(routes(json!({"route": one}))["route"], "/wc/v3/products/{id}/notes", "{one}");
    }
    for none in ["/none", "/wc/v3/products//notes", "/wc/v3/products/7"] {
        let answer = routes(json!({"route": none}));
        assert!(answer["note"].as_str().unwrap().contains("no such route"), "{answer}");
    }
}

fn ability(name: &str, reads: bool, destroys: bool, schema: &Value) -> Value {
    json!({"name": name, "label": "L", "description": "D", "category": "site", "input_schema": schema,
        "meta": {"annotations": {"readonly": reads, "destructive": destroys, "idempotent": destroys}}})
}

/// A site with four abilities. The input of the last one is a text; the inputs of the others are objects.
fn able(request: &HttpRequest) -> HttpResponse {
    let object = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let all = [
        ability("core/get-site-info", true, false, &json!([])),
        ability("shop/add-item", false, false, &object),
        ability("shop/drop-item", false, true, &json!({"type": "object", "properties": []})),
        ability("shop/say", true, false, &json!({"type": "string"})),
    ];
    let path = request.url.split("/abilities").nth(1).unwrap().split('?').next().unwrap();
    let found = all.iter().find(|ability| path.strip_prefix('/') == ability["name"].as_str());
    match found {
        _ if path.is_empty() => reply(200, &json!(all)),
        Some(ability) => reply(200, ability),
        None => reply(200, &json!({"done": true})),
    }
}

#[test]
fn abilities_run_by_the_method_that_the_site_wants() {
    let lines = |server: &dyn Fn(Arc<Fake>) -> ToolServer, tool: &str, call: Value| {
        let fake = Fake::replying(able);
        let answer = asked(&server(fake.clone()), tool, &call);
        let lines: Vec<String> = fake
            .lines()
            .iter()
            .map(|line| line.replace("https://x.example/wp-json/wp-abilities/v1/abilities", ""))
            .collect();
        (lines, answer)
    };
    let all = |fake: Arc<Fake>| writing(&[], fake);
    for (tool, call, line) in [
        (
            "site_run_ability",
            json!({"name": "core/get-site-info", "input": {"x": 1}}),
            "GET /core/get-site-info/run",
        ),
        (
            "site_run_ability",
            json!({"name": "shop/add-item", "input": {"a": 1}}),
            "POST /shop/add-item/run {\"input\":{\"a\":1}}",
        ),
        ("ability-shop_add-item", json!({"a": 1}), "POST /shop/add-item/run {\"input\":{\"a\":1}}"),
        ("ability-shop_add-item", json!({}), "POST /shop/add-item/run {\"input\":{}}"),
        ("ability-shop_drop-item", json!({"a": 1}), "DELETE /shop/drop-item/run?input%5Ba%5D=1"),
        ("ability-core_get-site-info", json!({}), "GET /core/get-site-info/run"),
        ("site_run_ability", json!({"name": "shop/say", "input": "hi"}), "GET /shop/say/run?input=hi"),
    ] {
        let (lines, answer) = lines(&all, tool, call);
        assert_eq!(lines[1], line, "{answer}");
        assert_eq!(shown(&answer), json!({"done": true}));
    }
    let (lines, answer) = lines(&reading, "ability-shop_add-item", json!({"a": 1}));
    assert!(lines.len() == 1 && refused(&answer).1.contains("only to read"), "{lines:?}");
}

/// Members that n8n adds to arguments do not reach the ability, unless the ability declares such an argument.
#[test]
fn abilities_are_not_given_what_clients_add() {
    let call = json!({"a": 1, "toolCallId": "c", "action": "x", "b": 2});
    for (is_listed, sent) in
        [(false, json!({"a": 1, "action": "x", "b": 2})), (true, json!({"a": 1, "b": 2}))]
    {
        let fake = Fake::replying(able);
        let server = writing(&[], fake.clone());
        if is_listed {
            request(&server, "tools/list", &json!({}), None);
        }
        asked(&server, "ability-shop_add-item", &call);
        let line = fake.lines().pop().unwrap();
        assert!(line.ends_with(&format!("/run {}", json!({"input": sent}))), "{is_listed}: {line}");
        asked(&server, "ability-core_get-site-info", &json!({"toolCallId": "c"}));
        assert!(fake.lines().pop().unwrap().ends_with("/run"), "nothing is left");
    }
}

/// Authors of abilities may omit annotations, and write schemas in WordPress's own form.
#[test]
fn abilities_are_listed_as_clients_take_tools() {
    let inner = json!({"type": "object", "required": true, "properties": [], "additionalProperties": []});
    let schema = json!({
        "type": "object", "required": true, "default": [],
        "properties": {
            "id": {"type": "integer", "required": true},
            "how": {"type": "string", "required": false, "enum": []},
            "list": {"type": "array", "items": inner, "default": []},
            "either": {"oneOf": [{"type": "object", "properties": {"a": {"type": "string", "required": true}}}]},
        },
    });
    let listed = |schema: Value, annotations: Value| {
        let ability = json!({"name": "a/b", "input_schema": schema, "meta": {"annotations": annotations}});
        let server = writing(&[], Fake::json(json!([ability])));
        let list = request(&server, "tools/list", &json!({}), None);
        list["result"]["tools"].as_array().unwrap().last().unwrap().clone()
    };
    let nothing = json!({"readonly": null, "destructive": null, "idempotent": null});
    let tool = listed(schema, nothing);
    let wanted = json!({
        "type": "object", "required": ["id"], "default": {},
        "properties": {
            "id": {"type": "integer"},
            "how": {"type": "string"},
            "list": {
                "type": "array", "default": [],
                "items": {"type": "object", "properties": {}, "additionalProperties": {}},
            },
            "either": {
                "oneOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}],
            },
        },
    });
    assert_eq!(tool["inputSchema"], wanted);
    let newer = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "object"}}});
    assert_eq!(listed(newer.clone(), json!({}))["inputSchema"], newer);
    for (annotations, destroys) in [
        (json!([]), true),
        (json!({"readonly": false}), true),
        (json!({"destructive": false}), false),
        (json!({"readonly": true}), false),
    ] {
        let tool = listed(json!([]), annotations);
        assert_eq!(tool["annotations"]["destructiveHint"], destroys, "{tool}");
    }
    assert_eq!(tool["annotations"]["readOnlyHint"], false);
}

#[test]
fn abilities_are_listed_as_tools() {
    let names = |server: &ToolServer| -> Vec<String> {
        let list = request(server, "tools/list", &json!({}), None);
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.starts_with("ability-")).collect()
    };
    let fake = Fake::replying(able);
    let server = writing(&[], fake.clone());
    let all = ["ability-core_get-site-info", "ability-shop_add-item", "ability-shop_drop-item"];
    assert_eq!(names(&server), all);
    assert_eq!(names(&server), all);
    assert_eq!(fake.lines().len(), 1, "what was found is good for a while");
    fake.pass(Duration::from_secs(301));
    names(&server);
    assert_eq!(fake.lines().len(), 2);
    assert_eq!(names(&reading(Fake::replying(able))), all[..1]);
    let list = request(&server, "tools/list", &json!({}), None);
    let drop = list["result"]["tools"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(drop["inputSchema"], json!({"type": "object", "properties": {}}));
    assert_eq!(drop["annotations"]["destructiveHint"], true);

    let old = Fake::replying(|_| {
        reply(404, &json!({"code": "rest_no_route", "message": "No.", "data": {"status": 404}}))
    });
    let older = writing(&[], old.clone());
    for asked in [1, 1, 2] {
        assert!(names(&older).is_empty(), "an older site has none");
        assert_eq!(old.lines().len(), asked, "and is not asked by every list");
        old.pass(Duration::from_secs(15));
    }
    let down = Arc::new(AtomicBool::new(false));
    let is_down = down.clone();
    let flaky = Fake::new(move |request| {
        if is_down.load(Ordering::SeqCst) {
            Err(fault(HttpFaultKind::Unconnected))
        } else {
            Ok(able(request))
        }
    });
    let server = writing(&[], flaky.clone());
    assert_eq!(names(&server), all);
    down.store(true, Ordering::SeqCst);
    flaky.pass(Duration::from_mins(6));
    assert_eq!(names(&server), all, "what was there before stays while the site is away");
    let nowhere = SiteSettings::default();
    let fake = Fake::replying(able);
    let sets = wordpress::Sets { extended: false, discover: true };
    assert!(names(&wordpress::server(&nowhere, sets, fake.clone()).unwrap()).is_empty());
    assert!(fake.lines().is_empty(), "a list needs no credentials");
    let (text, is_error) = content(&asked(&writing(&[], Fake::replying(able)), "site_abilities", &json!({})));
    assert!(!is_error && text.contains("shop/say"));
}
