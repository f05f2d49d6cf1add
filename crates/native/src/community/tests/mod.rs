//! The community tools: what each asks, and what happens on sites that lack something.

mod buddyboss;
mod buddypress;

use serde_json::{Value, json};

use super::buddyboss::{Phases, server as buddyboss_tools};
use super::buddypress::{Version, server as buddypress_tools};
use crate::port::{HttpRequest, HttpResponse};
use crate::rest::tests::{Fake, asked, login, reply};
use crate::site::SiteSettings;
use crate::wordpress::{self, Sets};
use crate::{Answers, ToolServer};

/// Where the sites of these tests are.
const SITE: &str = "https://community.example.com/wp-json";

fn settings() -> SiteSettings {
    SiteSettings {
        login: Some(login("https://community.example.com", "admin", "p q")),
        answers: Answers::Plain,
        ..SiteSettings::default()
    }
}

/// A site on which everything goes well.
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

/// Each tool for sites refuses an argument that it does not have, but for those that n8n adds; where answers are those of a
/// preset, it leaves all of them alone.
#[test]
fn no_argument_vanishes_outside_of_presets() {
    let calls = |answers: Answers, arguments: &Value| -> Vec<(String, String)> {
        let settings = SiteSettings { answers, ..settings() };
        let fake = || Fake::replying(site);
        let phases = Phases { buddyboss: true, advanced: true, extended: true, discover: true };
        let servers = [
            wordpress::server(&settings, Sets { extended: true, discover: true }, fake()).unwrap(),
            buddyboss_tools(&settings, phases, fake()).unwrap(),
            buddypress_tools(&settings, Version::default(), true, fake()).unwrap(),
        ];
        let said = |server: &ToolServer| {
            server
                .tools()
                .map(|tool| (tool.to_owned(), asked(server, tool, arguments).to_string()))
                .collect::<Vec<_>>()
        };
        servers.iter().flat_map(said).collect()
    };
    let refused = |said: &str| said.contains("there is no argument");
    let unknown = json!({"surely_unknown": 1});
    let all = calls(Answers::Compact, &unknown);
    assert!(all.len() > 400, "{}", all.len());
    for (tool, said) in all.into_iter().chain(calls(Answers::Raw, &unknown)) {
        assert!(refused(&said) && said.contains("surely_unknown"), "{tool}: {said}");
    }
    let of_n8n = json!({"toolCallId": "call_1", "tool": "t"});
    for (tool, said) in calls(Answers::Compact, &of_n8n).into_iter().chain(calls(Answers::Plain, &unknown)) {
        assert!(!refused(&said), "{tool}: {said}");
    }
}

/// `METHOD route body` as the full line, `route` being behind the site's API.
fn line(text: &str) -> String {
    let (method, rest) = text.split_once(' ').unwrap_or((text, ""));
    format!("{method} {SITE}{rest}")
}
