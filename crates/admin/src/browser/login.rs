//! Logins with a password or a one-time link, and logouts. This module must not know how a password is checked.

use std::time::{Duration, Instant};

use http::header::{HeaderValue, RETRY_AFTER, SET_COOKIE};
use http::{Method, Response, StatusCode};
use pages::model::{LoginPage, Notice, Severity};
use pages::route;
use secrecy::SecretString;
use transport::net::Body;

use super::cookie::CookieKind;
use super::visit::{Visit, form};
use super::{cookie, page_reply};
use gateway::admission::admin::sessions::AdmittedBy;
use gateway::admission::audit::CallOutcome;
use gateway::admission::auth::LoginOutcome;
use gateway::front::http::operators::is_page;
use gateway::management::audit::{self, ManagementAction};
use gateway::management::logins::{self, LinkUse};
use transport::net::Arrived;

/// The number of seconds to wait after a login was refused because too many other logins were being checked.
const AGAIN: u64 = 5;

/// Returns the page with the form.
pub(super) fn page(visit: &Visit<'_>, next: &str) -> Response<Body> {
    page_with(visit, StatusCode::OK, LoginEntry { next, ..LoginEntry::default() }, None)
}

/// The values that were entered for a login.
#[derive(Debug, Clone, Copy, Default)]
struct LoginEntry<'a> {
    name: &'a str,
    next: &'a str,
}

fn page_with(
    visit: &Visit<'_>,
    status: StatusCode,
    entry: LoginEntry<'_>,
    message: Option<&str>,
) -> Response<Body> {
    let notice = |text: &str| Notice { severity: Severity::Bad, text: text.into(), advice: None };
    let data = LoginPage {
        address: visit.authority.as_str().into(),
        passwords: !visit.door.logins.is_empty(),
        name: entry.name.into(),
        notice: message.map(notice),
        next: own_path(entry.next).to_owned(),
    };
    page_reply::page(status, pages::page::login(&data))
}

/// Returns the path to open after a login: `next` if it is one of our own pages, or else the overview.
fn own_path(next: &str) -> &str {
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_page(next.split('?').next().unwrap_or_default()) && is_plain { next } else { route::ROOT }
}

/// Handles a login with a password.
pub(super) async fn login(visit: &Visit<'_>, request: Arrived) -> Response<Body> {
    if let Some(wait) = locked(visit) {
        return wait;
    }
    let form = match form(visit.shard, request).await {
        Ok(form) => form,
        Err(refusal) => return refusal,
    };
    let (name, password) = (form.text("name"), form.get("password").unwrap_or_default());
    let next = own_path(form.text("next")).to_owned();
    let refused = |status, message| page_with(visit, status, LoginEntry { name, next: &next }, Some(message));
    if visit.door.logins.is_empty() {
        return refused(StatusCode::FORBIDDEN, "No administrator with a password is configured.");
    }
    if name.is_empty() || password.is_empty() {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "Enter a name and a password.");
    }
    match visit.door.logins.check(name, SecretString::from(password), visit.address).await {
        LoginOutcome::Right => opened(visit, AdmittedBy::Password(name.into()), &next),
        LoginOutcome::Wrong => {
            failed(visit, "POST /admin/login");
            refused(StatusCode::FORBIDDEN, "The name or the password is wrong.")
        }
        LoginOutcome::Busy => {
            let message = "Too many logins are being checked. Try again in a few seconds.";
            later(refused(StatusCode::TOO_MANY_REQUESTS, message), AGAIN)
        }
    }
}

