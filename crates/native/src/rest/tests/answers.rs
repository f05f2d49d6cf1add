//! Answers in their three styles.

use serde_json::json;

use super::*;
use crate::AnswerStyle::{self, Compact, Plain, Raw};
use crate::community::buddyboss;
use crate::site::SiteSettings;
use crate::{ToolServer, wordpress};

fn settings(answers: AnswerStyle) -> SiteSettings {
    SiteSettings { login: Some(login("https://x.example", "a", "b")), answers, ..SiteSettings::default() }
}

fn site(answers: AnswerStyle, fake: Arc<Fake>) -> ToolServer {
    let sets = wordpress::Sets { extended: true, discover: false };
    wordpress::server(&settings(answers), sets, fake).unwrap()
}

#[test]
fn lists_say_how_much_there_is() {
    let post = json!({"id": 7, "title": {"rendered": "T"}, "guid": {"rendered": "G"}, "meta": [], "_links": {"self": []}});
    let fake = listing(json!([post]));
    let answer = asked(&site(Compact, fake.clone()), "wp_get_posts", &json!({}));
    let wanted = json!({"count": 1, "total": 31, "total_pages": 4, "posts": [{"id": 7, "title": "T"}]});
    assert_eq!(shown(&answer), wanted);
    assert_eq!(answer["result"]["structuredContent"], wanted, "the same as an object");
    let line = fake.lines().remove(0);
    assert!(line.ends_with("&_fields=id%2Ctitle%2Clink%2Cstatus%2Cdate%2Cexcerpt"), "{line}");

    let fake = listing(json!([post]));
    let answer = asked(&site(Compact, fake.clone()), "wp_get_posts", &json!({"full": true}));
    assert_eq!(shown(&answer)["posts"][0]["guid"], json!({"rendered": "G"}));
    assert_eq!(shown(&answer)["posts"][0]["meta"], json!({}), "an empty object of PHP's");
    assert_eq!(shown(&answer)["total"], 31);
    assert!(!fake.lines()[0].contains("_fields"));

    let plain = asked(&site(Plain, listing(json!([post]))), "wp_get_posts", &json!({}));
    assert_eq!(shown(&plain), json!({"count": 1, "posts": [{"id": 7, "title": "T"}]}));
    assert!(plain["result"].get("structuredContent").is_none());
    let raw = asked(&site(Raw, listing(json!([post]))), "wp_get_posts", &json!({}));
    assert_eq!(shown(&raw), json!([post]));
}

/// Answers that are not JSON, and their messages.
#[test]
fn what_is_no_json_is_told_as_what_it_is() {
    let body = |body: &'static [u8]| {
        Fake::replying(move |_| HttpResponse {
            status: 200,
            headers: Vec::new(),
            body: Bytes::from_static(body),
        })
    };
    let post = json!({"title": "T", "content": "C"});
    for (answer, says) in [
        (&b"<!doctype html><title>Home</title>"[..], "a web page, not JSON (is this the address"),
        (
            b"<br />\n<b>Warning</b>:  Undefined variable $x<br />\n{\"id\":7}",
            "other text precedes it: \"Warning: Undefined variable $x {\\\"id\\\":7}\" (a plugin",
        ),
        (b"\x1F\x8B\x08\x00", "it is compressed"),
        (b"caf\xE9", "it begins with \"caf"),
    ] {
        let (_, read, condition) = refused(&asked(&site(Compact, body(answer)), "wp_get_posts", &json!({})));
        assert!(read.contains(says), "{read}");
        assert_eq!(condition, "upstreamError");
        assert!(!read.contains("may have been executed"), "{read}");
        let (_, written, _) = refused(&asked(&site(Compact, body(answer)), "wp_create_post", &post));
        assert!(written.contains("may have been executed"), "{written}");
    }
    let marked = body(b"\xEF\xBB\xBF[{\"id\": 7}]");
    assert_eq!(shown(&asked(&site(Compact, marked), "wp_get_posts", &json!({})))["count"], 1);
}

