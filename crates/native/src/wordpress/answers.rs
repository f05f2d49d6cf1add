//! Translation of recorded WordPress errors: the kind of failure, its message and its details. Tests against real sites check that
//! the sites still send these errors.

use bytes::Bytes;
use serde_json::{Value, json};

use super::server;
use crate::port::HttpResponse;
use crate::rest::tests::{Fake, asked, login, refused};
use crate::site::SiteSettings;

fn recorded() -> Vec<Value> {
    serde_json::from_str(include_str!("../../../../tests/sites/answers.json")).unwrap()
}

/// The whole error of a call that the site answers with this status and body.
fn error(status: u16, body: &str) -> Value {
    let body = Bytes::from(body.to_owned());
    let fake = Fake::replying(move |_| HttpResponse { status, headers: Vec::new(), body: body.clone() });
    let login = Some(login("https://wp.example.com", "ann", "p"));
    let server =
        server(&SiteSettings { login, ..SiteSettings::default() }, super::Sets::default(), fake).unwrap();
    let answer = asked(&server, "wp_get_post", &json!({"id": 7}));
    refused(&answer);
    answer["error"].clone()
}

#[test]
fn each_recorded_refusal_keeps_its_code_status_and_words() {
    let mut seen = 0;
    for case in recorded() {
        let Some(answer) = case.get("answer") else { continue };
        seen += 1;
        let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
        let error = error(status, &answer.to_string());
        let (message, data) = (error["message"].as_str().unwrap(), &error["data"]);
        assert!(message.contains(answer["message"].as_str().unwrap()), "{case}: {message}");
        let condition = if status == 401 { "badCredentials" } else { "upstreamError" };
        assert_eq!(data["condition"], condition, "{case}");
        assert_eq!(data["status"], status, "{case}");
        assert_eq!(data["code"], answer["code"], "{case}");
        assert_eq!(&data["body"], answer, "{case}");
        // The invalid parameters, and their faults.
        for (name, text) in answer["data"]["params"].as_object().into_iter().flatten() {
            assert!(message.contains(&format!("[{name}: {}]", text.as_str().unwrap())), "{case}: {message}");
        }
    }
    assert_eq!((recorded().len(), seen), (44, 37));
}

#[test]
fn a_refusal_that_says_little_comes_with_a_hint() {
    let page = "<!DOCTYPE html><html><body><h1>Forbidden</h1></body></html>";
    for (status, body, hint) in [
        (403, page, "a firewall or a security plugin"),
        (404, page, "Its REST API may be disabled"),
        (503, page, "under maintenance"),
        (503, r#"{"code":"maintenance","message":"Briefly unavailable."}"#, "under maintenance"),
        (429, "", "limits the request rate"),
        (500, "", "the log of its PHP"),
        (418, "", "is this the address of a WordPress site?"),
        (
            401,
            r#"{"code":"incorrect_password","message":"<strong>Error:</strong> wrong&#8217;s it."}"#,
            "Authorization header",
        ),
        (404, r#"{"code":"rest_no_route","message":"No route was found."}"#, "may be too old"),
    ] {
        let error = error(status, body);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(hint), "{status}: {message}");
        assert!(!message.contains('<') && !message.contains("&#"), "{message}");
    }
    let plain = error(404, r#"{"code":"rest_post_invalid_id","message":"Invalid post ID."}"#);
    assert_eq!(plain["message"], "Invalid post ID.", "what says enough is left alone");
    let friends = error(500, r#"{"code":"bp_rest_friends_cannot_delete_item","message":"No."}"#);
    assert_eq!(friends["message"], "No.", "a fault that is about something else");
}

#[test]
fn long_words_are_cut_and_their_hint_is_not() {
    let body = json!({"code": "x", "message": "long ".repeat(10_000)}).to_string();
    let error = error(503, &body);
    let message = error["message"].as_str().unwrap();
    assert!(message.len() < 1200 && message.contains("under maintenance"), "{}", message.len());
    assert!(error["data"].get("body").is_none());
}

#[test]
fn what_the_host_of_images_refuses_is_not_about_the_site() {
    let key = secrecy::SecretString::from("k");
    for (status, body, says) in [
        (
            400,
            r#"{"status_code":400,"error":{"message":"Invalid API <b>v1</b> key.","code":100}}"#,
            "Invalid API v1 key.",
        ),
        (401, "{}", "HTTP 401 without a message"),
        (403, "<html>no</html>", "HTTP 403 without a message"),
        (503, "", "HTTP 503 without a message"),
    ] {
        let fake = Fake::replying(move |_| HttpResponse {
            status,
            headers: Vec::new(),
            body: Bytes::from_static(body.as_bytes()),
        });
        let settings = SiteSettings { image_key: Some(key.clone()), ..SiteSettings::default() };
        let server = server(&settings, super::Sets::default(), fake).unwrap();
        let (_, words, condition) = refused(&asked(&server, "upload_to_imgbb", &json!({"base64": "YWJj"})));
        assert_eq!(
            words,
            format!(
                "the image host refused the upload: {}{says}",
                if says.starts_with("HTTP") { "it answered " } else { "" }
            )
        );
        assert_eq!(condition, "upstreamError");
    }
}
