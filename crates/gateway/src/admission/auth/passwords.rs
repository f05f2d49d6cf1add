//! Names with passwords: selects the method that checks them, queues expensive checks, and caches results. This module
//! must not know how a password is checked.

use std::net::IpAddr;
use std::sync::Arc;

use engine::access::Principal;
use engine::credential::authorization::Basic;

use super::Moment;
use super::authenticator::{AuthMethods, USER_HOLDS, WRONG_HOLDS};
use super::denied::CredentialDenial;
use super::digest::Digest;
use upstream::web::Web;

impl AuthMethods {
    /// Returns the principal with this name and password.
    pub(super) async fn basic(
        &self,
        basic: Basic,
        (digest, client): (Digest, Option<IpAddr>),
        web: &dyn Web,
        now: Moment,
    ) -> Result<Arc<Principal>, CredentialDenial> {
        let at = now.since_start;
        if let Some(refused) = self.results.wrong.get(&digest, at) {
            return Err(refused);
        }
        let site = self.site.as_ref().filter(|_| !self.users.has(&basic.user));
        let turns = match site {
            Some(site) => &site.turns,
            None if self.users.is_empty() => {
                return Err(CredentialDenial::Bad("user names and passwords are not accepted here"));
            }
            None => &self.users.turns,
        };
        let turn = turns.take(client).await?;
        // An earlier request with the same password may have been decided while this one was waiting.
        if let Some(principal) = self.results.known.get(&digest, at) {
            return Ok(principal);
        }
        if let Some(refused) = self.results.wrong.get(&digest, at) {
            return Err(refused);
        }
        let (checked, holds) = match site {
            Some(site) => (site.check(&basic, web, (turn, now)).await, site.cache),
            None => (self.users.check(basic, turn).await, USER_HOLDS),
        };
        match checked {
            Ok(principal) => {
                let principal = self.results.counted.with(&principal);
                self.results.known.put(digest, Arc::clone(&principal), at + holds);
                Ok(principal)
            }
            Err(refused) => {
                if matches!(refused, CredentialDenial::Bad(_) | CredentialDenial::Forbidden(_)) {
                    self.results.wrong.put(digest, refused.clone(), at + WRONG_HOLDS);
                }
                Err(refused)
            }
        }
    }
}
