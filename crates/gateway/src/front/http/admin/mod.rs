//! The operators' pages at `/admin`: who gets in, and what each answer carries to protect them. This module must not know
//! how an operator is recognized.
//!
//! | file | is for |
//! |---|---|
//! | `visit` | one request: its transport, its origin, its session |
//! | `cookie` | the cookie of a session |
//! | `login` | logins with a password or a one-time link; logout |
//! | `html` | the pages that are built here |

mod cookie;
mod html;
mod login;
mod visit;

use std::net::SocketAddr;
use std::sync::Arc;

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Response, StatusCode};
use transport::net::Body;

use self::visit::Visit;
use super::answer;
use super::entry::Arrived;
use crate::admission::admin::AdminDoor;
use crate::management::admin_link::ENTER;
use crate::process::Shard;

/// The path of the pages.
pub(super) const ROOT: &str = "/admin";

const LOGIN: &str = "/admin/login";
const LOGOUT: &str = "/admin/logout";

/// The content security policy: pages load only from here, run no inline code, and cannot be framed.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Returns true if the pages are at this path.
pub(super) fn is_here(path: &str) -> bool {
    path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Answers a request for a page.
pub(super) async fn respond(
    shard: &Arc<Shard>,
    door: &AdminDoor,
    request: Arrived,
    peer: SocketAddr,
) -> Response<Body> {
    let mut response = page(shard, door, request, peer).await;
    protect(response.headers_mut());
    response
}

async fn page(shard: &Arc<Shard>, door: &AdminDoor, request: Arrived, peer: SocketAddr) -> Response<Body> {
    let visit = match Visit::new(shard, door, &request, peer) {
        Ok(visit) => visit,
        Err(refusal) => return *refusal,
    };
    let (path, method) = (request.uri().path().trim_end_matches('/').to_owned(), request.method().clone());
    if method != Method::GET && method != Method::POST {
        return answer::only("GET, POST", "pages support GET and POST");
    }
    if method == Method::POST && !visit.is_own_page {
        return html::refused("This request did not come from one of Dragoman's own pages.");
    }
    match (path.as_str(), method) {
        (LOGIN, Method::GET) => login::page(&visit),
        (LOGIN, _) => login::login(&visit, request).await,
        (path, method) if path.starts_with(ENTER) => login::enter(&visit, &path[ENTER.len()..], &method),
        (path, method) => match visit.session() {
            None => to(LOGIN),
            Some((_, session)) if method == Method::GET => match path {
                ROOT => html::index(shard, &session),
                _ => html::missing(),
            },
            Some((cookie, session)) => match visit::form(shard, request).await {
                Err(refusal) => refusal,
                Ok(form) if !form.get("csrf").is_some_and(|token| session.owns(token)) => {
                    html::refused("The form is out of date. Go back, reload the page, and try again.")
                }
                Ok(_) if path == LOGOUT => login::logout(&visit, &cookie),
                Ok(_) => html::missing(),
            },
        },
    }
}

/// Returns the answer that sends a browser to another page.
fn to(path: &'static str) -> Response<Body> {
    let mut response = answer::empty(StatusCode::SEE_OTHER);
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(path));
    response
}

/// Adds the headers that protect a page.
fn protect(headers: &mut HeaderMap) {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (OPENER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_the_pages_lead_here() {
        assert!(["/admin", "/admin/", "/admin/x"].iter().all(|path| is_here(path)));
        assert!(!["/administrator", "/", "/Admin", "/api/admin"].iter().any(|path| is_here(path)));
    }
}
