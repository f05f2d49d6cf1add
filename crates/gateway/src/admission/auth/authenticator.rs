//! Authentication: turns a request's headers into a [`Principal`], by any of the configured methods. This module must
//! not know what a principal may do.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use config::{Auth, address_block};
use engine::access::{Principal, Scheme};
use engine::credential::Token;
use engine::credential::authorization::{self, ShownCredential};
use engine::fault::Condition;
use http::HeaderMap;
use login::AuthorizationServer;
use tracing::field::display;

use super::denied::{CredentialDenial, Denied, NotAdmitted};
use super::digest::Digest;
use super::guesses::Guesses;
use super::jwt::Issuer;
use super::keys::{KeyBook, Keys};
use super::login::SignIn;
use super::near;
use super::protected::{Protected, protected};
use super::results::RecentResults;
use super::site::Site;
use super::users::Users;
use super::{InvalidSetting, Moment};
use upstream::web::Web;

/// The time for which a token is trusted without another check; a revoked token remains usable for this long.
const TOKEN_HOLDS: Duration = Duration::from_secs(30);
/// The time for which an API key is trusted without another check. This time is short, because keys can be revoked at
/// any time.
const KEY_HOLDS: Duration = Duration::from_secs(5);
/// The time for which the password of a configured user is trusted without another check; configured users do not
/// change.
pub(super) const USER_HOLDS: Duration = Duration::from_mins(5);
/// The time for which a repeated wrong password is refused without a check.
pub(super) const WRONG_HOLDS: Duration = Duration::from_secs(3);

/// The number of leading bits of an IPv6 address that identify a client.
const IPV6_BITS: u8 = 64;

/// The result of a look-up that sends no request to another server.
enum CacheLookup<'h> {
    /// The credential's principal.
    Holder(Arc<Principal>),
    /// The credential is not among the recent results; the values are the credential's bytes and its digest.
    Unknown(&'h [u8], Digest),
}

/// Authenticates callers. Clones share the cached results; each clone sends its requests to other servers over its own
/// connections.
#[derive(Clone)]
pub struct Authenticator {
    pub(super) methods: Arc<AuthMethods>,
    web: Arc<dyn Web>,
}

/// All methods of authentication, and their recent results.
pub(super) struct AuthMethods {
    bearer: Option<Digest>,
    keys: Option<Keys>,
    pub(super) users: Users,
    pub(super) site: Option<Site>,
    pub(super) login: Option<SignIn>,
    issuers: Vec<Issuer>,
    protected: Protected,
    pub(super) results: RecentResults,
    /// The counts of wrong passwords; `None` if wrong passwords are not limited.
    guesses: Option<Guesses>,
    anyone: Arc<Principal>,
    holder: Arc<Principal>,
    /// True if callers have to authenticate.
    asks: bool,
    start: Instant,
}

impl Authenticator {
    /// Sets up the methods that `config` names. `book` looks up API keys, `server` signs people in; `web` sends requests
    /// to sites and token issuers.
    ///
    /// # Errors
    /// Returns the invalid setting and the reason.
    pub(crate) fn new(
        config: &Auth,
        (book, server): (Option<Arc<dyn KeyBook>>, Option<Arc<AuthorizationServer>>),
        web: Arc<dyn Web>,
    ) -> Result<Self, InvalidSetting> {
        Ok(Self { methods: Arc::new(AuthMethods::new(config, book, server)?), web })
    }

    /// Returns the same authenticator, with the connections of another thread.
    pub(crate) fn over(&self, web: Arc<dyn Web>) -> Self {
        Self { methods: Arc::clone(&self.methods), web }
    }

    /// Returns true if callers have to authenticate.
    pub fn asks(&self) -> bool {
        self.methods.asks
    }

