//! Who speaks over pipes: the account that the configuration has at the site which says who may come in. It must not know
//! how that is asked, nor what is refused how.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::Condition;
use engine::config::{Link, Site, Text};
use engine::dialect::Trouble;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use crate::auth::NotAdmitted;
use crate::gateway::Shard;
use crate::gateway::admission::identity::Identity;

/// An account of the configuration, which over HTTP the caller would show.
pub(super) struct Account {
    /// As a request would show it; nothing where the configuration names no account in full.
    headers: HeaderMap,
    /// The server whose tools use it.
    server: Arc<str>,
}

impl Account {
    /// That of the profile's first server to which callers' own names and passwords go on, at the site that says who may come
    /// in; `None` where there is no such server. Another site is never shown it.
    pub(super) fn of(shard: &Shard, profile: usize) -> Option<Self> {
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

    /// Who that is, as the site says, asked only where it was not a short time ago.
    pub(super) async fn identify(&self, shard: &Shard) -> Result<Identity, Trouble> {
        // Whoever starts this process sits on this machine, and guesses nothing.
        match shard.door.identify(&self.headers, None).await {
            Ok(principal) => Ok(Identity::of(principal, None)),
            Err(NotAdmitted::TooSoon(_)) => {
                Err(Trouble::new(Condition::RateLimited, "too many attempts have failed").of(&*self.server))
            }
            Err(NotAdmitted::Denied(denied)) => {
                let why = match denied.condition {
                    Condition::NoCredentials => WANTING,
                    _ => &denied.message,
                };
                Err(Trouble::new(denied.condition, why).of(&*self.server))
            }
        }
    }
}

const WANTING: &str = "the configuration names no account of the site: it needs `username` and `password`, an Application \
                       Password";

fn bare(url: &Text) -> &str {
    url.expose().trim().trim_end_matches('/')
}

/// The header that shows the site's account (RFC 7617).
fn shown(site: &Site) -> HeaderMap {
    let text = |text: &Option<Text>| text.as_ref().map_or("", Text::expose).trim().to_owned();
    let (username, password) = (text(&site.username), SecretString::from(text(&site.password)));
    let mut headers = HeaderMap::new();
    if username.is_empty() || password.expose_secret().is_empty() {
        return headers;
    }
    let pair = SecretString::from(format!("{username}:{}", password.expose_secret()));
    let value = SecretString::from(format!("Basic {}", BASE64_STANDARD.encode(pair.expose_secret())));
    if let Ok(mut value) = HeaderValue::from_str(value.expose_secret()) {
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    headers
}
