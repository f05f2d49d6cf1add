//! The account behind an access token. From time to time, Dragoman asks the site if the application password is
//! still valid, because people revoke it there.

use std::collections::HashMap;
use std::time::Duration;

use secrecy::SecretString;
use store::grants::{StoredGrant, TokenUse};
use tokio::time::Instant;

use crate::AuthorizationServer;
use crate::random;
use crate::site::{NotConfirmed, SiteAccount};

/// The time for which the site's last answer is trusted while the site does not answer.
const TRUSTED: Duration = Duration::from_hours(1);
/// The time to wait before the site is asked again after it ignored a password once.
const DOUBTED: Duration = Duration::from_secs(3);
/// The time after which to retry if the site cannot be asked.
const RETRY: Duration = Duration::from_secs(10);
/// The number of confirmations that are remembered.
const MOST: usize = 16_384;
/// The time between two writes of a grant's last use.
const BETWEEN_USES_MS: u64 = 10 * 60 * 1000;

/// The account of a caller.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// The address of the site.
    pub site: String,
    /// The name of the account.
    pub user: String,
    /// The application password.
    pub password: SecretString,
    /// The number of the account at the site.
    pub user_id: u64,
    /// The roles of the account, as the site lists them.
    pub roles: Vec<String>,
    /// True if the configuration names the site.
    pub is_fixed: bool,
    /// The client that received the token.
    pub client: String,
    /// The time at which the token expires, in milliseconds since 1970.
    pub until_ms: u64,
}

/// The reason why a token does not lead to an account.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccountFault {
    /// The token is unknown, has expired, or its sign-in has ended.
    #[error("this sign-in has ended: sign in again")]
    Ended,
    /// The site no longer accepts the password; the sign-in has ended.
    #[error("the site no longer accepts the application password of this sign-in: sign in again")]
    Revoked,
    /// The account lacks a required permission.
    #[error("{0}")]
    Forbidden(String),
    /// The account cannot be confirmed now.
    #[error("cannot confirm the account: {0}")]
    Unavailable(String, Duration),
}

/// The site's last answer about a grant.
#[derive(Debug, Clone)]
struct Confirmation {
    at: Instant,
    /// The time, after `at`, at which the site ignored the password; `None` if it did not.
    doubted: Option<Instant>,
    user_id: u64,
    roles: Vec<String>,
}

/// The sites' last answers, by grant.
#[derive(Debug, Default)]
pub(crate) struct Confirmations(HashMap<String, Confirmation>);

impl Confirmations {
    /// Records that a site has confirmed the account of a grant.
    pub(crate) fn note(&mut self, grant: &str, user_id: u64, roles: Vec<String>) {
        let now = Instant::now();
        if self.0.len() >= MOST {
            self.0.retain(|_, known| now < known.at + TRUSTED);
        }
        if self.0.len() < MOST {
            self.0.insert(grant.to_owned(), Confirmation { at: now, doubted: None, user_id, roles });
        }
    }

    fn doubt(&mut self, grant: &str) {
        if let Some(known) = self.0.get_mut(grant) {
            known.doubted = Some(Instant::now());
        }
    }

    pub(crate) fn forget(&mut self, grant: &str) {
        self.0.remove(grant);
    }
}

impl AuthorizationServer {
    /// Returns the account behind an access token at `now_ms`, in milliseconds since 1970.
    ///
    /// # Errors
    /// Returns the reason why there is no account behind the token.
    pub async fn account(&self, token: &str, now_ms: u64) -> Result<SignedIn, AccountFault> {
        let digest = random::digest_of(token);
        let found = self.grants.with(move |file| file.find(&digest)).await;
        let found = found.map_err(|why| AccountFault::Unavailable(why, RETRY))?;
        let found = found.filter(|found| found.token_use == TokenUse::Access && now_ms < found.until_ms);
        let found = found.ok_or(AccountFault::Ended)?;
        let confirmation = self.confirmed(&found.grant, now_ms).await?;
        let grant = found.grant;
        if now_ms.saturating_sub(grant.used_ms) >= BETWEEN_USES_MS {
            let id = grant.id.clone();
            // A use that cannot be noted was logged.
            let _ = self.grants.with(move |file| file.touch(&id, now_ms)).await;
        }
        Ok(SignedIn {
            is_fixed: self.is_configured(&grant.site),
            site: grant.site,
            user: grant.user,
            password: grant.password,
            user_id: confirmation.user_id,
            roles: confirmation.roles,
            client: grant.client_name,
            until_ms: found.until_ms,
        })
    }

    async fn confirmed(&self, grant: &StoredGrant, now_ms: u64) -> Result<Confirmation, AccountFault> {
        let known = self.confirmations.lock().0.get(&grant.id).cloned();
        let is_fresh = |known: &&Confirmation| match known.doubted {
            Some(doubted) => Instant::now() < doubted + DOUBTED,
            None => Instant::now() < known.at + self.settings.cache,
        };
        if let Some(known) = known.as_ref().filter(is_fresh) {
            return Ok(known.clone());
        }
        if !self.admits(&grant.site) {
            // The configuration has changed: people can no longer sign in at this site.
            let _ = self.end(&grant.id, now_ms).await;
            return Err(AccountFault::Ended);
        }
        let account = SiteAccount { rest: &grant.rest, user: &grant.user, password: &grant.password };
        match self.reach(&grant.site).confirm(account, &self.settings.capability).await {
            Ok(user) => {
                let (at, roles) = (Instant::now(), user.roles.clone());
                let confirmation = Confirmation { at, doubted: None, user_id: user.id, roles };
                self.confirmations.lock().note(&grant.id, user.id, user.roles);
                Ok(confirmation)
            }
            Err(NotConfirmed::Rejected) => {
                tracing::info!(
                    site = grant.site,
                    user = grant.user,
                    "the site rejects the application password of a sign-in, so the sign-in has ended"
                );
                self.forget(&grant.id, now_ms).await;
                Err(AccountFault::Revoked)
            }
            Err(NotConfirmed::Forbidden(why)) => {
                Err(AccountFault::Forbidden(format!("{} at {}: {why}", grant.user, grant.site)))
            }
            // For a revoked password, most sites say nothing more specific. They say the same if a plugin interferes for a
            // moment.
            Err(NotConfirmed::Ignored) => {
                if let Some(known) = known.filter(|known| known.doubted.is_none()) {
                    self.confirmations.lock().doubt(&grant.id);
                    return Ok(known);
                }
                tracing::info!(
                    site = grant.site,
                    user = grant.user,
                    "the site ignores the application password of a sign-in, so the sign-in has ended"
                );
                let _ = self.end(&grant.id, now_ms).await;
                Err(AccountFault::Revoked)
            }
            Err(NotConfirmed::Unavailable(why)) => trusted(known, grant, &why),
        }
    }
}

/// Returns the last answer of a site that does not answer now, if that answer is recent. The site's tools fail in
/// any case, and an outage must not force anybody to sign in again.
fn trusted(
    known: Option<Confirmation>,
    grant: &StoredGrant,
    why: &str,
) -> Result<Confirmation, AccountFault> {
    let fresh = known.filter(|known| Instant::now() < known.at + TRUSTED);
    fresh.ok_or_else(|| AccountFault::Unavailable(format!("{}: {why}", grant.site), RETRY))
}
