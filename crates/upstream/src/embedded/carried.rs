//! The part of a request's credentials that the configuration passes on to an embedded server, for that request only.
//! This module must not know their form.

use config::{Link, Site};
use engine::credential::{Account, Basic, Carried};
use engine::snapshot::UpstreamSpec;
use native::{Mapped, SiteLogin};

/// Returns true if any server of the gateway receives part of a request's credentials.
pub fn is_wanted(upstreams: &[UpstreamSpec]) -> bool {
    upstreams.iter().filter_map(site_of).any(|site| site.headers || site.basic || site.login)
}

/// Returns the part of the credentials that this server receives.
pub fn mapped(carried: &Carried, upstream: &UpstreamSpec) -> Option<Mapped> {
    let site = site_of(upstream)?;
    let own = |basic: &Result<Basic, &'static str>| {
        let url = site.url.as_ref()?.expose().to_owned();
        let login = |basic: &Basic| {
            let (username, password) = (basic.user.clone(), basic.password.clone());
            SiteLogin { url, username, password, is_fixed: true }
        };
        Some(basic.as_ref().map(login).map_err(|why| (*why).to_owned()))
    };
    let chosen = carried.account.clone().filter(|_| site.headers).map(|account| account.map(login));
    let signed_in = carried.signed_in.clone().filter(|_| site.login).map(|account| signed_in(account, site));
    let login = chosen.or(signed_in);
    let login = login.or_else(|| carried.basic.as_ref().filter(|_| site.basic).and_then(own));
    Some(Mapped { site: login, image_key: carried.image_key.clone().filter(|_| site.headers) })
}

/// Returns the account with which the caller has signed in, if it is an account at the site of this server.
fn signed_in(account: Account, site: &Site) -> Result<SiteLogin, String> {
    match &site.url {
        Some(own) if !is_same_site(own.expose(), &account.url) => Err(format!(
            "you have signed in at {}, but this server works on {}; sign in again, at that site",
            account.url,
            own.expose()
        )),
        _ => Ok(login(account)),
    }
}

/// Returns true if two URLs lead to the same site. A trailing slash, and the case of scheme and host, make no
/// difference.
fn is_same_site(one: &str, other: &str) -> bool {
    let parts = |url: &str| {
        let uri: http::Uri = url.parse().ok()?;
        let origin = (uri.scheme_str()?.to_owned(), uri.authority()?.as_str().to_ascii_lowercase());
        Some((origin, uri.path().trim_end_matches('/').to_owned()))
    };
    matches!((parts(one), parts(other)), (Some(one), Some(other)) if one == other)
}

fn login(account: Account) -> SiteLogin {
    let Account { url, username, password, is_fixed } = account;
    SiteLogin { url, username, password, is_fixed }
}

/// Returns the part of an error message that tells the user how to send an account for this site with a request.
pub(super) fn brought(site: &Site) -> &'static str {
    match (site.headers, site.basic) {
        (false, false) if site.login => "sign in: the client offers this when it connects without a token",
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
