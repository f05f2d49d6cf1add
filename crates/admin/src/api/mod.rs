//! The management API over HTTP (`management` in the configuration): authorization, rate limits, routing.
//!
//! | file | is for |
//! |---|---|
//! | `table` | the form of the table of operations, and the look-up of an operation |
//! | `operations/` | the operations: one row each |
//! | `openapi` | the `OpenAPI` document, written from the same table |
//! | `request`, `answers` | a request, and the answers |

mod answers;
mod openapi;
mod operations;
mod request;
mod table;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use config::Management;
use engine::access::Asker;
use engine::rate::Verdict;
use http::header::{HeaderMap, HeaderValue, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode, Uri};
use transport::net::{Body, Incoming};
use upstream::oauth::form::pairs;

use self::answers::{error, only, refused};
pub(super) use self::request::Door;
use self::request::ManagementRequest;
use self::table::{Answered, Operation, OperationMatch};
use gateway::admission::auth::Denied;
use gateway::admission::identity::Identity;
use gateway::admission::rates::seconds;
use gateway::changes::Refusal;
use gateway::front::http::denied::EntryRefused;
use gateway::front::http::identify::identify;
use gateway::front::http::{guard, limited};
use gateway::management::audit::{self, ManagementAction};
use gateway::process::Shard;
use transport::net::Arrived;

/// The maximum length of the recorded part of a path, in bytes.
const LONGEST: usize = 200;

/// The path of the API.
pub(super) const ROOT: &str = "/api/";

/// Answers a request below [`ROOT`].
pub(super) async fn respond(
    shard: &Arc<Shard>,
    management: &Management,
    request: Arrived,
    peer: SocketAddr,
) -> Response<Body> {
    if let Some(why) = foreign(request.headers(), request.uri()) {
        return refused(&Refusal::new(403, "FORBIDDEN", why));
    }
    if *request.method() == Method::OPTIONS {
        return guard::preflight();
    }
    let rates = shard.gateway.manage_rates.as_ref();
    let entered = entered(shard, management, &request, peer).await;
    let verdict = match (rates, &entered) {
        (None, _) => None,
        (Some(rates), Ok(identity)) => rates.known.check(identity, request.headers(), "", None).await,
        (Some(rates), Err(_)) => {
            let client = shard.gateway.client_of(peer.ip(), request.headers());
            rates.refused.check(&Identity::anyone(Some(client)), request.headers(), "", None).await
        }
    };
    if let Some(verdict) = verdict.as_ref().filter(|verdict| !verdict.allowed) {
        return too_soon(verdict);
    }
    let mut response = match entered {
        Ok(identity) => respond_to(shard, (identity, Door::Network), request).await,
        Err(refusal) => *refusal,
    };
    if let Some(verdict) = verdict.filter(|_| response.status() != StatusCode::TOO_MANY_REQUESTS) {
        limited::set_rate_headers(response.headers_mut(), &verdict);
    }
    response
}

/// Answers a request of a caller that may manage this gateway.
pub(super) async fn respond_to(
    shard: &Arc<Shard>,
    (identity, door): (Identity, Door),
    request: Arrived,
) -> Response<Body> {
    answered(shard, (identity, door), request).await.unwrap_or_else(|refusal| refused(&refusal))
}

async fn answered(shard: &Arc<Shard>, (identity, door): (Identity, Door), request: Arrived) -> Answered {
    let (head, body) = request.into_parts();
    let is_offered = |row: &&Operation| !row.is_local || door == Door::ControlSocket;
    let (row, path) =
        match table::find(operations::all().filter(is_offered), head.method.as_str(), head.uri.path()) {
            OperationMatch::Operation(row, path) => (row, path),
            OperationMatch::Methods(methods) => return Ok(only(&methods)),
            OperationMatch::Nothing => return Err(nothing()),
        };
    let query = pairs(head.uri.query().unwrap_or_default());
    row.check(&query)?;
    let mut request = ManagementRequest {
        shard: shard.clone(),
        identity,
        door,
        action: asked(&head.method, &head.uri),
        path,
        query,
        standing: shard.gateway.standing.clone(),
        headers: head.headers,
        body: Some(body),
        document: openapi::document,
    };
    (row.run)(&mut request).await
}

fn nothing() -> Refusal {
    Refusal::new(404, "NOT_FOUND", "unknown path; `GET /api/openapi.json` lists all paths")
}

/// Returns the text that stands for a request in the record of calls.
fn asked(method: &Method, uri: &Uri) -> String {
    let path = uri.path();
    format!("{method} {}", &path[..path.floor_char_boundary(LONGEST)])
}

/// Returns the reason to refuse a request that comes from a foreign web page; `None` for our own pages and for
/// programs. A foreign page, even one that may use the MCP endpoints, could start programs with the rights of its
/// visitors.
fn foreign(headers: &HeaderMap, uri: &Uri) -> Option<&'static str> {
    let host = guard::authority(headers, uri);
    let is_own = |origin: &HeaderValue| {
        let authority =
            origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, rest)| rest);
        authority.zip(host).is_some_and(|(authority, host)| authority.eq_ignore_ascii_case(host))
    };
    if !headers.get_all(ORIGIN).iter().all(is_own) {
        return Some(
            "web pages from another origin may not manage this server, even if `allowedOrigins` contains their origin: the \
             `Origin` header does not match the host of this request",
        );
    }
    let is_near = |site: &HeaderValue| matches!(site.as_bytes(), b"same-origin" | b"none");
    if !headers.get_all("sec-fetch-site").iter().all(is_near) {
        return Some(
            "web pages from another origin may not manage this server: `Sec-Fetch-Site` is neither `same-origin` nor `none`",
        );
    }
    None
}

/// Admits only callers that may manage this gateway, because a manager can start programs.
async fn entered(
    shard: &Arc<Shard>,
    management: &Management,
    request: &Request<Incoming>,
    peer: SocketAddr,
) -> Result<Identity, Box<Response<Body>>> {
    let forbidden = |message: &str| Box::new(refused(&Refusal::new(403, "FORBIDDEN", message)));
    if !shard.door.asks() && !shard.gateway.loopback {
        return Err(forbidden(
            "other machines can reach this address, so management requires `auth` in the configuration",
        ));
    }
    let identity = identify(shard, request, peer, true, "").await.map_err(|refused| {
        Box::new(match refused {
            EntryRefused::Denied(denied) => unknown(&denied),
            EntryRefused::TooSoon(verdict) => too_soon(&verdict),
        })
    })?;
    let asker = Asker { principal: &identity.principal, address: identity.address() };
    let why = match &management.who {
        _ if identity.principal.profiles.is_some() => {
            "these credentials are valid for some profiles only, not for management"
        }
        Some(who) if !asker.is_among(who) => "you may not manage this server",
        _ => return Ok(identity),
    };
    audit::log_and_record(
        shard,
        &ManagementAction::denied(&identity, asked(request.method(), request.uri()), 403),
    );
    Err(forbidden(why))
}

/// Returns the response to an unauthenticated caller.
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
    limited::set_rate_headers(response.headers_mut(), verdict);
    response
}
