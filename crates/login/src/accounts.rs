//! The account behind an access token. From time to time, Dragoman asks the site if the application password is
//! still valid, because people revoke it there.

use secrecy::SecretString;
use store::grants::{ProfileNames, StoredGrant, TokenUse};

use crate::AuthorizationServer;
use crate::account_fault::AccountFault;
use crate::confirmations::{Confirmation, RETRY};
use crate::site::{NotConfirmed, SiteAccount};

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
    /// The profiles for which the token is valid; `None` for all.
    pub profiles: Option<ProfileNames>,
}

impl AuthorizationServer {
    /// Returns the account behind an access token at `now_ms`, in milliseconds since 1970.
    ///
    /// # Errors
    /// Returns the reason why there is no account behind the token.
    pub async fn account(&self, token: &str, now_ms: u64) -> Result<SignedIn, AccountFault> {
        let found = self.find(token).await;
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
            profiles: found.profiles,
        })
    }

    /// Returns the site's last answer about a grant. If that answer is old, asks the site again, only once for all
    /// calls that wait for the same answer.
    async fn confirmed(&self, grant: &StoredGrant, now_ms: u64) -> Result<Confirmation, AccountFault> {
        if let Some(answer) = self.answered(grant) {
            return answer;
        }
        let turn = self.confirmations.lock().turn(&grant.id);
        let _turn = turn.lock().await;
        match self.answered(grant) {
            Some(answer) => answer,
            None => self.asked(grant, now_ms).await,
        }
    }

    /// The last answer about a grant; `None` if it is too old, and the site must be asked again.
    fn answered(&self, grant: &StoredGrant) -> Option<Result<Confirmation, AccountFault>> {
        self.confirmations.lock().recent(&grant.id, self.settings.cache)
    }

    async fn asked(&self, grant: &StoredGrant, now_ms: u64) -> Result<Confirmation, AccountFault> {
        if !self.admits(&grant.site) {
            // The configuration has changed: people can no longer sign in at this site.
            let _ = self.end(&grant.id, now_ms).await;
            return Err(AccountFault::Ended);
        }
        let account = SiteAccount { rest: &grant.rest, user: &grant.user, password: &grant.password };
        match self.reach(&grant.site).confirm(account, &self.settings.capability).await {
            Ok(user) => Ok(self.confirmations.lock().note(&grant.id, user.id, user.roles)),
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
                let fault = AccountFault::Forbidden(format!("{} at {}: {why}", grant.user, grant.site));
                self.confirmations.lock().refuse(&grant.id, fault.clone());
                Err(fault)
            }
            // For a revoked password, most sites say nothing more specific. They say the same if a plugin interferes for a
            // moment.
            Err(NotConfirmed::Ignored) => {
                let before = self.confirmations.lock().doubt(&grant.id);
                if let Some(known) = before {
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
            // The site's tools fail in any case, and an outage must not make anybody sign in again.
            Err(NotConfirmed::Unavailable(why)) => {
                let fault = AccountFault::Unavailable(format!("{}: {why}", grant.site), RETRY);
                self.confirmations.lock().miss(&grant.id, &fault)
            }
        }
    }
}
