//! Tokens: issued for a code, renewed, revoked (OAuth 2.1, 4.1.3, 4.3 and 5; RFC 7009). All clients are public. A
//! refresh token is therefore replaced whenever it is used, and a second use ends the grant.

use http::StatusCode;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use store::grants::{FoundToken, NewToken, ProfileNames, TokenUse};

use crate::AuthorizationServer;
use crate::authorization_request::{RequestParameters, ReturnedError};
use crate::codes::{CodeProof, ExchangeOutcome};
use crate::metadata::SCOPE;
use crate::random;
use crate::resource::{RequestedResources, ResourceAt};
use crate::response::{self, Reply};
use crate::shared::SharedUse;

/// The prefixes of tokens; secret scanners find leaked tokens by them.
const ACCESS: &str = "dgs_";
const REFRESH: &str = "dgr_";
/// The lifetime of an access token, in milliseconds.
const ACCESS_MS: u64 = 60 * 60 * 1000;
/// The time for which a replaced refresh token is accepted once more, in milliseconds, because the response with
/// the new token may have been lost.
const GRACE_MS: u64 = 60 * 1000;

/// Returns true if a bearer token has the form of our own tokens.
pub fn is_access_token(token: &str) -> bool {
    token.starts_with(ACCESS)
}

/// Answers a request for tokens.
pub(crate) async fn token(
    server: &AuthorizationServer,
    form: &[u8],
    now_ms: u64,
    resource_at: ResourceAt<'_>,
) -> Reply {
    let form = String::from_utf8_lossy(form);
    let parameters = match RequestParameters::read(&form) {
        Ok(parameters) => parameters,
        Err(why) => return bad("invalid_request", why),
    };
    let Some(base) = server.base() else { return response::unavailable() };
    let resources = match RequestedResources::read(&parameters, &base, resource_at) {
        Ok(resources) => resources,
        Err(ReturnedError(code, why)) => return bad(code, why),
    };
    match parameters.get("grant_type") {
        Some("authorization_code") => for_code(server, &parameters, resources, now_ms).await,
        Some("refresh_token") => renewed(server, &parameters, resources, now_ms).await,
        Some(_) => bad("unsupported_grant_type", "use authorization_code or refresh_token"),
        None => bad("invalid_request", "grant_type is missing"),
    }
}

async fn for_code(
    server: &AuthorizationServer,
    parameters: &RequestParameters,
    resources: RequestedResources,
    now_ms: u64,
) -> Reply {
    let (Some(code), Some(client), Some(verifier)) =
        (parameters.get("code"), parameters.get("client_id"), parameters.get("code_verifier"))
    else {
        return bad("invalid_request", "code, client_id and code_verifier are required");
    };
    let proof = CodeProof { code, client, redirect_uri: parameters.get("redirect_uri"), verifier };
    let exchanged = server.codes.lock().exchange(proof);
    let (grant, granted) = match exchanged {
        ExchangeOutcome::Grant(grant, profiles) => (grant, profiles),
        ExchangeOutcome::Twice(grant) => {
            tracing::warn!(grant, client, "an authorization code was used twice, so its sign-in has ended");
            let _ = server.end(&grant, now_ms).await;
            return bad("invalid_grant", "this code was used before");
        }
        ExchangeOutcome::Invalid => return bad("invalid_grant", "this code is not valid"),
    };
    let profiles = match resources.within(granted.as_ref()) {
        Ok(profiles) => profiles,
        Err(ReturnedError(code, why)) => {
            // The code is used up, so the client has to start again.
            let _ = server.end(&grant, now_ms).await;
            return bad(code, why);
        }
    };
    let Ok(pair) = TokenPair::new(server, &grant, profiles, now_ms) else { return response::unavailable() };
    let (rows, id) = (pair.rows.clone(), grant.clone());
    if server.grants.with(move |file| file.issue(&id, &rows)).await.is_err() {
        return response::unavailable();
    }
    shared(server.tell(&grant, now_ms).await, &pair)
}

