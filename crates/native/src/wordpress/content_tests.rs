//! Content that is read in order to be edited, as source if the account may edit it; and changes that would lose its
//! markup.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Sets, server};
use crate::port::{HttpRequest, HttpResponse, Verb};
use crate::rest::tests::{Fake, asked, login, refused, reply, shown};
use crate::site::SiteSettings;
use crate::{AnswerStyle, ToolServer, UnknownArguments};

const SOURCE: &str = "<!-- wp:heading -->\n<h2>Hours of opening</h2>\n<!-- /wp:heading -->\n\n<!-- wp:paragraph -->\n<p>From nine to five.</p>\n<!-- /wp:paragraph -->\n\n[gallery ids=\"1\"]";
const RENDERED: &str = "<h2>Hours of opening</h2>\n<p>From nine to five.</p>\n<div class=\"gallery\"><img src=\"/1.png\"/></div>";

/// A site whose post, page and template have this content. Accounts that may edit (`edits`) also get its source.
fn site(edits: bool) -> Arc<Fake> {
    Fake::replying(move |request| {
        let asks_to_edit = request.url.contains("context=edit");
        if request.method != Verb::Get {
            return reply(200, &json!({"id": 7, "title": {"raw": "T", "rendered": "T"}}));
        }
        if asks_to_edit && !edits {
            let words = "Sorry, you are not allowed to edit this post.";
            return reply(
                403,
                &json!({"code": "rest_forbidden_context", "message": words, "data": {"status": 403}}),
            );
        }
        reply(
            200,
            &if asks_to_edit {
                both()
            } else {
                json!({"id": 7, "title": {"rendered": "A &#038; B"}, "content": {"rendered": RENDERED}})
            },
        )
    })
}

fn both() -> Value {
    json!({"id": 7, "title": {"raw": "A & B", "rendered": "A &#038; B"}, "content": {"raw": SOURCE, "rendered": RENDERED}})
}

fn tools(fake: &Arc<Fake>, settings: SiteSettings) -> ToolServer {
    let login = Some(login("https://wp.example.com", "ann", "p"));
    server(&SiteSettings { login, ..settings }, Sets { extended: true, discover: false }, fake.clone())
        .unwrap()
}

fn compact(fake: &Arc<Fake>) -> ToolServer {
    tools(fake, SiteSettings::default())
}

fn changes(fake: &Fake) -> usize {
    fake.asked.lock().unwrap().iter().filter(|request: &&HttpRequest| request.method != Verb::Get).count()
}

#[test]
fn who_may_edit_reads_the_source() {
    let fake = site(true);
    let reads: [(&str, Value); 3] = [
        ("wp_get_post", json!({"id": 7})),
        ("wp_get_page", json!({"id": 7})),
        ("wp_get_item", json!({"type": "pages", "id": 7})),
    ];
    for (tool, call) in &reads {
        let post = shown(&asked(&compact(&fake), tool, call));
        assert_eq!((&post["content"], &post["title"]), (&json!(SOURCE), &json!("A & B")), "{tool}");
        assert_eq!(post["content_format"], "source", "{tool}");
        let mut call = call.clone();
        call["rendered"] = json!(true);
        let post = shown(&asked(&compact(&fake), tool, &call));
        assert_eq!(
            (&post["content"], &post["content_format"]),
            (&json!(RENDERED), &json!("rendered")),
            "{tool}"
        );
        assert!(post.get("content_note").is_none(), "{tool}");
    }
    let page = shown(&asked(&compact(&fake), "wp_get_page", &json!({"id": 7, "context": "view"})));
    assert_eq!((&page["content"], &page["content_format"]), (&json!(RENDERED), &json!("rendered")));
}

#[test]
fn who_may_not_edit_reads_what_visitors_see_and_is_told_so() {
    let fake = site(false);
    let post = shown(&asked(&compact(&fake), "wp_get_post", &json!({"id": 7})));
    assert_eq!((&post["content"], &post["content_format"]), (&json!(RENDERED), &json!("rendered")));
    assert!(post["content_note"].as_str().unwrap().contains("may not edit"), "{post}");
    assert_eq!(fake.asked.lock().unwrap().len(), 2);
}