    /// Identifies the sender of a request with these headers. `client` is the client's address (`None` on a pipe).
    /// Returns immediately if the credential was checked a short time ago.
    pub(crate) async fn identify(
        &self,
        headers: &HeaderMap,
        client: Option<IpAddr>,
    ) -> Result<Arc<Principal>, NotAdmitted> {
        if !self.methods.asks {
            return Ok(Arc::clone(&self.methods.anyone));
        }
        self.methods.forget_ended_logins();
        let (methods, client) = (&*self.methods, client.map(|address| address_block(address, IPV6_BITS)));
        let (now, counts) = (methods.start.elapsed(), methods.guesses.as_ref().zip(client));
        let identified = match methods.recall(headers, now) {
            Ok(CacheLookup::Holder(principal)) => {
                if let Some((guesses, address)) = counts {
                    let value = authorization::value(headers).ok().flatten();
                    guesses.admit(principal.scheme, (value, address), now).map_err(NotAdmitted::TooSoon)?;
                }
                return Ok(principal);
            }
            Ok(CacheLookup::Unknown(value, digest)) => {
                // A credential that was refused a moment ago is not a new attempt.
                let attempt = match counts.filter(|_| methods.results.wrong.get(&digest, now).is_none()) {
                    Some((guesses, address)) => {
                        let is_familiar = methods.results.known.last(&digest).is_some();
                        let begun = guesses.begin((value, address), (digest, is_familiar), now);
                        begun.map_err(NotAdmitted::TooSoon)?
                    }
                    None => None,
                };
                // Read the calendar clock only here, where it is needed.
                let found = self.find(value, (digest, client), methods.now()).await;
                let failed = matches!(&found, Err(denied) if denied.condition == Condition::BadCredentials);
                if let Some(attempt) = attempt.filter(|_| !failed) {
                    attempt.take_back();
                }
                found
            }
            Err(denied) => Err(denied),
        };
        if let Err(denied) = &identified {
            let client = client.map(display);
            tracing::info!(client, condition = ?denied.condition, why = denied.message, "rejected a request");
        }
        identified.map_err(NotAdmitted::Denied)
    }

    /// Identifies a sender at a given time.
    #[cfg(test)]
    pub(super) async fn identify_at(
        &self,
        headers: &HeaderMap,
        now: Moment,
    ) -> Result<Arc<Principal>, Denied> {
        match self.methods.recall(headers, now.since_start)? {
            CacheLookup::Holder(principal) => Ok(principal),
            CacheLookup::Unknown(value, digest) => self.find(value, (digest, None), now).await,
        }
    }

    async fn find(
        &self,
        value: &[u8],
        from: (Digest, Option<IpAddr>),
        now: Moment,
    ) -> Result<Arc<Principal>, Denied> {
        // Boxed, because every connection reserves space for this future, which is seldom needed.
        let found = Box::pin(self.methods.find(value, from, &*self.web, now)).await;
        found.map_err(|refused| self.methods.denied(refused))
    }

    /// Returns true if credentials can expire or be revoked while their sessions and streams are open.
    pub(crate) fn takes_what_ends(&self) -> bool {
        let AuthMethods { keys, issuers, site, login, .. } = &*self.methods;
        keys.is_some() || !issuers.is_empty() || site.is_some() || login.is_some()
    }

    /// Looks up the keys that were revoked since the last look-up; returns true if there are any.
    pub(crate) async fn look_again(&self) -> bool {
        let Some(keys) = &self.methods.keys else { return false };
        let has_news = keys.look_again().await;
        if has_news {
            self.methods.results.known.clear();
            self.methods.results.near.forget();
        }
        has_news
    }

    /// Returns true if the key of this principal was revoked, as of the last look-up, or if its sign-in has ended.
    pub(crate) fn is_revoked(&self, principal: &Principal) -> bool {
        let AuthMethods { keys, login, .. } = &*self.methods;
        keys.as_ref().is_some_and(|keys| keys.is_revoked(principal))
            || login.as_ref().is_some_and(|login| login.has_ended(principal))
    }

    /// Forgets failed attempts that no longer count.
    pub(crate) fn sweep(&self) {
        if let Some(guesses) = &self.methods.guesses {
            guesses.sweep(self.methods.start.elapsed());
        }
    }

