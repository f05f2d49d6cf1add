//! The consents that callers gave to servers. This module must not know how consent is given.

use std::sync::Arc;

use config::{AccessRule, Glob};
use engine::access::Asker;
use engine::snapshot::ProfileSpec;
use schemars::JsonSchema;
use serde::Serialize;
use upstream::Server;
use upstream::oauth::{CallerId, KnownConsent};

use super::keys::key_names;
use super::moment::PointInTime;
use gateway::changes::Refusal;
use gateway::key_names::KeyNames;
use gateway::process::Shard;

/// The consents that have become known since the gateway was started.
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
    /// The caller that gave the consent; `null` if the consent applies to all callers.
    pub(crate) caller: Option<String>,
    /// The name of the caller's API key, if it has one.
    pub(crate) caller_name: Option<String>,
    /// True if consent was given: the gateway has tokens for the server.
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

fn listed(names: &KeyNames, known: KnownConsent) -> ListedConsent {
    let name = known.caller.as_ref().and_then(|caller| names.name_of(&caller.id));
    ListedConsent {
        server: known.server.to_string(),
        caller_name: name.map(str::to_owned),
        caller: known.caller.map(|caller| caller.id.to_string()),
        given: known.status.given,
        wanted: known.status.wanted,
        scopes: known.status.scopes,
        expires: known.status.ends.map(|seconds| PointInTime(seconds.saturating_mul(1000))),
        renewable: known.status.renewable,
        issuer: known.issuer,
    }
}

/// Returns the known consents: those that were given, and those that are needed by callers that may use the server.
pub(crate) async fn consents(shard: &Arc<Shard>) -> ConsentList {
    let names = key_names(shard).await;
    let all = shard.gateway.process.consents.list().await.into_iter();
    let mut consents: Vec<ListedConsent> = all.map(|known| listed(&names, known)).collect();
    consents.retain(|consent| consent.given || (consent.wanted && may_use(shard, &names, consent)));
    consents.sort_by(|one, other| (&one.server, &one.caller).cmp(&(&other.server, &other.caller)));
    ConsentList { consents }
}

/// The state of a server at which each caller gives its own consent. Such a server refuses the gateway's own
/// requests, which is not an error.
pub(crate) const PER_CALLER: &str = "per_caller";

/// Returns the state of consents in words, if each caller gives its own consent to the server and the server
/// refuses requests only because of this.
pub(crate) fn of_each_caller(shard: &Shard, server: &Server) -> Option<String> {
    let (given, known) = shard.gateway.process.consents.callers(server.name());
    server.awaits_callers(known > 0).then(|| in_words(given))
}

fn in_words(given: usize) -> String {
    match given {
        0 => "each caller gives its own consent; the server's lists are known after the first consent"
            .to_owned(),
        1 => "each caller gives its own consent; 1 caller has given it".to_owned(),
        given => format!("each caller gives its own consent; {given} callers have given it"),
    }
}

/// Returns false if the access rules deny the caller every item of the server in any case: its consent would be
/// useless.
fn may_use(shard: &Shard, names: &KeyNames, consent: &ListedConsent) -> bool {
    let snapshot = &shard.gateway.snapshot;
    let (Some(id), Some(rules)) = (&consent.caller, &snapshot.rules) else { return true };
    let Some(principal) = names.principal(id, PointInTime::now().0) else { return !KeyNames::is_key(id) };
    if shard.gateway.standing.config().access.iter().any(AccessRule::depends_on_request) {
        return true;
    }
    let items_of = |server: &str| Glob::parse(&format!("{server}__*")).unwrap_or_else(|_| Glob::any());
    let others = snapshot.upstreams.iter().filter(|spec| *spec.name != *consent.server);
    let (own, others) =
        (items_of(&consent.server), others.map(|spec| items_of(&spec.name)).collect::<Vec<_>>());
    let class = rules.class(&Asker { principal: &principal, address: None });
    let server = snapshot.upstreams.iter().find(|spec| *spec.name == *consent.server).map(|spec| spec.id);
    let has_it = |profile: &&ProfileSpec| {
        profile.is_there && server.is_some_and(|server| profile.upstreams.contains(&server))
    };
    let opens = |profile: &ProfileSpec| {
        rules.opens_unlisted_server(&class, (&profile.slug, &consent.server), &own, &others)
    };
    snapshot.profiles.iter().filter(has_it).any(opens)
}

/// Finds the consent that is shown with this server and this caller, and returns its owner.
async fn owner(shard: &Arc<Shard>, server: &str, caller: Option<&str>) -> Result<Option<CallerId>, Refusal> {
    let (all, names) = (shard.gateway.process.consents.list().await, key_names(shard).await);
    let is_it = |known: &KnownConsent| {
        let is_called = match (&known.caller, caller) {
            (Some(known), Some(caller)) => names.is_called(&known.id, caller),
            (known, caller) => known.is_none() && caller.is_none(),
        };
        *known.server == *server && is_called
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

/// Returns a page on which a user gives the consent that applies to all callers of a server.
///
/// # Errors
/// Fails if the server cannot require consent, or if each caller gives its own consent.
pub(crate) async fn start(shard: &Arc<Shard>, server: &str) -> Result<ConsentPage, Refusal> {
    owner(shard, server, None).await?;
    let page = shard.gateway.process.consents.start(server, None).await;
    page.map(|page| ConsentPage { url: page.url })
        .map_err(|fault| Refusal::new(409, "NO_CONSENT_PAGE", fault.to_string()))
}