#[test]
fn presets_read_what_their_documents_say() {
    let fake = site(true);
    for answers in [AnswerStyle::Plain, AnswerStyle::Raw] {
        let server = tools(&fake, SiteSettings { answers, ..SiteSettings::default() });
        let post = shown(&asked(&server, "wp_get_post", &json!({"id": 7})));
        assert!(post.get("content_format").is_none() && !post.to_string().contains("wp:heading"), "{post}");
    }
    let asked = fake.asked.lock().unwrap();
    assert!(asked.iter().all(|request| !request.url.contains("context=edit")));
}

#[test]
fn a_change_that_would_lose_markup_is_not_sent() {
    let changed = RENDERED.replace("nine", "ten");
    for answers in [AnswerStyle::Compact, AnswerStyle::Plain] {
        for (tool, mut call) in [
            ("wp_update_post", json!({"id": 7})),
            ("wp_update_page", json!({"id": 7})),
            ("wp_update_item", json!({"type": "books", "id": 7})),
            ("wp_update_block", json!({"id": 7})),
            ("wp_update_navigation", json!({"id": 7})),
            ("wp_update_template", json!({"id": "mine//single"})),
            ("wp_update_template_part", json!({"id": "mine//header"})),
            ("wp_create_post_autosave", json!({"id": 7})),
            ("wp_create_page_autosave", json!({"id": 7})),
            ("wp_create_item_autosave", json!({"type": "books", "id": 7})),
            ("wp_create_template_autosave", json!({"id": "mine//single"})),
        ] {
            let fake = site(true);
            let server = tools(&fake, SiteSettings { answers, ..SiteSettings::default() });
            call["content"] = json!(changed);
            let (_, words, condition) = refused(&asked(&server, tool, &call));
            assert_eq!((condition.as_str(), changes(&fake)), ("toolFailed", 0), "{tool}: {words}");
            for lost in [
                "a heading block",
                "a paragraph block",
                "[gallery]",
                "allow_markup_loss",
                "<!-- wp:heading -->",
            ] {
                assert!(words.contains(lost), "{tool}: {words}");
            }
            // The source with a changed word, another title, and no content at all are accepted.
            for content in [Some(SOURCE.replace("nine", "ten")), Some(String::new()), None] {
                call["content"] = json!(content);
                shown(&asked(&server, tool, &call));
            }
            assert_eq!(changes(&fake), 3, "{tool}");
        }
    }
}

#[test]
fn a_loss_that_is_wanted_is_saved() {
    let call = json!({"id": 7, "content": RENDERED, "allow_markup_loss": true});
    let fake = site(true);
    shown(&asked(&compact(&fake), "wp_update_post", &call));
    assert_eq!(changes(&fake), 1);
    let sent = fake.lines().pop().unwrap();
    assert!(!sent.contains("allow_markup_loss"), "{sent}");
    // Tools of presets have no such argument; for them, the configuration decides.
    let plain = SiteSettings {
        answers: AnswerStyle::Plain,
        unknown_arguments: UnknownArguments::Ignore,
        ..SiteSettings::default()
    };
    let fake = site(true);
    refused(&asked(&tools(&fake, plain.clone()), "wp_update_post", &call));
    shown(&asked(&tools(&fake, SiteSettings { allow_markup_loss: true, ..plain }), "wp_update_post", &call));
    assert_eq!(fake.asked.lock().unwrap().len(), 2, "the look that refused, and the change");
}

#[test]
fn who_may_not_look_is_refused_by_the_site_itself() {
    let fake = Fake::replying(|request: &HttpRequest| -> HttpResponse {
        let words = if request.method == Verb::Get { "not this context" } else { "not this post" };
        reply(403, &json!({"code": "rest_cannot_edit", "message": words, "data": {"status": 403}}))
    });
    let (_, words, _) = refused(&asked(&compact(&fake), "wp_update_post", &json!({"id": 7, "content": "x"})));
    assert!(words.contains("not this post"), "{words}");
}

#[test]
fn titles_are_plain_text_except_in_presets() {
    let fake = Fake::replying(|_| {
        reply(200, &json!([{"id": 7, "title": {"rendered": "Tom &#038; Jerry&#8217;s"}}]))
    });
    let title = |answers| {
        let server = tools(&fake, SiteSettings { answers, ..SiteSettings::default() });
        shown(&asked(&server, "wp_get_posts", &json!({})))["posts"][0]["title"].clone()
    };
    assert_eq!(title(AnswerStyle::Compact), "Tom & Jerry\u{2019}s");
    assert_eq!(title(AnswerStyle::Plain), "Tom &#038; Jerry&#8217;s");
}
