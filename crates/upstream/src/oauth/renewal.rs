//! The renewal of tokens with a refresh token: on request, after a refusal, and before the tokens expire. This module must not
//! know who uses the tokens.

use std::sync::Arc;

use super::ConsentFault;
use super::grant::{AGAIN, EXCHANGE, Grant, HeldTokens, OTHERWISE, unix};
use super::tokens::{self, NoTokens, Parties, Tokens};

impl Grant {
    /// Renews the tokens, one caller at a time.
    pub(super) async fn renew(&self) -> Result<(), ConsentFault> {
        let _turn = self.busy.lock().await;
        self.renew_alone().await
    }

    pub(super) async fn exchange_refresh_token(&self) -> Result<(), ConsentFault> {
        if self.has_left() {
            return Err(ConsentFault::RefreshFailed { why: OTHERWISE.to_owned(), for_good: false });
        }
        let held = self.known.lock().held.clone();
        if self.config.is_machine() {
            return self.renew_as_client(held).await;
        }
        let Some((held, refresh)) = held.and_then(|held| Some((held.clone(), held.tokens.refresh?))) else {
            return Err(ConsentFault::NoRefreshToken);
        };
        let parties = Parties {
            service: &held.service,
            client: &held.client,
            resource: &held.resource,
            scopes: &held.tokens.scopes,
        };
        let way = self.way(EXCHANGE);
        let asked =
            tokens::ask(&self.around.outside, parties, tokens::Grant::Refresh(&refresh), way, unix()).await;
        match asked {
            Ok(tokens) => {
                tracing::info!(server = %self.server, "renewed the access token");
                let kept = self.keep(HeldTokens { tokens, ..held.clone() }, Some(&held)).await;
                kept.map_err(|why| ConsentFault::RefreshFailed { why, for_good: true })
            }
            // The refresh token can be used only once, and another process may have exchanged it first.
            Err(NoTokens::Refused(_)) if self.adopt(held.tokens.header().as_ref()).await => Ok(()),
            Err(NoTokens::Refused(why)) => {
                tracing::warn!(server = %self.server, why, "the consent has expired or was revoked");
                Err(ConsentFault::RefreshFailed { why, for_good: true })
            }
            Err(NoTokens::Unavailable(why)) => {
                tracing::warn!(server = %self.server, why, "cannot renew the access token now");
                if let Some(held) = &mut self.known.lock().held {
                    held.tokens.renew = held.tokens.renew.map(|_| unix() + AGAIN);
                }
                Err(ConsentFault::RefreshFailed { why, for_good: false })
            }
        }
    }

    /// Returns true if the token should be renewed at `now` (seconds since 1970), and no renewal is running.
    pub(super) fn is_due(&self, now: u64) -> bool {
        let known = self.known.lock();
        let tokens = known.held.as_ref().map(|held| &held.tokens);
        let can_renew = |tokens: &Tokens| tokens.refresh.is_some() || self.config.is_machine();
        let due = tokens.is_some_and(|t| can_renew(t) && t.renew.is_some_and(|renew| renew <= now));
        due && !self.has_left() && self.busy.try_lock().is_ok()
    }

    /// Renews the token before it expires, unless the token was renewed in the meantime. A token that cannot be renewed
    /// is used as long as the server accepts it.
    pub(super) async fn renew_if_due(self: Arc<Self>) {
        let _turn = self.busy.lock().await;
        let due = {
            let known = self.known.lock();
            known.held.as_ref().is_some_and(|held| held.tokens.renew.is_some_and(|renew| renew <= unix()))
        };
        if !due {
            return;
        }
        if let Err(ConsentFault::RefreshFailed { for_good: true, .. }) = self.renew_alone().await
            && let Some(held) = &mut self.known.lock().held
        {
            held.tokens.refresh = None;
        }
    }
}