    /// Returns true if these headers contain an API key or a signed token that was valid when it was last checked.
    /// Such credentials cannot be guessed.
    pub(crate) fn is_familiar(&self, headers: &HeaderMap) -> bool {
        let Ok(Some(value)) = authorization::value(headers) else { return false };
        let (last, now) = (
            self.methods.results.known.last(&self.methods.results.digests.of(value)),
            self.methods.now().unix_ms,
        );
        let lasts = |whose: &Principal| whose.until_ms.is_none_or(|end| now < end);
        last.is_some_and(|whose| {
            matches!(whose.scheme, Scheme::Key | Scheme::Login | Scheme::Token) && lasts(&whose)
        })
    }

    /// Returns the time, in milliseconds since 1970.
    pub fn unix_ms(&self) -> u64 {
        self.methods.now().unix_ms
    }

    /// Returns the metadata of this gateway as a protected resource (RFC 9728) if `path` is a path of that metadata.
    pub(crate) fn metadata(&self, path: &str) -> Option<Bytes> {
        self.methods.protected.resource.as_ref()?.metadata(path)
    }
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authenticator").field("asks", &self.methods.asks).finish_non_exhaustive()
    }
}

impl AuthMethods {
    fn new(
        config: &Auth,
        book: Option<Arc<dyn KeyBook>>,
        server: Option<Arc<AuthorizationServer>>,
    ) -> Result<Self, InvalidSetting> {
        let results = RecentResults::new()?;
        let resource_url = config.oauth.as_ref().map(|own| own.resource.expose());
        let issuers = config.jwt.iter().map(|issuer| Issuer::new(issuer, resource_url));
        let issuers: Vec<Issuer> = issuers.collect::<Result<_, _>>()?;
        let bearer = config.bearer.as_ref().map(|bearer| {
            let token = bearer.token.expose();
            let sound = authorization::is_token(token).then(|| results.digests.of(token.as_bytes()));
            sound
                .ok_or_else(|| InvalidSetting("the bearer token must be visible ASCII without spaces".into()))
        });
        let bearer = bearer.transpose()?;
        let keys = match (config.keys, book) {
            (true, None) => {
                return Err(InvalidSetting("API keys are enabled, but there is no key store".to_owned()));
            }
            (taken, book) => book.filter(|_| taken).map(Keys::new),
        };
        let login = match (&config.login, server) {
            (Some(_), None) => {
                return Err(InvalidSetting(
                    "people can sign in, but there is no state folder for their sign-ins".to_owned(),
                ));
            }
            (asked, server) => server.filter(|_| asked.is_some()).map(SignIn::new),
        };
        let users = Users::new(&config.users)?;
        let site = config.site.as_ref().map(Site::new).transpose()?;
        let mut protected = protected(config, &issuers)?;
        let challenges = &mut protected.challenges;
        challenges.bearer = bearer.is_some() || keys.is_some() || login.is_some() || !issuers.is_empty();
        challenges.basic = !users.is_empty() || site.is_some();
        Ok(Self {
            asks: challenges.bearer || challenges.basic,
            bearer,
            keys,
            users,
            site,
            login,
            issuers,
            protected,
            results,
            guesses: config.failures.map(Guesses::new).transpose()?,
            anyone: Arc::new(Principal::anyone()),
            holder: Arc::new(Principal::new("bearer", Scheme::Bearer)),
            start: Instant::now(),
        })
    }

    fn now(&self) -> Moment {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment {
            since_start: self.start.elapsed(),
            unix_ms: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Looks up the credential among recent results.
    fn recall<'h>(&self, headers: &'h HeaderMap, since_start: Duration) -> Result<CacheLookup<'h>, Denied> {
        let value = match authorization::value(headers) {
            Ok(Some(value)) => value,
            Ok(None) => return Err(Denied::missing(&self.protected.challenges)),
            Err(why) => return Err(self.denied(CredentialDenial::Bad(why))),
        };
        let tag = self.results.near.tag(value);
        if let Some(principal) = near::get(tag, since_start) {
            return Ok(CacheLookup::Holder(principal));
        }
        let digest = self.results.digests.of(value);
        Ok(match self.results.known.get_with_end(&digest, since_start) {
            Some((principal, until)) => {
                near::put(tag, Arc::clone(&principal), until);
                CacheLookup::Holder(principal)
            }
            None => CacheLookup::Unknown(value, digest),
        })
    }

