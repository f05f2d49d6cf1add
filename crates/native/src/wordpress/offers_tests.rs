//! Resources, their completion, and prompts.

use serde_json::{Value, json};

use super::{Sets, server};
use crate::port::HttpRequest;
use crate::rest::tests::{Fake, login, reply, request};
use crate::site::SiteSettings;
use crate::{ToolServer, port::HttpResponse};
use std::sync::Arc;

fn over(fake: Arc<Fake>) -> ToolServer {
    let login = Some(login("https://x.example", "a", "b"));
    server(&SiteSettings { login, ..SiteSettings::default() }, Sets::default(), fake).unwrap()
}

fn site(request: &HttpRequest) -> HttpResponse {
    let path = request.url.split("/wp-json").nth(1).unwrap().split('?').next().unwrap();
    match path {
        "/wp/v2/types" => {
            reply(200, &json!({"post": {"slug": "post"}, "page": {"slug": "page"}, "book": {"slug": "book"}}))
        }
        "/wp/v2/posts" => reply(200, &json!([{"id": 7}, {"id": 9}])),
        "/wp/v2/users" => {
            let page: Vec<Value> = (1..=100).map(|id| json!({"id": id})).collect();
            let mut page = reply(200, &Value::from(page));
            page.headers.push(("x-wp-total".to_owned(), "250".to_owned()));
            page
        }
        "/wp/v2/themes" | "/wp/v2/plugins" => {
            reply(200, &json!([{"name": {"rendered": "N"}, "status": "active"}]))
        }
        "/wp/v2/posts/8" => reply(
            404,
            &json!({"code": "rest_post_invalid_id", "message": "Invalid post ID.", "data": {"status": 404}}),
        ),
        "/wp/v2/posts/9" => {
            reply(403, &json!({"code": "rest_forbidden", "message": "No.", "data": {"status": 403}}))
        }
        _ => reply(200, &json!({"id": 7, "title": {"rendered": "T"}, "name": "S", "x": 1})),
    }
}

fn read(uri: &str) -> (Value, Vec<String>) {
    let fake = Fake::replying(site);
    let answer = request(&over(fake.clone()), "resources/read", &json!({"uri": uri}), None);
    (answer, fake.lines())
}

#[test]
fn the_tagline_of_a_site_is_plain_text() {
    let index = json!({"name": "R&amp;D", "description": "Fish &amp; chips", "timezone_string": "UTC"});
    let server = over(Fake::json(index));
    let answer = request(&server, "resources/read", &json!({"uri": "wp://site"}), None);
    let text = answer["result"]["contents"][0]["text"].as_str().unwrap();
    let site: Value = serde_json::from_str(text).unwrap();
    assert_eq!((&site["name"], &site["description"]), (&json!("R&D"), &json!("Fish & chips")));
}

