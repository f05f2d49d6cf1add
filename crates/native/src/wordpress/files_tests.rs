//! Files other than media: a theme that a site exports, uploaded fonts and image sizes; versions of templates.

use std::sync::Arc;

use bytes::Bytes;
use proto::era::ERAS;
use proto::rpc::{Frame, FrameLimits};
use serde_json::{Value, json};

use super::{Sets, server};
use crate::port::{HttpFaultKind, HttpResponse};
use crate::rest::tests::{Fake, asked, fault, login, ready, refused, reply, shown};
use crate::server::{NativeCall, NativeServer as _};
use crate::site::SiteSettings;
use crate::{AnswerStyle, ToolServer};

const ZIP: &[u8] = b"PK\x03\x04 a theme";

fn over(answers: AnswerStyle, fake: Arc<Fake>) -> ToolServer {
    let login = Some(login("https://x.example", "a", "b"));
    let settings = SiteSettings { login, answers, ..SiteSettings::default() };
    server(&settings, Sets { extended: true, discover: false }, fake).unwrap()
}

/// A site that returns this file.
fn giving(kind: Option<&str>, name: &str, body: &'static [u8]) -> Arc<Fake> {
    let mut headers: Vec<_> =
        kind.map(|kind| ("Content-Type".to_owned(), kind.to_owned())).into_iter().collect();
    headers.push(("Content-Disposition".to_owned(), format!("attachment; filename={name}")));
    Fake::replying(move |_| HttpResponse {
        status: 200,
        headers: headers.clone(),
        body: Bytes::from_static(body),
    })
}

#[test]
fn a_theme_comes_as_a_file_beside_what_is_said_of_it() {
    let said = json!({"uri": "https://x.example/wp-json/wp-block-editor/v1/export", "name": "ours.zip",
        "mimeType": "application/zip", "size": ZIP.len()});
    let file = json!({"uri": said["uri"], "mimeType": "application/zip", "blob": "UEsDBCBhIHRoZW1l"});
    for answers in [AnswerStyle::Compact, AnswerStyle::Plain, AnswerStyle::Raw] {
        let fake = giving(Some("application/zip"), "ours.zip", ZIP);
        let answer = asked(&over(answers, fake.clone()), "wp_get_theme_export", &json!({}));
        assert_eq!(shown(&answer), said);
        let structured = (answers == AnswerStyle::Compact).then_some(&said);
        assert_eq!(answer["result"].get("structuredContent"), structured);
        assert_eq!(answer["result"]["content"][1], json!({"type": "resource", "resource": file}));
        assert_eq!(answer["result"]["content"].as_array().unwrap().len(), 2);
        assert_eq!(fake.lines(), ["GET https://x.example/wp-json/wp-block-editor/v1/export"]);
        let asked = fake.asked.lock().unwrap();
        assert!(asked[0].headers.contains(&("accept", "*/*".into())));
        assert_eq!(asked[0].most, 16 << 20, "twice as large as another answer");
    }
}

#[test]
fn an_era_without_files_is_told_of_it() {
    let server = over(AnswerStyle::Compact, giving(Some("application/zip"), "ours.zip", ZIP));
    for era in ERAS {
        let params = json!({"name": "wp_get_theme_export", "arguments": {}});
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let frame = Frame::parse(Bytes::from(text), FrameLimits::default()).unwrap();
        let answer = ready(server.answer(NativeCall::new(&frame, era)).bytes());
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let content = answer["result"]["content"].as_array().unwrap();
        assert!(content[0]["text"].as_str().unwrap().contains("ours.zip"), "{era}");
        assert_eq!(content.len() == 2, era.shapes.tool_content.contains(&"resource"), "{era}");
    }
}

#[test]
fn the_name_of_a_file_is_a_name_alone() {
    for (name, wanted) in [
        ("\"../../x.zip\"", "x.zip"),
        ("", "upload.zip"),
        ("ours", "ours.zip"),
        ("a:b\r\n.zip", "ab.zip"),
        ("..", "upload.zip"),
    ] {
        let fake = giving(None, name, ZIP);
        let answer = asked(&over(AnswerStyle::Compact, fake), "wp_get_theme_export", &json!({}));
        assert_eq!(shown(&answer)["name"], wanted, "{name:?}");
    }
    let bare = Fake::replying(|_| HttpResponse { status: 200, headers: Vec::new(), body: ZIP.into() });
    let answer = asked(&over(AnswerStyle::Compact, bare), "wp_get_theme_export", &json!({}));
    assert_eq!(shown(&answer)["name"], "export.zip");
}

