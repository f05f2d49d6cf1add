//! The WordPress tools: the requests that each sends, the part of the answer that is shown, the site that is
//! used, and failures.

use std::sync::Arc;

use secrecy::SecretString;
use serde_json::{Value, json};

use super::{Sets, server};
use crate::port::{HttpFaultKind, HttpRequest, HttpResponse, Verb};
use crate::rest::tests::{
    Fake, asked, asked_with, authorization, check_lines, content, fault, login, refused, reply, request,
    shown,
};
use crate::server::Mapped;
use crate::site::SiteSettings;
use crate::{AnswerStyle, ToolServer, UnknownArguments};

fn settings() -> SiteSettings {
    SiteSettings {
        login: Some(login("https://wp.example.com/blog/", "admin", "abcd EFGH ijkl")),
        image_key: Some(SecretString::from("configured")),
        // The same settings as in the preset.
        answers: AnswerStyle::Plain,
        unknown_arguments: UnknownArguments::Ignore,
        ..SiteSettings::default()
    }
}

fn over(fake: Arc<Fake>) -> ToolServer {
    server(&settings(), Sets::default(), fake).unwrap()
}

fn site(request: &HttpRequest) -> HttpResponse {
    if request.url.starts_with("https://files.example.com/") {
        let headers = vec![("Content-Type".to_owned(), "image/png; x=y".to_owned())];
        return HttpResponse { status: 200, headers, body: "PNG".into() };
    }
    let one = json!({"id": 7, "title": {"rendered": "T"}});
    let path = request.url.split('?').next().unwrap();
    let is_list = request.method == Verb::Get && !path.ends_with(|last: char| last.is_ascii_digit());
    reply(200, &if is_list { json!([one]) } else { one })
}

#[test]
fn each_tool_asks_exactly_this() {
    check_lines(&over, site, include_str!("asked.txt"));
}

#[test]
fn answers_are_shown_in_part_or_whole() {
    let post = json!({"id": 7, "title": {"rendered": "T"}, "content": {"rendered": "C"}, "excerpt": {"rendered": "E"},
        "link": "L", "status": "publish", "date": "D", "modified": "M", "author": 1, "featured_media": 0, "guid": "G"});
    let listed = shown(&asked(&over(Fake::json(json!([post]))), "wp_get_posts", &json!({})));
    let line = json!({"id": 7, "title": "T", "link": "L", "status": "publish", "date": "D", "excerpt": "E"});
    assert_eq!(listed, json!({"count": 1, "posts": [line]}));
    let whole = shown(&asked(&over(Fake::json(post.clone())), "wp_get_post", &json!({"id": 7})));
    assert_eq!(whole["content"], "C");
    assert!(whole.get("guid").is_none());
    let bin = shown(&asked(
        &over(Fake::json(json!({"id": 7, "status": "trash"}))),
        "wp_delete_post",
        &json!({"id": 7}),
    ));
    assert_eq!(bin, json!({"success": true, "id": 7, "deleted": false, "status": "trash"}));
    let gone = json!({"deleted": true, "previous": post});
    let gone = shown(&asked(&over(Fake::json(gone)), "wp_delete_post", &json!({"id": 7, "force": true})));
    assert_eq!(
        gone,
        json!({"success": true, "id": 7, "deleted": true, "previous": {"title": "T", "status": "publish"}})
    );
    let comment = shown(&asked(
        &over(Fake::json(json!({"id": 7, "author_name": "A"}))),
        "wp_delete_comment",
        &json!({"id": 7}),
    ));
    assert_eq!(comment, json!({"success": true, "id": 7, "deleted": false, "author_name": "A"}));
    let image = json!({"data": {"url": "u", "display_url": "d", "delete_url": "x", "thumb": {"url": "t"}}});
    let image = shown(&asked(&over(Fake::json(image)), "upload_to_imgbb", &json!({"base64": "YWJj"})));
    assert_eq!(
        image,
        json!({"originalContentUrl": "u", "previewImageUrl": "t", "displayUrl": "d", "deleteUrl": "x"})
    );
    let raw = server(
        &SiteSettings { answers: AnswerStyle::Raw, ..settings() },
        Sets::default(),
        Fake::json(post.clone()),
    )
    .unwrap();
    assert_eq!(shown(&asked(&raw, "wp_get_post", &json!({"id": 7}))), post);
}

