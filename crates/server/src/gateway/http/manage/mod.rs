//! The management API over HTTP (`management` in the configuration): who may ask, how often, and how it is answered. What is
//! asked for is in `routes`.

mod routes;

use std::net::SocketAddr;
use std::time::Duration;

use engine::access::Asker;
use engine::config::Management;
use engine::rate::Verdict;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use transport::net::{Body, Incoming};

use super::{Arrival, answer, guard, limited};
use crate::auth::Denied;
use crate::gateway::identity::Identity;
use crate::gateway::rates::seconds;
use crate::manage::Refusal;

/// Where the API is.
pub(super) const ROOT: &str = "/api/";

/// Answers a request below [`ROOT`].
pub(super) async fn respond(
    arrival: &Arrival,
    management: &Management,
    request: Request<Incoming>,
    peer: SocketAddr,
) -> Response<Body> {
    if *request.method() == Method::OPTIONS {
        return guard::preflight();
    }
    let shard = &arrival.shard;
    // Counted before anybody is known: guessing costs, too.
    let anyone = Identity::anyone(Some(peer.ip()));
    let verdict = shard.gateway.manage_rates.as_ref();
    let verdict = verdict.and_then(|rates| rates.check(&anyone, request.headers(), "", None));
    if let Some(verdict) = verdict.as_ref().filter(|verdict| !verdict.allowed) {
        return too_soon(verdict);
    }
    let mut response = match entered(arrival, management, &request, peer).await {
        Ok(()) => match routes::answer(shard, request).await {
            Ok(response) => response,
            Err(refusal) => refused(&refusal),
        },
        Err(refusal) => *refusal,
    };
    if let Some(verdict) = verdict {
        limited::tell(response.headers_mut(), &verdict);
    }
    response
}

/// Lets in who may manage: whoever may do that can start programs.
async fn entered(
    arrival: &Arrival,
    management: &Management,
    request: &Request<Incoming>,
    peer: SocketAddr,
) -> Result<(), Box<Response<Body>>> {
    let shard = &arrival.shard;
    let forbidden = |message: &str| Box::new(refused(&Refusal::new(403, "FORBIDDEN", message)));
    if !shard.door.asks() && !shard.gateway.loopback {
        return Err(forbidden(
            "other machines reach this address, so that managing needs `auth` in the configuration",
        ));
    }
    let identity =
        arrival.identify(request, peer, true).await.map_err(|denied| Box::new(unknown(&denied)))?;
    if identity.principal.profiles.is_some() {
        return Err(forbidden("what you showed is good for some profiles alone, not for managing"));
    }
    let asker = Asker { principal: &identity.principal, address: identity.address };
    match &management.who {
        Some(who) if !asker.is_among(who) => Err(forbidden("you may not manage this server")),
        _ => Ok(()),
    }
}

/// A JSON body.
fn json_response(status: StatusCode, body: &Value) -> Response<Body> {
    answer::message(status.as_u16(), body.to_string().into())
}

fn error(status: u16, code: &str, message: &str) -> Response<Body> {
    answer::message(status, json!({ "error": { "code": code, "message": message } }).to_string().into())
}

fn refused(refusal: &Refusal) -> Response<Body> {
    error(refusal.status, refusal.code, &refusal.message)
}

/// The response to somebody who is not known.
fn unknown(denied: &Denied) -> Response<Body> {
    let status = denied.status().as_u16();
    let code = if status == 401 { "UNAUTHORIZED" } else { "FORBIDDEN" };
    let mut response = error(status, code, &denied.message);
    let challenge = denied.challenge.as_ref().and_then(|text| HeaderValue::from_str(text).ok());
    if let Some(challenge) = challenge {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    if let Some(after) = denied.retry_after {
        let after = after.max(Duration::from_secs(1)).as_secs();
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(after));
    }
    response
}

fn too_soon(verdict: &Verdict) -> Response<Body> {
    let wait = seconds(verdict.retry_after).max(1);
    let message = format!("too many requests; try again in {wait} s");
    let mut response = error(429, "RATE_LIMITED", &message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait));
    limited::tell(response.headers_mut(), verdict);
    response
}
