//! Where an issuer's keys are, when the configuration does not say: from the metadata of the authorization server (RFC
//! 8414, 3) or of `OpenID` Connect (Discovery 1.0, 4). It must not know keys or tokens.

use std::time::Duration;

use http::{StatusCode, Uri};
use serde::Deserialize;

use upstream::web::{Get, Web, is_local, is_safe, issuer_places};

/// Longer metadata is refused, in bytes.
const LONGEST: usize = 256 * 1024;

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

/// Asks for the metadata of `issuer` and takes the place of the keys from it; says why there is none.
pub(super) async fn keys_of(issuer: &str, web: &dyn Web, within: Duration) -> Result<Uri, String> {
    let url: Uri = issuer.parse().map_err(|_| "the issuer is no URL".to_owned())?;
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
    let place: Uri = place.parse().map_err(|_| "no URL".to_owned())?;
    let get = Get { url: &place, authorization: None, cap: LONGEST, within };
    let answer = web.get(get).await.map_err(|error| error.to_string())?;
    if answer.status != StatusCode::OK {
        return Err(format!("HTTP {}", answer.status.as_u16()));
    }
    let metadata: Metadata = serde_json::from_slice(&answer.body)
        .map_err(|_| "no metadata with `issuer` and `jwks_uri`".to_owned())?;
    // Else one issuer could speak for another (RFC 8414, 3.3).
    if metadata.issuer != issuer {
        return Err("it is the metadata of another issuer".to_owned());
    }
    let keys: Uri = metadata.jwks_uri.parse().map_err(|_| "its `jwks_uri` is no URL".to_owned())?;
    // An issuer elsewhere does not make us ask this machine.
    if !is_safe(&keys) || (is_local(&keys) && !is_local(url)) {
        return Err("its `jwks_uri` is not https".to_owned());
    }
    Ok(keys)
}
