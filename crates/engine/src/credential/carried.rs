//! Credentials in a request's headers for a site behind embedded servers. This module must not know which site receives
//! them.

use http::HeaderMap;
use secrecy::{ExposeSecret as _, SecretString};

use super::authorization::{self, Basic, ShownCredential};

/// The headers that name a site and an account on it.
const SITE: [&str; 3] = ["x-wordpress-url", "x-wordpress-username", "x-wordpress-password"];
/// The header with a key for an image host.
const IMAGE_KEY: &str = "x-imgbb-api-key";
/// The maximum length of a value, in bytes; longer values are rejected.
const LONGEST: usize = 2 * 1024;

/// Markers for a digest. One of them precedes each part, and shows if the part is absent, faulty or present.
/// Without the markers, the text of a part could look like an absent part.
const ABSENT: &[u8] = &[0];
const FAULTY: &[u8] = &[1];
const PRESENT: &[u8] = &[2];

/// The site credentials of a request; they are never printed.
#[derive(Clone)]
pub struct Carried {
    /// A site with an account; an error if the request contains only some of the headers. The error repeats no text
    /// from the headers. A request with any of these headers uses this account and no other.
    pub account: Option<Result<Account, String>>,
    /// A name and a password from `Authorization`; an error if the request contains them but they cannot be parsed. A request
    /// with such credentials uses this account and no other.
    pub basic: Option<Result<Basic, &'static str>>,
    /// A key for an image host.
    pub image_key: Option<SecretString>,
    /// The account with which the caller has signed in. It does not come from the headers.
    pub signed_in: Option<Account>,
}

/// A site with an account: named by headers, or the account with which the caller has signed in.
#[derive(Clone)]
pub struct Account {
    /// The URL of the site.
    pub url: String,
    /// The name of the account.
    pub username: String,
    /// The password of the account.
    pub password: SecretString,
    /// True if the configuration names this site, so it may have a private address.
    pub is_fixed: bool,
}

impl Carried {
    /// Reads a request's headers; `None` if the headers contain no such credentials. A header that contains only spaces counts
    /// as absent. A header is rejected if it occurs twice (which is ambiguous), if it exceeds 2 KiB, or if it has
    /// characters other than visible ASCII and spaces.
    pub fn read(headers: &HeaderMap) -> Option<Self> {
        let account = account(headers);
        let basic = match authorization::value(headers) {
            Ok(shown) => shown.and_then(basic),
            Err(why) => Some(Err(why)),
        };
        let image_key = match line(headers, IMAGE_KEY) {
            HeaderContent::Text(key) => Some(SecretString::from(key)),
            HeaderContent::Missing | HeaderContent::Unusable => None,
        };
        let carries = account.is_some() || basic.is_some() || image_key.is_some();
        carries.then_some(Self { account, basic, image_key, signed_in: None })
    }

    /// Adds the account with which the caller has signed in.
    pub fn with_account(carried: Option<Self>, account: &Account) -> Self {
        let nothing = || Self { account: None, basic: None, image_key: None, signed_in: None };
        Self { signed_in: Some(account.clone()), ..carried.unwrap_or_else(nothing) }
    }
}

impl Carried {
    /// Passes to `see`, for a digest, everything that distinguishes these credentials from others.
    pub fn each_part(&self, see: &mut dyn FnMut(&[u8])) {
        match &self.account {
            None => see(ABSENT),
            Some(Err(_)) => see(FAULTY),
            Some(Ok(account)) => account.each_part(see),
        }
        match &self.basic {
            None => see(ABSENT),
            Some(Err(_)) => see(FAULTY),
            Some(Ok(basic)) => {
                see(PRESENT);
                see(basic.user.as_bytes());
                see(basic.password.expose_secret().as_bytes());
            }
        }
        match &self.image_key {
            None => see(ABSENT),
            Some(key) => {
                see(PRESENT);
                see(key.expose_secret().as_bytes());
            }
        }
        match &self.signed_in {
            None => see(ABSENT),
            Some(account) => account.each_part(see),
        }
    }
}

