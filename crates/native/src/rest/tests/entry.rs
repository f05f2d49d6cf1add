//! Credentials of a site: the site is first asked whether it knows the credentials, and is then not asked again for a short time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Fake, asked_with, authorization, fault, login, refused, reply, shown};
use crate::ToolServer;
use crate::port::{HttpFaultKind, HttpRequest, HttpResponse};
use crate::server::Mapped;
use crate::site::SiteSettings;
use crate::wordpress;

/// The account `ann` with the password `p`.
const RIGHT: &str = "Basic YW5uOnA=";
const ONE: &str = "https://one.example.com";

fn is_entry(request: &HttpRequest) -> bool {
    request.url.contains("/users/me")
}

/// A site that knows one account, and treats everyone else as an anonymous visitor.
fn site(request: &HttpRequest) -> HttpResponse {
    match authorization(request).as_deref() {
        Some(RIGHT) => reply(200, &json!([])),
        _ if is_entry(request) => {
            let words = "You are not currently logged in.";
            reply(401, &json!({"code": "rest_not_logged_in", "message": words, "data": {"status": 401}}))
        }
        _ => reply(200, &json!([{"id": 1, "name": "anybody may see this"}])),
    }
}

fn server(fake: &Arc<Fake>) -> ToolServer {
    wordpress::server(&SiteSettings::default(), wordpress::Sets::default(), fake.clone()).unwrap()
}

fn tags(server: &ToolServer, url: &str, name: &str, password: &str) -> Value {
    let mapped = Mapped { site: Some(Ok(login(url, name, password))), image_key: None };
    asked_with(server, "wp_get_tags", &json!({}), Some(&mapped))
}

#[test]
fn a_wrong_password_is_no_empty_site() {
    let fake = Fake::strict(|request| Ok(site(request)));
    let server = server(&fake);
    for (name, password) in [("ann", "q"), ("ben", "p"), ("ann", "P")] {
        let (_, _, condition) = refused(&tags(&server, ONE, name, password));
        assert_eq!(condition, "badCredentials");
    }
    assert!(fake.lines().is_empty(), "{:?}", fake.lines());
    assert_eq!(shown(&tags(&server, ONE, "ann", "p"))["count"], 0);
    assert_eq!(fake.entries.lock().unwrap().len(), 4, "a refusal is not remembered");
}

#[test]
fn a_site_is_asked_again_after_a_short_time_and_each_for_itself() {
    let fake = Fake::strict(|request| Ok(site(request)));
    let server = server(&fake);
    let entries = || fake.entries.lock().unwrap().len();
    for _ in 0..3 {
        shown(&tags(&server, ONE, "ann", "p"));
    }
    assert_eq!((entries(), fake.lines().len()), (1, 3));
    shown(&tags(&server, "https://two.example.com", "ann", "p"));
    assert_eq!(entries(), 2, "what one site says is nothing to another");
    fake.pass(Duration::from_secs(59));
    shown(&tags(&server, ONE, "ann", "p"));
    assert_eq!(entries(), 2);
    fake.pass(Duration::from_secs(1));
    shown(&tags(&server, ONE, "ann", "p"));
    assert_eq!(entries(), 3);
}

#[test]
fn what_does_not_count_any_more_is_asked_about_at_once() {
    let fake = Fake::strict(|request| {
        let gone = reply(401, &json!({"code": "rest_cannot_edit", "message": "no"}));
        Ok(if is_entry(request) { reply(200, &json!({"id": 1})) } else { gone })
    });
    let server = server(&fake);
    for entries in 1..4 {
        refused(&tags(&server, ONE, "ann", "p"));
        assert_eq!(fake.entries.lock().unwrap().len(), entries);
    }
}

#[test]
fn a_site_that_answers_this_question_to_nobody_is_asked_all_the_same() {
    for status in [403, 404, 500] {
        let fake = Fake::strict(move |request| {
            let strange = reply(status, &json!({"code": "security_plugin", "message": "no"}));
            Ok(if is_entry(request) { strange } else { site(request) })
        });
        let server = server(&fake);
        shown(&tags(&server, ONE, "ann", "p"));
        fake.pass(Duration::from_secs(9));
        shown(&tags(&server, ONE, "ann", "p"));
        assert_eq!(fake.entries.lock().unwrap().len(), 1);
        fake.pass(Duration::from_secs(1));
        shown(&tags(&server, ONE, "ann", "p"));
        assert_eq!(fake.entries.lock().unwrap().len(), 2);
    }
}

/// A page does not show that the password was checked: a cache may serve the page to all callers.
#[test]
fn a_page_is_no_word_for_an_account() {
    let fake = Fake::strict(|request| {
        let page = HttpResponse { status: 200, headers: Vec::new(), body: "<!doctype html>".into() };
        Ok(if is_entry(request) { page } else { site(request) })
    });
    let (_, message, _) = refused(&tags(&server(&fake), ONE, "ann", "q"));
    assert!(message.contains("a web page"), "{message}");
    assert!(fake.lines().is_empty(), "{:?}", fake.lines());
}

#[test]
fn a_site_that_may_not_be_asked_ends_the_call() {
    for (kind, wanted) in [
        (HttpFaultKind::Refused, "badCredentials"),
        (HttpFaultKind::TooOften, "rateLimited"),
        (HttpFaultKind::Late, "upstreamDown"),
    ] {
        let fake = Fake::strict(move |_| Err(fault(kind)));
        let (_, _, condition) = refused(&tags(&server(&fake), ONE, "ann", "p"));
        assert_eq!(condition, wanted);
        assert!(fake.lines().is_empty());
        assert!(fake.entries.lock().unwrap().iter().all(|request| request.public_only));
    }
}