#[test]
fn each_request_goes_to_its_own_site() {
    let fake = Fake::json(json!([]));
    let server = server(&settings(), Sets::default(), fake.clone()).unwrap();
    let ann =
        Mapped { site: Some(Ok(login(" https://ann.example.com/ ", " ann ", " p1 p2 "))), image_key: None };
    let ben = Mapped { site: Some(Ok(login("https://ben.example.com", "ben", "q"))), image_key: None };
    let blank = Mapped { site: Some(Ok(login("https://x.example.com", " ", "q"))), image_key: None };
    let part = Mapped { site: Some(Err("the password is missing".to_owned())), image_key: None };
    for mapped in [Some(&ann), Some(&ben), None] {
        shown(&asked_with(&server, "wp_get_tags", &json!({}), mapped));
    }
    for (mapped, why) in [(&blank, "a user name"), (&part, "the password is missing")] {
        let (_, words, condition) = refused(&asked_with(&server, "wp_get_tags", &json!({}), Some(mapped)));
        assert!(condition == "noCredentials" && words.contains(why), "{condition}: {words}");
    }
    let seen: Vec<(String, String, bool)> = fake
        .asked
        .lock()
        .unwrap()
        .iter()
        .map(|request| {
            let host = request.url.split('/').nth(2).unwrap().to_owned();
            (host, authorization(request).unwrap(), request.public_only)
        })
        .collect();
    let said = |host: &str, coded: &str, public| (host.to_owned(), format!("Basic {coded}"), public);
    assert_eq!(
        seen,
        [
            said("ann.example.com", "YW5uOnAxcDI=", true),
            said("ben.example.com", "YmVuOnE=", true),
            said("wp.example.com", "YWRtaW46YWJjZEVGR0hpamts", false),
        ]
    );
    let open = SiteSettings { private_sites: true, ..settings() };
    let fake = Fake::json(json!([]));
    asked_with(
        &super::server(&open, Sets::default(), fake.clone()).unwrap(),
        "wp_get_tags",
        &json!({}),
        Some(&ann),
    );
    let request = &fake.asked.lock().unwrap()[0];
    assert!(!request.public_only && !request.is_fixed_host);
}

#[test]
fn where_files_come_from_is_a_matter_of_its_own() {
    for (private_sites, private_files) in [(false, false), (true, false), (false, true), (true, true)] {
        let fake = Fake::replying(site);
        let settings = SiteSettings { private_sites, private_files, ..settings() };
        let url = json!({"url": "http://10.0.0.7/a.png"});
        let server = super::server(&settings, Sets::default(), fake.clone()).unwrap();
        shown(&asked(&server, "wp_upload_media_from_url", &url));
        let asked = fake.asked.lock().unwrap();
        assert_eq!((asked[0].url.as_str(), asked[0].public_only), ("http://10.0.0.7/a.png", !private_files));
        assert!(!asked[0].is_fixed_host, "the caller has chosen the host");
    }
}

