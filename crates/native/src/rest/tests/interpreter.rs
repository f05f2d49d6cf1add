//! Values in requests: a client's value cannot change any part of a request other than its own.

use serde_json::json;

use super::*;
use crate::html;
use crate::rest::file::{FileAsk, redirected, wanted};
use crate::rest::{FileFrom, base_url};
use crate::tools::Values;

#[test]
fn base_urls_are_checked() {
    for (text, url) in [
        ("https://wp.example.com", "https://wp.example.com"),
        (" HTTPS://wp.example.com/// ", "https://wp.example.com"),
        ("http://127.0.0.1:8080/blog/", "http://127.0.0.1:8080/blog"),
        ("http://[::1]:80", "http://[::1]"),
        ("http://[FD00::1]:8080/a", "http://[fd00::1]:8080/a"),
        ("https://WP.Example.com.:443/Blog", "https://wp.example.com/Blog"),
        ("http://wp.example.com.", "http://wp.example.com"),
        ("http://wp.example.com:443", "http://wp.example.com:443"),
        ("https://wp.example.com:", "https://wp.example.com"),
    ] {
        assert_eq!(base_url(text).as_deref(), Ok(url), "{text}");
    }
    for text in [
        "",
        "wp.example.com",
        "ftp://x",
        "file:///etc/passwd",
        "http://",
        "http:///x",
        "https://a@b",
        "https://x/?a=b",
        "https://x/#a",
        "https://x/a b",
        "https://x\r\nHost: y",
        "https://ex\u{e4}mple.com",
        "https://x/../y",
        "https://:80",
        "https://x;y",
        "https://x%2f",
        "https://x\\y",
        "https://x:99999",
        "https://x:0/a",
        "https://x:8a",
        "https://[::1]:65536",
    ] {
        assert!(base_url(text).is_err(), "{text}");
    }
}

#[test]
fn markup_is_made_harmless() {
    for (text, safe) in [
        ("<p>Hello <strong>you</strong></p>", "<p>Hello <strong>you</strong></p>"),
        ("<script>alert(1)</script>a", "a"),
        ("<ScRiPt >x</sCrIpT >a", "a"),
        ("<script>x", ""),
        ("<img src=\"https://x/a.png\" onerror=\"alert(1)\">", "<img src=\"https://x/a.png\">"),
        ("<a href=\"javascript:alert(1)\">a</a>", "<a>a</a>"),
        ("<a href=\" java\nscript:x\">a</a>", "<a>a</a>"),
        ("<a href=\"&#106;avascript:x\">a</a>", "<a>a</a>"),
        ("<a href=\"javascript&colon;x\">a</a>", "<a>a</a>"),
        ("<a href='/x?a=1&b=2'>a</a>", "<a href=\"/x?a=1&b=2\">a</a>"),
        ("<a href=https://x/ title='\"q\"'>a</a>", "<a href=\"https://x/\" title=\"&quot;q&quot;\">a</a>"),
        ("<svg/onload=alert(1)>a</svg>b", "b"),
        ("<!-- x --><p>a<!-- y", "<p>a"),
        ("1 < 2", "1 &lt; 2"),
        ("<p onclick=x", "<p>"),
        ("<a <b>c", "<a>c"),
        ("<p =\"x\" =>a", "<p>a"),
        ("<iframe src=https://x></iframe>a", "a"),
        ("</p>", "</p>"),
    ] {
        assert_eq!(html::safe(text), safe, "{text}");
    }
    assert_eq!(html::without_tags("a<b>c</b><style>d</style>"), "ac");
    assert_eq!(
        html::as_text("<strong>Error:</strong> It&#8217;s&nbsp;so &amp; so.<br>Next"),
        "Error: It\u{2019}s so & so.\nNext"
    );
}

#[test]
fn sanitising_ends_on_any_input() {
    let signs = ["<", ">", "\"", "'", "=", "/", "a", " ", "!--", "script", "&#", ";", "\u{e4}"];
    let mut state = 7_u64;
    for _ in 0..3000 {
        let mut text = String::new();
        for _ in 0..24 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(signs[usize::try_from(state >> 33).unwrap() % signs.len()]);
        }
        let safe = html::safe(&text);
        assert!(!safe.contains("<script"), "{text} -> {safe}");
        assert_eq!(html::safe(&safe), safe, "{text}");
        html::as_text(&text);
    }
}

#[test]
fn the_fake_answers() {
    let fake = Fake::json(json!({}));
    fake.pass(Duration::from_secs(1));
    assert_eq!(fake.now(), Duration::from_secs(1));
    assert_eq!(fault(HttpFaultKind::Late).to_string(), "as the test wants it");
}

#[test]
fn files_are_bounded_and_known_by_how_they_begin() {
    let asked = |text: &str, most| {
        let mut values = Values::default();
        values.set("file", Value::from(text));
        wanted(FileFrom::Either("file"), &values, most)
    };
    assert!(asked(&"A".repeat(40), 20).is_err_and(|failure| failure.message.contains("more than 20 bytes")));
    assert!(asked(&"A".repeat(400), 20).is_err_and(|failure| failure.message.contains("more than 20 bytes")));
    for (text, name, mime) in [
        ("iVBORw0KGgo=", "upload.png", "image/png"),
        ("data:text/plain;base64,YQ", "upload.txt", "text/plain"),
        ("YWJj", "upload", "application/octet-stream"),
    ] {
        let Ok(FileAsk::Here(file)) = asked(text, 20) else { panic!("{text}") };
        assert_eq!((file.head.name.as_str(), file.head.mime.as_str()), (name, mime));
    }
    assert!(
        matches!(asked("https://x/\u{e4} b", 20), Ok(FileAsk::Fetch(url)) if url == "https://x/%C3%A4%20b")
    );
    assert!(matches!(asked("http://X.:80/A", 20), Ok(FileAsk::Fetch(url)) if url == "http://x/A"));
}

#[test]
fn redirects_lead_to_urls() {
    for (url, to, leads) in [
        ("https://a/b/c?d", "e", "https://a/b/e"),
        ("https://a/b/c?d=/e", "/f", "https://a/f"),
        ("https://a", "f", "https://a/f"),
        ("https://a?b", "f", "https://a/f"),
        ("https://a/b", "//c/d", "https://c/d"),
        ("https://a/b", "http://c?d#e", "http://c/?d"),
    ] {
        assert_eq!(redirected(url, to).as_deref(), Ok(leads), "{url} {to}");
    }
    for to in ["javascript://x", "ftp://x/", "https://u:p@x/", "https://x y/", "https://x:70000/"] {
        assert!(redirected("https://a/b", to).is_err(), "{to}");
    }
}