impl Account {
    fn each_part(&self, see: &mut dyn FnMut(&[u8])) {
        see(PRESENT);
        see(self.url.as_bytes());
        see(self.username.as_bytes());
        see(self.password.expose_secret().as_bytes());
    }
}

impl PartialEq for Account {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
            && self.username == other.username
            && self.is_fixed == other.is_fixed
            && self.password.expose_secret() == other.password.expose_secret()
    }
}

impl Eq for Account {}

/// Parses the name and password in a value of `Authorization`; `None` if the value has another scheme.
fn basic(value: &[u8]) -> Option<Result<Basic, &'static str>> {
    match authorization::read(value) {
        Ok(ShownCredential::Basic(basic)) => Some(Ok(basic)),
        Ok(ShownCredential::Bearer(_)) => None,
        Err(why) => authorization::is_basic(value).then_some(Err(why)),
    }
}

/// The content of a header.
enum HeaderContent {
    Missing,
    Unusable,
    Text(String),
}

fn line(headers: &HeaderMap, name: &str) -> HeaderContent {
    let mut all = headers.get_all(name).iter();
    let (first, more) = (all.next(), all.next().is_some());
    if headers.get_all(name).iter().all(|value| value.as_bytes().trim_ascii().is_empty()) {
        return HeaderContent::Missing;
    }
    let text = first.filter(|value| !more && value.len() <= LONGEST).and_then(|value| value.to_str().ok());
    text.map_or(HeaderContent::Unusable, |text| HeaderContent::Text(text.trim().to_owned()))
}

/// The account that three headers name together.
fn account(headers: &HeaderMap) -> Option<Result<Account, String>> {
    match SITE.map(|name| (name, line(headers, name))) {
        [(_, HeaderContent::Missing), (_, HeaderContent::Missing), (_, HeaderContent::Missing)] => None,
        [
            (_, HeaderContent::Text(url)),
            (_, HeaderContent::Text(username)),
            (_, HeaderContent::Text(password)),
        ] => Some(Ok(Account { url, username, password: SecretString::from(password), is_fixed: false })),
        lines => Some(Err(incomplete(&lines))),
    }
}