#[test]
fn nothing_is_no_answer_to_who_reads() {
    let empty = || Fake::replying(|_| HttpResponse { status: 200, headers: Vec::new(), body: " \n".into() });
    let said = |fake: Arc<Fake>, tool: &str, arguments: &Value| -> Vec<String> {
        let all = [Compact, Plain];
        all.map(|answers| refused(&asked(&site(answers, fake.clone()), tool, arguments)).1).to_vec()
    };
    let mut all = said(empty(), "wp_get_posts", &json!({}));
    for nothing in [empty(), Fake::json(json!(null)), Fake::json(json!(false)), Fake::json(json!("words"))] {
        all.extend(said(nothing, "wp_get_post", &json!({"id": 7})));
    }
    all.extend(said(Fake::json(json!(false)), "wp_get_post_types", &json!({})));
    assert_eq!(all.len(), 12);
    for message in all {
        assert!(message.contains("none of the requested data"), "{message}");
    }
    // PHP's empty object; an empty answer to a change; and WordPress's `null`, where any value is allowed.
    let phases = buddyboss::Phases { extended: true, ..buddyboss::Phases::default() };
    let forums = buddyboss::server(&settings(Compact), phases, empty()).unwrap();
    let none = asked(&forums, "buddyboss_list_topic_destinations", &json!({"id": 7}));
    assert_eq!(none["result"]["isError"], false, "{none}");
    shown(&asked(&site(Compact, Fake::json(json!([]))), "wp_get_post", &json!({"id": 7})));
    shown(&asked(&site(Compact, empty()), "wp_delete_post", &json!({"id": 7})));
}

/// Some servers interpret a path only after decoding it.
#[test]
fn a_segment_is_one_also_when_it_is_decoded() {
    for odd in ["posts/1", "posts?x", "posts#x", "..\\posts"] {
        let fake = Fake::json(json!([]));
        let answer = asked(&site(Compact, fake.clone()), "wp_get_items", &json!({"type": odd}));
        assert!(refused(&answer).1.contains("is not allowed in a path"), "{answer}");
        assert!(fake.lines().is_empty());
    }
}

#[test]
fn what_may_have_been_done_is_said() {
    for (kind, reading, writing) in [
        (HttpFaultKind::Broken, "answer is incomplete", true),
        (HttpFaultKind::Late, "answer is incomplete", true),
        (HttpFaultKind::TooLarge, "too large", true),
        (HttpFaultKind::Unconnected, "cannot be reached", false),
    ] {
        let fails = || {
            Fake::strict(move |request| {
                let is_entry = request.url.contains("/users/me");
                if is_entry { Ok(reply(200, &json!({"id": 1}))) } else { Err(fault(kind)) }
            })
        };
        let read = refused(&asked(&site(Compact, fails()), "wp_get_posts", &json!({}))).1;
        assert!(read.contains(reading) && !read.contains("may have been executed"), "{read}");
        let post = json!({"title": "T", "content": "C"});
        let written = refused(&asked(&site(Compact, fails()), "wp_create_post", &post)).1;
        assert_eq!(written.contains("may have been executed"), writing, "{written}");
    }
}

#[test]
fn who_wants_to_be_asked_later_says_when() {
    let late = |status, after: &'static str| {
        let headers = vec![("Retry-After".to_owned(), after.to_owned())];
        let fake =
            Fake::replying(move |_| HttpResponse { status, headers: headers.clone(), body: Bytes::new() });
        refused(&asked(&site(Compact, fake), "wp_get_posts", &json!({}))).1
    };
    assert!(late(429, "120").ends_with("; the site asks to wait 120 seconds"));
    assert!(late(503, " 3600 ").ends_with("; the site asks to wait 3600 seconds"));
    for (status, after) in [(429, "soon"), (503, "Fri, 31 Dec 1999 23:59:59 GMT"), (500, "5"), (429, "-5")] {
        assert!(!late(status, after).contains("the site asks"), "{after}");
    }
}

