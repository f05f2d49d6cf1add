//! Consent: this gateway as an OAuth client of the servers behind it, on behalf of their users (MCP 2025-11-25,
//! authorization). A server that refuses a request for want of a token is asked where its users give their consent; a
//! browser goes there and comes back with a code; the code becomes tokens, which are kept, shown to that server alone, and
//! exchanged before they end. It must not know links, clients or what is asked of the server.
//!
//! | file | is for |
//! |---|---|
//! | `grant` | one server: what its user allowed, and how that is come by |
//! | `search` | where that is asked for |
//! | `challenge` | what a server says in `WWW-Authenticate` |
//! | `discovery`, `metadata` | from there to the authorization server, and how much of what it says is believed |
//! | `client` | who Dragoman is there |
//! | `asked` | pages that are open, and what a browser brings back |
//! | `tokens` | codes and refresh tokens become tokens |
//! | `desk` | what whoever looks after the gateway may do |
//! | `kept` | what outlives the process |
//! | `outside` | the port to all of them: what may be asked, how long, how much |
//! | `form`, `secret` | names and values in URLs; texts that are not shown |
//!
//! Consent is given once for all who may use the server here: whoever gives it lends the gateway that right.

mod asked;
mod challenge;
mod client;
#[allow(dead_code, reason = "pages and commands about consents are made of these")]
mod desk;
mod discovery;
pub(crate) mod form;
mod grant;
mod kept;
mod metadata;
mod outside;
mod search;
mod secret;
mod tokens;

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use engine::config::OAuthClient;
use http::Uri;
use parking_lot::Mutex;

pub(crate) use grant::Grant;

use asked::Brought;
use kept::Kept;
use outside::Outside;

/// The path to which browsers come back.
pub(crate) const CALLBACK: &str = "/oauth/callback";

/// What all grants share.
struct Around {
    outside: Outside,
    kept: Kept,
    /// Where browsers find this gateway; nothing while it serves none.
    base: Mutex<Option<String>>,
}

impl Around {
    /// Where authorization servers send browsers back.
    fn redirect(&self) -> Option<String> {
        self.base.lock().as_ref().map(|base| format!("{base}{CALLBACK}"))
    }
}

/// A page where a user gives consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    /// Its address. Whoever knows it can give a consent in the place of another, so it is not logged.
    pub(crate) url: String,
    /// A name for it that tells nothing.
    pub(crate) name: String,
}

/// What is known of the consent to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Status {
    /// Whether there are tokens.
    pub(crate) given: bool,
    /// Whether the server refuses what there is, and a user is to be asked.
    pub(crate) wanted: bool,
    /// What was allowed.
    pub(crate) scopes: Vec<String>,
    /// When the token ends, in seconds since 1970, where that is known.
    pub(crate) ends: Option<u64>,
    /// Whether it can then be exchanged for another one without the user.
    pub(crate) renewable: bool,
}

/// Why a consent came to nothing, for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// No server of this name can want consent.
    #[error(
        "there is no server of this name that is asked over HTTP without an Authorization header of its own"
    )]
    NoServer,
    /// Nobody can be asked.
    #[error("nobody can be asked for consent: {0}")]
    NobodyAsked(String),
    /// The browser names no request that is open.
    #[error("this request is not known here: it was answered before, or it is too old")]
    UnknownState,
    /// The answer says that it is another server's than the one that was asked.
    #[error("the answer is not from the authorization server that was asked")]
    OtherIssuer,
    /// The answer has no code.
    #[error("the answer has no code")]
    NoCode,
    /// The user, or the authorization server, said no.
    #[error("consent was not given: {0}")]
    Declined(String),
    /// The code did not become tokens.
    #[error("the authorization server gave no token: {0}")]
    NotExchanged(String),
    /// There is nothing to exchange for a new token.
    #[error("there is no refresh token")]
    NoRefreshToken,
    /// The refresh token did not become tokens.
    #[error("the authorization server gave no new token: {why}")]
    RefreshFailed {
        /// Why not.
        why: String,
        /// Whether that will not change.
        for_good: bool,
    },
}

