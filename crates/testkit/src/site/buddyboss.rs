//! The member routes of `buddyboss/v1`, with the error messages of the real platform.

use serde_json::{Value, json};

use super::answer::Answer;
use super::request::Request;

/// The default number of members per page.
const PER_PAGE: usize = 10;

fn member(id: u64, name: &str, login: &str, kind: &str) -> Value {
    json!({
        "id": id, "name": name, "user_login": login, "mention_name": login,
        "member_types": [kind], "registered_date": "2026-01-05T10:00:00",
        "link": format!("https://community.example.com/members/{login}/"),
    })
}

fn members() -> Vec<Value> {
    vec![
        member(1, "John Doe", "john", "staff"),
        member(7, "Maria Berg", "maria", "member"),
        member(42, "Jane Smith", "jane", "member"),
    ]
}

/// Answers a request below the namespace.
pub(super) fn answer(request: &Request, parts: &[&str]) -> Answer {
    if request.account.is_none() {
        let message = "Sorry, you are not allowed to perform this action.";
        return Answer::error(401, "bp_rest_authorization_required", message);
    }
    match (request.method.as_str(), parts) {
        ("GET", []) => Answer::ok(&json!({"namespace": "buddyboss/v1", "routes": {}})),
        ("GET", ["members"]) => list(request),
        ("GET", ["members", id]) => one(id),
        _ => Answer::no_route(),
    }
}

fn list(request: &Request) -> Answer {
    let wanted = request.param("search").unwrap_or_default().to_lowercase();
    let found: Vec<Value> = members()
        .into_iter()
        .filter(|member| member["name"].as_str().is_some_and(|name| name.to_lowercase().contains(&wanted)))
        .collect();
    let number = |name: &str, or: usize| {
        request.param(name).map_or(Some(or), |text| text.parse().ok()).filter(|count| *count > 0)
    };
    let (Some(page), Some(per_page @ 1..=100)) = (number("page", 1), number("per_page", PER_PAGE)) else {
        return Answer::error(400, "rest_invalid_param", "Invalid parameter(s): page, per_page");
    };
    let shown: Vec<&Value> = found.iter().skip((page - 1) * per_page).take(per_page).collect();
    Answer::ok(&json!(shown))
        .with("X-WP-Total", &found.len())
        .with("X-WP-TotalPages", &found.len().div_ceil(per_page))
}

fn one(id: &str) -> Answer {
    let known = members().into_iter().find(|member| id.parse::<u64>().is_ok_and(|id| member["id"] == id));
    known.map_or_else(
        || Answer::error(404, "bp_rest_member_invalid_id", &format!("Member with ID {id} not found")),
        |member| Answer::ok(&member),
    )
}