#[test]
fn resources_are_read_at_the_site() {
    let list = request(&over(Fake::replying(site)), "resources/list", &json!({}), None);
    for resource in list["result"]["resources"].as_array().unwrap() {
        let uri = resource["uri"].as_str().unwrap();
        let (answer, lines) = read(uri);
        let content = &answer["result"]["contents"][0];
        assert_eq!((content["uri"].as_str(), lines.len()), (Some(uri), 1), "{answer}");
        assert!(serde_json::from_str::<Value>(content["text"].as_str().unwrap()).is_ok());
    }
    let names = list["result"]["resources"].as_array().unwrap().iter().map(|resource| &resource["uri"]);
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["wp://site", "wp://types", "wp://taxonomies", "wp://themes", "wp://plugins"]
    );
    let templates = request(&over(Fake::replying(site)), "resources/templates/list", &json!({}), None);
    let templates: Vec<&str> = templates["result"]["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["uriTemplate"].as_str().unwrap())
        .collect();
    assert_eq!(
        templates,
        [
            "wp://types/{type}",
            "wp://posts/{id}",
            "wp://pages/{id}",
            "wp://previous/{previous}",
            "wp://users/{id}"
        ]
    );
    let (answer, lines) = read("wp://posts/7");
    assert!(lines[0].starts_with("GET https://x.example/wp-json/wp/v2/posts/7?_fields="), "{lines:?}");
    let text: Value =
        serde_json::from_str(answer["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, json!({"id": 7, "title": "T"}));
}

#[test]
fn what_is_not_there_is_told_apart_from_what_is_refused() {
    for uri in ["wp://nothing", "wp://posts/", "wp://posts/7/8", "wp://posts/..%2f", "https://x.example/"] {
        let (answer, lines) = read(uri);
        assert_eq!(answer["error"]["data"]["uri"], uri, "{answer}");
        assert!(lines.is_empty(), "{uri}");
    }
    let (gone, _) = read("wp://posts/8");
    assert_eq!(
        (gone["error"]["code"].clone(), &gone["error"]["data"]["uri"]),
        (json!(-32002), &json!("wp://posts/8"))
    );
    let (refused, _) = read("wp://posts/9");
    assert_eq!(refused["error"]["data"]["condition"], "upstreamError");
    assert!(
        read("wp://posts/..").0["error"]["message"].as_str().unwrap().contains("is not allowed in a path")
    );
    let nowhere = server(&SiteSettings::default(), Sets::default(), Fake::replying(site)).unwrap();
    let answer = request(&nowhere, "resources/read", &json!({"uri": "wp://site"}), None);
    assert_eq!(answer["error"]["data"]["condition"], "noCredentials");
}

#[test]
fn places_of_templates_are_completed() {
    let complete = |reference: Value, name: &str, typed: &str| {
        let fake = Fake::replying(site);
        let params = json!({"ref": reference, "argument": {"name": name, "value": typed}});
        (request(&over(fake.clone()), "completion/complete", &params, None), fake.lines())
    };
    let posts = json!({"type": "ref/resource", "uri": "wp://posts/{id}"});
    let (answer, lines) = complete(posts.clone(), "id", "a&b");
    assert_eq!(answer["result"]["completion"], json!({"values": ["7", "9"], "total": 2, "hasMore": false}));
    // The first page contains as many values as one answer may, out of all that the site reports.
    let users = json!({"type": "ref/resource", "uri": "wp://users/{id}"});
    let (answer, _) = complete(users, "id", "a");
    let found = &answer["result"]["completion"];
    assert_eq!(found["values"].as_array().unwrap().len(), 100);
    assert_eq!((&found["total"], &found["hasMore"]), (&json!(250), &json!(true)));
    assert_eq!(lines, ["GET https://x.example/wp-json/wp/v2/posts?search=a%26b&per_page=100&_fields=id"]);
    let types = json!({"type": "ref/resource", "uri": "wp://types/{type}"});
    assert_eq!(complete(types, "type", "P").0["result"]["completion"]["values"], json!(["post", "page"]));
    let prompt = json!({"type": "ref/prompt", "name": "draft-post"});
    assert_eq!(complete(prompt.clone(), "tone", "c").0["result"]["completion"]["values"], json!([]));
    for (reference, name) in [(posts, "name"), (prompt, "none"), (json!({"type": "ref/x", "uri": "u"}), "id")]
    {
        assert_eq!(complete(reference, name, "").0["error"]["code"], -32602);
    }
}

#[test]
fn prompts_are_filled_once() {
    let server = over(Fake::replying(site));
    let list = request(&server, "prompts/list", &json!({}), None);
    let names: Vec<&Value> =
        list["result"]["prompts"].as_array().unwrap().iter().map(|prompt| &prompt["name"]).collect();
    assert_eq!(names, [&json!("draft-post"), &json!("triage-comments")]);
    assert_eq!(list["result"]["prompts"][0]["arguments"][0]["required"], true);
    let get = |arguments: Value| {
        request(&server, "prompts/get", &json!({"name": "draft-post", "arguments": arguments}), None)
    };
    let answer = get(json!({"notes": "a {tone} {notes} }"}));
    let text = answer["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(
        text.ends_with("The notes:\na {tone} {notes} }") && text.contains("clear and friendly"),
        "{text}"
    );
    let empty = get(json!({"notes": "n", "tone": " "}));
    assert!(empty.to_string().contains("clear and friendly"), "{empty}");
    for arguments in [
        json!({}),
        json!({"notes": ""}),
        json!({"notes": " \n"}),
        json!({"notes": 1}),
        json!([]),
        json!({"notes": "x".repeat(200_000)}),
    ] {
        assert_eq!(get(arguments)["error"]["code"], -32602);
    }
    assert_eq!(request(&server, "prompts/get", &json!({"name": "x"}), None)["error"]["code"], -32602);
    assert_eq!(
        request(&server, "resources/subscribe", &json!({"uri": "wp://site"}), None)["error"]["code"],
        -32601
    );
}
