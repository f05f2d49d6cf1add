//! The consents that callers gave to servers. This module must not know how consent is given.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use upstream::oauth::{CallerId, KnownConsent};

use super::moment::PointInTime;
use crate::changes::Refusal;
use crate::process::Shard;

/// The consents that are known since the gateway was started.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConsentList {
    pub(crate) consents: Vec<ListedConsent>,
}

/// The consent to a server.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedConsent {
    pub(crate) server: String,
    /// The caller that gave it; `null` if it counts for all callers.
    pub(crate) caller: Option<String>,
    /// True if there are tokens.
    pub(crate) given: bool,
    /// True if the server refuses requests until a user gives consent.
    pub(crate) wanted: bool,
    pub(crate) scopes: Vec<String>,
    pub(crate) expires: Option<PointInTime>,
    /// True if the token is renewed without the user.
    pub(crate) renewable: bool,
    /// The authorization server, if it is known.
    pub(crate) issuer: Option<String>,
}

/// The page on which a user gives consent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConsentPage {
    /// The address to open in a browser. The person who opens it gives the consent.
    pub(crate) url: String,
}

fn listed(known: KnownConsent) -> ListedConsent {
    ListedConsent {
        server: known.server.to_string(),
        caller: known.caller.map(|caller| caller.id.to_string()),
        given: known.status.given,
        wanted: known.status.wanted,
        scopes: known.status.scopes,
        expires: known.status.ends.map(|seconds| PointInTime(seconds.saturating_mul(1000))),
        renewable: known.status.renewable,
        issuer: known.issuer,
    }
}

/// Returns the known consents: those that are needed, and those that were given.
pub(crate) async fn consents(shard: &Arc<Shard>) -> ConsentList {
    let mut consents: Vec<ListedConsent> =
        shard.gateway.process.consents.list().await.into_iter().map(listed).collect();
    consents.retain(|consent| consent.given || consent.wanted);
    consents.sort_by(|one, other| (&one.server, &one.caller).cmp(&(&other.server, &other.caller)));
    ConsentList { consents }
}

/// Returns the owner of the consent to a server that is shown with this caller.
async fn owner(shard: &Arc<Shard>, server: &str, caller: Option<&str>) -> Result<Option<CallerId>, Refusal> {
    let all = shard.gateway.process.consents.list().await;
    let is_it = |known: &KnownConsent| {
        *known.server == *server && known.caller.as_ref().map(|caller| &*caller.id) == caller
    };
    let found = all.into_iter().find(is_it);
    found.map(|known| known.caller).ok_or_else(|| {
        Refusal::new(
            404,
            "CONSENT_NOT_FOUND",
            format!("no consent of this caller to the server {server:?} is known"),
        )
    })
}

/// Forgets a consent: the tokens are deleted. The authorization server is not notified.
///
/// # Errors
/// Fails if no such consent is known.
pub(crate) async fn revoke(shard: &Arc<Shard>, server: &str, caller: Option<&str>) -> Result<(), Refusal> {
    let owner = owner(shard, server, caller).await?;
    let forgotten = shard.gateway.process.consents.forget(server, owner.as_ref()).await;
    forgotten.map(drop).map_err(|fault| Refusal::new(404, "CONSENT_NOT_FOUND", fault.to_string()))
}

/// Returns a page on which a user gives the consent that counts for all callers of a server.
///
/// # Errors
/// Fails if the server cannot require consent, or if each caller gives its own consent.
pub(crate) async fn start(shard: &Arc<Shard>, server: &str) -> Result<ConsentPage, Refusal> {
    owner(shard, server, None).await?;
    let page = shard.gateway.process.consents.start(server, None).await;
    page.map(|page| ConsentPage { url: page.url })
        .map_err(|fault| Refusal::new(409, "NO_CONSENT_PAGE", fault.to_string()))
}