async fn renewed(
    server: &AuthorizationServer,
    parameters: &RequestParameters,
    resources: RequestedResources,
    now_ms: u64,
) -> Reply {
    let (Some(token), Some(client)) = (parameters.get("refresh_token"), parameters.get("client_id")) else {
        return bad("invalid_request", "refresh_token and client_id are required");
    };
    let invalid = || bad("invalid_grant", "this refresh token is not valid: sign in again");
    let found = match current(server, token).await {
        Ok(Some(found)) => found,
        Ok(None) => return invalid(),
        Err(why) => return not_shared(&why),
    };
    let FoundToken { grant, token_use, until_ms, spent_ms, .. } = found;
    if token_use != TokenUse::Refresh || until_ms <= now_ms || client != grant.client {
        return invalid();
    }
    let profiles = match resources.within(grant.profiles.as_ref()) {
        Ok(profiles) => profiles,
        Err(ReturnedError(code, why)) => return bad(code, why),
    };
    let is_late = spent_ms.is_some_and(|spent| spent + GRACE_MS < now_ms);
    let digest = random::digest_of(token);
    let shared_use = match server.spend(&digest).await {
        Ok(_) if is_late => SharedUse::Later,
        Ok(shared_use) => shared_use,
        Err(why) => return not_shared(&why),
    };
    if shared_use == SharedUse::Later {
        tracing::warn!(
            grant = grant.id,
            "a refresh token was used again after it was replaced, so its sign-in has ended"
        );
        let _ = server.end(&grant.id, now_ms).await;
        return invalid();
    }
    let Ok(pair) = TokenPair::new(server, &grant.id, profiles, now_ms) else {
        return response::unavailable();
    };
    let (rows, id) = (pair.rows.clone(), grant.id.clone());
    let renewed = server.grants.with(move |file| {
        if shared_use == SharedUse::Second && spent_ms.is_none() {
            // Another gateway has just replaced this token.
            file.exhaust(&digest)?;
        }
        file.renew((&id, &digest), &rows, now_ms)
    });
    if renewed.await.is_err() {
        return response::unavailable();
    }
    shared(server.push(&grant.id, now_ms).await, &pair)
}

/// Returns a token in its current state, which another gateway may have changed.
async fn current(server: &AuthorizationServer, token: &str) -> Result<Option<FoundToken>, String> {
    let Some(found) = server.find(token).await? else { return Ok(None) };
    server.pull(&found.grant.id).await?;
    server.find(token).await
}

/// Returns new tokens once all gateways can know them.
fn shared(outcome: Result<(), String>, pair: &TokenPair) -> Reply {
    match outcome {
        Ok(()) => pair.reply(),
        Err(why) => not_shared(&why),
    }
}

/// Returns the answer for the case that the gateways cannot agree on the state of a sign-in.
fn not_shared(why: &str) -> Reply {
    tracing::warn!("tokens are not issued, because the gateways of the cluster cannot share them: {why}");
    response::unavailable()
}

/// Answers the revocation of a token. Revoking either token ends the whole grant. The answer for an unknown token
/// is the same as for a revoked token (RFC 7009, 2.2).
pub(crate) async fn revoke(server: &AuthorizationServer, form: &[u8], now_ms: u64) -> Reply {
    let form = String::from_utf8_lossy(form);
    let token = RequestParameters::read(&form).ok().and_then(|all| all.get("token").map(str::to_owned));
    let Some(token) = token else { return bad("invalid_request", "token is missing") };
    let Ok(found) = server.find(&token).await else {
        return response::unavailable();
    };
    if let Some(found) = found
        && server.end(&found.grant.id, now_ms).await.is_err()
    {
        return response::unavailable();
    }
    response::json(StatusCode::OK, &json!({}))
}

fn bad(code: &str, why: &str) -> Reply {
    response::error(StatusCode::BAD_REQUEST, code, why)
}

/// An access token and a refresh token.
struct TokenPair {
    access: SecretString,
    refresh: SecretString,
    rows: [NewToken; 2],
}

impl TokenPair {
    /// Creates tokens of a grant; the access token is valid for `profiles` (`None`: for those of the grant).
    fn new(
        server: &AuthorizationServer,
        grant: &str,
        profiles: Option<ProfileNames>,
        now_ms: u64,
    ) -> Result<Self, random::NoEntropy> {
        let text = |mark: &str| random::text(&server.token_mark(mark, grant));
        let (access, refresh) = (text(ACCESS)?, text(REFRESH)?);
        let idle_ms = u64::try_from(server.settings.idle.as_millis()).unwrap_or(u64::MAX);
        let row = |token: &SecretString, token_use, life_ms, profiles| NewToken {
            digest: random::digest_of(token.expose_secret()),
            token_use,
            until_ms: now_ms.saturating_add(life_ms),
            profiles,
        };
        let rows = [
            row(&access, TokenUse::Access, ACCESS_MS.min(idle_ms), profiles),
            row(&refresh, TokenUse::Refresh, idle_ms, None),
        ];
        Ok(Self { access, refresh, rows })
    }

    fn reply(&self) -> Reply {
        let body = json!({
            "access_token": self.access.expose_secret(),
            "token_type": "Bearer",
            "expires_in": ACCESS_MS / 1000,
            "refresh_token": self.refresh.expose_secret(),
            "scope": SCOPE,
        });
        response::json(StatusCode::OK, &body)
    }
}