/// The reason why the headers do not name a complete account.
fn incomplete(lines: &[(&str, HeaderContent)]) -> String {
    let those = |which: fn(&HeaderContent) -> bool| -> Vec<&str> {
        lines.iter().filter(|(_, line)| which(line)).map(|(name, _)| *name).collect()
    };
    let missing = those(|line| matches!(line, HeaderContent::Missing));
    let unusable = those(|line| matches!(line, HeaderContent::Unusable));
    let mut why = Vec::new();
    if !missing.is_empty() {
        let are = if missing.len() == 1 { "is" } else { "are" };
        why.push(format!("{} {are} missing", missing.join(" and ")));
    }
    if !unusable.is_empty() {
        let form = "send it once, with at most 2048 visible ASCII characters";
        why.push(format!("{} cannot be used ({form})", unusable.join(" and ")));
    }
    format!("the request's headers name a site with an account, but {}", why.join(", and "))
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

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    /// The reason why these headers name no account.
    fn refused(lines: &[(&'static str, &str)]) -> String {
        Carried::read(&headers(lines)).unwrap().account.unwrap().unwrap_err()
    }

    #[test]
    fn half_an_account_is_an_account_that_cannot_be_used() {
        let two = [("x-wordpress-url", "http://a.example"), ("x-wordpress-username", "ann")];
        assert!(refused(&two).contains("but x-wordpress-password is missing"));
        let blank = [two[0], two[1], ("x-wordpress-password", "  ")];
        assert!(refused(&blank).contains("but x-wordpress-password is missing"));
        assert!(refused(&two[1..]).contains("but x-wordpress-url and x-wordpress-password are missing"));
        let long = "p".repeat(LONGEST + 1);
        let long = refused(&[two[1], ("x-wordpress-password", &long)]);
        assert!(long.contains("but x-wordpress-url is missing, and x-wordpress-password cannot be used"));
        assert!(!long.contains("ppp"), "{long}");
        let none = [("x-wordpress-url", ""), ("x-wordpress-username", " "), ("x-wordpress-username", "")];
        assert!(Carried::read(&headers(&none)).is_none());
        let all = [two[0], two[1], ("x-wordpress-password", " ab cd ")];
        let account = Carried::read(&headers(&all)).unwrap().account.unwrap().unwrap();
        assert_eq!((account.url.as_str(), account.password.expose_secret()), ("http://a.example", "ab cd"));
    }

    /// The parts of these headers for a digest.
    fn parts(lines: &[(&'static str, &str)]) -> Vec<Vec<u8>> {
        let mut parts = Vec::new();
        Carried::read(&headers(lines)).unwrap().each_part(&mut |part| parts.push(part.to_vec()));
        parts
    }

    #[test]
    fn no_text_looks_like_an_absent_part() {
        let basic = ("authorization", "Basic YW5uOmE6YiBj");
        for text in ["no key", "0"] {
            assert_ne!(parts(&[basic]), parts(&[basic, (IMAGE_KEY, text)]), "{text:?}");
        }
        let faulty = ("x-wordpress-url", "http://a.example");
        assert_ne!(parts(&[basic]), parts(&[basic, faulty]));
    }

    #[test]
    fn two_sites_are_no_site() {
        let all = [
            ("x-wordpress-url", "http://a.example"),
            ("x-wordpress-url", "http://b.example"),
            ("x-wordpress-username", "ann"),
            ("x-wordpress-password", "pw"),
        ];
        assert!(refused(&all).contains("but x-wordpress-url cannot be used"));
        assert!(Carried::read(&headers(&all[1..])).unwrap().account.unwrap().is_ok());
        let twice = [("authorization", "Basic YW5uOmE6YiBj"), ("authorization", "Basic YW5uOmE6YiBj")];
        let carried = Carried::read(&headers(&twice)).expect("an account that cannot be used");
        assert!(carried.basic.unwrap().unwrap_err().contains("more than once"));
    }

    #[test]
    fn a_name_and_a_password_are_read_as_written() {
        let read = |value: &str| Carried::read(&headers(&[("authorization", value)]));
        let basic = read("Basic YW5uOmE6YiBj").unwrap().basic.unwrap().unwrap();
        assert_eq!((basic.user.as_str(), basic.password.expose_secret()), ("ann", "a:b c"));
        for other in ["Bearer YW5uOmE6YiBj", "Digest username=ann", "Basically", ""] {
            assert!(read(other).is_none(), "{other}");
        }
    }

    /// The cases: invalid Base64; only a name; no name; a line break; Latin-1 instead of UTF-8.
    #[test]
    fn an_account_that_cannot_be_read_is_still_meant() {
        for odd in ["Basic", "basic ???", "Basic YW5u", "Basic OnB3", "Basic YW5uOnAKdw==", "Basic YW5uOukg"]
        {
            let carried = Carried::read(&headers(&[("authorization", odd)])).expect(odd);
            let why = carried.basic.unwrap().map(|_| ()).unwrap_err();
            assert!(why.starts_with("the Authorization header"), "{odd}: {why}");
        }
    }

    #[test]
    fn nothing_of_it_is_printed() {
        let carried = Carried::read(&headers(&[("authorization", "Basic YW5uOmE6YiBj")])).unwrap();
        assert_eq!(format!("{carried:?}"), "Carried(..)");
        let account =
            Account { url: "u".into(), username: "n".into(), password: "p".into(), is_fixed: false };
        assert_eq!(format!("{account:?}"), "Account(..)");
    }
}
