//! Tests of the community tools: the requests that each tool sends, and the behavior on incomplete sites.

mod buddyboss;
mod buddypress;
mod visitors;

use crate::AnswerStyle;
use crate::port::{HttpRequest, HttpResponse};
use crate::rest::tests::{login, reply};
use crate::site::SiteSettings;
use serde_json::json;

/// The REST API of the site in these tests.
const SITE: &str = "https://community.example.com/wp-json";

fn settings() -> SiteSettings {
    SiteSettings {
        login: Some(login("https://community.example.com", "admin", "p q")),
        answers: AnswerStyle::Plain,
        ..SiteSettings::default()
    }
}

/// A site where every request succeeds.
fn site(request: &HttpRequest) -> HttpResponse {
    let path = request.url.strip_prefix(SITE).unwrap_or_default();
    let answer = match path.split('?').next().unwrap_or_default() {
        "/wp/v2/users" => json!([{"id": 3}, {"id": 4}]),
        "/wp/v2/users/me" => json!({"id": 9}),
        "/buddyboss/v1/moderation" => json!([{"id": 77}]),
        "/buddyboss/v1/media/upload" | "/buddyboss/v1/video/upload" => json!({"upload_id": 55}),
        "/buddyboss/v1/document/upload" => json!({"id": 56}),
        "/buddypress/v1/activity/1" => json!([{"id": 1, "type": "activity_update"}]),
        "/buddypress/v1/friends/2" => json!([{"id": 4, "is_confirmed": true}]),
        "/buddypress/v1/friends/3" => json!({"id": 5, "is_confirmed": false}),
        "/buddyboss/v1/friends/8" => {
            json!({"id": 8, "initiator_id": 9, "friend_id": 3, "is_confirmed": true})
        }
        "/buddyboss/v1/friends/10" => {
            json!({"id": 10, "initiator_id": 4, "friend_id": 9, "is_confirmed": true})
        }
        _ => json!({"id": 7}),
    };
    reply(200, &answer)
}

/// The full form of the line `METHOD route body`, in which `route` is relative to the site's API.
fn line(text: &str) -> String {
    let (method, rest) = text.split_once(' ').unwrap_or((text, ""));
    format!("{method} {SITE}{rest}")
}
