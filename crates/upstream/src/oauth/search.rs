//! Searches for the authorization server at which consent to one server is given, and for the scopes to request. This
//! module must not know tokens.

use std::sync::Arc;
use std::time::Duration;

use engine::credential::challenge::Challenge;
use tokio::time::Instant;

use super::client::{Registered, register};
use super::consent_request::ConsentTarget;
use super::discovery::discover;
use super::fetcher::FetchRules;
use super::grant::{Grant, unix};
use super::metadata::Service;
use super::redirect;
use crate::web::is_safe;

/// The time limit of the search for an authorization server. A client's first request waits for this search.
const SEARCH: Duration = Duration::from_secs(7);
/// The time for which a search result is reused, and the time after which a failed search is repeated.
const FOUND: Duration = Duration::from_mins(5);
const NOT_FOUND: Duration = Duration::from_secs(10);

impl Grant {
    /// Searches for the authorization server at which consent is given, unless such a search was made a short time ago.
    pub(super) async fn want(&self, challenge: &Challenge) {
        let is_known = {
            let known = self.known.lock();
            let serves = |wanted: &ConsentTarget| {
                let redirect = self.around.redirect(&redirect::path(&self.config, &wanted.service));
                redirect.as_ref() == Some(&wanted.client.redirect)
            };
            known.search.as_ref().is_some_and(|(by, at, why)| {
                let holds = if why.is_some() { NOT_FOUND } else { FOUND };
                by == challenge
                    && at.elapsed() < holds
                    && (why.is_some() || known.wanted.as_ref().is_some_and(serves))
            })
        };
        if is_known || self.has_left() {
            return;
        }
        let found = self.search(challenge).await;
        let mut known = self.known.lock();
        let why = match found {
            Ok(wanted) => {
                tracing::info!(server = %self.server, issuer = %wanted.service.issuer, "the server requires the consent of its user");
                known.wanted = Some(wanted);
                None
            }
            Err(why) => {
                tracing::warn!(server = %self.server, why, "cannot request the consent of the server's user");
                known.wanted = None;
                Some(why)
            }
        };
        known.search = Some((challenge.clone(), Instant::now(), why));
    }

    async fn search(&self, challenge: &Challenge) -> Result<ConsentTarget, String> {
        if !is_safe(&self.url) {
            return Err(
                "the server is reached over http, but tokens are sent only over TLS or on this machine"
                    .to_owned(),
            );
        }
        let nowhere = "the browser must return to a running gateway: run `dragoman serve` with this \
                       configuration and give consent there first";
        self.around.start().ok_or(nowhere)?;
        let issuer = self.config.issuer.as_deref();
        let way = self.way(SEARCH);
        let wanted = (issuer, self.config.grant);
        let found = discover(&self.around.outside, &self.url, challenge, wanted, way).await?;
        let path = redirect::path(&self.config, &found.service);
        let redirect = self.around.redirect(&path).ok_or(nowhere)?;
        let client = self.client(&found.service, &redirect, way).await?;
        let (held, before) = {
            let known = self.known.lock();
            let held = known.held.as_ref().map(|held| held.tokens.scopes.clone());
            (held.unwrap_or_default(), known.wanted.clone())
        };
        let asked =
            [&self.config.scopes, &challenge.scopes, &found.scopes].into_iter().find(|s| !s.is_empty());
        let mut scopes = asked.cloned().unwrap_or_default();
        if challenge.wants_scopes {
            // Scopes that were allowed before are requested again; otherwise they would be lost.
            let more = challenge.scopes.iter().chain(&held);
            for scope in more {
                if !scopes.contains(scope) {
                    scopes.push(scope.clone());
                }
            }
            if challenge.scopes.iter().all(|scope| held.contains(scope)) {
                return Err("the server requires scopes that were already granted".to_owned());
            }
        }
        let before = before.filter(|b| *b.service == found.service && b.client.id == client.id);
        let (service, client) = match before {
            Some(before) => (before.service, before.client),
            None => (Arc::new(found.service), Arc::new(client)),
        };
        Ok(ConsentTarget { service, client, resource: found.resource, scopes })
    }

    /// Returns Dragoman's client at the authorization server: the configured one, the stored one, or a newly
    /// registered one.
    async fn client(
        &self,
        service: &Service,
        redirect: &str,
        way: FetchRules<'_>,
    ) -> Result<Registered, String> {
        if let Some(client) = Registered::configured(&self.config, service, redirect) {
            return Ok(client);
        }
        if let Some(document) = self.around.document(&redirect::document_path(&service.issuer))
            && let Some(client) = Registered::described(service, document, redirect)
        {
            return Ok(client);
        }
        let place = format!("client {} {redirect}", service.issuer);
        let kept: Option<Registered> = self.around.kept.get(&place).await;
        if let Some(client) = kept.filter(|client| client.fits(service, redirect, unix())) {
            return Ok(client);
        }
        let client = register(&self.around.outside, service, redirect, way).await?;
        self.around.kept.put(&place, &client).await;
        // Before each issuer had its own path, registrations were stored under the one path that all issuers shared.
        if let Some(former) = self.around.redirect(redirect::former_path()) {
            self.around.kept.remove(&format!("client {} {former}", service.issuer)).await;
        }
        Ok(client)
    }
}
