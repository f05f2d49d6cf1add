//! The caller over a pipe: the configured account at the site that authenticates callers. This module must not know how
//! the site is queried, or how requests are refused.

use std::sync::Arc;

use config::{Link, Site, Text};
use engine::Condition;
use engine::credential::authorization;
use engine::dialect::DialectFault;
use http::header::{AUTHORIZATION, HeaderMap};
use secrecy::{ExposeSecret as _, SecretString};

use crate::admission::auth::NotAdmitted;
use crate::admission::identity::Identity;
use crate::process::Shard;

/// A configured account, used in place of the account that an HTTP caller would send.
pub(super) struct Account {
    /// The headers in which a request would contain the account; empty unless the configuration contains a complete
    /// account.
    headers: HeaderMap,
    /// The server whose tools use the account.
    server: Arc<str>,
}

impl Account {
    /// Returns the account at the site that authenticates callers. It is configured for the profile's first server
    /// that receives callers' own names and passwords; without such a server, returns `None`. The account is never
    /// sent to any other site.
    pub(super) fn of(shard: &Arc<Shard>, profile: usize) -> Option<Self> {
        let gateway = &shard.gateway;
        let door = gateway.standing.config().auth.site.as_ref()?;
        let servers = gateway.snapshot.profiles[profile].upstreams.iter();
        let site_of = |id| {
            let spec = gateway.snapshot.upstream(id)?;
            let Link::Native(native) = &spec.link else { return None };
            let site = native.site.as_ref().filter(|site| site.basic)?;
            (bare(site.url.as_ref()?) == bare(&door.url)).then(|| (site, spec.name.clone()))
        };
        let (site, server) = servers.copied().find_map(site_of)?;
        Some(Self { headers: shown(site), server })
    }

    /// Returns the identity that the site reports, possibly cached for a short time.
    pub(super) async fn identify(&self, shard: &Arc<Shard>) -> Result<Identity, DialectFault> {
        // Whoever starts this process has access to this machine, so this is not a guess.
        match shard.door.identify(&self.headers, None).await {
            Ok(principal) => Ok(Identity::of(principal, None)),
            Err(NotAdmitted::TooSoon(_)) => {
                Err(DialectFault::new(Condition::RateLimited, "too many attempts have failed")
                    .of(&*self.server))
            }
            Err(NotAdmitted::Denied(denied)) => {
                let why = match denied.condition {
                    Condition::NoCredentials => WANTING,
                    _ => &denied.message,
                };
                Err(DialectFault::new(denied.condition, why).of(&*self.server))
            }
        }
    }
}

const WANTING: &str = "the configuration has no account for the site: set `username` and `password` (an \
                       application password)";

fn bare(url: &Text) -> &str {
    url.expose().trim().trim_end_matches('/')
}

/// Returns the header that contains the site's account (RFC 7617).
fn shown(site: &Site) -> HeaderMap {
    let text = |text: &Option<Text>| text.as_ref().map_or("", Text::expose).trim().to_owned();
    let (username, password) = (text(&site.username), SecretString::from(text(&site.password)));
    let mut headers = HeaderMap::new();
    if username.is_empty() || password.expose_secret().is_empty() {
        return headers;
    }
    headers.extend(authorization::basic_value(&username, &password).map(|value| (AUTHORIZATION, value)));
    headers
}
