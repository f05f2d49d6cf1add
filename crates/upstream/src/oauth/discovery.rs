//! Finds the authorization server of a server that refused a request (MCP 2025-11-25, authorization: authorization
//! server discovery). This module must not know what is requested from the authorization server.

use config::OAuthGrant;
use engine::credential::challenge::Challenge;
use http::{StatusCode, Uri};

use super::fetcher::{FetchRules, OAuthFetcher};
use super::metadata::{Protected, Service, canonical, read_resource, read_service, resource_places};
use crate::web::issuer_places;

/// The result of a discovery: the resource, and the authorization server that grants access to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiscoveredService {
    /// The authorization server.
    pub(super) service: Service,
    /// The resource for which tokens are requested.
    pub(super) resource: String,
    /// The scopes that the resource supports.
    pub(super) scopes: Vec<String>,
}

/// Searches for the authorization server of the server at `url`; if `issuer` is given, accepts only that issuer.
///
/// # Errors
/// Returns the human-readable reason why no authorization server was found.
pub(super) async fn discover(
    outside: &OAuthFetcher,
    url: &Uri,
    challenge: &Challenge,
    (issuer, grant): (Option<&str>, OAuthGrant),
    way: FetchRules<'_>,
) -> Result<DiscoveredService, String> {
    let protected = match protected(outside, url, challenge, way).await? {
        Some(protected) => protected,
        // Before resources had metadata, a server was its own authorization server (MCP 2025-03-26).
        None => Protected {
            resource: canonical(url),
            issuers: vec![format!(
                "{}://{}",
                url.scheme_str().unwrap_or_default(),
                url.authority().map(http::uri::Authority::as_str).unwrap_or_default()
            )],
            scopes: Vec::new(),
        },
    };
    let mut why = issuer.map_or_else(String::new, |issuer| {
        format!("the server advertises an authorization server other than the configured {issuer} (`oauth.issuer`)")
    });
    for issuer in protected.issuers.iter().filter(|named| issuer.is_none_or(|own| is_same(own, named))) {
        match service(outside, issuer, grant, way).await {
            Ok(service) => {
                return Ok(DiscoveredService {
                    service,
                    resource: protected.resource,
                    scopes: protected.scopes,
                });
            }
            Err(reason) => why = format!("authorization server {issuer}: {reason}"),
        }
    }
    Err(why)
}

/// Returns true if two issuers are the same. A trailing slash is ignored, because libraries append one to URLs.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Returns the metadata of the server as a resource; `None` if it has none.
async fn protected(
    outside: &OAuthFetcher,
    url: &Uri,
    challenge: &Challenge,
    way: FetchRules<'_>,
) -> Result<Option<Protected>, String> {
    if let Some(place) = &challenge.resource_metadata {
        let fetched = fetch(outside, place, way).await;
        let body = fetched.map_err(|why| format!("the server's resource metadata cannot be used: {why}"))?;
        let read = read_resource(&body, url)
            .map_err(|why| format!("the server's resource metadata cannot be used: {why}"))?;
        return Ok(Some(read));
    }
    for place in resource_places(url) {
        // Missing metadata is no error, but metadata that exists must be valid.
        let Ok(body) = fetch(outside, &place, way).await else { continue };
        return read_resource(&body, url).map(Some).map_err(|why| format!("{place}: {why}"));
    }
    Ok(None)
}

async fn service(
    outside: &OAuthFetcher,
    issuer: &str,
    grant: OAuthGrant,
    way: FetchRules<'_>,
) -> Result<Service, String> {
    let url: Uri = issuer.parse().map_err(|_| "the issuer is not a URL".to_owned())?;
    if url.query().is_some() || issuer.contains('#') {
        return Err("the issuer has a query or a fragment".to_owned());
    }
    // Invalid metadata explains a failure better than missing metadata.
    let (mut why, mut is_there) = (String::new(), false);
    for place in issuer_places(&url) {
        let reason = match fetch(outside, &place, way).await {
            Ok(body) => match read_service(&body, issuer, (way.within, grant)) {
                Ok(service) => return Ok(service),
                Err(reason) => {
                    is_there = true;
                    reason
                }
            },
            Err(_) if is_there => continue,
            Err(reason) => reason,
        };
        why = format!("{place}: {reason}");
    }
    Err(why)
}

async fn fetch(outside: &OAuthFetcher, place: &str, way: FetchRules<'_>) -> Result<bytes::Bytes, String> {
    let place: Uri = place.parse().map_err(|_| "the address of the metadata is not a URL".to_owned())?;
    let answer = outside.get(&place, way).await?;
    if answer.status != StatusCode::OK {
        return Err(format!("the response has the status HTTP {}", answer.status.as_u16()));
    }
    Ok(answer.body)
}
