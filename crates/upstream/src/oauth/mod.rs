//! Consent: this gateway as an OAuth client of the servers behind it, on behalf of their users (MCP 2025-11-25,
//! authorization). A server that refuses a request for want of a token is asked where its users give their consent; a
//! browser goes there and comes back with a code; the code becomes tokens, which are kept, shown to that server alone, and
//! exchanged before they end. It must not know links, clients or what is asked of the server.
//!
//! | file | is for |
//! |---|---|
//! | `grant` | one server: what its user allowed, and how that is come by |
//! | `search` | where that is asked for |
//! | `discovery`, `metadata` | from there to the authorization server, and how much of what it says is believed |
//! | `client` | who Dragoman is there |
//! | `whose` | whose a consent is |
//! | `redirect` | the paths to which browsers come back, one per issuer |
//! | `start` | where a browser begins, and how it is known again |
//! | `asked` | requests that are open, and what a browser brings back |
//! | `tokens` | codes and refresh tokens become tokens |
//! | `desk` | what whoever looks after the gateway may do |
//! | `kept` | what outlives the process |
//! | `words` | what is said of refusals, without tokens |
//! | `outside` | the port to all of them: what may be asked, how long, how much |
//! | `form`, `secret` | names and values in URLs; texts that are not shown |
//!
//! Where callers are told apart, each gives consent for itself, and what that opens is its own. Where they are not, or the
//! configuration says so, one consent counts for all who may use the server: whoever gives it lends the gateway that right.

mod asked;
mod client;
#[allow(dead_code, reason = "pages and commands about consents are made of these")]
mod desk;
mod discovery;
pub mod form;
mod grant;
mod kept;
mod metadata;
mod outside;
mod redirect;
mod search;
mod secret;
mod start;
mod tokens;
mod whose;
mod words;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use engine::config::OAuthClient;
use http::Uri;
use parking_lot::Mutex;

pub use grant::Grant;
pub use redirect::is_callback;
pub use start::Begun;
pub use whose::Whose;

use asked::{Asked, Brought};
use kept::Kept;
use outside::Outside;

/// The path below which browsers begin.
pub const START: &str = "/oauth/consent/";

/// What all grants share.
struct Around {
    outside: Outside,
    kept: Kept,
    /// Where browsers find this gateway; nothing while it serves none.
    base: Mutex<Option<String>>,
    /// Codes of several issuers can arrive at the redirect path of clients that were registered by hand.
    is_ambiguous: AtomicBool,
}

impl Around {
    /// The redirect URI with this path.
    fn redirect(&self, path: &str) -> Option<String> {
        self.base.lock().as_ref().map(|base| format!("{base}{path}"))
    }

    /// Where a consent begins, without its own end.
    fn start(&self) -> Option<String> {
        self.base.lock().as_ref().map(|base| format!("{base}{START}"))
    }

    /// Returns true if browsers find this gateway through TLS.
    fn is_secure(&self) -> bool {
        self.base.lock().as_ref().is_some_and(|base| base.starts_with("https:"))
    }
}

/// A page where a user gives consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its address. Whoever knows it can give a consent in the place of another, so it is not logged.
    pub url: String,
    /// A name for it that tells nothing.
    pub name: String,
}

/// What is known of the consent to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// True if there are tokens.
    pub given: bool,
    /// True if the server refuses what there is, and a user is to be asked.
    pub wanted: bool,
    /// What was allowed.
    pub scopes: Vec<String>,
    /// The time when the token ends, in seconds since 1970, where that is known.
    pub ends: Option<u64>,
    /// True if it can then be exchanged for another one without the user.
    pub renewable: bool,
}

/// The reason why a consent came to nothing, for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
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
    /// The browser is not the one in which it began.
    #[error("this browser is not the one in which it was begun, or it keeps no cookies")]
    OtherBrowser,
    /// The answer says that it is another server's than the one that was asked.
    #[error("the answer is not from the authorization server that was asked")]
    OtherIssuer,
    /// The browser comes back at the path of another issuer than the one that was asked.
    #[error("the answer arrived at the address of another authorization server than the one that was asked")]
    OtherRedirect,
    /// The answer does not name its issuer, and several can answer at this address.
    #[error(
        "the answer does not name its authorization server (`iss`), and clients of several are registered by hand with \
         this address; register {redirect} at {issuer} instead, and set `issuerCallback: true` below `oauth` of this server"
    )]
    IssuerUnsaid {
        /// The authorization server that was asked.
        issuer: String,
        /// The redirect URI of its own.
        redirect: String,
    },
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
        /// The reason why not.
        why: String,
        /// True if that will not change.
        for_good: bool,
    },
}

/// The consents to all servers.
pub struct Consents {
    around: Arc<Around>,
    /// Those of all servers that are there; of one that was configured anew, the newest is the last.
    grants: Mutex<Vec<Weak<Grant>>>,
}

