//! Tokens for the gateway itself (RFC 6749, 4.4; MCP extension for client credentials): requested when the server refuses a
//! request, kept in memory, and requested again before they expire. No user is asked. This module must not know links, or the
//! requests to the server.

use std::time::Duration;

use engine::credential::challenge::Challenge;
use tokio::time::Instant;
use transport::up::CredentialRefusal;

use super::ConsentFault;
use super::client::Registered;
use super::discovery::discover;
use super::grant::{AGAIN, EXCHANGE, Grant, HeldTokens, QUITE_NEW, unix};
use super::metadata::canonical;
use super::tokens::{self, NoTokens, Parties};
use crate::web::is_safe;

/// The time after which a failed request for a token is repeated.
const REPEAT: Duration = Duration::from_secs(10);

impl Grant {
    /// Handles a refusal with a new token; returns `true` if the request may be sent again.
    pub(super) async fn answered_as_client(
        &self,
        refusal: &CredentialRefusal,
        challenge: &Challenge,
    ) -> bool {
        if !self.may_obtain(refusal, challenge) {
            return false;
        }
        let obtained = self.obtain(challenge).await;
        let is_obtained = obtained.is_ok();
        if let Err(why) = &obtained {
            tracing::warn!(server = %self.server, why, "got no access token for the gateway itself");
        } else {
            tracing::info!(server = %self.server, "got an access token for the gateway itself");
        }
        let failed = obtained.err().map(|why| (challenge.clone(), Instant::now(), Some(why)));
        self.known.lock().search = failed;
        is_obtained
    }

    /// Returns true if another token may help: false if it would be refused as well, or if a request for a token
    /// has just failed.
    fn may_obtain(&self, refusal: &CredentialRefusal, challenge: &Challenge) -> bool {
        let known = self.known.lock();
        let is_new = known.taken.is_some_and(|at| at.elapsed() < QUITE_NEW);
        let has_failed =
            known.search.as_ref().is_some_and(|(by, at, _)| by == challenge && at.elapsed() < REPEAT);
        let is_about_scopes = challenge.wants_scopes;
        let helps = if refusal.status == 401 { !is_new || is_about_scopes } else { is_about_scopes };
        helps && !has_failed && !self.has_left()
    }

    async fn obtain(&self, challenge: &Challenge) -> Result<(), String> {
        if !is_safe(&self.url) {
            let why = "the server is reached over http, but tokens are sent only over TLS or on this machine";
            return Err(why.to_owned());
        }
        let way = self.way(EXCHANGE);
        let wanted = (self.config.issuer.as_deref(), self.config.grant);
        let found = discover(&self.around.outside, &self.url, challenge, wanted, way).await?;
        let service = found.service;
        // No browser takes part in this grant, so the client has no redirect URI.
        let client =
            Registered::configured(&self.config, &service, "").ok_or("`oauth.clientId` is missing")?;
        let scopes = self.scopes_for(challenge, &found.scopes)?;
        let parties =
            Parties { service: &service, client: &client, resource: &found.resource, scopes: &scopes };
        let text = scopes.join(" ");
        let grant = tokens::Grant::Client(&text);
        let asked = tokens::ask(&self.around.outside, parties, grant, way, unix()).await;
        let tokens = asked.map_err(|why| match why {
            NoTokens::Refused(why) | NoTokens::Unavailable(why) => {
                format!("authorization server {}: {why}", service.issuer)
            }
        })?;
        let (url, resource) = (canonical(&self.url), found.resource);
        self.hold(HeldTokens { url, resource, service, client, tokens, version: None })
    }

    /// Returns the scopes to request: the configured ones, those of the challenge, or those that the resource supports.
    fn scopes_for(&self, challenge: &Challenge, supported: &[String]) -> Result<Vec<String>, String> {
        let all = [&self.config.scopes[..], &challenge.scopes, supported];
        let mut scopes = all.into_iter().find(|all| !all.is_empty()).unwrap_or_default().to_vec();
        if challenge.wants_scopes {
            let has_all =
                |held: HeldTokens| challenge.scopes.iter().all(|scope| held.tokens.scopes.contains(scope));
            if self.held().is_some_and(has_all) {
                return Err("the server requires scopes that were already granted".to_owned());
            }
            for scope in &challenge.scopes {
                if !scopes.contains(scope) {
                    scopes.push(scope.clone());
                }
            }
        }
        Ok(scopes)
    }

    /// Uses new tokens from now on. The tokens are not stored: another process gets its own.
    fn hold(&self, held: HeldTokens) -> Result<(), String> {
        let header = held.tokens.header().ok_or("the token cannot be sent in a header")?;
        self.take(held, header);
        self.known.lock().taken = Some(Instant::now());
        Ok(())
    }

    /// Requests new tokens in place of `held`, with the same scopes and from the same authorization server.
    pub(super) async fn renew_as_client(&self, held: Option<HeldTokens>) -> Result<(), ConsentFault> {
        let held = held.ok_or(ConsentFault::NoRefreshToken)?;
        let scopes = held.tokens.scopes.clone();
        let (service, client, resource) = (&held.service, &held.client, &*held.resource);
        let parties = Parties { service, client, resource, scopes: &scopes };
        let (text, way) = (scopes.join(" "), self.way(EXCHANGE));
        let grant = tokens::Grant::Client(&text);
        let asked = tokens::ask(&self.around.outside, parties, grant, way, unix()).await;
        let (why, for_good) = match asked {
            Ok(tokens) => {
                tracing::info!(server = %self.server, "renewed the access token");
                let kept = self.hold(HeldTokens { tokens, ..held });
                return kept.map_err(|why| ConsentFault::RefreshFailed { why, for_good: true });
            }
            Err(NoTokens::Refused(why)) => (why, true),
            Err(NoTokens::Unavailable(why)) => (why, false),
        };
        tracing::warn!(server = %self.server, why, "cannot renew the access token now");
        // The token is used until the server refuses it; the refusal starts a new search.
        if let Some(held) = &mut self.known.lock().held {
            held.tokens.renew = held.tokens.renew.filter(|_| !for_good).map(|_| unix() + AGAIN);
        }
        Err(ConsentFault::RefreshFailed { why, for_good })
    }
}
