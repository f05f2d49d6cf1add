//! Requests whose route and method the call chooses, and the check of these values.
//!
//! A site reads some names in a query as the route or the method itself. A call must not bypass the check with such
//! names.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::Value;

use super::encode::encode_into;
use super::place::RequestTarget;
use super::request::{AGENT, branches_into};
use super::step::CallerRequest;
use crate::port::{HttpRequest, Verb};
use crate::tools::{CallFailure, Values};

/// Names in a query that would set the route or the method (WordPress, `WP::parse_request`,
/// `WP_REST_Server::serve_request`).
const POWERS: &[&str] = &["_method", "rest_route"];
/// The name that embeds linked resources, which are answers of other routes (`WP_REST_Server::embed_links`).
const EMBED: &[&str] = &["_embed"];
/// The longest route, in bytes.
const LONGEST: usize = 1000;

/// The method and the route, decoded: segments separated by single slashes.
///
/// # Errors
/// Fails if the method does not exist, or the route is invalid.
pub(super) fn wanted(open: &CallerRequest, values: &Values) -> Result<(Verb, String), CallFailure> {
    let verb = match values.text(open.method) {
        "" | "GET" => Verb::Get,
        "POST" => Verb::Post,
        "PUT" => Verb::Put,
        "PATCH" => Verb::Patch,
        "DELETE" => Verb::Delete,
        other => return Err(CallFailure::arguments(format!("unknown method {other:?}"))),
    };
    let route = values.text(open.route).trim();
    let route = route.strip_prefix("/wp-json").filter(|rest| rest.starts_with('/')).unwrap_or(route);
    let wrong = |why: &str| CallFailure::arguments(format!("the argument {:?}: {why}", open.route));
    if !route.starts_with('/') || route.len() > LONGEST {
        return Err(wrong("a route must begin with a slash, such as /wp/v2/posts, and must not be too long"));
    }
    if route.contains(['?', '#', '%', '\\']) || route.chars().any(char::is_control) {
        return Err(wrong("a route cannot contain ?, #, % or \\; pass query parameters separately"));
    }
    let mut clean = String::new();
    for segment in route.split('/').filter(|segment| !segment.is_empty()) {
        if segment.bytes().all(|byte| byte == b'.') {
            return Err(wrong("a route cannot contain segments of dots, such as .."));
        }
        clean.push('/');
        clean.push_str(segment);
    }
    Ok((verb, if clean.is_empty() { "/".to_owned() } else { clean }))
}

/// The request that the call's values describe.
///
/// # Errors
/// Fails if the query or the body is invalid, or has a name that would bypass what is allowed.
pub(super) fn request(
    open: &CallerRequest,
    values: &Values,
    (verb, route): (Verb, &str),
    (place, embeds): (RequestTarget, bool),
) -> Result<HttpRequest, CallFailure> {
    let mut url = place.url;
    for segment in route.split('/').skip(1) {
        url.push('/');
        encode_into(&mut url, segment);
    }
    for (name, value) in members(values, open.query)? {
        if is_one(name, POWERS) {
            return Err(CallFailure::arguments(format!("calls cannot set the parameter {name:?}")));
        }
        if !embeds && is_one(name, EMBED) {
            let words = "_embed would include other routes, but the configuration allows only listed routes: request them one by \
                         one";
            return Err(CallFailure::arguments(words));
        }
        branches_into(&mut url, name, value);
    }
    let mut headers: Vec<(&'static str, Cow<'static, str>)> =
        vec![("accept", "application/json".into()), AGENT];
    let body = members(values, open.body)?;
    let body = if verb == Verb::Get || body.is_empty() {
        Bytes::new()
    } else {
        headers.push(("content-type", "application/json".into()));
        Bytes::from(serde_json::to_vec(&values.get(open.body)).unwrap_or_default())
    };
    Ok(HttpRequest {
        method: verb,
        url,
        headers,
        authorization: place.authorization,
        body: body.into(),
        public_only: place.public_only,
        is_fixed_host: place.is_fixed_host,
        patience: std::time::Duration::ZERO,
        most: 0,
    })
}

fn members<'v>(values: &'v Values, name: &str) -> Result<Vec<(&'v String, &'v Value)>, CallFailure> {
    match values.get(name) {
        None => Ok(Vec::new()),
        Some(Value::Object(members)) => Ok(members.iter().collect()),
        Some(_) => Err(CallFailure::arguments(format!("the argument {name:?} must be an object"))),
    }
}

/// Returns true if PHP may read a name as one of `powers`: PHP drops leading blanks, turns blanks, dots and a lone bracket
/// into `_`, and ends a name where a bracket or a zero byte begins.
fn is_one(name: &str, powers: &[&str]) -> bool {
    let bare = name.trim_start();
    let head = bare.split('\0').next().unwrap_or_default();
    powers.iter().any(|power| {
        let same = head.bytes().zip(power.bytes()).take_while(|(found, wanted)| {
            let found =
                if matches!(found, b' ' | b'.' | b'[' | b'+') { b'_' } else { found.to_ascii_lowercase() };
            found == *wanted
        });
        same.count() == power.len()
            && !head.as_bytes().get(power.len()).is_some_and(u8::is_ascii_alphanumeric)
    })
}

/// Returns true if a list contains a route. `*` matches anything; an empty list contains every route.
pub(crate) fn is_listed(list: &[String], route: &str) -> bool {
    if list.is_empty() {
        return true;
    }
    list.iter().any(|pattern| matches(pattern, route))
}

/// Returns true if a pattern with `*` matches the whole text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