impl Consents {
    /// None yet; what will be given is kept in `folder`, else only as long as this lives.
    pub fn new(folder: Option<PathBuf>, connect_timeout: Duration) -> Self {
        let outside = Outside::new(connect_timeout);
        let is_ambiguous = AtomicBool::new(false);
        let around = Around { outside, kept: Kept::new(folder), base: Mutex::default(), is_ambiguous };
        Self { around: Arc::new(around), grants: Mutex::default() }
    }

    /// Browsers find this gateway at `base` from now on, an address without a slash at its end; nowhere, where it is none.
    pub fn serve_at(&self, base: Option<String>) {
        *self.around.base.lock() = base;
    }

    /// These are the configured clients from now on.
    pub fn with_clients<'a>(&self, clients: impl IntoIterator<Item = &'a OAuthClient>) {
        self.around.is_ambiguous.store(redirect::is_ambiguous(clients), Ordering::SeqCst);
    }

    /// The host where browsers find this gateway, and its port where that is not the usual one.
    pub fn host(&self) -> Option<String> {
        let base: Uri = self.around.base.lock().as_ref()?.parse().ok()?;
        base.authority().map(ToString::to_string)
    }

    /// Enters a server at `url`, as far as it is this caller's, or all of theirs.
    pub fn enter(
        &self,
        server: &Arc<str>,
        whose: Option<Whose>,
        url: Uri,
        config: OAuthClient,
    ) -> Arc<Grant> {
        let mut grant = Grant::new((server, whose), url, config, self.around.clone());
        let mut grants = self.grants.lock();
        grants.retain(|known| known.strong_count() > 0);
        let mut newest = grants.iter().rev().filter_map(Weak::upgrade);
        if let Some(before) = newest.find(|known| known.is_to(server, grant.whose.as_ref())) {
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

    fn of(&self, server: &str, whose: Option<&Whose>) -> Result<Arc<Grant>, Fault> {
        self.all().into_iter().find(|grant| grant.is_to(server, whose)).ok_or(Fault::NoServer)
    }

    /// Takes what a browser brings back: the path and the query of its URL, and its cookies. Returns the server to which
    /// consent was given, and whose that is.
    ///
    /// # Errors
    /// Why none was; the server, where that is known.
    pub async fn finish(
        &self,
        (path, query): (&str, &str),
        cookies: &[&str],
    ) -> Result<(Arc<str>, Option<Whose>), (Fault, Option<Arc<str>>)> {
        let brought = Brought::read(query).ok_or((Fault::UnknownState, None))?;
        let state = brought.state.as_deref().filter(|state| !state.is_empty());
        let named = |state| self.all().into_iter().find_map(|grant| Some((grant.named(state)?, grant)));
        let (asked, grant) = state.and_then(named).ok_or((Fault::UnknownState, None))?;
        let (server, whose) = (grant.server.clone(), grant.whose.clone());
        if !asked.began_with(cookies, self.around.is_secure()) {
            tracing::warn!(%server, "somebody comes back from giving consent in another browser than it began in");
            return Err((Fault::OtherBrowser, Some(server)));
        }
        if let Some(fault) = self.mixed_up(path, &brought, &grant, &asked) {
            tracing::warn!(%server, issuer = %asked.wanted.service.issuer, "consent to it was not given: {fault}");
            return Err((fault, Some(server)));
        }
        // Boxed away from whoever waits: once begun it goes on, though the browser leaves.
        let finished = tokio::spawn(async move {
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
                let by = whose.as_ref().map_or("all", |whose| &whose.id);
                tracing::info!(server = %server, %by, "consent to it was given");
                Ok((server, whose))
            }
            Err(fault) => {
                tracing::warn!(server = %server, "consent to it was not given: {fault}");
                Err((fault, Some(server)))
            }
        }
    }

    /// The reason for which an answer can be another authorization server's than the one that was asked (RFC 9700, 4.4):
    /// nothing of it may be sent on.
    fn mixed_up(&self, path: &str, brought: &Brought, grant: &Grant, asked: &Asked) -> Option<Fault> {
        let service = &asked.wanted.service;
        if !asked.wanted.client.redirect.ends_with(path) {
            return Some(Fault::OtherRedirect);
        }
        if !brought.is_from(service) {
            return Some(Fault::OtherIssuer);
        }
        let is_ambiguous = || self.around.is_ambiguous.load(Ordering::SeqCst);
        if brought.issuer.is_some() || !redirect::is_shared(&grant.config) || !is_ambiguous() {
            return None;
        }
        let redirect = self.around.redirect(&redirect::issuer_path(&service.issuer)).unwrap_or_default();
        Some(Fault::IssuerUnsaid { issuer: service.issuer.clone(), redirect })
    }

    /// Exchanges tokens that end soon, beside everything else.
    pub fn tick(&self) {
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