#[test]
fn a_flood_of_accounts_is_forgotten_rather_than_kept() {
    let fake = Fake::json(json!([]));
    let server = server(&fake);
    let entries = || fake.entries.lock().unwrap().len();
    for number in 0..5000 {
        shown(&tags(&server, ONE, &format!("u{number}"), "p"));
    }
    assert_eq!(entries(), 5000);
    shown(&tags(&server, ONE, "u4999", "p"));
    assert_eq!(entries(), 5000, "the last are known");
    shown(&tags(&server, ONE, "u0", "p"));
    assert_eq!(entries(), 5001, "the first are not");
}

#[test]
fn the_operators_own_site_may_be_anywhere_whoever_names_it() {
    let own = "http://10.0.0.7/blog";
    let settings = SiteSettings { login: Some(login(own, "", "")), ..SiteSettings::default() };
    let settings = SiteSettings { ports: vec![81], ..settings };
    for (url, public_only) in [
        (own, false),
        ("HTTP://10.0.0.7:80/blog/", false),
        ("http://10.0.0.7/other", true),
        ("http://10.0.0.7:81/blog", true),
        ("http://10.0.0.8/blog", true),
    ] {
        let fake = Fake::json(json!([]));
        shown(&tags(
            &wordpress::server(&settings, wordpress::Sets::default(), fake.clone()).unwrap(),
            url,
            "ann",
            "p",
        ));
        let asked = [&fake.entries, &fake.asked].map(|asked| asked.lock().unwrap()[0].public_only);
        assert_eq!(asked, [public_only; 2], "{url}");
    }
}

#[test]
fn a_request_names_only_sites_at_the_usual_ports_or_at_allowed_ones() {
    let settings = SiteSettings { ports: vec![8443], ..SiteSettings::default() };
    for (url, allowed) in [
        ("https://a.example", true),
        ("http://a.example:443", true),
        ("https://a.example:8443", true),
        ("https://a.example:22", false),
        ("http://[2001:db8::1]:6379", false),
    ] {
        for private_sites in [false, true] {
            let fake = Fake::json(json!([]));
            let settings = SiteSettings { private_sites, ..settings.clone() };
            let server = wordpress::server(&settings, wordpress::Sets::default(), fake.clone()).unwrap();
            let answer = tags(&server, url, "ann", "p");
            assert_eq!(answer.get("result").is_some(), allowed || private_sites, "{url}: {answer}");
            assert_eq!(fake.asked.lock().unwrap().is_empty(), !(allowed || private_sites), "{url}");
        }
    }
}

#[test]
fn a_site_without_paths_gets_its_routes_as_a_parameter() {
    // The answers of web servers without rewriting, of WordPress's redirects, and of themes that answer every request.
    let page = Bytes::from_static(b"<!DOCTYPE html><html><body>Not found</body></html>");
    for status in [404, 301, 200] {
        // WordPress redirects without a body.
        let page = if status == 301 { Bytes::new() } else { page.clone() };
        let fake = Fake::strict(move |request| {
            if request.url.contains("/?rest_route=/&_fields=home,url") {
                return Ok(reply(200, &json!({"home": ONE, "url": ONE})));
            }
            if !request.url.contains("/?rest_route=/wp/v2/") {
                let headers = vec![("location".to_owned(), format!("{}/", request.url))];
                return Ok(HttpResponse { status, headers, body: page.clone() });
            }
            Ok(if is_entry(request) {
                reply(200, &json!({"id": 1}))
            } else {
                reply(200, &json!([{"id": 5, "name": "News"}]))
            })
        });
        let server =
            wordpress::server(&SiteSettings::default(), wordpress::Sets::default(), fake.clone()).unwrap();
        for _ in 0..2 {
            assert_eq!(shown(&tags(&server, ONE, "ann", "p"))["tags"][0]["id"], 5, "{status}");
        }
        let lines = fake.lines();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(
            lines[1..]
                .iter()
                .all(|line| line.starts_with("GET https://one.example.com/?rest_route=/wp/v2/tags&")),
            "{lines:?}"
        );
        let entries: Vec<String> =
            fake.entries.lock().unwrap().iter().map(|request| request.url.clone()).collect();
        let by_parameter = "https://one.example.com/?rest_route=/wp/v2/users/me&context=edit&_fields=id";
        assert_eq!(entries.iter().filter(|url| *url == by_parameter).count(), 1, "{entries:?}");
    }
}

#[test]
fn a_path_without_a_site_does_not_lead_to_the_site_above_it() {
    let page = Bytes::from_static(b"<!DOCTYPE html><html><body>Not found</body></html>");
    let fake = Fake::strict(move |request| {
        let home =
            if request.url.to_lowercase().contains("/two") { "https://one.example.com/two" } else { ONE };
        if request.url.contains("/?rest_route=/&_fields=home,url") {
            return Ok(reply(200, &json!({"home": home, "url": home})));
        }
        if !request.url.contains("/?rest_route=/wp/v2/") {
            return Ok(HttpResponse { status: 404, headers: Vec::new(), body: page.clone() });
        }
        Ok(if is_entry(request) { reply(200, &json!({"id": 1})) } else { reply(200, &json!([])) })
    });
    let server = server(&fake);
    for path in ["three", "two", "three", "TWO/"] {
        let answer = tags(&server, &format!("{ONE}/{path}"), "ann", "p");
        if path == "three" {
            let (_, message, condition) = refused(&answer);
            assert!(message.contains("the site https://one.example.com answers instead"), "{message}");
            assert_eq!(condition, "upstreamError");
        } else {
            shown(&answer);
        }
    }
    let lines = fake.lines();
    assert!(!lines.iter().any(|line| line.contains("/three") && line.contains("/tags")), "{lines:?}");
}
