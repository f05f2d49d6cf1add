//! Consent: this gateway as an OAuth client of its upstream servers, on behalf of their users (MCP 2025-11-25,
//! authorization). If a server refuses a request for lack of a token, the server's authorization server is
//! discovered; a browser goes there and returns with a code; the code is exchanged for tokens, which are stored,
//! sent only to the server that required them, and renewed before they expire. This module must not know links,
//! clients or the requests to the server.
//!
//! | file | is for |
//! |---|---|
//! | `grant` | one server: the tokens that its user allowed, and ways to get new ones |
//! | `search` | the authorization server and the scopes for a consent |
//! | `discovery`, `metadata` | the authorization server, and checks of its metadata |
//! | `client` | Dragoman's client at an authorization server |
//! | `caller_id` | the owner of a consent |
//! | `redirect` | the paths to which browsers return, one for each issuer |
//! | `start` | the page on which a browser starts, and the secret cookie that it is given |
//! | `consent_request` | open requests, and the parameters with which a browser returns |
//! | `tokens` | the exchange of codes and refresh tokens for tokens |
//! | `renewal` | the renewal of tokens |
//! | `management` | management of consents |
//! | `token_store` | the token storage, which outlives the process |
//! | `shared` | consents that several gateways share |
//! | `messages` | messages about refusals, without tokens |
//! | `fetcher` | the HTTP port: allowed hosts, deadlines, size caps |
//! | `form`, `secret` | names and values in URLs; texts that are never displayed |
//!
//! If callers are authenticated, each caller gives its own consent, and the caller's tokens are used for that
//! caller only. If callers are not authenticated, or if the configuration says so, one consent applies to all
//! callers of the server: the user who gives it allows all of them to use the account.

mod caller_id;
mod client;
mod client_credentials;
mod consent_request;
mod discovery;
mod fetcher;
pub mod form;
mod grant;
mod management;
mod messages;
mod metadata;
mod redirect;
mod renewal;
mod search;
mod secret;
mod shared;
mod start;
mod token_store;
mod tokens;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use config::OAuthClient;
use http::Uri;
use parking_lot::Mutex;

pub use caller_id::CallerId;
pub use consent_request::process_of;
pub use grant::{Grant, GrantSettings};
pub use management::KnownConsent;
pub use redirect::is_callback;
pub use shared::{ConsentVersion, RenewalLock, SharedConsent, SharedConsents, Sharing};
pub use start::ConsentStart;

use consent_request::{CallbackParameters, ConsentRequest};
use fetcher::OAuthFetcher;
use token_store::TokenStore;

use crate::web::is_local;

/// The path below which browsers start a consent.
pub const START: &str = "/oauth/consent/";

/// The state that all grants share.
struct OAuthProcess {
    outside: OAuthFetcher,
    kept: TokenStore,
    /// The gateway's public address; `None` if it has none.
    base: Mutex<Option<String>>,
    /// True if codes of several issuers can arrive at the redirect path of manually registered clients.
    is_ambiguous: AtomicBool,
    /// The storage that several gateways share; empty for a gateway that works alone.
    shared: OnceLock<Arc<dyn SharedConsents>>,
    /// The number by which the other gateways recognize this process in addresses; 0 without other gateways.
    number: AtomicU32,
}

impl OAuthProcess {
    /// Returns the redirect URI with this path.
    fn redirect(&self, path: &str) -> Option<String> {
        self.base.lock().as_ref().map(|base| format!("{base}{path}"))
    }

    /// Returns the address at which a consent begins, without its last segment.
    fn start(&self) -> Option<String> {
        self.base.lock().as_ref().map(|base| format!("{base}{START}"))
    }

    /// Returns the URL of a client document at this path; `None` unless authorization servers can fetch the document.
    fn document(&self, path: &str) -> Option<String> {
        let base = self.base.lock().clone()?;
        let url: Uri = base.parse().ok()?;
        let can_be_fetched = url.scheme_str() == Some("https") && !is_local(&url);
        can_be_fetched.then(|| format!("{base}{path}"))
    }

    /// Returns true if browsers reach this gateway over TLS.
    fn is_secure(&self) -> bool {
        self.base.lock().as_ref().is_some_and(|base| base.starts_with("https:"))
    }
}

/// A page on which a user gives consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The page's address. Anybody who knows the address can give a consent in place of another user, so the address is
    /// not logged.
    pub url: String,
    /// A name for the page that reveals nothing about it.
    pub name: String,
}

/// The state of the consent to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// True if there are tokens.
    pub given: bool,
    /// True if the server refuses the current tokens, and a user has to give consent.
    pub wanted: bool,
    /// The scopes that the user allowed.
    pub scopes: Vec<String>,
    /// The time at which the token expires, in seconds since 1970, if it is known.
    pub ends: Option<u64>,
    /// True if the token can be renewed without the user.
    pub renewable: bool,
}