#[test]
fn what_is_no_file_is_an_error() {
    for (kind, body) in [
        (Some("text/html"), &b"<html>hello"[..]),
        (Some("application/json; charset=UTF-8"), b"{}"),
        (Some("application/zip"), b""),
        (Some("application/zip"), b"<!DOCTYPE html><html>Wait</html>"),
        (Some("application/zip"), b"<b>Notice</b>: PK\x03\x04 a theme"),
        (None, b"<html>"),
    ] {
        let fake = giving(kind, "a.zip", body);
        let (_, words, condition) =
            refused(&asked(&over(AnswerStyle::Compact, fake), "wp_get_theme_export", &json!({})));
        assert_eq!(condition, "upstreamError", "{kind:?}");
        assert!(words.starts_with("the site's answer is not a file ("), "{words}");
    }
    let no = json!({"code": "rest_cannot_export_templates", "message": "Sorry.", "data": {"status": 403}});
    let fake = Fake::replying(move |_| reply(403, &no));
    let answer = asked(&over(AnswerStyle::Compact, fake), "wp_get_theme_export", &json!({}));
    assert_eq!(answer["error"]["data"]["code"], "rest_cannot_export_templates");
    let fake = Fake::new(|_| Err(fault(HttpFaultKind::TooLarge)));
    let (_, words, _) = refused(&asked(&over(AnswerStyle::Compact, fake), "wp_get_theme_export", &json!({})));
    assert!(words.contains("too large"), "{words}");
}

#[test]
fn a_font_goes_along_with_what_is_said_of_it() {
    let at = "POST https://x.example/wp-json/wp/v2/font-families/3/font-faces";
    for (file, kind, name) in [
        ("d09GMmFi", "font/woff2", "upload.woff2"),
        ("d09GRmFi", "font/woff", "upload.woff"),
        ("T1RUT2Fi", "font/otf", "upload.otf"),
        ("AAEAAABi", "font/ttf", "upload.ttf"),
    ] {
        let fake = Fake::json(json!({"id": 7}));
        let asks = json!({"font_family_id": 3, "file": file, "font_face_settings": "{\"fontFamily\":\"Ours\",\"src\":\"x\"}"});
        shown(&asked(&over(AnswerStyle::Compact, fake.clone()), "wp_upload_font_face", &asks));
        let line = &fake.lines()[0];
        let head = format!("{at} [name=\"file\" filename=\"{name}\" Content-Type: {kind}: ");
        assert!(line.starts_with(&head), "{line}");
        let settings = "[name=\"font_face_settings\": {\"fontFamily\":\"Ours\",\"src\":\"file\"}]";
        assert!(line.ends_with(settings), "{line}");
    }
    for settings in ["[]", "x", "\"{}\""] {
        let fake = Fake::json(json!({}));
        let asks =
            json!({"font_family_id": 3, "file": "https://x.example/a.woff2", "font_face_settings": settings});
        let answer = asked(&over(AnswerStyle::Compact, fake.clone()), "wp_upload_font_face", &asks);
        assert_eq!(refused(&answer).2, "invalidArguments", "{settings}");
        assert!(fake.lines().is_empty(), "{settings}");
    }
}

#[test]
fn sizes_of_an_image_go_up_one_by_one() {
    let fake = Fake::json(json!({"image_size": "medium"}));
    let size = json!({"id": 7, "image_size": "medium", "base64": "YWJj", "fileName": "a-300x200.jpg", "mimeType": "image/jpeg",
        "convert_format": false});
    shown(&asked(&over(AnswerStyle::Compact, fake.clone()), "wp_upload_image_size", &size));
    shown(&asked(
        &over(AnswerStyle::Compact, fake.clone()),
        "wp_finalize_media_item",
        &json!({"id": 7, "sub_sizes": [{"image_size": "medium", "file": "a-300x200.jpg"}]}),
    ));
    assert_eq!(
        fake.lines(),
        [
            "POST https://x.example/wp-json/wp/v2/media/7/sideload [name=\"file\" filename=\"a-300x200.jpg\" Content-Type: \
             image/jpeg: abc] [name=\"image_size\": medium] [name=\"convert_format\": false]",
            "POST https://x.example/wp-json/wp/v2/media/7/finalize \
             {\"sub_sizes\":[{\"image_size\":\"medium\",\"file\":\"a-300x200.jpg\"}]}",
        ]
    );
}

#[test]
fn a_version_of_a_template_shows_the_number_by_which_it_is_asked_for() {
    let version = json!({"id": "ours//single", "wp_id": 53, "parent": 52, "content": {"raw": "C"}});
    for (kind, list, one) in [
        ("template", "revisions", "revision"),
        ("template", "autosaves", "autosave"),
        ("template_part", "revisions", "revision"),
        ("template_part", "autosaves", "autosave"),
    ] {
        let of = |answer: Value, name: String, call: Value| {
            let fake = Fake::json(answer);
            (shown(&asked(&over(AnswerStyle::Compact, fake.clone()), &name, &call)), fake.lines())
        };
        let (all, lines) =
            of(json!([version]), format!("wp_get_{kind}_{list}"), json!({"id": "ours//single"}));
        assert_eq!(all["versions"][0]["wp_id"], 53, "{kind}");
        assert!(lines[0].contains("wp_id"), "{lines:?}");
        let call = json!({"id": "ours//single", "version": 53});
        let (shown, _) = of(version.clone(), format!("wp_get_{kind}_{one}"), call);
        assert_eq!((&shown["wp_id"], &shown["content"]), (&json!(53), &json!("C")), "{kind}");
    }
}
