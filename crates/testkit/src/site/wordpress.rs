//! The REST API of WordPress's core: the index, users, and the item types in `wp/v2`.

use serde_json::{Value, json};

use super::accounts::{ALL, Account};
use super::answer::Answer;
use super::application_passwords;
use super::collection::Collection;
use super::content::collections;
use super::request::Request;

/// A site's core.
#[derive(Debug)]
pub(super) struct WordPress {
    name: String,
    base: String,
    kinds: Vec<Collection>,
}

impl WordPress {
    pub(super) fn new(name: &str, base: &str) -> Self {
        Self { name: name.to_owned(), base: base.to_owned(), kinds: collections(name, base) }
    }

    /// The site's URL, without a slash at the end.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Answers a request below `/wp-json`.
    pub(super) fn answer(&self, request: &Request, parts: &[&str], buddyboss: bool) -> Answer {
        match parts {
            [] => self.index(buddyboss),
            ["wp", "v2", "users", "me", "application-passwords", rest @ ..] => {
                application_passwords::answer(request, rest)
            }
            ["wp", "v2", "users", rest @ ..] => users(request, rest),
            ["wp", "v2", kind, rest @ ..] => match self.kinds.iter().find(|one| one.kind.name == *kind) {
                Some(kind) => kind.answer(request, rest, &self.base),
                None => Answer::no_route(),
            },
            _ => Answer::no_route(),
        }
    }

    fn index(&self, buddyboss: bool) -> Answer {
        let mut namespaces = vec!["oembed/1.0", "wp/v2"];
        if buddyboss {
            namespaces.push("buddyboss/v1");
        }
        let page = format!("{}{}", self.base, application_passwords::PAGE);
        Answer::ok(&json!({
            "name": format!("Site {}", self.name), "description": "", "url": self.base, "home": self.base,
            "namespaces": namespaces, "authentication": {"application-passwords": {"endpoints": {"authorization": page}}}, "routes": {},
        }))
    }
}

fn users(request: &Request, rest: &[&str]) -> Answer {
    let edit = request.param("context").is_some_and(|context| context == "edit");
    match (request.method.as_str(), rest, request.account) {
        ("GET", ["me"], None) => Answer::error(401, "rest_not_logged_in", "You are not currently logged in."),
        ("GET", ["me"], Some(account)) => Answer::ok(&account.shown(edit)),
        ("GET", [], Some(account)) if account.can("edit_posts") => {
            let all: Vec<Value> = ALL.iter().map(|one: &Account| one.shown(edit)).collect();
            Answer::ok(&json!(all)).with("X-WP-Total", &ALL.len()).with("X-WP-TotalPages", &1)
        }
        ("GET", [], account) => {
            let status = if account.is_some() { 403 } else { 401 };
            Answer::error(status, "rest_user_cannot_view", "Sorry, you are not allowed to list users.")
        }
        ("GET", [id], _) => match ALL.iter().find(|one| one.id.to_string() == *id) {
            Some(account) => Answer::ok(&account.shown(false)),
            None => Answer::error(404, "rest_user_invalid_id", "Invalid user ID."),
        },
        _ => Answer::no_route(),
    }
}