/// The human-readable reason why there is no consent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConsentFault {
    /// No server with this name can require consent.
    #[error(
        "no server with this name can require consent; only servers with a URL and without an `Authorization` header can"
    )]
    NoServer,
    /// Consent cannot be requested.
    #[error("consent cannot be requested: {0}")]
    NobodyAsked(String),
    /// The browser's `state` belongs to no open request.
    #[error("this request is unknown: it has already been answered, or it has expired")]
    UnknownState,
    /// The browser is not the one that started the request.
    #[error("this browser did not start the request, or it blocks cookies")]
    OtherBrowser,
    /// The answer claims to come from another authorization server.
    #[error("the answer does not come from the authorization server that was asked")]
    OtherIssuer,
    /// The browser returned to the redirect URI of another issuer.
    #[error("the answer arrived at the redirect URI of another authorization server")]
    OtherRedirect,
    /// The answer does not name its issuer, and several issuers use this redirect URI.
    #[error(
        "the answer does not name its authorization server (`iss`), and several authorization servers use \
         this redirect URI; register {redirect} at {issuer} instead, and set `issuerCallback: true` below \
         `oauth` of this server"
    )]
    IssuerUnsaid {
        /// The authorization server to which the request was sent.
        issuer: String,
        /// The redirect URI of that authorization server.
        redirect: String,
    },
    /// The answer has no code.
    #[error("the response has no authorization code")]
    NoCode,
    /// The user, or the authorization server, declined.
    #[error("consent was not given: {0}")]
    Declined(String),
    /// The exchange of the code failed.
    #[error("the authorization server issued no token: {0}")]
    NotExchanged(String),
    /// There is no refresh token.
    #[error("there is no refresh token")]
    NoRefreshToken,
    /// The exchange of the refresh token failed.
    #[error("the authorization server issued no new token: {why}")]
    RefreshFailed {
        /// The reason.
        why: String,
        /// True if later attempts will not succeed either.
        for_good: bool,
    },
}

/// The consents to all servers.
pub struct Consents {
    around: Arc<OAuthProcess>,
    /// The grants of all servers; if a server was reconfigured, its newest grant comes last.
    grants: Mutex<Vec<Weak<Grant>>>,
}

impl Consents {
    /// Creates an empty registry; tokens are stored in `folder`, or in memory if there is no folder.
    pub fn new(folder: Option<PathBuf>, connect_timeout: Duration) -> Self {
        let outside = OAuthFetcher::new(connect_timeout);
        let is_ambiguous = AtomicBool::new(false);
        let around = OAuthProcess {
            outside,
            kept: TokenStore::new(folder),
            base: Mutex::default(),
            is_ambiguous,
            shared: OnceLock::new(),
            number: AtomicU32::new(0),
        };
        Self { around: Arc::new(around), grants: Mutex::default() }
    }

    /// Changes the time limit for connecting to an authorization server.
    pub fn set_connect_timeout(&self, within: Duration) {
        self.around.outside.set_connect_timeout(within);
    }

    /// Sets the gateway's public address, without a trailing slash; `None` if it has none.
    pub fn serve_at(&self, base: Option<String>) {
        *self.around.base.lock() = base;
    }

    /// Returns the document at this path, which describes Dragoman's client to one authorization server; `None` if there
    /// is no such document.
    pub fn client_document(&self, path: &str) -> Option<String> {
        let redirect = redirect::redirect_of_document(path)?;
        let (url, home) = (self.around.document(path)?, self.around.redirect("")?);
        Some(client::document(&url, &self.around.redirect(&redirect)?, &home))
    }

