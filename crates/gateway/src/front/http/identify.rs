//! The caller of an HTTP request. This module must not know how credentials are checked.

use std::net::SocketAddr;
use std::sync::Arc;

use engine::passed_headers::PassedHeaders;
use http::Request;
use transport::net::Incoming;
use upstream::embedded::Carried;

use super::denied::EntryRefused;
use crate::admission::Identity;
use crate::process::Shard;

/// Identifies the caller, if callers have to authenticate; `profile` is the profile's name in the request. Failures are
/// counted by address, which limits guessing.
pub async fn identify(
    shard: &Shard,
    request: &Request<Incoming>,
    peer: SocketAddr,
    asks: bool,
    profile: &str,
) -> Result<Identity, EntryRefused> {
    let client = shard.gateway.client_of(peer.ip(), request.headers());
    let mut identity = Identity::anyone(Some(client));
    if asks && shard.door.asks() {
        let (rates, headers) = (&shard.gateway.rates, request.headers());
        // Count the attempt before the credential is checked, so that many concurrent attempts are limited as well.
        // Credentials that cannot be guessed are exempt.
        let is_familiar = || shard.door.is_familiar(headers);
        let counted =
            rates.enter(&identity, headers, profile, is_familiar).await.map_err(EntryRefused::TooSoon)?;
        let identified = shard.door.identify(headers, Some(client.address)).await;
        let principal =
            identified.map_err(|refused| shard.door.naming_resource(refused, request.uri().path()))?;
        if counted {
            rates.let_in(&identity, headers, profile);
        }
        identity = Identity::of(principal, Some(client));
    }
    let passed = &shard.gateway.snapshot.passed_names;
    if !passed.is_empty() {
        identity.passed = PassedHeaders::read(request.headers(), passed);
    }
    if shard.gateway.carries {
        let carried = Carried::read(request.headers());
        let carried = match &identity.principal.account {
            Some(account) => Some(Carried::with_account(carried, account)),
            None => carried,
        };
        identity.carried = carried.map(Arc::new);
    }
    Ok(identity)
}
