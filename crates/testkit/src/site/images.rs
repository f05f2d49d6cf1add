//! An image host that answers like imgbb's API (version 1), and a picture on the site itself.

use serde_json::json;

use super::answer::Answer;
use super::request::Request;

/// The path of the host's API.
const HOST: &str = "/images/1";
/// The key that the host accepts.
const KEY: &str = "key-of-images";
/// The beginning of a GIF picture; no test reads more than this.
const PICTURE: &str = "GIF89a";

/// Answers if the path belongs to the image host or to the picture; `base` is the site's URL.
pub(super) fn answer(request: &Request, base: &str) -> Option<Answer> {
    if request.path == "/wp-content/uploads/picture.gif" {
        let headers = vec![("Content-Type", "image/gif".to_owned())];
        return Some(Answer { status: 200, headers, body: PICTURE.to_owned() });
    }
    let parts = request.below(HOST)?;
    Some(match (request.method.as_str(), parts.as_slice()) {
        ("POST", ["upload"]) if request.part("key").is_none_or(|key| key != KEY) => Answer::json(
            400,
            &json!({"status_code": 400, "error": {"message": "Invalid API v1 key.", "code": 100}}),
        ),
        ("POST", ["upload"]) if request.part("image").is_none_or(str::is_empty) => Answer::json(
            400,
            &json!({"status_code": 400, "error": {"message": "Empty upload source.", "code": 130}}),
        ),
        ("POST", ["upload"]) => {
            let at = |path: &str| format!("{base}{path}");
            Answer::ok(&json!({"success": true, "status": 200, "data": {
                "id": "2ndCYJK", "title": request.part("name"), "url": at("/i/full.png"),
                "display_url": at("/i/shown.png"), "delete_url": at("/2ndCYJK/670a7e48ddcb85ac340c717a41047e5c"),
                "thumb": {"url": at("/i/small.png")},
            }}))
        }
        _ => Answer::json(404, &json!({"status_code": 404, "error": {"message": "Not found", "code": 0}})),
    })
}
