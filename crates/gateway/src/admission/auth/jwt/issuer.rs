//! One issuer of tokens: its configuration, and its keys, which are fetched on demand and cached. An unknown key
//! triggers another fetch, and so does a wrong signature, because a new key may have the same name as an old one.
//! Fetches are rate-limited regardless of what clients send.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use aws_lc_rs::signature::ParsedPublicKey;
use config::{Algorithm, Jwt};
use engine::credential::Token;
use engine::credential::claims::{self, Accepted, TokenRequirements};
use http::{StatusCode, Uri};
use tokio::sync::Mutex;

use super::super::denied::CredentialDenial;
use super::super::resource::spellings;
use super::super::{InvalidSetting, Moment};
use super::discovery;
use super::keys::{KeyMatch, KeySet};
use upstream::web::{GetRequest, Web, is_safe};

/// The age at which keys are fetched again.
const FRESH: Duration = Duration::from_mins(10);
/// The age up to which cached keys are used if they cannot be fetched again.
const STALE: Duration = Duration::from_hours(1);
/// The average time between fetches, once the first few have been made.
const BETWEEN: Duration = Duration::from_secs(10);
/// The number of fetches that may follow one another immediately: the first one, and those that a key rotation at that
/// moment causes.
const AT_ONCE: u32 = 3;
/// The number of fetches in succession that wrong signatures may cause. Anybody can send wrong signatures, so one fetch
/// is reserved for unknown key names.
const AT_ONCE_FOR_ANYBODY: u32 = AT_ONCE - 1;
/// The time limit for one fetch, including discovery.
const WITHIN: Duration = Duration::from_secs(5);
/// The maximum size of an accepted key set, in bytes.
const LONGEST: usize = 256 * 1024;

/// One configured issuer.
#[derive(Debug)]
pub(in crate::admission::auth) struct Issuer {
    url: Box<str>,
    jwks: Option<Uri>,
    audiences: Box<[Box<str>]>,
    algorithms: Box<[Algorithm]>,
    /// The tolerated clock skew, in seconds.
    skew: u64,
    kept: ArcSwapOption<CachedKeys>,
    /// Locked during a fetch, so that one fetch serves all waiting requests.
    fetching: Mutex<Fetching>,
}

/// Keys, and the time at which they were fetched.
#[derive(Debug)]
struct CachedKeys {
    keys: KeySet,
    at: Duration,
}

/// The requirements for a token's key.
#[derive(Clone, Copy)]
struct KeyQuery<'a> {
    kid: Option<&'a str>,
    algorithm: Algorithm,
    /// Only keys that were fetched after this time are accepted; `None` accepts keys of any age.
    after: Option<Duration>,
}

#[derive(Debug, Default)]
struct Fetching {
    /// The address of the keys, once it has been discovered.
    place: Option<Uri>,
    /// The time after which earlier fetches no longer count towards the limit (GCRA).
    paid: Duration,
    /// The reason why the last fetch failed.
    failed: Option<String>,
}

impl Issuer {
    /// Creates the issuer that `config` describes. `resource` is the default audience of its tokens.
    pub(in crate::admission::auth) fn new(
        config: &Jwt,
        resource: Option<&str>,
    ) -> Result<Self, InvalidSetting> {
        let bad = |why: &str| InvalidSetting(format!("the issuer {}: {why}", config.issuer));
        let name = config.issuer.expose();
        let url: Uri = name.parse().map_err(|_| bad("not a valid URL"))?;
        let safe = "must be an https URL (http only on this machine)";
        if !is_safe(&url) || url.query().is_some() {
            return Err(bad(&format!("the name {safe} without a query")));
        }
        let jwks = config.jwks.as_ref().map(|place| place.expose().parse::<Uri>()).transpose();
        let jwks = jwks.map_err(|_| bad("the address of the issuer's keys is not a URL"))?;
        if jwks.as_ref().is_some_and(|keys| !is_safe(keys)) {
            return Err(bad(&format!("the address of the issuer's keys {safe}")));
        }
        let mut audiences: Vec<Box<str>> =
            config.audience.iter().map(|audience| audience.expose().into()).collect();
        if audiences.is_empty() {
            let resource = resource.ok_or_else(|| {
                bad("neither an audience of the issuer nor this gateway's resource is configured")
            })?;
            audiences.extend(spellings(resource));
        }
        if config.algorithms.is_empty() {
            return Err(bad("no algorithm is allowed"));
        }
        Ok(Self {
            url: name.into(),
            jwks,
            audiences: audiences.into(),
            algorithms: config.algorithms.clone().into(),
            skew: config.clock_skew.as_secs(),
            kept: ArcSwapOption::empty(),
            fetching: Mutex::default(),
        })
    }

    /// Returns the issuer's name in its tokens.
    pub(in crate::admission::auth) fn url(&self) -> &str {
        &self.url
    }

    /// Checks a token that names this issuer: algorithm, key, signature, claims.
    pub(in crate::admission::auth) async fn check(
        &self,
        token: &Token<'_>,
        web: &dyn Web,
        now: Moment,
    ) -> Result<Accepted, CredentialDenial> {
        if !self.algorithms.contains(&token.algorithm) {
            return Err(CredentialDenial::Bad("the token's algorithm is not allowed for this issuer"));
        }
        // Check the claims first: if they are wrong, no key has to be fetched. The claims are trusted only after the
        // check of the signature below.
        let expected = TokenRequirements { audiences: &self.audiences, skew: self.skew, now: now.unix() };
        let accepted = claims::check(&token.claims, &expected).map_err(CredentialDenial::Bad)?;
        let now = now.since_start;
        let wanted = KeyQuery { kid: token.kid.as_deref(), algorithm: token.algorithm, after: None };
        let kept = self.keys(wanted, web, now).await?;
        if verifies(kept.key(wanted)?, token) {
            return Ok(accepted);
        }
        // The issuer may have replaced this key with one of the same name.
        if kept.at < now {
            let newer = self.keys(KeyQuery { after: Some(kept.at), ..wanted }, web, now).await?;
            if newer.at > kept.at && verifies(newer.key(wanted)?, token) {
                return Ok(accepted);
            }
        }
        Err(CredentialDenial::Bad("the token's signature is wrong"))
    }

