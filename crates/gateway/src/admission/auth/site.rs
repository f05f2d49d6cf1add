//! A WordPress site as a user directory: the site checks names and passwords, and its answer decides. This module must
//! not know the headers of clients.

use std::sync::Arc;
use std::time::Duration;

use config::SiteCheck;
use engine::access::{Principal, Scheme};
use engine::credential::{Basic, authorization};
use engine::site_rights::{SETTINGS, SiteRights};
use http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::{Value, json};

use super::InvalidSetting;
use super::Moment;
use super::denied::CredentialDenial;
use super::turns::{CheckPermit, Turns};
use upstream::web::{Answer, GetRequest, Web, is_safe};

/// The maximum number of checks that run at the same time, and of checks that wait.
const AT_ONCE: usize = 8;
const IN_LINE: usize = 512;
/// The time limit for the site's answer.
const WITHIN: Duration = Duration::from_secs(10);
/// The maximum size of an accepted answer, in bytes. For a user with many capabilities, the answer has about 10 000
/// bytes.
const LONGEST: usize = 256 * 1024;
/// The time after which to retry, if the site does not specify one.
const RETRY: Duration = Duration::from_secs(10);
/// The time for which a user's streams stay open after the user's last request. A user who only listens sends no
/// requests, so the site would not be asked about the user again; the limit ends such streams.
const LASTS: Duration = Duration::from_mins(15);
/// The maximum length of an accepted user name, in bytes.
const LONGEST_NAME: usize = 256;

/// A site, and its requirements for users.
pub(super) struct Site {
    name: Box<str>,
    who_am_i: Uri,
    settings: Uri,
    capability: Box<str>,
    /// The time for which an answer is cached.
    pub(super) cache: Duration,
    pub(super) turns: Turns,
}

/// A user as `GET /wp/v2/users/me?context=edit` returns it (WordPress REST API, users).
#[derive(Deserialize)]
struct User {
    id: u64,
    #[serde(default)]
    username: String,
    #[serde(default)]
    slug: String,
    #[serde(default)]
    roles: Value,
    /// The capabilities: an object, or an empty list, which PHP sends instead of an empty object.
    #[serde(default)]
    capabilities: Value,
}

impl Site {
    pub(super) fn new(config: &SiteCheck) -> Result<Self, InvalidSetting> {
        let bad =
            || InvalidSetting(format!("the site {}: the address must be an http or https URL", config.url));
        let base = config.url.expose().trim_end_matches('/');
        let url = |route: &str, query: &str| -> Result<Uri, InvalidSetting> {
            format!("{base}/wp-json{route}?{query}").parse().map_err(|_| bad())
        };
        let who_am_i = url("/wp/v2/users/me", "context=edit")?;
        let settings = url(SETTINGS.0, SETTINGS.1)?;
        let scheme = who_am_i.scheme_str().filter(|scheme| ["http", "https"].contains(scheme));
        if scheme.is_none() || base.contains(['?', '#', '@']) {
            return Err(bad());
        }
        if !is_safe(&who_am_i) {
            tracing::warn!(site = base, "passwords go to this site without encryption: use https");
        }
        Ok(Self {
            name: base.into(),
            who_am_i,
            settings,
            capability: config.capability.as_str().into(),
            cache: config.cache,
            turns: Turns::new(AT_ONCE, IN_LINE),
        })
    }

    /// Returns the principal of these credentials at the site, if the site's user is admitted.
    pub(super) async fn check(
        &self,
        basic: &Basic,
        web: &dyn Web,
        (turn, now): (CheckPermit, Moment),
    ) -> Result<Arc<Principal>, CredentialDenial> {
        let authorization = authorization::basic_value(&basic.user, &basic.password)
            .ok_or(CredentialDenial::Bad("this name or password cannot be sent to the site"))?;
        let ask = |url| GetRequest {
            url,
            authorization: Some(authorization.clone()),
            cap: LONGEST,
            within: WITHIN,
        };
        let user = match web.get(ask(&self.who_am_i)).await {
            Ok(answer) => self.judged(&answer)?,
            Err(error) => {
                tracing::warn!(site = &*self.name, %error, "cannot verify a user at the site");
                return Err(self.unavailable("the site did not answer", RETRY));
            }
        };
        let rights = SiteRights::of(&user.roles, &user.capabilities, &self.capability);
        let is_granted = match rights {
            SiteRights::Granted => true,
            SiteRights::Missing => false,
            SiteRights::NoRole => {
                web.get(ask(&self.settings)).await.is_ok_and(|answer| answer.status == StatusCode::OK)
            }
        };
        drop(turn);
        if !is_granted {
            let why = rights.refusal(&self.capability);
            return Err(CredentialDenial::Forbidden(format!("this user of {} {why}", self.name)));
        }
        self.principal(&user, now)
    }

    fn judged(&self, answer: &Answer) -> Result<User, CredentialDenial> {
        let code = answer.status.as_u16();
        match answer.status {
            StatusCode::OK => serde_json::from_slice(&answer.body)
                .map_err(|_| self.unavailable("the site's answer does not come from WordPress", RETRY)),
            StatusCode::UNAUTHORIZED => Err(CredentialDenial::Bad(
                "the site rejected this name and password (an application password is required)",
            )),
            StatusCode::FORBIDDEN => {
                Err(CredentialDenial::Forbidden(format!("{} rejected this user", self.name)))
            }
            status if status.is_redirection() => {
                Err(self.unavailable("the site redirects elsewhere: check the site's address", RETRY))
            }
            StatusCode::NOT_FOUND => {
                Err(self
                    .unavailable("the site has no REST API below /wp-json: check the site's address", RETRY))
            }
            _ => {
                tracing::warn!(site = &*self.name, status = code, "cannot verify a user at the site");
                let retry = answer.retry_after.unwrap_or(RETRY);
                Err(self.unavailable(&format!("the site answered with status {code}"), retry))
            }
        }
    }

    fn principal(&self, user: &User, now: Moment) -> Result<Arc<Principal>, CredentialDenial> {
        let name = if user.username.is_empty() { &user.slug } else { &user.username };
        if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
            return Err(self.unavailable("the site's answer does not name a user", RETRY));
        }
        let lasts = u64::try_from(LASTS.max(self.cache * 2).as_millis()).unwrap_or(u64::MAX);
        Ok(Arc::new(Principal {
            until_ms: Some(now.unix_ms.saturating_add(lasts)),
            user: Some(name.as_str().into()),
            claims: Some(Arc::new(json!({ "id": user.id, "roles": user.roles }))),
            ..Principal::new(&format!("site:{}#{name}", self.name), Scheme::Site)
        }))
    }

    fn unavailable(&self, why: &str, retry: Duration) -> CredentialDenial {
        CredentialDenial::Unavailable(format!("cannot verify this user at {}: {why}", self.name), retry)
    }
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("name", &self.name).finish_non_exhaustive()
    }
}
