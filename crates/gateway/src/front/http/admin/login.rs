//! Logins with a password or a one-time link, and logouts. This module must not know how a password is checked.

use std::time::{Duration, Instant};

use http::header::{HeaderValue, RETRY_AFTER, SET_COOKIE};
use http::{Method, Response, StatusCode};
use secrecy::SecretString;
use transport::net::Body;

use super::super::entry::Arrived;
use super::visit::{Visit, form};
use super::{ROOT, cookie, html, to};
use crate::admission::admin::sessions::AdmittedBy;
use crate::admission::audit::CallOutcome;
use crate::admission::auth::LoginOutcome;
use crate::management::audit::{self, ManagementAction};

/// The time after which a login that was not checked can be tried again, in seconds.
const AGAIN: u64 = 5;

/// Returns the page with the form.
pub(super) fn page(visit: &Visit<'_>) -> Response<Body> {
    html::login(StatusCode::OK, !visit.door.logins.is_empty(), "")
}

/// Handles a login with a password.
pub(super) async fn login(visit: &Visit<'_>, request: Arrived) -> Response<Body> {
    if let Some(wait) = locked(visit) {
        return wait;
    }
    let mut form = match form(visit.shard, request).await {
        Ok(form) => form,
        Err(refusal) => return refusal,
    };
    let (Some(name), Some(password)) = (form.remove("name"), form.remove("password")) else {
        return html::login(StatusCode::UNPROCESSABLE_ENTITY, true, "Enter a name and a password.");
    };
    let password = SecretString::from(password);
    if visit.door.logins.is_empty() {
        return html::login(StatusCode::FORBIDDEN, false, "");
    }
    match visit.door.logins.check(&name, password, visit.address).await {
        LoginOutcome::Right => opened(visit, AdmittedBy::Password(name.into())),
        LoginOutcome::Wrong => {
            failed(visit, "POST /admin/login");
            html::login(StatusCode::FORBIDDEN, true, "The name or the password is wrong.")
        }
        LoginOutcome::Busy => {
            let busy = html::login(
                StatusCode::TOO_MANY_REQUESTS,
                true,
                "Too many logins are being checked; try again soon.",
            );
            later(busy, AGAIN)
        }
    }
}

/// Handles a one-time link. The link is used up by a POST, because programs that preview links only read them.
pub(super) fn enter(visit: &Visit<'_>, secret: &str, method: &Method) -> Response<Body> {
    if let Some(wait) = locked(visit) {
        return wait;
    }
    if *method == Method::GET {
        return html::enter();
    }
    if visit.shard.gateway.process.admin.links.lock().take(secret, Instant::now()) {
        return opened(visit, AdmittedBy::Link);
    }
    failed(visit, "POST /admin/enter");
    let message = "This link was used already, or has expired. `dragoman admin link` prints another one.";
    html::login(StatusCode::FORBIDDEN, !visit.door.logins.is_empty(), message)
}

/// Ends a session.
pub(super) fn logout(visit: &Visit<'_>, cookie: &str) -> Response<Body> {
    visit.shard.gateway.process.admin.sessions.lock().close(cookie);
    let mut response = to(super::LOGIN);
    if let Some(removed) = cookie::removed(visit.transport) {
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
    Some(later(html::login(StatusCode::TOO_MANY_REQUESTS, !visit.door.logins.is_empty(), &message), seconds))
}

fn later(mut response: Response<Body>, seconds: u64) -> Response<Body> {
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Opens a session.
fn opened(visit: &Visit<'_>, by: AdmittedBy) -> Response<Body> {
    let state = &visit.shard.gateway.process.admin;
    state.lockout.lock().succeeded(visit.address);
    let who = by.name();
    let opened = state.sessions.lock().open(by, visit.door.lifetimes, Instant::now());
    let Some(cookie) = opened.and_then(|value| cookie::set(&value, visit.transport)) else {
        return html::failed("The operating system's random number generator failed.");
    };
    note(visit, &who, "login", CallOutcome::Ok);
    let mut response = to(ROOT);
    response.headers_mut().insert(SET_COOKIE, cookie);
    response
}

/// Counts and records a failed attempt. The name is not recorded, because people type passwords into the wrong field.
fn failed(visit: &Visit<'_>, asked: &'static str) {
    let is_locked = visit.shard.gateway.process.admin.lockout.lock().failed(visit.address, Instant::now());
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
