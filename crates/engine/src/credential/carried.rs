//! What a request's headers carry for a site behind the tools. It must not know which site gets it.

use http::HeaderMap;
use secrecy::SecretString;

use super::authorization::{self, Basic, Shown};

/// The headers that name a site and an account there.
const SITE: [&str; 3] = ["x-wordpress-url", "x-wordpress-username", "x-wordpress-password"];
/// The header with a key for a host of images.
const IMAGE_KEY: &str = "x-imgbb-api-key";
/// Longer values are nobody's, in bytes.
const LONGEST: usize = 2 * 1024;

/// What a request carries. It prints nothing of itself.
#[derive(Clone)]
pub struct Carried {
    /// A site with an account there.
    pub account: Option<Account>,
    /// A name and a password, as `Authorization` shows them.
    pub basic: Option<Basic>,
    /// A key for a host of images.
    pub image_key: Option<SecretString>,
}

/// A site with an account there, as headers name it; nothing of it is checked.
#[derive(Clone)]
pub struct Account {
    /// Where the site is.
    pub url: String,
    /// The account's name.
    pub username: String,
    /// Its password.
    pub password: SecretString,
}

impl Carried {
    /// Reads a request's headers; `None` when they carry nothing. A header that stands twice carries nothing, since it is
    /// not clear which of the two is meant; nor does one of more than 2 KiB or with other than visible ASCII and spaces.
    pub fn read(headers: &HeaderMap) -> Option<Self> {
        let text = |name: &str| {
            let mut all = headers.get_all(name).iter();
            let value = all.next().filter(|value| value.len() <= LONGEST)?.to_str().ok()?.trim();
            (all.next().is_none() && !value.is_empty()).then(|| value.to_owned())
        };
        // All three or none: half an account is nobody's.
        let account = match SITE.map(text) {
            [Some(url), Some(username), Some(password)] => {
                Some(Account { url, username, password: SecretString::from(password) })
            }
            _ => None,
        };
        let shown = authorization::value(headers).ok().flatten();
        let basic = shown.and_then(|value| match authorization::read(value) {
            Ok(Shown::Basic(basic)) => Some(basic),
            _ => None,
        });
        let image_key = text(IMAGE_KEY).map(SecretString::from);
        let carries = account.is_some() || basic.is_some() || image_key.is_some();
        carries.then_some(Self { account, basic, image_key })
    }
}

impl std::fmt::Debug for Carried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Carried(..)")
    }
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Account(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret as _;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn half_an_account_is_none() {
        let two = [("x-wordpress-url", "http://a.example"), ("x-wordpress-username", "ann")];
        assert!(Carried::read(&headers(&two)).is_none());
        let blank = [two[0], two[1], ("x-wordpress-password", "  ")];
        assert!(Carried::read(&headers(&blank)).is_none());
        let all = [two[0], two[1], ("x-wordpress-password", " ab cd ")];
        let account = Carried::read(&headers(&all)).unwrap().account.unwrap();
        assert_eq!((account.url.as_str(), account.password.expose_secret()), ("http://a.example", "ab cd"));
    }

    #[test]
    fn two_sites_are_none() {
        let all = [
            ("x-wordpress-url", "http://a.example"),
            ("x-wordpress-url", "http://b.example"),
            ("x-wordpress-username", "ann"),
            ("x-wordpress-password", "pw"),
        ];
        assert!(Carried::read(&headers(&all)).is_none());
        assert!(Carried::read(&headers(&all[1..])).is_some());
        let twice = [("authorization", "Basic YW5uOmE6YiBj"), ("authorization", "Basic YW5uOmE6YiBj")];
        assert!(Carried::read(&headers(&twice)).is_none());
    }

    #[test]
    fn a_name_and_a_password_are_read_as_written() {
        let read = |value: &str| Carried::read(&headers(&[("authorization", value)]));
        let basic = read("Basic YW5uOmE6YiBj").unwrap().basic.unwrap();
        assert_eq!((basic.user.as_str(), basic.password.expose_secret()), ("ann", "a:b c"));
        for odd in ["Basic", "Bearer YW5uOmE6YiBj", "Basic ???", "Basic YW5u", ""] {
            assert!(read(odd).is_none(), "{odd}");
        }
    }

    #[test]
    fn nothing_of_it_is_printed() {
        let carried = Carried::read(&headers(&[("authorization", "Basic YW5uOmE6YiBj")])).unwrap();
        assert_eq!(format!("{carried:?}"), "Carried(..)");
        let account = Account { url: "u".into(), username: "n".into(), password: "p".into() };
        assert_eq!(format!("{account:?}"), "Account(..)");
    }
}
