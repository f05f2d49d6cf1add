//! A user's browser: it opens the page where a consent begins, stores the cookie, and sends it back.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::Value;

use crate::rig::params;
use crate::support::*;

/// The cookies of all browsers, by the `state` of the pages to which they were redirected.
static COOKIES: LazyLock<Mutex<HashMap<String, String>>> = LazyLock::new(Mutex::default);

fn cookies() -> std::sync::MutexGuard<'static, HashMap<String, String>> {
    COOKIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The URL of the page where consent begins, if an answer names one.
pub(crate) fn told(answer: &Value) -> Option<String> {
    answer["error"]["data"]["authorizationUrl"].as_str().map(str::to_owned)
}

/// The path of one of the gateway's own pages.
pub(crate) fn path(url: &str) -> String {
    let at = url.find("/oauth/consent/").unwrap_or_else(|| panic!("{url} is no page of the gateway"));
    url[at..].to_owned()
}

/// Sends a form as the page itself does.
pub(crate) async fn send(http: Http, url: &str, form: &str) -> Reply {
    let origin = format!("http://{}", http.address);
    let headers = [
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Origin", &*origin),
        ("Sec-Fetch-Site", "same-origin"),
        ("Authorization", "-"),
    ];
    http.post(&path(url), &headers, form).await
}

/// Opens the page, submits the form and follows the redirect; returns the URL of the authorization server's
/// page.
pub(crate) async fn begin(http: Http, url: &str, form: &str) -> String {
    let shown = http.get(&path(url), &[("Authorization", "-")]).await;
    assert_eq!(shown.status, 200);
    let mut onward = send(http, url, form).await;
    let (status, said) = (onward.status, onward.text().await);
    assert_eq!(status, 303, "{said}");
    let (to, cookie) = (onward.header("location").to_owned(), onward.header("set-cookie").to_owned());
    let state = params(to.split_once('?').expect("a query").1)["state"].clone();
    let kept = cookie.split(';').next().unwrap_or_default().to_owned();
    cookies().insert(state, kept);
    to
}

/// Returns the cookie of the browser whose redirect carried the same `state` as `path`.
pub(crate) fn cookie(path: &str) -> Option<String> {
    let state = params(path.split_once('?')?.1).get("state")?.clone();
    cookies().get(&state).cloned()
}
