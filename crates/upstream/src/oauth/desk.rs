//! What whoever looks after the gateway may do about consents: begin one, look at it, exchange its token, take it back. It
//! must not know how that is asked for.

use engine::credential::challenge::Challenge;

use super::{Consents, Fault, Page, Status, Whose};

impl Consents {
    /// A page where a user gives consent of `whose` to `server`, whether it asked for that or not.
    ///
    /// # Errors
    /// [`Fault::NoServer`], [`Fault::NobodyAsked`].
    pub async fn start(&self, server: &str, whose: Option<&Whose>) -> Result<Page, Fault> {
        let grant = self.of(server, whose)?;
        let searched = {
            let grant = grant.clone();
            tokio::spawn(async move { grant.want(&Challenge::default()).await }).await
        };
        drop(searched);
        let why = || grant.why_not().unwrap_or_else(|| "the search was broken off".to_owned());
        grant.page().ok_or_else(|| Fault::NobodyAsked(why()))
    }

    /// What is known of the consent of `whose` to `server`.
    ///
    /// # Errors
    /// [`Fault::NoServer`].
    pub async fn status(&self, server: &str, whose: Option<&Whose>) -> Result<Status, Fault> {
        let grant = self.of(server, whose)?;
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

    /// Exchanges the token for `server` now.
    ///
    /// # Errors
    /// [`Fault::NoServer`], [`Fault::NoRefreshToken`], [`Fault::RefreshFailed`].
    pub async fn refresh(&self, server: &str, whose: Option<&Whose>) -> Result<(), Fault> {
        let grant = self.of(server, whose)?;
        if grant.held().is_none() {
            grant.adopt(None).await;
        }
        let renewed = tokio::spawn(async move { grant.renew().await }).await;
        renewed.unwrap_or_else(|e| Err(Fault::RefreshFailed { why: e.to_string(), for_good: false }))
    }

    /// Forgets the tokens for `server`; `false` when there were none. What was allowed at the authorization server stays
    /// allowed there.
    ///
    /// # Errors
    /// [`Fault::NoServer`].
    pub async fn forget(&self, server: &str, whose: Option<&Whose>) -> Result<bool, Fault> {
        let grant = self.of(server, whose)?;
        grant.adopt(None).await;
        Ok(grant.drop_tokens().await)
    }
}
