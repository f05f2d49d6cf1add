//! IDs that do not exist, and what was stored.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Sets, server};
use crate::port::Verb;
use crate::rest::tests::{Fake, asked, login, refused, reply, shown};
use crate::site::SiteSettings;
use crate::{AnswerStyle, ToolServer};

/// A site with the category 3, the tags 5 and 6 and the picture 8, which saves only the values that it knows.
fn site() -> Arc<Fake> {
    Fake::replying(|request| {
        let known: &[i64] = match () {
            () if request.url.contains("/categories?") => &[3],
            () if request.url.contains("/tags?") => &[5, 6],
            () if request.url.contains("/media?") => &[8],
            () => &[],
        };
        if request.method == Verb::Get {
            let include = request.url.split("include=").nth(1).unwrap().split('&').next().unwrap();
            let asked: Vec<i64> = include.split("%2C").map(|id| id.parse().unwrap()).collect();
            let found = known.iter().filter(|id| asked.contains(id)).map(|id| json!({"id": id}));
            return reply(200, &found.collect());
        }
        reply(
            200,
            &json!({
                "id": 7, "title": {"raw": "T", "rendered": "T"}, "status": "draft", "categories": [3], "tags": [],
                "featured_media": 8, "sticky": false, "meta": {"known": "x"},
            }),
        )
    })
}

fn tools(fake: &Arc<Fake>, answers: AnswerStyle) -> ToolServer {
    let login = Some(login("https://wp.example.com", "ann", "p"));
    let settings = SiteSettings { login, answers, ..SiteSettings::default() };
    server(&settings, Sets { extended: true, discover: false }, fake.clone()).unwrap()
}

fn changes(fake: &Fake) -> usize {
    fake.asked.lock().unwrap().iter().filter(|request| request.method != Verb::Get).count()
}

#[test]
fn ids_that_do_not_exist_are_refused_before_the_change() {
    let post = |more: Value| {
        let mut call = json!({"title": "T", "content": "C"});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    };
    for (tool, call, words) in [
        (
            "wp_create_post",
            post(json!({"categories": [3, 99]})),
            "there is no category 99 (argument \"categories\")",
        ),
        ("wp_create_post", post(json!({"tags": [4, 5, 7]})), "there is no tag 4, 7 (argument \"tags\")"),
        (
            "wp_create_page",
            post(json!({"featured_media": 9})),
            "no media item 9 (argument \"featured_media\")",
        ),
        ("wp_update_post", json!({"id": 7, "categories": [1]}), "there is no category 1 "),
        (
            "wp_create_item",
            json!({"type": "posts", "title": "T", "fields": {"categories": [99]}}),
            "no category 99 (argument \"categories\"); wp_get_categories lists those that exist",
        ),
        (
            "wp_batch",
            json!({"requests": [
                {"method": "POST", "path": "/wp/v2/posts/7", "body": {"categories": [3]}},
                {"method": "POST", "path": "/wp/v2/posts/8", "body": {"categories": [99]}},
            ]}),
            "there is no category 99 ",
        ),
        (
            "wp_batch",
            json!({"requests": [{"method": "PUT", "path": "/wp/v2/posts/7", "body": {"content": "x"}}]}),
            "would replace content",
        ),
    ] {
        let fake = site();
        let said = refused(&asked(&tools(&fake, AnswerStyle::Compact), tool, &call)).1;
        assert!(said.contains(words), "{tool}: {said}");
        assert_eq!(changes(&fake), 0, "{tool}");
    }
}

#[test]
fn an_answer_shows_what_was_stored() {
    let fake = site();
    let call = json!({
        "title": "T", "content": "C", "categories": [3], "tags": [5], "featured_media": 8, "sticky": true,
        "meta": {"known": "x", "other": "y"},
    });
    let answer = shown(&asked(&tools(&fake, AnswerStyle::Compact), "wp_create_post", &call));
    assert_eq!(
        answer["stored"],
        json!({"categories": [3], "tags": [], "featured_media": 8, "meta": {"known": "x"}})
    );
    let mut lost: Vec<&str> =
        answer["not_stored"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    lost.sort_unstable();
    assert_eq!(lost, ["meta.other", "tags"]);
}

#[test]
fn fields_that_the_site_ignores_are_named() {
    let fake = site();
    let fields = json!({"catgories": [1], "sticky": true, "acf": {"price": 5}});
    for call in [
        json!({"type": "posts", "title": "T", "fields": fields}),
        json!({"type": "posts", "id": 7, "fields": fields}),
    ] {
        let tool = if call.get("id").is_some() { "wp_update_item" } else { "wp_create_item" };
        let answer = shown(&asked(&tools(&fake, AnswerStyle::Compact), tool, &call));
        assert_eq!(answer["stored"], json!({"sticky": false}), "{answer}");
        let mut lost: Vec<&str> =
            answer["not_stored"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        lost.sort_unstable();
        assert_eq!(lost, ["acf", "catgories (did you mean \"categories\"?)", "sticky"]);
    }
}

#[test]
fn nothing_is_looked_up_without_a_reference_or_with_a_preset() {
    let fake = site();
    asked(
        &tools(&fake, AnswerStyle::Compact),
        "wp_create_post",
        &json!({"title": "T", "content": "C", "featured_media": 0}),
    );
    assert_eq!(fake.lines().len(), 1);
    let fake = site();
    let call = json!({"title": "T", "content": "C", "categories": [99]});
    let answer = shown(&asked(&tools(&fake, AnswerStyle::Plain), "wp_create_post", &call));
    assert_eq!((fake.lines().len(), answer.get("stored")), (1, None));
}
