//! One issuer of tokens: what the configuration allows it, and its keys, fetched when they are needed and kept for a
//! while. A key that is not known is a reason to look again, and so is a wrong signature, since another key may have come
//! under the same name; but not more often than now and then, whatever clients show.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use aws_lc_rs::signature::ParsedPublicKey;
use engine::config::{Algorithm, Jwt};
use engine::credential::Token;
use engine::credential::claims::{self, Accepted, Expected};
use http::{StatusCode, Uri};
use tokio::sync::Mutex;

use super::super::denied::Refused;
use super::super::resource::spellings;
use super::super::{Moment, NotSound};
use super::discovery;
use super::keys::{Found, KeySet};
use upstream::web::{Get, Web, is_safe};

/// Keys are fetched again after this time.
const FRESH: Duration = Duration::from_mins(10);
/// Keys are used for so long when they cannot be fetched again.
const STALE: Duration = Duration::from_hours(1);
/// Fetches beyond the first few have so much time between them.
const BETWEEN: Duration = Duration::from_secs(10);
/// Fetches that may follow each other at once: the first one, and a rotation of keys just then.
const AT_ONCE: u32 = 3;
/// The same for wrong signatures, which anybody can show: one fetch is left for the name of a new key.
const AT_ONCE_FOR_ANYBODY: u32 = AT_ONCE - 1;
/// One fetch, with its discovery, may take so long.
const WITHIN: Duration = Duration::from_secs(5);
/// Longer sets of keys are refused, in bytes.
const LONGEST: usize = 256 * 1024;

/// One configured issuer.
#[derive(Debug)]
pub(in crate::auth) struct Issuer {
    url: Box<str>,
    jwks: Option<Uri>,
    audiences: Box<[Box<str>]>,
    algorithms: Box<[Algorithm]>,
    /// In seconds.
    skew: u64,
    kept: ArcSwapOption<Kept>,
    /// Held while keys are fetched, so that one fetch is for all who wait.
    fetching: Mutex<Fetching>,
}

/// Keys, and when they were fetched.
#[derive(Debug)]
struct Kept {
    keys: KeySet,
    at: Duration,
}

/// The key that a token needs.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    kid: Option<&'a str>,
    algorithm: Algorithm,
    /// It is not among those that were fetched at this time or before.
    after: Option<Duration>,
}

#[derive(Debug, Default)]
struct Fetching {
    /// Where the keys are, once it was discovered.
    place: Option<Uri>,
    /// The time when the fetches so far are paid off (GCRA).
    paid: Duration,
    /// The reason why the last one failed.
    failed: Option<String>,
}

