//! Tests of changes that are shown before they are saved, and of content that a call restores.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{Sets, server};
use crate::AnswerStyle::{self, Compact, Plain};
use crate::ToolServer;
use crate::port::{HttpResponse, Verb};
use crate::rest::tests::{
    Fake, asked, asked_by_mcp, asked_with, content, login, refused, reply, request, shown,
};
use crate::server::Mapped;
use crate::site::SiteSettings;

const SOURCE: &str =
    "<!-- wp:heading -->\n<h2>Harbour</h2>\n<!-- /wp:heading -->\n\n[gallery ids=\"1,2\"]\n\nText.";

/// A site with one post, and the post's content.
fn site() -> (Arc<Fake>, Arc<Mutex<String>>) {
    let stored = Arc::new(Mutex::new(SOURCE.to_owned()));
    let inside = stored.clone();
    let fake = Fake::replying(move |request| -> HttpResponse {
        if !request.url.contains("/posts/7") {
            return reply(404, &json!({"code": "rest_post_invalid_id", "message": "Invalid post ID."}));
        }
        let mut content = inside.lock().unwrap();
        if request.method == Verb::Post {
            let body: Value = serde_json::from_slice(request.body.whole().unwrap()).unwrap();
            if let Some(new) = body["content"].as_str() {
                new.clone_into(&mut content);
            }
        }
        let title = json!({"raw": "Old & new", "rendered": "Old &amp; new"});
        reply(
            200,
            &json!({"id": 7, "title": title, "status": "publish", "content": {"raw": *content, "rendered": "<p>"}}),
        )
    });
    (fake, stored)
}

fn blog(answers: AnswerStyle, fake: Arc<Fake>) -> ToolServer {
    let login = Some(login("https://wp.example.com", "ann", "p"));
    server(&SiteSettings { login, answers, ..SiteSettings::default() }, Sets::default(), fake).unwrap()
}

#[test]
fn a_dry_run_shows_the_changes_and_saves_nothing() {
    let (fake, stored) = site();
    let new = SOURCE.replace("Text.", "Better text.");
    let arguments = json!({"id": 7, "title": "New", "status": "publish", "content": new, "dry_run": true});
    let answer = shown(&asked(&blog(Compact, fake.clone()), "wp_update_post", &arguments));
    assert_eq!(answer["changes"]["title"], json!({"from": "Old & new", "to": "New"}));
    assert_eq!(answer["changes"]["content"]["difference"], "@ line 7\n- Text.\n+ Better text.\n");
    assert_eq!((&answer["saved"], answer["changes"].get("status")), (&json!(false), None), "{answer}");
    assert_eq!(*stored.lock().unwrap(), SOURCE);
    let lines = fake.lines();
    assert!(lines.iter().all(|line| line.starts_with("GET ") && !line.contains("_fields")), "{lines:?}");
    // A change that would be refused is refused in a dry run as well.
    let plain = json!({"id": 7, "content": "<h2>Harbour</h2>\n<p>Text.</p>", "dry_run": true});
    let (text, is_error) = content(&asked_by_mcp(&blog(Compact, fake), "wp_update_post", &plain));
    assert!(is_error && text.contains("not saved"), "{text}");
}

#[test]
fn one_call_restores_what_another_has_replaced_even_if_markup_was_lost() {
    let (fake, stored) = site();
    let server = blog(Compact, fake);
    let update = json!({"id": 7, "content": "<p>All gone.</p>", "allow_markup_loss": true});
    let answer = asked(&server, "wp_update_post", &update);
    assert_eq!(*stored.lock().unwrap(), "<p>All gone.</p>");
    let address = shown(&answer)["previous_content"].as_str().unwrap().to_owned();
    let link = &answer["result"]["content"][1];
    assert_eq!((&link["type"], link["uri"].as_str()), (&json!("resource_link"), Some(address.as_str())));
    let read = request(&server, "resources/read", &json!({"uri": address}), None);
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("wp:heading"), "{read}");

    let restored = shown(&asked(&server, "wp_restore_content", &json!({"previous_content": address})));
    assert_eq!(*stored.lock().unwrap(), SOURCE, "byte for byte");
    // What the restoration replaced can be restored, too.
    let again = restored["previous_content"].as_str().unwrap();
    asked(&server, "wp_restore_content", &json!({"previous_content": again}));
    assert_eq!(*stored.lock().unwrap(), "<p>All gone.</p>");
}