#[test]
fn credentials_that_are_missing_or_wrong_are_told_apart() {
    let bare = || SiteSettings::default();
    let fake = Fake::json(json!([]));
    let (code, words, condition) =
        refused(&asked(&server(&bare(), Sets::default(), fake.clone()).unwrap(), "wp_get_tags", &json!({})));
    assert_eq!((code, condition.as_str()), (-32000, "noCredentials"));
    assert!(words.contains("Application Password"));
    let server_of = |fake: &Arc<Fake>| server(&bare(), Sets::default(), fake.clone()).unwrap();
    for (url, user) in
        [("ftp://x", "a"), ("x.example.com", "a"), ("https://a@b", "a"), ("https://x.example.com", "a:b")]
    {
        let mapped = Mapped { site: Some(Ok(login(url, user, "p"))), image_key: None };
        let answer = asked_with(&server_of(&fake), "wp_get_tags", &json!({}), Some(&mapped));
        assert_eq!(refused(&answer).2, "badCredentials", "{url} {user}");
    }
    let list = request(&server_of(&fake), "tools/list", &json!({}), None);
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 25, "a list needs no credentials");
    assert!(fake.lines().is_empty());
    let no = json!({"code": "rest_not_logged_in", "message": "You are not currently logged in.", "data": {"status": 401}});
    let fake = Fake::new(move |_| Ok(reply(401, &no)));
    let (_, words, condition) = refused(&asked(&over(fake), "wp_get_tags", &json!({})));
    assert!(
        words.starts_with("You are not currently logged in. (an Application Password is required"),
        "{words}"
    );
    assert_eq!(condition, "badCredentials");
    let fake = Fake::new(|_| Err(fault(HttpFaultKind::Refused)));
    assert_eq!(refused(&asked(&over(fake), "wp_get_tags", &json!({}))).2, "badCredentials");
    let nameless = SiteSettings { login: Some(login("nowhere", "a", "b")), ..bare() };
    assert!(server(&nameless, Sets::default(), Fake::json(json!({}))).unwrap_err().starts_with("site: "));
}

#[test]
fn errors_of_the_site_carry_its_words_and_its_body() {
    let body = json!({"code": "rest_invalid_param", "message": "Invalid parameter(s): <b>status</b> &amp; x",
        "data": {"status": 400, "params": {"status": "Not <i>allowed</i>."}}});
    let said = body.clone();
    let answer = asked(&over(Fake::new(move |_| Ok(reply(400, &said)))), "wp_get_post", &json!({"id": 9}));
    let (_, words, condition) = refused(&answer);
    assert_eq!(condition, "upstreamError");
    assert_eq!(words, "Invalid parameter(s): status & x [status: Not allowed.]");
    assert_eq!(answer["error"]["data"]["status"], 400);
    assert_eq!(answer["error"]["data"]["body"], body);
    let plain = HttpResponse { status: 503, headers: Vec::new(), body: "<html>".into() };
    let answer = asked(&over(Fake::new(move |_| Ok(plain.clone()))), "wp_get_tags", &json!({}));
    assert!(refused(&answer).1.contains("HTTP 503"));
    let answer = asked(&over(Fake::new(|_| Err(fault(HttpFaultKind::Late)))), "wp_get_tags", &json!({}));
    assert_eq!(refused(&answer).2, "upstreamDown");
    let results = SiteSettings { failures_as_results: Some(true), ..settings() };
    let gone = Fake::new(|_| Ok(reply(404, &json!({"message": "Invalid post ID."}))));
    let answer = asked(&server(&results, Sets::default(), gone).unwrap(), "wp_get_post", &json!({"id": 9}));
    assert_eq!(content(&answer), ("Error: Invalid post ID.".to_owned(), true));
}