/// Handles a one-time link. Only a POST uses up the link, because programs that preview links send a GET.
pub(super) async fn enter(visit: &Visit<'_>, secret: &str, method: &Method) -> Response<Body> {
    if let Some(wait) = locked(visit) {
        return wait;
    }
    if *method == Method::GET {
        return page_reply::page(StatusCode::OK, pages::page::enter());
    }
    match logins::use_link(&visit.shard.gateway, secret).await {
        LinkUse::First => return opened(visit, AdmittedBy::Link, route::ROOT),
        LinkUse::Unknown(why) => {
            tracing::warn!("cannot find out if a one-time link was used before: {why}");
            let message = "This link cannot be checked now, because the cluster's store is unavailable. Try again later, or let \
                           `dragoman admin link` print another link, and open it at the same gateway.";
            let page =
                page_with(visit, StatusCode::SERVICE_UNAVAILABLE, LoginEntry::default(), Some(message));
            return later(page, AGAIN);
        }
        LinkUse::Invalid => {}
    }
    failed(visit, "POST /admin/enter");
    let message =
        "This link has already been used, or has expired. `dragoman admin link` prints another one.";
    page_with(visit, StatusCode::FORBIDDEN, LoginEntry::default(), Some(message))
}

/// Ends a session.
pub(super) fn logout(visit: &Visit<'_>, cookie: &str) -> Response<Body> {
    logins::close(&visit.shard.gateway, visit.door, cookie);
    let mut response = page_reply::to(route::LOGIN);
    if let Some(removed) = cookie::removed(CookieKind::Session, visit.transport) {
        response.headers_mut().insert(SET_COOKIE, removed);
    }
    response
}

/// Returns the refusal of an address that is locked out.
fn locked(visit: &Visit<'_>) -> Option<Response<Body>> {
    let wait = visit.shard.gateway.process.admin.lockout.lock().locked_for(visit.address, Instant::now())?;
    let seconds = wait.max(Duration::from_secs(1)).as_secs();
    let message = format!(
        "Too many attempts from your address have failed; try again in {} minutes.",
        seconds.div_ceil(60)
    );
    let page = page_with(visit, StatusCode::TOO_MANY_REQUESTS, LoginEntry::default(), Some(&message));
    Some(later(page, seconds))
}

fn later(mut response: Response<Body>, seconds: u64) -> Response<Body> {
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Opens a session.
fn opened(visit: &Visit<'_>, by: AdmittedBy, next: &str) -> Response<Body> {
    let gateway = &visit.shard.gateway;
    logins::succeeded(gateway, visit.address);
    let who = by.name();
    let opened = logins::open(gateway, visit.door, by);
    let Some(cookie) = opened.and_then(|value| cookie::set(CookieKind::Session, &value, visit.transport))
    else {
        let text = "The operating system's random number generator failed.";
        return page_reply::error(StatusCode::INTERNAL_SERVER_ERROR, "Failed", text, "Try again.");
    };
    note(visit, &who, "login", CallOutcome::Ok);
    let mut response = page_reply::to(next);
    response.headers_mut().insert(SET_COOKIE, cookie);
    response
}

/// Counts and records a failed attempt. The name is not recorded, because people type passwords into the wrong field.
fn failed(visit: &Visit<'_>, asked: &'static str) {
    let is_locked = logins::failed(&visit.shard.gateway, visit.address);
    let (client, shut) =
        (visit.address, if is_locked { "; the address is locked out for a while" } else { "" });
    tracing::warn!(%client, "a login to the admin pages failed{shut}");
    note(visit, "admin", asked, CallOutcome::Denied);
}

fn note(visit: &Visit<'_>, who: &str, asked: &'static str, outcome: CallOutcome) {
    let action = ManagementAction {
        who: who.into(),
        address: Some(visit.address),
        asked: asked.into(),
        server: None,
        profile: None,
        outcome,
        status: (outcome != CallOutcome::Ok).then_some(403),
        what: None,
        took: Duration::ZERO,
    };
    if outcome == CallOutcome::Ok {
        tracing::info!(%who, client = %visit.address, "opened the admin pages");
    }
    audit::record(visit.shard, &action);
}

#[cfg(test)]
mod tests {
    use super::own_path;

    #[test]
    fn a_login_leads_to_our_own_pages_only() {
        assert_eq!(own_path("/admin/calls?since=1h"), "/admin/calls?since=1h");
        for foreign in [
            "//evil.example",
            "https://evil.example/admin",
            "/admin\\evil",
            "/administrator",
            "",
            "/admin/\r\nx",
        ] {
            assert_eq!(own_path(foreign), "/admin", "{foreign:?}");
        }
    }
}
