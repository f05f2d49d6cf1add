//! The place where consent to one server is given, and what is asked for there. It must not know tokens.

use std::sync::Arc;
use std::time::Duration;

use engine::credential::challenge::Challenge;
use tokio::time::Instant;

use super::asked::Wanted;
use super::client::{Registered, register};
use super::discovery::discover;
use super::grant::{Grant, unix};
use super::metadata::Service;
use super::outside::Way;
use super::redirect;
use crate::web::is_safe;

/// The time that the search for an authorization server may take. A client's first request waits for it.
const SEARCH: Duration = Duration::from_secs(7);
/// For how long what was found is used, and for how long a search that failed is not repeated.
const FOUND: Duration = Duration::from_mins(5);
const NOT_FOUND: Duration = Duration::from_secs(10);

impl Grant {
    /// Looks for the place where consent is given, unless that was done a moment ago.
    pub(super) async fn want(&self, challenge: &Challenge) {
        let is_known = {
            let known = self.known.lock();
            let serves = |wanted: &Wanted| {
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
                tracing::info!(server = %self.server, issuer = %wanted.service.issuer, "it wants the consent of its user");
                known.wanted = Some(wanted);
                None
            }
            Err(why) => {
                tracing::warn!(server = %self.server, why, "nobody can be asked for consent to it");
                known.wanted = None;
                Some(why)
            }
        };
        known.search = Some((challenge.clone(), Instant::now(), why));
    }

    async fn search(&self, challenge: &Challenge) -> Result<Wanted, String> {
        if !is_safe(&self.url) {
            return Err(
                "it is asked over http, and tokens are only sent through TLS or on this machine".to_owned()
            );
        }
        let nowhere = "a browser has to come back here: run `dragoman serve` with this configuration and ask there first";
        self.around.start().ok_or(nowhere)?;
        let issuer = self.config.issuer.as_deref();
        let way = self.way(SEARCH);
        let found = discover(&self.around.outside, &self.url, challenge, issuer, way).await?;
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
            // What was allowed before is asked for again, else it would be lost.
            let more = challenge.scopes.iter().chain(&held);
            for scope in more {
                if !scopes.contains(scope) {
                    scopes.push(scope.clone());
                }
            }
            if challenge.scopes.iter().all(|scope| held.contains(scope)) {
                return Err("it wants scopes that were allowed already".to_owned());
            }
        }
        let before = before.filter(|b| *b.service == found.service && b.client.id == client.id);
        let (service, client) = match before {
            Some(before) => (before.service, before.client),
            None => (Arc::new(found.service), Arc::new(client)),
        };
        Ok(Wanted { service, client, resource: found.resource, scopes })
    }

    /// Who Dragoman is there: as configured, as before, or as it registers itself now.
    async fn client(&self, service: &Service, redirect: &str, way: Way) -> Result<Registered, String> {
        if let Some(client) = Registered::configured(&self.config, service, redirect) {
            return Ok(client);
        }
        let place = format!("client {} {redirect}", service.issuer);
        let kept: Option<Registered> = self.around.kept.get(&place).await;
        if let Some(client) = kept.filter(|client| client.fits(service, redirect, unix())) {
            return Ok(client);
        }
        let client = register(&self.around.outside, service, redirect, way).await?;
        self.around.kept.put(&place, &client).await;
        // Before each issuer had a path of its own, registrations were kept with the one path of all.
        if let Some(former) = self.around.redirect(redirect::former_path()) {
            self.around.kept.remove(&format!("client {} {former}", service.issuer)).await;
        }
        Ok(client)
    }
}