#[test]
fn arguments_that_do_not_fit_ask_nothing() {
    for (tool, arguments, says) in [
        ("wp_create_post", json!({"content": "C"}), "\"title\" is missing"),
        ("wp_create_post", json!({"title": " ", "content": "C"}), "must not be empty"),
        (
            "wp_create_post",
            json!({"title": "T", "content": "C", "status": "trash"}),
            "one of: draft, publish",
        ),
        ("wp_get_post", json!({}), "\"id\" is missing"),
        ("wp_get_post", json!({"id": "../users"}), "whole number"),
        ("wp_delete_post", json!({"id": 1, "force": "maybe"}), "true or false"),
        ("wp_get_posts", json!([]), "must be an object"),
        ("wp_upload_media_from_url", json!({"url": "file:///etc/passwd"}), "http and https"),
        ("wp_upload_media_from_url", json!({"url": "https://a@b/"}), "no user name or password"),
        (
            "wp_upload_media_from_base64",
            json!({"base64": "%%%", "fileName": "a", "mimeType": "a/b"}),
            "not valid base64",
        ),
        (
            "wp_upload_media_from_base64",
            json!({"base64": "YQ==", "fileName": "a", "mimeType": "a\r\nb"}),
            "media type",
        ),
        (
            "wp_upload_media_from_base64",
            json!({"base64": "data:,", "fileName": "a", "mimeType": "a/b"}),
            "is empty",
        ),
        ("upload_to_imgbb", json!({"base64": "<>"}), "not valid base64"),
    ] {
        let fake = Fake::json(json!({}));
        let (code, words, condition) = refused(&asked(&over(fake.clone()), tool, &arguments));
        assert_eq!((code, condition.as_str()), (-32602, "invalidArguments"), "{tool} {arguments}");
        assert!(words.contains(says), "{tool} {arguments}: {words}");
        assert!(fake.lines().is_empty(), "{tool} {arguments}");
    }
}

#[test]
fn for_a_stranger_nothing_is_fetched() {
    let fake = Fake::strict(|request| {
        let words = "You are not currently logged in.";
        let no =
            reply(401, &json!({"code": "rest_not_logged_in", "message": words, "data": {"status": 401}}));
        Ok(if request.url.contains("/users/me") { no } else { site(request) })
    });
    let url = json!({"url": "https://files.example.com/a.png"});
    let answer = asked(&over(fake.clone()), "wp_upload_media_from_url", &url);
    assert_eq!(refused(&answer).2, "badCredentials");
    assert!(fake.lines().is_empty(), "{:?}", fake.lines());
    let nobody = server(&SiteSettings::default(), Sets::default(), fake.clone()).unwrap();
    assert_eq!(refused(&asked(&nobody, "wp_upload_media_from_url", &url)).2, "noCredentials");
    assert!(fake.lines().is_empty(), "{:?}", fake.lines());
}

#[test]
fn what_is_fetched_is_a_file() {
    let uploaded = |kind: Option<&str>, content: &'static [u8]| {
        let headers: Vec<_> =
            kind.map(|kind| ("Content-Type".to_owned(), kind.to_owned())).into_iter().collect();
        let fake = Fake::replying(move |request| match request.method {
            Verb::Get => HttpResponse { status: 200, headers: headers.clone(), body: content.into() },
            _ => site(request),
        });
        let url = json!({"url": "https://files.example.com/a"});
        (asked(&over(fake.clone()), "wp_upload_media_from_url", &url), fake.lines().len())
    };
    for kind in ["image/png", "audio/mpeg; x=y", "VIDEO/mp4", "application/pdf", "text/csv", "image/svg+xml"]
    {
        let (answer, lines) = uploaded(Some(kind), b"abc");
        shown(&answer);
        assert_eq!(lines, 2, "{kind}");
    }
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    for kind in [Some(word), Some("application/octet-stream"), None] {
        shown(&uploaded(kind, b"abc").0);
    }
    for kind in [
        "text/html; charset=utf-8",
        "application/json",
        "application/vnd.api+json",
        "text/xml",
        "application/xhtml+xml",
        "text/javascript",
        "application/x-httpd-php",
        "multipart/mixed",
    ] {
        let (answer, lines) = uploaded(Some(kind), b"{\"secret\":1}");
        let (_, words, condition) = refused(&answer);
        assert_eq!((condition.as_str(), lines), ("toolFailed", 1), "{kind}");
        assert!(words.contains("does not lead to an image") && !words.contains("secret"), "{words}");
    }
}

