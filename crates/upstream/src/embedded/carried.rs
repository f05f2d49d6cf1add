//! The part of a request's credentials that the configuration passes on to an embedded server, for that request only.
//! This module must not know their form.

use config::{Link, Site};
use engine::credential::{Account, Basic, Carried};
use engine::snapshot::UpstreamSpec;
use native::{Mapped, SiteLogin};

/// Returns true if any server of the gateway receives part of a request's credentials.
pub fn is_wanted(upstreams: &[UpstreamSpec]) -> bool {
    upstreams.iter().filter_map(site_of).any(|site| site.headers || site.basic)
}

/// Returns the part of the credentials that this server receives.
pub fn mapped(carried: &Carried, upstream: &UpstreamSpec) -> Option<Mapped> {
    let site = site_of(upstream)?;
    let own = |basic: &Result<Basic, &'static str>| {
        let url = site.url.as_ref()?.expose().to_owned();
        let login =
            |basic: &Basic| SiteLogin { url, username: basic.user.clone(), password: basic.password.clone() };
        Some(basic.as_ref().map(login).map_err(|why| (*why).to_owned()))
    };
    let chosen = carried.account.clone().filter(|_| site.headers).map(|account| account.map(login));
    let login = chosen.or_else(|| carried.basic.as_ref().filter(|_| site.basic).and_then(own));
    Some(Mapped { site: login, image_key: carried.image_key.clone().filter(|_| site.headers) })
}

fn login(account: Account) -> SiteLogin {
    SiteLogin { url: account.url, username: account.username, password: account.password }
}

/// Returns the part of an error message that explains how a request can carry an account at this site.
pub(super) fn brought(site: &Site) -> &'static str {
    match (site.headers, site.basic) {
        (true, true) => {
            "send the name and password with HTTP's Basic scheme, or all three in the headers x-wordpress-url, \
             x-wordpress-username and x-wordpress-password"
        }
        (true, false) => {
            "send them in the headers x-wordpress-url, x-wordpress-username and x-wordpress-password"
        }
        (false, true) => "send the name and password with HTTP's Basic scheme, in the Authorization header",
        (false, false) => "",
    }
}

fn site_of(upstream: &UpstreamSpec) -> Option<&Site> {
    match &upstream.link {
        Link::Native(native) => native.site.as_ref(),
        Link::Stdio(_) | Link::Http(_) => None,
    }
}