    /// Returns fresh keys that include the wanted one; if these cannot be fetched, returns the cached keys.
    async fn keys(
        &self,
        wanted: KeyQuery<'_>,
        web: &dyn Web,
        now: Duration,
    ) -> Result<Arc<CachedKeys>, CredentialDenial> {
        let has = |kept: &CachedKeys| wanted.may_be_in(kept);
        let serves = |kept: &CachedKeys| now < kept.at + FRESH && has(kept);
        let known = self.kept.load_full().filter(|kept| now < kept.at + STALE);
        if let Some(kept) = known.as_ref().filter(|kept| serves(kept)) {
            return Ok(Arc::clone(kept));
        }
        let known = known.filter(|kept| has(kept));
        let mut fetching = match (self.fetching.try_lock(), known) {
            (Ok(fetching), _) => fetching,
            // Another request is fetching newer keys. This request does not need them, so it does not wait.
            (Err(_), Some(kept)) => return Ok(kept),
            (Err(_), None) => {
                let turn = tokio::time::timeout(2 * WITHIN, self.fetching.lock()).await;
                turn.map_err(|_| self.unavailable(BETWEEN, "too many requests are waiting for these keys"))?
            }
        };
        // Another request may have fetched the keys in the meantime.
        if let Some(kept) = self.kept.load_full().filter(|kept| serves(kept)) {
            return Ok(kept);
        }
        if fetching.may(now, if wanted.after.is_some() { AT_ONCE_FOR_ANYBODY } else { AT_ONCE }) {
            match self.fetch(&mut fetching, web).await {
                Ok(keys) => {
                    fetching.failed = None;
                    self.kept.store(Some(Arc::new(CachedKeys { keys, at: now })));
                }
                Err(why) => {
                    tracing::warn!(issuer = &*self.url, why, "cannot fetch the keys of a token issuer");
                    fetching.failed = Some(why);
                }
            }
        }
        let why = fetching.failed.as_deref().unwrap_or("the cached keys are too old");
        let kept = self.kept.load_full().filter(|kept| now < kept.at + STALE);
        kept.ok_or_else(|| self.unavailable(BETWEEN, why))
    }

    async fn fetch(&self, fetching: &mut Fetching, web: &dyn Web) -> Result<KeySet, String> {
        let fetched = tokio::time::timeout(WITHIN, async {
            let place = match self.jwks.clone().or_else(|| fetching.place.take()) {
                Some(place) => place,
                None => discovery::keys_of(&self.url, web, WITHIN).await?,
            };
            let keys = self.fetch_from(&place, web).await?;
            // An address that serves no keys is forgotten, and discovered again.
            fetching.place = Some(place);
            Ok(keys)
        });
        fetched.await.unwrap_or_else(|_| Err("the issuer did not answer in time".to_owned()))
    }

    async fn fetch_from(&self, place: &Uri, web: &dyn Web) -> Result<KeySet, String> {
        let get = GetRequest { url: place, authorization: None, cap: LONGEST, within: WITHIN };
        let answer = web.get(get).await.map_err(|error| error.to_string())?;
        if answer.status != StatusCode::OK {
            return Err(format!("{place} answered HTTP {}", answer.status.as_u16()));
        }
        let keys = KeySet::read(&answer.body, &self.algorithms);
        let keys = keys.ok_or_else(|| format!("the answer from {place} is not a key set (RFC 7517)"))?;
        tracing::debug!(issuer = &*self.url, ?keys, "fetched the keys of a token issuer");
        if keys.is_empty() {
            return Err(format!("{place} has no key for a configured algorithm"));
        }
        Ok(keys)
    }

    fn unavailable(&self, retry: Duration, why: &str) -> CredentialDenial {
        CredentialDenial::Unavailable(format!("cannot get the keys of {}: {why}", self.url), retry)
    }
}

impl CachedKeys {
    /// Returns the wanted key, regardless of the age of the set.
    fn key(&self, wanted: KeyQuery<'_>) -> Result<&ParsedPublicKey, CredentialDenial> {
        match self.keys.find(wanted.kid, wanted.algorithm) {
            KeyMatch::Key(key) => Ok(key),
            KeyMatch::Unfit(why) => Err(CredentialDenial::Bad(why)),
            KeyMatch::Unknown => Err(CredentialDenial::Bad("the token's issuer has no key for this token")),
        }
    }
}

impl KeyQuery<'_> {
    fn may_be_in(&self, kept: &CachedKeys) -> bool {
        self.after.is_none_or(|after| kept.at > after)
            && !matches!(kept.keys.find(self.kid, self.algorithm), KeyMatch::Unknown)
    }
}

impl Fetching {
    /// Returns true if another fetch may begin, and counts that fetch.
    fn may(&mut self, now: Duration, at_once: u32) -> bool {
        let may = self.paid <= now + BETWEEN * (at_once - 1);
        if may {
            self.paid = self.paid.max(now) + BETWEEN;
        }
        may
    }
}

fn verifies(key: &ParsedPublicKey, token: &Token<'_>) -> bool {
    key.verify_sig(token.signed, &token.signature).is_ok()
}