    /// Looks up the credential at its source, and remembers the result.
    async fn find(
        &self,
        value: &[u8],
        (digest, client): (Digest, Option<IpAddr>),
        web: &dyn Web,
        now: Moment,
    ) -> Result<Arc<Principal>, CredentialDenial> {
        match authorization::read(value).map_err(CredentialDenial::Bad)? {
            ShownCredential::Bearer(token) => {
                let (principal, holds) = self.bearer(token, web, now).await?;
                // An unchanged principal keeps its `Arc`, so sessions recognize it by comparing pointers.
                let last = self.results.known.last(&digest).filter(|last| *last == principal);
                let principal = last.unwrap_or_else(|| self.results.counted.with(&principal));
                self.results.known.put(digest, Arc::clone(&principal), now.since_start + holds);
                Ok(principal)
            }
            ShownCredential::Basic(basic) => self.basic(basic, (digest, client), web, now).await,
        }
    }

    async fn bearer(
        &self,
        token: &str,
        web: &dyn Web,
        now: Moment,
    ) -> Result<(Arc<Principal>, Duration), CredentialDenial> {
        let digest = self.results.digests.of(token.as_bytes());
        if self.bearer.as_ref().is_some_and(|expected| expected.same(&digest)) {
            return Ok((Arc::clone(&self.holder), USER_HOLDS));
        }
        if let Some(keys) = self.keys.as_ref().filter(|_| store::keys::KeyText::is_meant(token)) {
            let principal = keys.check(token, now).await?;
            let left = principal.until_ms.map(|end| Duration::from_millis(end.saturating_sub(now.unix_ms)));
            return Ok((principal, left.map_or(KEY_HOLDS, |left| left.min(KEY_HOLDS))));
        }
        if let Some(login) = self.login.as_ref().filter(|_| login::is_access_token(token)) {
            return login.check(token, now).await;
        }
        if !self.issuers.is_empty() && Token::looks_like(token) {
            return self.token(token, web, now).await;
        }
        Err(CredentialDenial::Bad("unknown token"))
    }

    async fn token(
        &self,
        text: &str,
        web: &dyn Web,
        now: Moment,
    ) -> Result<(Arc<Principal>, Duration), CredentialDenial> {
        let token = Token::read(text).map_err(CredentialDenial::Bad)?;
        let issuer = token.issuer().and_then(|url| self.issuers.iter().find(|issuer| issuer.url() == url));
        let issuer = issuer.ok_or(CredentialDenial::Bad("tokens from this issuer are not accepted here"))?;
        let accepted = issuer.check(&token, web, now).await?;
        if self.protected.required.iter().any(|scope| !accepted.scopes.contains(scope)) {
            return Err(CredentialDenial::TooLittle);
        }
        let left = Duration::from_secs(accepted.ends).saturating_sub(Duration::from_millis(now.unix_ms));
        // Ids of principals that are identified by `sub` begin with `jwt:`, so no `sub` can impersonate a client.
        let scheme = if accepted.is_client { "jwt-client" } else { "jwt" };
        let id = format!("{scheme}:{}#{}", issuer.url(), accepted.subject);
        let principal = Principal {
            user: Some(accepted.subject.into()),
            scopes: accepted.scopes.into(),
            claims: Some(Arc::new(serde_json::Value::Object(token.claims))),
            until_ms: Some(accepted.ends.saturating_mul(1000)),
            ..Principal::new(&id, Scheme::Token)
        };
        Ok((Arc::new(principal), left.min(TOKEN_HOLDS)))
    }

    pub(super) fn denied(&self, refused: CredentialDenial) -> Denied {
        Denied::of(refused, &self.protected.challenges, &self.protected.required)
    }
}