/// A web server with a password of its own, and a byte order mark before an error.
#[test]
fn errors_are_read_like_other_answers() {
    let error = |status, headers: Vec<(String, String)>, body: &'static str| {
        let fake =
            Fake::replying(move |_| HttpResponse { status, headers: headers.clone(), body: body.into() });
        refused(&asked(&site(Compact, fake), "wp_get_posts", &json!({}))).1
    };
    let challenge =
        |scheme: &str| vec![("WWW-Authenticate".to_owned(), format!("{scheme} realm=\"Staging\""))];
    assert!(
        error(401, challenge("basic"), "<h1>Authorization Required</h1>").contains("password of its own")
    );
    assert!(error(401, challenge("Bearer"), "<h1>No</h1>").contains("an Application Password is required"));
    let words = r#"{"code":"rest_forbidden","message":"Sorry."}"#;
    assert!(error(401, challenge("Basic"), words).starts_with("Sorry. (an Application Password"));
    let marked = "\u{feff}{\"code\":\"rest_post_invalid_id\",\"message\":\"Invalid post ID.\"}";
    assert_eq!(error(404, Vec::new(), marked), "Invalid post ID.");
}

/// Sites report the address of their API.
#[test]
fn the_address_of_the_api_is_taken_for_the_sites() {
    for url in ["https://x.example/wp-json/", "https://x.example/wp-json/wp/v2", "https://x.example"] {
        let login = Some(login(url, "a", "b"));
        let fake = Fake::json(json!([]));
        let settings = SiteSettings { login, ..SiteSettings::default() };
        shown(&asked(
            &wordpress::server(&settings, wordpress::Sets::default(), fake.clone()).unwrap(),
            "wp_get_posts",
            &json!({}),
        ));
        assert!(fake.lines()[0].starts_with("GET https://x.example/wp-json/wp/v2/posts?"), "{url}");
    }
}

#[test]
fn an_error_is_one_whatever_its_status() {
    let body = json!({"code": "rest_forbidden", "message": "Sorry.", "data": {"status": 403}});
    let answer = asked(&site(Compact, Fake::json(body.clone())), "wp_get_post", &json!({"id": 7}));
    assert_eq!(refused(&answer).1, "Sorry.");
    assert_eq!(answer["error"]["data"]["status"], 403);
    assert_eq!(answer["error"]["data"]["body"], body);
    for other in
        [json!({"code": "a", "message": "b"}), json!({"code": 1, "message": "b", "data": {"status": 404}})]
    {
        shown(&asked(&site(Compact, Fake::json(other)), "wp_get_post", &json!({"id": 7})));
    }
}

#[test]
fn what_php_makes_lists_of_are_objects() {
    let answer = json!({"id": 7, "meta": [], "_links": {}, "media_details": [], "categories": [], "sizes": {"a": {"meta": []}}});
    let shown_by = |tool: &str, arguments: Value, body: &Value| {
        shown(&asked(&site(Compact, Fake::json(body.clone())), tool, &arguments))
    };
    let item = shown_by("wp_get_item", json!({"type": "books", "id": 7}), &answer);
    assert_eq!(item, json!({"id": 7, "categories": [], "meta": {}}));
    let settings = shown_by("wp_get_settings", json!({}), &answer);
    assert_eq!(
        settings,
        json!({"id": 7, "meta": {}, "media_details": {}, "categories": [], "sizes": {"a": {"meta": {}}}})
    );
    let styles = json!({"id": 7, "settings": [], "tags": [], "styles": {"blocks": []}});
    let wanted = json!({"id": 7, "settings": {}, "tags": [], "styles": {"blocks": []}});
    assert_eq!(shown_by("wp_get_global_styles", json!({"id": 7}), &styles), wanted);
    assert_eq!(shown_by("wp_get_post_types", json!({}), &json!([])), json!({"count": 0, "types": []}));
    let types = json!({"post": {"slug": "post", "name": "Posts", "supports": [], "x": 1}});
    let wanted = json!({"count": 1, "types": [{"slug": "post", "name": "Posts", "supports": {}}]});
    assert_eq!(shown_by("wp_get_post_types", json!({}), &types), wanted);
    assert_eq!(shown_by("wp_get_post_types", json!({"full": true}), &types)["post"]["x"], 1);
    assert_eq!(shown_by("wp_get_post_types", json!({"full": true}), &json!([])), json!({}));
    assert_eq!(shown_by("wp_get_settings", json!({}), &json!(true)), json!({"value": true}));
    assert_eq!(shown_by("wp_get_settings", json!({}), &json!(null)), json!({}));
}

