//! The form of failures at endpoints of MCP itself: a model must see the site's message, and what to do next.

use secrecy::SecretString;
use serde_json::{Value, json};

use super::{Sets, server};
use crate::port::{HttpFaultKind, HttpResponse};
use crate::rest::tests::{Fake, asked, asked_by_mcp, content, fault, login, refused, reply};
use crate::site::SiteSettings;
use crate::{HttpFault, HttpRequest, ToolServer};

fn over(
    answer: impl Fn(&HttpRequest) -> Result<HttpResponse, HttpFault> + Send + Sync + 'static,
) -> ToolServer {
    let settings = SiteSettings {
        login: Some(login("https://wp.example.com/", "admin", "abcd")),
        image_key: Some(SecretString::from("configured")),
        ..SiteSettings::default()
    };
    server(&settings, Sets::default(), Fake::new(answer)).unwrap()
}

fn error(status: u16, code: &str, message: &str) -> Value {
    json!({"code": code, "message": message, "data": {"status": status}})
}

#[test]
fn a_refusal_of_the_site_is_a_result_with_its_status_and_code() {
    for (status, code, message) in [
        (403, "rest_cannot_edit", "Sorry, you are not allowed to edit this post."),
        (404, "rest_post_invalid_id", "Invalid post ID."),
        (410, "rest_already_trashed", "The post has already been deleted."),
        (500, "db_insert_error", "Could not insert the post."),
    ] {
        let body = error(status, code, message);
        let server = over(move |_| Ok(reply(status, &body)));
        let (text, is_error) = content(&asked_by_mcp(&server, "wp_get_post", &json!({"id": 9})));
        assert!(is_error, "{text}");
        assert_eq!(text, format!("Error: {message} [HTTP {status}, {code}]"));
    }
}

/// In a network of sites, an account is known on sites on which it has no role.
#[test]
fn an_account_without_a_role_learns_that() {
    let words = "Sorry, you are not allowed to do that.";
    for (roles, settings, status, code, hinted) in [
        (json!([]), 403, 403, "rest_cannot_create", true),
        (json!([]), 401, 403, "rest_forbidden", true),
        // The administrator of the network needs no role.
        (json!([]), 200, 403, "rest_forbidden", false),
        (json!([]), 500, 403, "rest_forbidden", false),
        (json!(["author"]), 403, 403, "rest_cannot_create", false),
        (json!([]), 403, 403, "a_plugins_own", false),
        (json!([]), 403, 400, "rest_invalid_param", false),
        (Value::Null, 403, 403, "rest_forbidden", false),
    ] {
        let (account, body) = (json!({"roles": roles}), error(status, code, words));
        let fake = Fake::replying(move |request| {
            if request.url.ends_with("/wp-json/wp/v2/users/me?context=edit&_fields=roles") {
                return reply(200, &account);
            }
            let asks = request.url.ends_with("/wp-json/wp/v2/settings?_fields=title");
            if asks { reply(settings, &json!({"title": "T"})) } else { reply(status, &body) }
        });
        let sets = Sets { discover: true, ..Sets::default() };
        let login = Some(login("https://wp.example.com", "ann", "p"));
        let server = server(&SiteSettings { login, ..SiteSettings::default() }, sets, fake.clone()).unwrap();
        let calls = [
            ("wp_create_post", json!({"title": "x", "content": "x"})),
            ("site_request", json!({"route": "/wp/v2/posts/9"})),
        ];
        for (tool, call) in calls.iter().cycle().take(4) {
            let (text, is_error) = content(&asked_by_mcp(&server, tool, call));
            assert!(is_error && text.contains(words), "{tool}: {text}");
            assert_eq!(
                text.contains("the account has no role on this site"),
                hinted,
                "{tool} {code}: {text}"
            );
        }
        let questions = fake.lines().iter().filter(|line| line.contains("_fields=roles")).count();
        let asked = status == 403 && code != "a_plugins_own";
        assert_eq!(questions, if asked { 2 } else { 0 }, "each API is asked about once");
    }
}

#[test]
fn the_hint_and_the_status_are_not_said_twice() {
    let server = over(|_| Ok(HttpResponse { status: 503, headers: Vec::new(), body: "<html>".into() }));
    let (text, is_error) = content(&asked_by_mcp(&server, "wp_get_tags", &json!({})));
    assert!(is_error);
    assert_eq!(text.matches("503").count(), 1, "{text}");
    assert!(text.contains("maintenance"), "{text}");
}

#[test]
fn a_site_that_does_not_answer_is_a_result() {
    let server = over(|_| Err(fault(HttpFaultKind::Late)));
    assert!(content(&asked_by_mcp(&server, "wp_get_tags", &json!({}))).1);
}

#[test]
fn the_kind_of_a_failure_stays_an_error_for_dialects() {
    let body = error(404, "rest_post_invalid_id", "Invalid post ID.");
    let server = over(move |_| Ok(reply(404, &body)));
    let (_, words, condition) = refused(&asked(&server, "wp_get_post", &json!({"id": 9})));
    assert_eq!((words.as_str(), condition.as_str()), ("Invalid post ID.", "upstreamError"));
}

#[test]
fn missing_credentials_and_unknown_tools_stay_errors() {
    let server =
        server(&SiteSettings::default(), Sets::default(), Fake::new(|_| panic!("nothing is asked"))).unwrap();
    for tool in ["wp_get_tags", "wp_no_such_tool"] {
        assert!(asked_by_mcp(&server, tool, &json!({})).get("error").is_some(), "{tool}");
    }
}