#[test]
fn files_are_fetched_from_public_addresses_without_credentials() {
    let fake = Fake::replying(|request| {
        if request.url == "https://files.example.com/a" {
            let to = vec![("location".to_owned(), "/b.jpg?x=1".to_owned())];
            return HttpResponse { status: 302, headers: to, body: "".into() };
        }
        site(request)
    });
    let answer = asked(
        &over(fake.clone()),
        "wp_upload_media_from_url",
        &json!({"url": "https://files.example.com/a"}),
    );
    shown(&answer);
    let asked_for = fake.asked.lock().unwrap();
    assert_eq!(asked_for.len(), 3);
    for fetch in &asked_for[..2] {
        assert!(fetch.public_only && authorization(fetch).is_none());
    }
    assert_eq!(asked_for[1].url, "https://files.example.com/b.jpg?x=1");
    assert!(asked_for[2].method == Verb::Post && authorization(&asked_for[2]).is_some());
    drop(asked_for);
    for (to, says) in
        [("file:///etc/passwd", "http and https"), ("https://files.example.com/a", "redirects too often")]
    {
        let fake = Fake::new(move |_| {
            Ok(HttpResponse { status: 307, headers: vec![("Location".into(), to.into())], body: "".into() })
        });
        let answer = asked(
            &over(fake.clone()),
            "wp_upload_media_from_url",
            &json!({"url": "https://files.example.com/a"}),
        );
        assert!(refused(&answer).1.contains(says), "{to}");
        assert!(fake.lines().len() <= 4);
    }
    let inner = Fake::new(|_| Err(fault(HttpFaultKind::Refused)));
    let answer = asked(&over(inner), "wp_upload_media_from_url", &json!({"url": "http://169.254.169.254/"}));
    assert_eq!(refused(&answer).2, "invalidArguments");
    let missing = Fake::new(|_| Ok(reply(404, &json!({}))));
    let answer =
        asked(&over(missing), "wp_upload_media_from_url", &json!({"url": "https://files.example.com/x"}));
    assert_eq!(refused(&answer).2, "toolFailed");
}

#[test]
fn a_part_of_a_form_ends_where_it_is_meant_to() {
    let fake = Fake::replying(site);
    let file = "YS0tcGFydC1vZi1hLWZvcm0tMDAwMDAwMDANCg==";
    let arguments =
        json!({"base64": file, "fileName": "a\"\r\nX: y.png", "mimeType": "image/png", "title": "--part"});
    shown(&asked(&over(fake.clone()), "wp_upload_media_from_base64", &arguments));
    let line = fake.lines().remove(0);
    assert!(line.contains("filename=\"aX y.png\""), "{line}");
    assert!(
        line.contains("a--part-of-a-form-00000000") && line.ends_with("[name=\"title\": --part]"),
        "{line}"
    );
}

#[test]
fn keys_of_the_image_host_have_their_order() {
    let key = |mapped: Option<&Mapped>, arguments: Value, settings: &SiteSettings| {
        let fake = Fake::json(json!({}));
        let answer = asked_with(
            &server(settings, Sets::default(), fake.clone()).unwrap(),
            "upload_to_imgbb",
            &arguments,
            mapped,
        );
        let found = fake
            .lines()
            .first()
            .map(|line| line.split("[name=\"key\": ").nth(1).unwrap().split(']').next().unwrap().to_owned());
        found.unwrap_or_else(|| refused(&answer).2)
    };
    let carried = Mapped { site: None, image_key: Some(SecretString::from("carried")) };
    let (with, without) = (json!({"base64": "YQ==", "apiKey": "given"}), json!({"base64": "YQ=="}));
    assert_eq!(key(Some(&carried), with.clone(), &settings()), "carried");
    assert_eq!(key(None, with, &settings()), "given");
    assert_eq!(key(None, without.clone(), &settings()), "configured");
    assert_eq!(key(None, without, &SiteSettings::default()), "noCredentials");
}

#[test]
fn nothing_secret_is_printed() {
    let fake = Fake::json(json!([]));
    asked(&over(fake.clone()), "wp_get_tags", &json!({}));
    let printed = format!("{:?} {:?}", fake.asked.lock().unwrap(), settings());
    for secret in ["abcd", "abcdEFGHijkl", "YWRtaW46", "configured"] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
}
