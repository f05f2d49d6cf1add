//! The operators' pages at `/admin`: authentication, routing, and the headers that protect each answer. This module
//! must not know how an operator is recognized, or what is on a page.
//!
//! | file | is for |
//! |---|---|
//! | `visit` | one request: its transport, its origin, its session |
//! | `cookie` | the cookies of a session |
//! | `carried_notice` | the result of a form submission, in a cookie |
//! | `login` | logins with a password or a one-time link; logout |
//! | `page_table` | the addresses of pages, forms and streams: one row each |
//! | `page_request`, `page_reply`, `page_stream` | an operator's request; the answers; streams of events |
//! | `pages_state` | what pages keep between requests: checks, runs of tools, self-tests |
//! | `played_call`, `self_test` | a call that an operator makes; a test that watches a client's first requests |
//! | `screens/` | one file for each page, which turns the gateway's state into the page's data |

mod carried_notice;
mod cookie;
mod login;
mod page_reply;
mod page_request;
mod page_stream;
mod page_table;
mod pages_state;
mod played_call;
mod screens;
mod self_test;
mod visit;

use std::net::SocketAddr;
use std::sync::Arc;

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Response};
use pages::{asset, route};
use transport::net::Body;
use upstream::oauth::form::pairs;

use self::carried_notice::{CarriedNotice, NoticeChange};
use self::cookie::CookieKind;
use self::page_request::{Fields, PageRequest};
pub(crate) use self::pages_state::PagesState;
use self::visit::Visit;
use gateway::admission::admin::AdminDoor;
use gateway::front::http::answer;
use gateway::management::admin_link::ENTER;
use gateway::management::logins;
use gateway::process::Shard;
use transport::net::Arrived;

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Answers a request for a page.
pub(super) async fn respond(
    (shard, state): (&Arc<Shard>, &Arc<PagesState>),
    door: &AdminDoor,
    request: Arrived,
    peer: SocketAddr,
) -> Response<Body> {
    let headers = request.headers().clone();
    let response = respond_to((shard, state), door, request, peer).await;
    let mut response = page_reply::compressed(response, &headers);
    protect(response.headers_mut());
    response
}

async fn respond_to(
    (shard, state): (&Arc<Shard>, &Arc<PagesState>),
    door: &AdminDoor,
    request: Arrived,
    peer: SocketAddr,
) -> Response<Body> {
    let (path, method) = (request.uri().path().to_owned(), request.method().clone());
    if method != Method::GET && method != Method::POST {
        return answer::only("GET, POST", "pages support GET and POST");
    }
    if let Some(asset) = asset::find(&path).filter(|_| method == Method::GET) {
        return page_reply::file(asset, request.headers());
    }
    let visit = match Visit::new(shard, door, &request, peer) {
        Ok(visit) => visit,
        Err(refusal) => return *refusal,
    };
    if method == Method::POST && !visit.is_own_page {
        return page_reply::refused("This request did not come from one of Dragoman's own pages.");
    }
    let query = Fields(pairs(request.uri().query().unwrap_or_default()));
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { &path };
    match (path, &method) {
        (route::LOGIN, &Method::GET) => login::page(&visit, query.text("next")),
        (route::LOGIN, _) => login::login(&visit, request).await,
        (path, method) if path.starts_with(ENTER) => login::enter(&visit, &path[ENTER.len()..], method).await,
        (path, _) => admitted((&visit, state), (path, query), request).await,
    }
}

/// Answers a request that needs a session.
async fn admitted(
    (visit, state): (&Visit<'_>, &Arc<PagesState>),
    (path, query): (&str, Fields),
    request: Arrived,
) -> Response<Body> {
    let is_form = request.method() == Method::POST;
    let Some((cookie, session)) = visit.session() else {
        let next = request
            .uri()
            .path_and_query()
            .map(http::uri::PathAndQuery::as_str)
            .filter(|own| !is_form && *own != route::ROOT);
        return page_reply::to(&route::with_query(route::LOGIN, &[("next", next.unwrap_or_default())]));
    };
    let form = if is_form {
        match visit::form(visit.shard, request).await {
            Ok(form) => form,
            Err(refusal) => return refusal,
        }
    } else {
        Fields::default()
    };
    if is_form && !form.get("csrf").is_some_and(|token| session.owns(token)) {
        return page_reply::refused("The form is out of date. Go back, reload the page, and try again.");
    }
    if is_form && path == route::LOGOUT {
        return login::logout(visit, &cookie);
    }
    let Some((row, names)) = page_table::find(is_form, path) else { return page_reply::missing() };
    let request = PageRequest {
        shard: visit.shard.clone(),
        state: state.clone(),
        carried: CarriedNotice::new(visit.carried_notice(&session)),
        session,
        cookie,
        address: visit.address,
        authority: visit.authority.clone(),
        path: path.to_owned(),
        names,
        query,
        form,
    };
    let mut response = (row.run)(&request).await.unwrap_or_else(|refusal| page_reply::failed(&refusal));
    set_cookies(visit, request, response.headers_mut());
    response
}

/// Sets the cookies that have changed.
fn set_cookies(visit: &Visit<'_>, request: PageRequest, headers: &mut HeaderMap) {
    let PageRequest { session, carried, .. } = request;
    let renewed = session.renewed.as_deref();
    let renewed = renewed.and_then(|value| cookie::set(CookieKind::Session, value, visit.transport));
    let notice = match carried.change() {
        NoticeChange::None => None,
        NoticeChange::Removed => cookie::removed(CookieKind::Notice, visit.transport),
        NoticeChange::Set(notice) => logins::seal_notice(&visit.shard.gateway, &session, notice)
            .and_then(|value| cookie::set(CookieKind::Notice, &value, visit.transport)),
    };
    for cookie in renewed.into_iter().chain(notice) {
        headers.append(SET_COOKIE, cookie);
    }
}

/// Adds the headers that protect a page.
fn protect(headers: &mut HeaderMap) {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, asset::CONTENT_SECURITY_POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (OPENER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
