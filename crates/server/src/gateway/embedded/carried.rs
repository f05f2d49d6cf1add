//! What a client's request carries for a site behind embedded tools, and what of it the configuration hands on. It is used
//! for that request alone.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::config::{Link, Site};
use engine::snapshot::UpstreamSpec;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use native::{Mapped, SiteLogin};
use secrecy::SecretString;

/// The headers that name a site and an account there.
const SITE: [&str; 3] = ["x-wordpress-url", "x-wordpress-username", "x-wordpress-password"];
/// The header with a key for a host of images.
const IMAGE_KEY: &str = "x-imgbb-api-key";

/// What a request carries. It prints nothing of itself.
#[derive(Clone)]
pub(crate) struct Carried {
    site: Option<SiteLogin>,
    basic: Option<(String, SecretString)>,
    image_key: Option<SecretString>,
}

impl std::fmt::Debug for Carried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Carried(..)")
    }
}

impl Carried {
    /// Whether some server of the gateway is to get anything of it.
    pub(crate) fn is_wanted(upstreams: &[UpstreamSpec]) -> bool {
        upstreams.iter().filter_map(site_of).any(|site| site.headers || site.basic)
    }

    /// Reads a request's headers; `None` when they carry nothing.
    pub(crate) fn read(headers: &HeaderMap) -> Option<Arc<Self>> {
        let text = |name: &str| {
            let value = headers.get(name)?.to_str().ok()?.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        // All three or none: half an account is nobody's.
        let site = match SITE.map(text) {
            [Some(url), Some(username), Some(password)] => {
                Some(SiteLogin { url, username, password: SecretString::from(password) })
            }
            _ => None,
        };
        let basic = text(AUTHORIZATION.as_str()).and_then(|value| basic(&value));
        let image_key = text(IMAGE_KEY).map(SecretString::from);
        let carries = site.is_some() || basic.is_some() || image_key.is_some();
        carries.then(|| Arc::new(Self { site, basic, image_key }))
    }

    /// What of it goes to this server.
    pub(crate) fn mapped(&self, upstream: &UpstreamSpec) -> Option<Mapped> {
        let site = site_of(upstream)?;
        let own = |(username, password): &(String, SecretString)| {
            let url = site.url.as_ref()?.expose().to_owned();
            Some(SiteLogin { url, username: username.clone(), password: password.clone() })
        };
        let chosen = self.site.clone().filter(|_| site.headers);
        let login = chosen.or_else(|| self.basic.as_ref().filter(|_| site.basic).and_then(own));
        Some(Mapped { site: login, image_key: self.image_key.clone().filter(|_| site.headers) })
    }
}

fn site_of(upstream: &UpstreamSpec) -> Option<&Site> {
    match &upstream.link {
        Link::Native(native) => native.site.as_ref(),
        Link::Stdio(_) | Link::Http(_) => None,
    }
}

/// A name and a password (RFC 7617, section 2).
fn basic(value: &str) -> Option<(String, SecretString)> {
    let (scheme, encoded) = value.split_once(' ')?;
    let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let text = String::from_utf8(decoded).ok()?;
    let (name, password) = text.split_once(':')?;
    Some((name.to_owned(), SecretString::from(password)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret as _;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn half_an_account_is_none() {
        let two = [("x-wordpress-url", "http://a.example"), ("x-wordpress-username", "ann")];
        assert!(Carried::read(&headers(&two)).is_none());
        let blank = [two[0], two[1], ("x-wordpress-password", "  ")];
        assert!(Carried::read(&headers(&blank)).is_none());
        let all = [two[0], two[1], ("x-wordpress-password", " ab cd ")];
        let login = Carried::read(&headers(&all)).unwrap().site.clone().unwrap();
        assert_eq!((login.url.as_str(), login.password.expose_secret()), ("http://a.example", "ab cd"));
    }

    #[test]
    fn a_name_and_a_password_are_read_as_written() {
        let (name, password) = basic("Basic YW5uOmE6YiBj").unwrap();
        assert_eq!((name.as_str(), password.expose_secret()), ("ann", "a:b c"));
        for odd in ["Basic", "Bearer YW5uOmE6YiBj", "Basic ???", "Basic YW5u", ""] {
            assert!(basic(odd).is_none(), "{odd}");
        }
    }

    #[test]
    fn nothing_of_it_is_printed() {
        let carried = Carried::read(&headers(&[("authorization", "Basic YW5uOmE6YiBj")])).unwrap();
        assert_eq!(format!("{carried:?}"), "Carried(..)");
    }
}