impl Issuer {
    /// The issuer that `config` describes, for tokens whose audience is `resource` where it names none.
    pub(in crate::auth) fn new(config: &Jwt, resource: Option<&str>) -> Result<Self, NotSound> {
        let bad = |why: &str| NotSound(format!("the issuer {}: {why}", config.issuer));
        let name = config.issuer.expose();
        let url: Uri = name.parse().map_err(|_| bad("it is no URL"))?;
        let safe = "must be an https URL (http only on this machine)";
        if !is_safe(&url) || url.query().is_some() {
            return Err(bad(&format!("it {safe} without query")));
        }
        let jwks = config.jwks.as_ref().map(|place| place.expose().parse::<Uri>()).transpose();
        let jwks = jwks.map_err(|_| bad("the place of its keys is no URL"))?;
        if jwks.as_ref().is_some_and(|keys| !is_safe(keys)) {
            return Err(bad(&format!("the place of its keys {safe}")));
        }
        let mut audiences: Vec<Box<str>> =
            config.audience.iter().map(|audience| audience.expose().into()).collect();
        if audiences.is_empty() {
            let resource =
                resource.ok_or_else(|| bad("neither its audience nor this gateway's resource is said"))?;
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

    /// The issuer as its tokens name it.
    pub(in crate::auth) fn url(&self) -> &str {
        &self.url
    }

    /// Checks a token that names this issuer: algorithm, key, signature, claims.
    pub(in crate::auth) async fn check(
        &self,
        token: &Token<'_>,
        web: &dyn Web,
        now: Moment,
    ) -> Result<Accepted, Refused> {
        if !self.algorithms.contains(&token.algorithm) {
            return Err(Refused::Bad("its algorithm is not allowed for its issuer"));
        }
        // What is wrong without a key costs no fetch; what is said of it is believed below.
        let expected = Expected { audiences: &self.audiences, skew: self.skew, now: now.unix() };
        let accepted = claims::check(&token.claims, &expected).map_err(Refused::Bad)?;
        let now = now.since_start;
        let wanted = Wanted { kid: token.kid.as_deref(), algorithm: token.algorithm, after: None };
        let kept = self.keys(wanted, web, now).await?;
        if verifies(kept.key(wanted)?, token) {
            return Ok(accepted);
        }
        // One of the same name may have taken its place since.
        if kept.at < now {
            let newer = self.keys(Wanted { after: Some(kept.at), ..wanted }, web, now).await?;
            if newer.at > kept.at && verifies(newer.key(wanted)?, token) {
                return Ok(accepted);
            }
        }
        Err(Refused::Bad("its signature is wrong"))
    }

    /// Keys that are fresh and have the wanted one; older or others where those cannot be had.
    async fn keys(&self, wanted: Wanted<'_>, web: &dyn Web, now: Duration) -> Result<Arc<Kept>, Refused> {
        let has = |kept: &Kept| wanted.may_be_in(kept);
        let serves = |kept: &Kept| now < kept.at + FRESH && has(kept);
        let known = self.kept.load_full().filter(|kept| now < kept.at + STALE);
        if let Some(kept) = known.as_ref().filter(|kept| serves(kept)) {
            return Ok(Arc::clone(kept));
        }
        let known = known.filter(|kept| has(kept));
        let mut fetching = match (self.fetching.try_lock(), known) {
            (Ok(fetching), _) => fetching,
            // Somebody is fetching newer ones, for which nobody has to wait who gets along with these.
            (Err(_), Some(kept)) => return Ok(kept),
            (Err(_), None) => {
                let turn = tokio::time::timeout(2 * WITHIN, self.fetching.lock()).await;
                turn.map_err(|_| self.unavailable(BETWEEN, "too many wait for them"))?
            }
        };
        // Somebody else may have fetched them in the meantime.
        if let Some(kept) = self.kept.load_full().filter(|kept| serves(kept)) {
            return Ok(kept);
        }
        if fetching.may(now, if wanted.after.is_some() { AT_ONCE_FOR_ANYBODY } else { AT_ONCE }) {
            match self.fetch(&mut fetching, web).await {
                Ok(keys) => {
                    fetching.failed = None;
                    self.kept.store(Some(Arc::new(Kept { keys, at: now })));
                }
                Err(why) => {
                    tracing::warn!(issuer = &*self.url, why, "cannot fetch the keys of an issuer of tokens");
                    fetching.failed = Some(why);
                }
            }
        }
        let why = fetching.failed.as_deref().unwrap_or("they are too old");
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
            // A place that serves no keys is forgotten, and discovered again.
            fetching.place = Some(place);
            Ok(keys)
        });
        fetched.await.unwrap_or_else(|_| Err("it has not answered in time".to_owned()))
    }

    async fn fetch_from(&self, place: &Uri, web: &dyn Web) -> Result<KeySet, String> {
        let get = Get { url: place, authorization: None, cap: LONGEST, within: WITHIN };
        let answer = web.get(get).await.map_err(|error| error.to_string())?;
        if answer.status != StatusCode::OK {
            return Err(format!("{place}: HTTP {}", answer.status.as_u16()));
        }
        let keys = KeySet::read(&answer.body, &self.algorithms);
        let keys = keys.ok_or_else(|| format!("{place}: no set of keys (RFC 7517)"))?;
        tracing::debug!(issuer = &*self.url, ?keys, "keys of an issuer of tokens");
        if keys.is_empty() {
            return Err(format!("{place}: none of its keys is for a configured algorithm"));
        }
        Ok(keys)
    }

    fn unavailable(&self, retry: Duration, why: &str) -> Refused {
        Refused::Unavailable(format!("the keys of {} cannot be had: {why}", self.url), retry)
    }
}

impl Kept {
    /// The key, whenever these were fetched.
    fn key(&self, wanted: Wanted<'_>) -> Result<&ParsedPublicKey, Refused> {
        match self.keys.find(wanted.kid, wanted.algorithm) {
            Found::Key(key) => Ok(key),
            Found::Unfit(why) => Err(Refused::Bad(why)),
            Found::Unknown => Err(Refused::Bad("its issuer has no such key")),
        }
    }
}

impl Wanted<'_> {
    fn may_be_in(&self, kept: &Kept) -> bool {
        self.after.is_none_or(|after| kept.at > after)
            && !matches!(kept.keys.find(self.kid, self.algorithm), Found::Unknown)
    }
}

impl Fetching {
    /// Returns true if one more fetch may begin, which then counts.
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
