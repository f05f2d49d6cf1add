//! HTTP answers to anything but messages: other methods, requests for information, browsers, rate limits. This module must
//! not know which origins are allowed.

use config::dialect_rows::fault_text::Words;
use config::dialect_rows::row::Dialect;
use config::dialect_rows::words::{GetAnswer, Origins, RateHeaders, Streams};

use super::dialect_fault::Rate;
use super::finish::DialectReply;

/// A header line; names in lower case.
type Header = (&'static str, String);

/// The answer to an HTTP method that is not served.
pub fn not_served(row: &Dialect) -> DialectReply {
    let body = row.web.other_body.as_ref().and_then(|body| words(row, "").render(body));
    let mut reply = DialectReply::raw(row.web.other_status, body.unwrap_or_default());
    if reply.status == 405 {
        let get = row.web.get != GetAnswer::Refuse || row.events.streams == Streams::Same;
        reply.headers.push(("allow", if get { "GET, POST" } else { "POST" }.to_owned()));
    }
    reply
}

/// The information that a GET of the endpoint returns, if the row has any.
pub fn shown_info(row: &Dialect, profile: &str) -> Option<DialectReply> {
    let info = row.web.info.as_ref().filter(|_| row.web.get == GetAnswer::Info)?;
    Some(DialectReply::raw(200, words(row, profile).render(info)?))
}

fn words<'r>(row: &'r Dialect, profile: &'r str) -> Words<'r> {
    let mut words = Words::default();
    words.text("profile", profile).text("serverVersion", row.hello.server_version.as_ref());
    let name = words.fill(&row.hello.server_name);
    words.text("serverName", name);
    words
}

/// A request from a page in a browser.
#[derive(Debug, Clone, Copy)]
pub struct CrossOriginRequest<'a> {
    /// The origin of the page: the `Origin` header.
    pub origin: &'a str,
    /// True if the gateway allows that origin.
    pub allowed: bool,
    /// True for a preflight request.
    pub preflight: bool,
}

/// The header lines that grant a page access; none if the page has no access.
pub fn cross_origin(row: &Dialect, cross: CrossOriginRequest<'_>) -> Vec<Header> {
    let web = &row.web;
    let named = match web.cors_origins {
        Origins::None => return Vec::new(),
        Origins::Allowed if !cross.allowed => return Vec::new(),
        // Browsers reject credentials if the allowed origin is `*`.
        Origins::Any if !web.cors_credentials => "*",
        Origins::Allowed | Origins::Any => cross.origin,
    };
    let mut lines = vec![("access-control-allow-origin", named.to_owned())];
    if named != "*" {
        lines.push(("vary", "origin".to_owned()));
    }
    if web.cors_credentials {
        lines.push(("access-control-allow-credentials", "true".to_owned()));
    }
    if !cross.preflight {
        if !web.cors_exposed.is_empty() {
            lines.push(("access-control-expose-headers", web.cors_exposed.join(", ")));
        }
        return lines;
    }
    lines.push(("access-control-allow-methods", web.cors_methods.join(", ")));
    lines.push(("access-control-allow-headers", web.cors_headers.join(", ")));
    if web.cors_max_age > 0 {
        lines.push(("access-control-max-age", web.cors_max_age.to_string()));
    }
    lines
}

/// The suggested number of seconds before a retry if the time is unknown: when a cap on concurrent work is reached,
/// or when a server gets too many requests.
pub const RETRY_SOON: u64 = 1;

/// The header lines with the state of a rate limit, for an allowed request.
pub fn rate_headers(row: &Dialect, rate: Rate) -> Vec<Header> {
    if row.web.rate_headers == RateHeaders::All { rate_lines(rate) } else { Vec::new() }
}

/// The header lines with the state of a rate limit, for a refused request.
pub(super) fn refused_rate_headers(row: &Dialect, rate: Rate) -> Vec<Header> {
    let mut lines = if row.web.rate_headers == RateHeaders::None { Vec::new() } else { rate_lines(rate) };
    lines.push(("retry-after", rate.retry_after.max(1).to_string()));
    lines
}

fn rate_lines(rate: Rate) -> Vec<Header> {
    vec![
        ("x-ratelimit-limit", rate.limit.to_string()),
        ("x-ratelimit-remaining", rate.remaining.to_string()),
        ("x-ratelimit-reset", rate.reset.to_string()),
    ]
}