#[test]
fn replaced_content_is_for_the_account_that_replaced_it() {
    let (fake, stored) = site();
    let server = server(&SiteSettings::default(), Sets::default(), fake.clone()).unwrap();
    let of = |name: &str, url: &str| Mapped { site: Some(Ok(login(url, name, "p"))), ..Mapped::default() };
    let url = "https://wp.example.com";
    let update = json!({"id": 7, "content": "New.", "allow_markup_loss": true});
    let address =
        shown(&asked_with(&server, "wp_update_post", &update, Some(&of("ann", url))))["previous_content"]
            .clone();
    let restore = json!({"previous_content": address});
    // A host does not identify a site: other sites may be in its folders.
    let folders =
        ["https://wp.example.com/one", "https://wp.example.com/ONE", "https://wp.example.com/one/wp-json"];
    let others = folders.into_iter().chain(["https://other.example.com"]).map(|url| ("ann", url));
    for (name, url) in others.chain([("ben", url)]) {
        let (_, text, _) =
            refused(&asked_with(&server, "wp_restore_content", &restore, Some(&of(name, url))));
        assert!(text.contains("for this account"), "{text}");
        let read = request(&server, "resources/read", &json!({"uri": address}), Some(&of(name, url)));
        assert!(read.get("error").is_some(), "{read}");
    }
    assert_eq!(*stored.lock().unwrap(), "New.");
    fake.pass(std::time::Duration::from_hours(24));
    let (_, text, _) = refused(&asked_with(&server, "wp_restore_content", &restore, Some(&of("ann", url))));
    assert!(text.contains("kept for at most a day"), "{text}");
}

#[test]
fn presets_have_none_of_this() {
    let (fake, _) = site();
    let server = blog(Plain, fake.clone());
    let update = json!({"id": 7, "content": SOURCE.replace("Text", "Words")});
    let answer = asked(&server, "wp_update_post", &update);
    assert!(
        shown(&answer).get("previous_content").is_none()
            && answer["result"]["content"].as_array().unwrap().len() == 1
    );
    assert!(server.tools().all(|name| name != "wp_restore_content"));
}

#[test]
fn content_that_the_site_changes_while_saving_is_reported() {
    let iframe = "<iframe src=\"https://maps.example/1\"></iframe>";
    let stored =
        Arc::new(Mutex::new(format!("<!-- wp:html -->\n{iframe}\n<!-- /wp:html -->\n\n<p>Old text.</p>")));
    let inside = stored.clone();
    // The account lacks the capability `unfiltered_html`.
    let fake = Fake::replying(move |request| -> HttpResponse {
        let mut content = inside.lock().unwrap();
        if request.method == Verb::Post {
            let body: Value = serde_json::from_slice(request.body.whole().unwrap()).unwrap();
            *content = body["content"].as_str().unwrap().replace(iframe, "").trim().to_owned();
        }
        reply(200, &json!({"id": 7, "status": "publish", "content": {"raw": *content, "rendered": "<p>"}}))
    });
    let server = blog(Compact, fake);
    let update = json!({"id": 7, "content": stored.lock().unwrap().replace("Old", "New")});
    let answer = shown(&asked(&server, "wp_update_post", &update));
    let difference = json!({"content": {"difference": format!("@ line 2\n- {iframe}\n")}});
    assert_eq!((&answer["not_stored"], &answer["stored"]), (&json!(["content"]), &difference), "{answer}");

    let restore = json!({"previous_content": answer["previous_content"]});
    let restored = shown(&asked(&server, "wp_restore_content", &restore));
    assert_eq!(
        (&restored["not_stored"], &restored["stored"]),
        (&json!(["content"]), &difference),
        "{restored}"
    );
    assert!(restored["previous_content"].is_string());

    let again = json!({"id": 7, "content": "<!-- wp:html -->\n\n<!-- /wp:html -->\n\n<p>Newer text.</p>"});
    assert_eq!(shown(&asked(&server, "wp_update_post", &again)).get("not_stored"), None);
    let created =
        shown(&asked(&server, "wp_create_post", &json!({"title": "T", "content": format!("A {iframe}")})));
    assert_eq!(created["not_stored"], json!(["content"]), "{created}");
}