#[test]
fn one_thing_is_no_list() {
    let listed = |answers, body: Value| {
        let arguments = json!({"id": 7});
        asked(&site(answers, Fake::json(body)), "wp_get_global_styles_revisions", &arguments)
    };
    let styles = json!({"id": 7, "styles": {"color": {}}, "settings": {}, "title": {"rendered": "Custom"}});
    for answers in [Compact, Plain, Raw] {
        for one in [styles.clone(), json!(false), json!("words")] {
            let (_, words, condition) = refused(&listed(answers, one));
            assert_eq!(condition, "upstreamError");
            assert!(words.contains("too old"), "{words}");
        }
    }
    let version = json!({"id": 9, "parent": 7, "styles": [], "settings": {}});
    for body in [json!([version]), json!({"3": version})] {
        let shown = shown(&listed(Compact, body));
        assert_eq!((&shown["count"], &shown["versions"][0]["parent"]), (&json!(1), &json!(7)), "{shown}");
    }
    for body in [json!([]), json!({}), json!(null)] {
        assert_eq!(shown(&listed(Compact, body))["count"], 0);
    }
}

#[test]
fn schemas_of_answers_say_what_is_shown() {
    let body = json!([{"id": 7, "title": {"rendered": "T"}}]);
    let server = site(Compact, listing(body));
    let list = request(&server, "tools/list", &json!({}), None);
    for tool in list["result"]["tools"].as_array().unwrap() {
        let (name, schema) = (&tool["name"], &tool["outputSchema"]);
        assert_eq!(schema["type"], "object", "{name}");
        // A file is never shown in part.
        let full = tool.pointer("/inputSchema/properties/full/type").and_then(Value::as_str);
        assert_eq!(full, (name != "wp_get_theme_export").then_some("boolean"), "{name}");
    }
    let posts = &list["result"]["tools"][0]["outputSchema"]["properties"];
    let answer = asked(&server, "wp_get_posts", &json!({}));
    for name in answer["result"]["structuredContent"].as_object().unwrap().keys() {
        assert!(posts.get(name).is_some(), "{name}");
    }
    let plain = request(&site(Plain, Fake::json(json!({}))), "tools/list", &json!({}), None);
    for tool in plain["result"]["tools"].as_array().unwrap() {
        assert!(
            tool.get("outputSchema").is_none() && tool["inputSchema"]["properties"].get("full").is_none()
        );
    }
}

