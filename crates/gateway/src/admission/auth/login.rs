//! People who have signed in: the principal behind an access token of this gateway. This module must not know how people sign in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::access::{Principal, Scheme};
use engine::credential::Account;
use login::{AccountFault, AuthorizationServer, SignedIn};
use serde_json::json;

use super::Moment;
use super::authenticator::{AuthMethods, Authenticator};
use super::denied::{CredentialDenial, NotAdmitted};

/// The time for which a token is trusted before it is looked up again. If this process ends the sign-in, the token
/// is refused at once.
const HOLDS: Duration = Duration::from_secs(5);
/// The time for which a user's streams stay open after the user's last request. A user who only listens sends no
/// requests, so the site would not be asked about the user again; the limit ends such streams. If this process ends
/// the sign-in, its streams close within a second.
const LASTS_MS: u64 = 15 * 60 * 1000;

/// The method of authentication.
pub(super) struct SignIn {
    pub(super) server: Arc<AuthorizationServer>,
    /// The number of sign-ins that had ended at the last check.
    seen: AtomicU64,
}

impl SignIn {
    pub(super) fn new(server: Arc<AuthorizationServer>) -> Self {
        Self { seen: AtomicU64::new(server.endings()), server }
    }

    /// Returns the principal of a token, and the time for which it can be trusted.
    pub(super) async fn check(
        &self,
        token: &str,
        now: Moment,
    ) -> Result<(Arc<Principal>, Duration), CredentialDenial> {
        let before = self.server.endings();
        match self.server.account(token, now.unix_ms).await {
            Ok(account) => {
                let left = Duration::from_millis(account.until_ms.saturating_sub(now.unix_ms));
                // If a sign-in ended meanwhile, it may have been this one.
                let holds = if self.server.endings() == before { left.min(HOLDS) } else { Duration::ZERO };
                Ok((Arc::new(principal(account, now)), holds))
            }
            Err(AccountFault::Ended) => Err(CredentialDenial::Bad("this sign-in has ended: sign in again")),
            Err(AccountFault::Revoked) => Err(CredentialDenial::Bad(
                "the site no longer accepts the password of this sign-in: sign in again",
            )),
            Err(AccountFault::Forbidden(why)) => Err(CredentialDenial::Forbidden(why)),
            Err(AccountFault::Unavailable(why, retry)) => {
                Err(CredentialDenial::Unavailable(format!("cannot confirm the account: {why}"), retry))
            }
        }
    }
}

impl SignIn {
    /// Returns true if the sign-in of this principal has ended in this process. Each sign-in has its own application
    /// password, which identifies it.
    pub(super) fn has_ended(&self, principal: &Principal) -> bool {
        principal.account.as_ref().is_some_and(|account| self.server.is_ended(&account.password))
    }

    /// Adds the metadata address of the resource at `path` to a token challenge.
    pub(super) fn naming_resource(&self, challenge: String, path: &str) -> String {
        let Some(rest) = challenge.strip_prefix("Bearer ") else { return challenge };
        // Quotes in a path would end the value early; clients encode them.
        let url = self.server.resource_metadata_url(path).filter(|url| !url.contains(['"', '\\']));
        let Some(url) = url else { return challenge };
        format!("Bearer resource_metadata=\"{url}\", scope=\"{}\", {rest}", self.server.scope())
    }
}

impl Authenticator {
    /// Returns the server that signs people in, if it is configured.
    pub fn sign_in(&self) -> Option<&Arc<AuthorizationServer>> {
        self.methods.login.as_ref().map(|login| &login.server)
    }

    /// Returns the refusal of a token that was issued for other endpoints than the one at `path` (RFC 6750, 3.1). The
    /// client can sign in for this endpoint.
    pub(crate) fn for_other_endpoint(&self, path: &str) -> NotAdmitted {
        let why = CredentialDenial::Bad("this token is for another endpoint: sign in for this one");
        self.naming_resource(NotAdmitted::Denied(self.methods.denied(why)), path)
    }

    /// If people can sign in here, adds the address of the metadata of the resource at `path` to a refusal's
    /// challenge (RFC 9728, 5.1).
    pub(crate) fn naming_resource(&self, mut refused: NotAdmitted, path: &str) -> NotAdmitted {
        if let (NotAdmitted::Denied(denied), Some(login)) = (&mut refused, &self.methods.login) {
            denied.challenge =
                denied.challenge.take().map(|challenge| login.naming_resource(challenge, path));
        }
        refused
    }
}

impl AuthMethods {
    /// Forgets cached results if a sign-in has ended since the last check.
    pub(super) fn forget_ended_logins(&self) {
        let Some(login) = &self.login else { return };
        let endings = login.server.endings();
        if login.seen.swap(endings, Ordering::AcqRel) != endings {
            self.results.known.clear();
            self.results.near.forget();
        }
    }
}

fn principal(account: SignedIn, now: Moment) -> Principal {
    let SignedIn { site, user, password, user_id, roles, is_fixed, profiles, .. } = account;
    let id = format!("login:{site}#{user}");
    Principal {
        user: Some(user.as_str().into()),
        claims: Some(Arc::new(json!({ "site": site, "id": user_id, "name": user, "roles": roles }))),
        profiles: profiles.map(|profiles| profiles.names().map(Into::into).collect()),
        until_ms: Some(now.unix_ms.saturating_add(LASTS_MS)),
        account: Some(Arc::new(Account { url: site, username: user, password, is_fixed })),
        ..Principal::new(&id, Scheme::Login)
    }
}
