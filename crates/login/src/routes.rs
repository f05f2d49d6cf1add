//! The paths of the authorization server, and the part that answers at each path. This module must not know what a
//! part does.

use std::net::IpAddr;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, COOKIE, HeaderMap, ORIGIN};
use http::{Method, StatusCode};

use crate::AuthorizationServer;
use crate::authorization_request::RequestParameters;
use crate::metadata;
use crate::page;
use crate::random;
use crate::registration;
use crate::resource::ResourceAt;
use crate::response::{self, Reply};
use crate::signing_in::{self, Browser};
use crate::tokens;

/// The path below which the forms of our pages are submitted.
const SIGN_IN: &str = "/oauth/sign-in/";

/// One request.
pub struct EndpointRequest<'a> {
    /// The method.
    pub method: &'a Method,
    /// The path.
    pub path: &'a str,
    /// The query, without the question mark.
    pub query: &'a str,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// The client's address.
    pub address: IpAddr,
    /// The time, in milliseconds since 1970.
    pub now_ms: u64,
    /// Finds the resource at a path.
    pub resource_at: ResourceAt<'a>,
}

impl AuthorizationServer {
    /// Returns true if the server answers at this path.
    pub fn is_at(path: &str) -> bool {
        matches!(
            path,
            metadata::AUTHORIZE
                | metadata::TOKEN
                | metadata::REGISTER
                | metadata::REVOKE
                | signing_in::CALLBACK
        ) || path.starts_with(SIGN_IN)
            || under(path, metadata::SERVER).is_some()
    }

    /// Returns the number of the process at which the sign-in of a request began, given the path, the query and the form. That
    /// process has what is needed to answer.
    pub fn process_of(path: &str, query: &str, form: &[u8]) -> Option<u32> {
        let parameter = |text: &str, name: &str| {
            let parameters = RequestParameters::read(text).ok()?;
            parameters.get(name).and_then(|value| random::process_in(value, random::LENGTH))
        };
        match path {
            signing_in::CALLBACK => parameter(query, "state"),
            metadata::TOKEN => parameter(&String::from_utf8_lossy(form), "code"),
            _ => random::process_in(path.strip_prefix(SIGN_IN)?, random::NAME),
        }
    }

    /// Returns the path of the resource whose metadata is at `path`; an empty text means the whole gateway.
    pub fn resource_of(path: &str) -> Option<&str> {
        under(path, metadata::RESOURCE)
    }

    /// Returns the gateway's own path for a path on the public server: removes the path of the public address, if
    /// it has one.
    pub fn own_path<'p>(&self, path: &'p str) -> &'p str {
        let base = self.base().and_then(|base| base.parse::<http::Uri>().ok());
        let front = base.as_ref().map_or("", |base| base.path().trim_end_matches('/'));
        path.strip_prefix(front).unwrap_or(path)
    }

    /// Returns the metadata of the resource at this path of the gateway; `None` without a public address.
    pub fn resource_metadata(&self, own_path: &str) -> Option<Reply> {
        self.base().map(|base| response::document(&metadata::resource(&base, own_path)))
    }

    /// Answers a request.
    pub async fn respond(&self, visit: EndpointRequest<'_>) -> Reply {
        let EndpointRequest { method, path, query, headers, body, address, now_ms, resource_at } = visit;
        let is_read = path == signing_in::CALLBACK || under(path, metadata::SERVER).is_some();
        if !is_read && let Err(wait) = self.limit.count(address) {
            return response::too_many(wait);
        }
        let cookies: Vec<&str> =
            headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok()).collect();
        let browser = Browser { cookies: &cookies, address, now_ms };
        let is_get = *method == Method::GET;
        match path {
            metadata::AUTHORIZE if is_get => {
                Box::pin(signing_in::authorize(self, query, browser, resource_at)).await
            }
            signing_in::CALLBACK if is_get => signing_in::returned(self, query, browser),
            metadata::AUTHORIZE | signing_in::CALLBACK => response::only("GET"),
            metadata::TOKEN | metadata::REGISTER | metadata::REVOKE if *method != Method::POST => {
                response::only("POST")
            }
            metadata::REGISTER => registration::register(self, &body, now_ms).await,
            metadata::TOKEN | metadata::REVOKE if !is_form(headers) => response::error(
                StatusCode::BAD_REQUEST,
                "invalid_request",
                "send the parameters as application/x-www-form-urlencoded",
            ),
            metadata::TOKEN => Box::pin(tokens::token(self, &body, now_ms, resource_at)).await,
            metadata::REVOKE => Box::pin(tokens::revoke(self, &body, now_ms)).await,
            _ => match path.strip_prefix(SIGN_IN) {
                Some(entry) if is_get => Box::pin(signing_in::finish(self, entry, browser)).await,
                Some(entry) if *method == Method::POST => {
                    if !self.is_from_our_page(headers) {
                        return foreign_page();
                    }
                    let form = String::from_utf8_lossy(&body);
                    Box::pin(signing_in::leave(self, entry, &form, browser)).await
                }
                Some(_) => response::only("GET, POST"),
                None => self.described(),
            },
        }
    }

    fn described(&self) -> Reply {
        self.base().map_or_else(response::unavailable, |base| response::document(&metadata::server(&base)))
    }

    /// Returns true if a form was sent from our own page; browsers send the page's origin.
    fn is_from_our_page(&self, headers: &HeaderMap) -> bool {
        let own = self.base().and_then(|base| {
            let uri: http::Uri = base.parse().ok()?;
            Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?).to_ascii_lowercase())
        });
        let mut origins = headers.get_all(ORIGIN).iter().peekable();
        let is_own = |origin: &http::HeaderValue| {
            origin.to_str().is_ok_and(|origin| Some(origin.to_ascii_lowercase()) == own)
        };
        let mut sites = headers.get_all("sec-fetch-site").iter();
        origins.peek().is_some() && origins.all(is_own) && sites.all(|site| site == "same-origin")
    }
}

fn foreign_page() -> Reply {
    let text = "The request did not come from this page. Start again from your application.";
    page::message(StatusCode::FORBIDDEN, "You are not signed in", text, None)
}

/// Returns the part of the path after the well-known part.
fn under<'p>(path: &'p str, well_known: &str) -> Option<&'p str> {
    path.strip_prefix(well_known).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_form(headers: &HeaderMap) -> bool {
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media
        .split(';')
        .next()
        .is_some_and(|media| media.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"))
}
