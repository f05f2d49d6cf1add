//! The management of consents: starts, shows, renews and withdraws them. This module must not know how these operations
//! are requested.

use std::sync::Arc;

use engine::credential::challenge::Challenge;

use super::{CallerId, ConsentFault, Consents, Grant, Page, Status};

/// The known facts about the consent to a server.
#[derive(Debug, Clone)]
pub struct KnownConsent {
    /// The server.
    pub server: Arc<str>,
    /// The owner of the consent; `None` if the consent applies to all callers.
    pub caller: Option<CallerId>,
    /// The authorization server, if it is known.
    pub issuer: Option<String>,
    /// The state of the consent.
    pub status: Status,
}

impl Consents {
    /// Returns all consents that were needed or used since the start; if there are several of one owner, only the
    /// newest.
    pub async fn list(&self) -> Vec<KnownConsent> {
        let mut known: Vec<KnownConsent> = Vec::new();
        for grant in self.all() {
            let is_same = |one: &KnownConsent| one.server == grant.server && one.caller == grant.caller;
            if known.iter().any(is_same) {
                continue;
            }
            let (server, caller) = (grant.server.clone(), grant.caller.clone());
            let Ok(status) = self.status(&server, caller.as_ref()).await else { continue };
            let issuer = grant.held().map(|held| held.service.issuer.clone());
            known.push(KnownConsent { server, caller, issuer, status });
        }
        known
    }

    /// Returns two numbers of callers of a server: those that have given their own consent, and those that were
    /// asked for it or have given it.
    pub fn callers(&self, server: &str) -> (usize, usize) {
        let mut known: Vec<(Arc<Grant>, bool)> = Vec::new();
        for grant in self.all().into_iter().filter(|grant| *grant.server == *server && grant.caller.is_some())
        {
            let is_given = grant.held().is_some();
            if (is_given || grant.is_wanted()) && !known.iter().any(|(one, _)| one.caller == grant.caller) {
                known.push((grant, is_given));
            }
        }
        (known.iter().filter(|(_, is_given)| *is_given).count(), known.len())
    }

    /// Returns a page on which a user gives consent to `server` on behalf of `caller`, even if the server did not
    /// ask for consent.
    ///
    /// # Errors
    /// Returns [`ConsentFault::NoServer`] or [`ConsentFault::NobodyAsked`].
    pub async fn start(&self, server: &str, caller: Option<&CallerId>) -> Result<Page, ConsentFault> {
        let grant = self.of(server, caller)?;
        let searched = {
            let grant = grant.clone();
            transport::task::spawn(async move { grant.want(&Challenge::default()).await }).await
        };
        drop(searched);
        let why = || grant.why_not().unwrap_or_else(|| "the discovery was interrupted".to_owned());
        grant.page().ok_or_else(|| ConsentFault::NobodyAsked(why()))
    }

    /// Returns the state of the consent that `caller` gave to `server`.
    ///
    /// # Errors
    /// Returns [`ConsentFault::NoServer`].
    pub async fn status(&self, server: &str, caller: Option<&CallerId>) -> Result<Status, ConsentFault> {
        let grant = self.of(server, caller)?;
        if grant.held().is_none() {
            grant.adopt(None).await;
        }
        let (held, wanted) = (grant.held(), grant.is_wanted());
        let tokens = held.map(|held| held.tokens);
        Ok(Status {
            given: tokens.is_some(),
            wanted,
            ends: tokens.as_ref().and_then(|tokens| tokens.ends),
            renewable: tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some()),
            scopes: tokens.map(|tokens| tokens.scopes).unwrap_or_default(),
        })
    }

    /// Renews the token for `server` now.
    ///
    /// # Errors
    /// Returns [`ConsentFault::NoServer`], [`ConsentFault::NoRefreshToken`] or [`ConsentFault::RefreshFailed`].
    pub async fn refresh(&self, server: &str, caller: Option<&CallerId>) -> Result<(), ConsentFault> {
        let grant = self.of(server, caller)?;
        if grant.held().is_none() {
            grant.adopt(None).await;
        }
        let renewed = transport::task::spawn(async move { grant.renew().await }).await;
        renewed.unwrap_or_else(|e| Err(ConsentFault::RefreshFailed { why: e.to_string(), for_good: false }))
    }

    /// Forgets the tokens for `server`; returns `false` if there were none. The authorization server is not notified.
    ///
    /// # Errors
    /// Returns [`ConsentFault::NoServer`].
    pub async fn forget(&self, server: &str, caller: Option<&CallerId>) -> Result<bool, ConsentFault> {
        let grant = self.of(server, caller)?;
        grant.adopt(None).await;
        Ok(grant.drop_tokens().await)
    }
}