/// The consents to all servers.
pub(crate) struct Consents {
    around: Arc<Around>,
    /// Those of all servers that are there; of one that was configured anew, the newest is the last.
    grants: Mutex<Vec<Weak<Grant>>>,
}

impl Consents {
    /// None yet; what will be given is kept in `folder`, else only as long as this lives.
    pub(crate) fn new(folder: Option<PathBuf>, connect_timeout: Duration) -> Self {
        let outside = Outside::new(connect_timeout);
        let around = Around { outside, kept: Kept::new(folder), base: Mutex::default() };
        Self { around: Arc::new(around), grants: Mutex::default() }
    }

    /// Browsers find this gateway at `base` from now on, an address without a slash at its end; nowhere, where it is none.
    pub(crate) fn serve_at(&self, base: Option<String>) {
        *self.around.base.lock() = base;
    }

    /// Enters a server at `url`.
    pub(crate) fn enter(&self, server: &Arc<str>, url: Uri, config: OAuthClient) -> Arc<Grant> {
        let mut grant = Grant::new(server, url, config, self.around.clone());
        let mut grants = self.grants.lock();
        grants.retain(|known| known.strong_count() > 0);
        let mut newest = grants.iter().rev().filter_map(Weak::upgrade);
        if let Some(before) = newest.find(|known| known.server == *server) {
            grant = grant.in_place_of(&before);
        }
        let grant = Arc::new(grant);
        grants.push(Arc::downgrade(&grant));
        grant
    }

    /// All grants, the newest first.
    fn all(&self) -> Vec<Arc<Grant>> {
        self.grants.lock().iter().rev().filter_map(Weak::upgrade).collect()
    }

    fn of(&self, server: &str) -> Result<Arc<Grant>, Fault> {
        self.all().into_iter().find(|grant| &*grant.server == server).ok_or(Fault::NoServer)
    }

    /// Takes what a browser brings to [`CALLBACK`]: the query of its URL. Returns the server to which consent was given.
    ///
    /// # Errors
    /// Why none was; the server, where that is known.
    pub(crate) async fn finish(&self, query: &str) -> Result<Arc<str>, (Fault, Option<Arc<str>>)> {
        let brought = Brought::read(query).ok_or((Fault::UnknownState, None))?;
        let state = brought.state.as_deref().filter(|state| !state.is_empty());
        let named = |state| self.all().into_iter().find_map(|grant| Some((grant.named(state)?, grant)));
        let (asked, grant) = state.and_then(named).ok_or((Fault::UnknownState, None))?;
        let server = grant.server.clone();
        // Boxed away from whoever waits: once begun it goes on, though the browser leaves.
        let finished = tokio::spawn(async move {
            if !brought.is_from(&asked.wanted.service) {
                return Err(Fault::OtherIssuer);
            }
            if let Some(error) = &brought.error {
                let more = brought.description.map(|text| format!(": {text}")).unwrap_or_default();
                return Err(Fault::Declined(tokens::shown(&format!("{error}{more}"))));
            }
            let code = brought.code.filter(|code| !code.is_empty()).ok_or(Fault::NoCode)?;
            grant.redeem(asked, &code).await
        });
        let finished = finished.await.unwrap_or_else(|e| Err(Fault::NotExchanged(e.to_string())));
        match finished {
            Ok(()) => {
                tracing::info!(server = %server, "consent to it was given");
                Ok(server)
            }
            Err(fault) => {
                tracing::warn!(server = %server, "consent to it was not given: {fault}");
                Err((fault, Some(server)))
            }
        }
    }

    /// Exchanges tokens that end soon, beside everything else.
    pub(crate) fn tick(&self) {
        let now = grant::unix();
        for grant in self.all().into_iter().filter(|grant| grant.is_due(now)) {
            tokio::spawn(grant.renew_if_due());
        }
    }
}

impl std::fmt::Debug for Consents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consents").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