#[test]
fn a_set_can_be_kept_from_changing_anything() {
    let settings = SiteSettings { read_only: true, ..settings(Compact) };
    let sets = wordpress::Sets { extended: true, discover: true };
    let server = wordpress::server(&settings, sets, Fake::json(json!({}))).unwrap();
    let list = request(&server, "tools/list", &json!({}), None);
    let tools = list["result"]["tools"].as_array().unwrap();
    assert!(tools.len() > 80 && tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    assert_eq!(
        refused(&asked(&server, "wp_create_post", &json!({"title": "T", "content": "C"}))).2,
        "unknownTool"
    );
}

#[test]
fn values_with_slashes_stay_below_their_route() {
    for (id, line) in [
        ("mine/single", "GET https://x.example/wp-json/wp/v2/templates/mine/single?"),
        ("mine//single page", "GET https://x.example/wp-json/wp/v2/templates/mine/single%20page?"),
    ] {
        let fake = Fake::json(json!({}));
        asked(&site(Compact, fake.clone()), "wp_get_template", &json!({"id": id}));
        assert!(fake.lines()[0].starts_with(line), "{:?}", fake.lines());
    }
    for id in ["..", "a/../../users", "/", "a/\n"] {
        let fake = Fake::json(json!({}));
        let answer = asked(&site(Compact, fake.clone()), "wp_get_template", &json!({"id": id}));
        assert_eq!(refused(&answer).2, "invalidArguments", "{id}");
        assert!(fake.lines().is_empty());
    }
}

#[test]
fn what_a_call_brings_by_name_takes_no_others_place() {
    let called = |tool: &str, arguments: Value| {
        let fake = Fake::json(json!([]));
        let answer = asked(&site(Raw, fake.clone()), tool, &arguments);
        (answer, fake.lines())
    };
    let fields = json!({"author": 3, "genre": [1, 2], "Some-thing": {"a": null}});
    let (_, lines) =
        called("wp_update_item", json!({"type": "books", "id": 7, "title": "T", "fields": fields}));
    let body = r#"{"Some-thing":{"a":null},"author":3,"genre":[1,2],"title":"T"}"#;
    let (head, sent) = lines[0].split_once(" {").unwrap();
    assert_eq!(head, "POST https://x.example/wp-json/wp/v2/books/7");
    assert_eq!(
        serde_json::from_str::<Value>(&format!("{{{sent}")).unwrap(),
        serde_json::from_str::<Value>(body).unwrap()
    );
    let (_, lines) =
        called("wp_get_items", json!({"type": "books", "filters": {"genre": [1, 2], "f": {"x": "a&b"}}}));
    assert!(lines[0].contains("&genre=1%2C2") && lines[0].contains("&f%5Bx%5D=a%26b"), "{lines:?}");
    let long = "x".repeat(101);
    for name in [
        "id",
        "ID",
        "title",
        "type",
        "_method",
        "rest_route",
        "Rest_Route",
        " a",
        "a b",
        "a[b]",
        "a.b",
        "",
        &long,
    ] {
        for (tool, key) in [("wp_update_item", "fields"), ("wp_get_items", "filters")] {
            if tool == "wp_get_items" && ["id", "ID", "title"].contains(&name) {
                continue;
            }
            let (answer, lines) = called(tool, json!({"type": "books", "id": 7, key: {name: 9}}));
            assert_eq!(refused(&answer).2, "invalidArguments", "{tool} {name:?}");
            assert!(lines.is_empty(), "{lines:?}");
        }
    }
}

#[test]
fn a_user_is_a_number_or_oneself() {
    let listed = |user: Value| {
        let fake = Fake::json(json!([]));
        let server = site(Compact, fake.clone());
        let answer = asked(&server, "wp_get_application_passwords", &json!({"user_id": user}));
        (answer, fake.lines())
    };
    for (user, part) in
        [(json!(5), "5"), (json!("5"), "5"), (json!(5.0), "5"), (json!("me"), "me"), (json!(null), "me")]
    {
        let (answer, lines) = listed(user);
        shown(&answer);
        let path = format!("/wp-json/wp/v2/users/{part}/application-passwords?");
        assert!(lines[0].contains(&path), "{lines:?}");
    }
    for user in [json!("ann"), json!(-5), json!(0), json!(1.5), json!(true), json!(""), json!("5/../6")] {
        let (answer, lines) = listed(user.clone());
        let (_, words, condition) = refused(&answer);
        assert_eq!((condition.as_str(), lines.len()), ("invalidArguments", 0), "{user}");
        assert!(words.contains("a user's number or \"me\""), "{words}");
    }
    let list = request(&site(Compact, Fake::json(json!({}))), "tools/list", &json!({}), None);
    let tools = list["result"]["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "wp_get_application_passwords").unwrap();
    assert_eq!(tool["inputSchema"]["properties"]["user_id"]["type"], json!(["integer", "string"]));
}
