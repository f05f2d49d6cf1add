//! Discovers the address of an issuer's keys, if the configuration does not contain it: from the metadata of the
//! authorization server (RFC 8414, 3) or of `OpenID` Connect (Discovery 1.0, 4). This module must not know keys or
//! tokens.

use std::time::Duration;

use http::{StatusCode, Uri};
use serde::Deserialize;

use upstream::web::{GetRequest, Web, is_local, is_safe, issuer_places};

/// The maximum size of accepted metadata, in bytes.
const LONGEST: usize = 256 * 1024;

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

/// Fetches the metadata of `issuer` and returns the address of its keys, or the reason why this address cannot be
/// determined.
pub(super) async fn keys_of(issuer: &str, web: &dyn Web, within: Duration) -> Result<Uri, String> {
    let url: Uri = issuer.parse().map_err(|_| "the issuer is not a URL".to_owned())?;
    let mut why = String::new();
    for place in issuer_places(&url) {
        match keys_at(&place, issuer, &url, web, within).await {
            Ok(keys) => return Ok(keys),
            Err(reason) => why = format!("{place}: {reason}"),
        }
    }
    Err(why)
}

async fn keys_at(
    place: &str,
    issuer: &str,
    url: &Uri,
    web: &dyn Web,
    within: Duration,
) -> Result<Uri, String> {
    let place: Uri = place.parse().map_err(|_| "the address is not a URL".to_owned())?;
    let get = GetRequest { url: &place, authorization: None, cap: LONGEST, within };
    let answer = web.get(get).await.map_err(|error| error.to_string())?;
    if answer.status != StatusCode::OK {
        return Err(format!("the response has the status HTTP {}", answer.status.as_u16()));
    }
    let metadata: Metadata = serde_json::from_slice(&answer.body)
        .map_err(|_| "the metadata has no `issuer` or no `jwks_uri`".to_owned())?;
    // Otherwise one issuer could impersonate another (RFC 8414, 3.3).
    if metadata.issuer != issuer {
        return Err("the metadata belongs to another issuer".to_owned());
    }
    let keys: Uri =
        metadata.jwks_uri.parse().map_err(|_| "the `jwks_uri` in the metadata is not a URL".to_owned())?;
    // An issuer elsewhere must not make the gateway send requests to the gateway's own machine.
    if !is_safe(&keys) || (is_local(&keys) && !is_local(url)) {
        return Err("the `jwks_uri` in the metadata is not https".to_owned());
    }
    Ok(keys)
}
