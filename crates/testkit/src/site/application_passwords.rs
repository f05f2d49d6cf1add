//! Application passwords: the page on which a person approves an application, and the routes for the password in use. The
//! editor is logged in and approves every application at once. The password that the page creates is the one that the
//! editor already has.

use serde_json::json;

use super::accounts::EDITOR;
use super::answer::Answer;
use super::request::Request;

/// The path of the page.
pub(super) const PAGE: &str = "/wp-admin/authorize-application.php";

/// The password's id.
const UUID: &str = "0a1b2c3d-0000-4000-8000-000000000002";

/// Answers a request for the page, as WordPress does after the person has approved the application.
pub(super) fn page(request: &Request, base: &str) -> Answer {
    let Some(to) = request.param("success_url") else {
        return Answer::error(400, "invalid_redirect_url", "The success URL is missing.");
    };
    let password: String = EDITOR.password.split_whitespace().collect();
    let mark = if to.contains('?') { '&' } else { '?' };
    let to = format!("{to}{mark}site_url={base}&user_login={}&password={password}", EDITOR.user);
    Answer { status: 302, headers: vec![("Location", to)], body: String::new() }
}

/// Answers a request below `users/me/application-passwords`.
pub(super) fn answer(request: &Request, rest: &[&str]) -> Answer {
    let Some(account) = request.account else {
        return Answer::error(401, "rest_not_logged_in", "You are not currently logged in.");
    };
    match (request.method.as_str(), rest) {
        ("GET", ["introspect"]) => Answer::ok(&json!({"uuid": UUID, "name": account.user})),
        ("DELETE", [id]) if *id == UUID => Answer::ok(&json!({"deleted": true, "previous": {"uuid": UUID}})),
        _ => Answer::no_route(),
    }
}