    /// Sets the configured clients.
    pub fn with_clients<'a>(&self, clients: impl IntoIterator<Item = &'a OAuthClient>) {
        self.around.is_ambiguous.store(redirect::is_ambiguous(clients), Ordering::SeqCst);
    }

    /// Returns the host of the gateway's public address, with its port unless that is the default port.
    pub fn host(&self) -> Option<String> {
        let base: Uri = self.around.base.lock().as_ref()?.parse().ok()?;
        base.authority().map(ToString::to_string)
    }

    /// Shares all consents with other gateways. `number` is the number by which they recognize this process in addresses; 0 if
    /// they pass no requests on.
    pub fn share(&self, shared: Arc<dyn SharedConsents>, number: u32) {
        // This is set once: a process joins its cluster at its start.
        let _ = self.around.shared.set(shared);
        self.around.number.store(number, Ordering::Relaxed);
    }

    /// Takes over shared consents: those with these names, or all of them. Returns the consents with other tokens: the server
    /// and the owner of each.
    pub async fn follow(&self, names: Option<&[String]>) -> Vec<(Arc<str>, Option<CallerId>)> {
        let mut changed = Vec::new();
        for grant in self.all() {
            let is_named = names.is_none_or(|names| names.contains(&grant.shared_name()));
            if is_named && grant.follow().await {
                changed.push((grant.server.clone(), grant.caller.clone()));
            }
        }
        changed
    }

    /// Registers a server at `url`, for this caller or for all callers; returns its grant.
    pub fn enter(&self, server: &Arc<str>, caller: Option<CallerId>, settings: GrantSettings) -> Arc<Grant> {
        let mut grant = Grant::new((server, caller), settings, self.around.clone());
        let mut grants = self.grants.lock();
        grants.retain(|known| known.strong_count() > 0);
        let mut newest = grants.iter().rev().filter_map(Weak::upgrade);
        if let Some(before) = newest.find(|known| known.is_to(server, grant.caller.as_ref())) {
            grant = grant.in_place_of(&before);
        }
        let grant = Arc::new(grant);
        grants.push(Arc::downgrade(&grant));
        grant
    }

    /// Returns all grants, the newest first.
    fn all(&self) -> Vec<Arc<Grant>> {
        self.grants.lock().iter().rev().filter_map(Weak::upgrade).collect()
    }

    fn of(&self, server: &str, caller: Option<&CallerId>) -> Result<Arc<Grant>, ConsentFault> {
        self.all().into_iter().find(|grant| grant.is_to(server, caller)).ok_or(ConsentFault::NoServer)
    }

    /// Handles the return of a browser, given the path and the query of the requested URL, and the browser's cookies.
    /// Returns the server to which consent was given, and the owner of the consent.
    ///
    /// # Errors
    /// Returns the reason why no consent was given, and the server, if it is known.
    pub async fn finish(
        &self,
        (path, query): (&str, &str),
        cookies: &[&str],
    ) -> Result<(Arc<str>, Option<CallerId>), (ConsentFault, Option<Arc<str>>)> {
        let callback = CallbackParameters::read(query).ok_or((ConsentFault::UnknownState, None))?;
        let state = callback.state.as_deref().filter(|state| !state.is_empty());
        let named = |state| self.all().into_iter().find_map(|grant| Some((grant.named(state)?, grant)));
        let (asked, grant) = state.and_then(named).ok_or((ConsentFault::UnknownState, None))?;
        let (server, caller) = (grant.server.clone(), grant.caller.clone());
        if !asked.began_with(cookies, self.around.is_secure()) {
            tracing::warn!(%server, "the consent callback came from a different browser than the \
             one that started the consent");
            return Err((ConsentFault::OtherBrowser, Some(server)));
        }
        if let Some(fault) = self.mixed_up(path, &callback, &grant, &asked) {
            tracing::warn!(%server, issuer = %asked.wanted.service.issuer, "consent was not given: {fault}");
            return Err((fault, Some(server)));
        }
        // This runs in a separate task, so that the exchange finishes even if the browser disconnects.
        let finished = transport::task::spawn(async move {
            if let Some(error) = &callback.error {
                let more = callback.description.map(|text| format!(": {text}")).unwrap_or_default();
                return Err(ConsentFault::Declined(tokens::shown(&format!("{error}{more}"))));
            }
            let code = callback.code.filter(|code| !code.is_empty()).ok_or(ConsentFault::NoCode)?;
            grant.redeem(asked, &code).await
        });
        let finished = finished.await.unwrap_or_else(|e| Err(ConsentFault::NotExchanged(e.to_string())));
        match finished {
            Ok(()) => {
                let by = caller.as_ref().map_or("all", |caller| &caller.id);
                tracing::info!(server = %server, %by, "consent was given");
                Ok((server, caller))
            }
            Err(fault) => {
                tracing::warn!(server = %server, "consent was not given: {fault}");
                Err((fault, Some(server)))
            }
        }
    }

    /// Returns the fault if a response may come from an authorization server other than the one that was asked (RFC
    /// 9700, 4.4). No part of such a response may be passed on.
    fn mixed_up(
        &self,
        path: &str,
        callback: &CallbackParameters,
        grant: &Grant,
        asked: &ConsentRequest,
    ) -> Option<ConsentFault> {
        let service = &asked.wanted.service;
        if !asked.wanted.client.redirect.ends_with(path) {
            return Some(ConsentFault::OtherRedirect);
        }
        if !callback.is_from(service) {
            return Some(ConsentFault::OtherIssuer);
        }
        let is_ambiguous = || self.around.is_ambiguous.load(Ordering::SeqCst);
        if callback.issuer.is_some() || !redirect::is_shared(&grant.config) || !is_ambiguous() {
            return None;
        }
        let redirect = self.around.redirect(&redirect::issuer_path(&service.issuer)).unwrap_or_default();
        Some(ConsentFault::IssuerUnsaid { issuer: service.issuer.clone(), redirect })
    }

    /// Renews tokens that will expire soon, and passes on changes that the other gateways lack, in the background.
    pub fn tick(&self) {
        let now = grant::unix();
        for grant in self.all().into_iter().filter(|grant| grant.is_unshared()) {
            transport::task::spawn(async move { grant.follow().await });
        }
        for grant in self.all().into_iter().filter(|grant| grant.is_due(now)) {
            transport::task::spawn(grant.renew_if_due());
        }
    }
}

impl std::fmt::Debug for Consents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consents").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;
