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
    /// A site with an account there; why there is none where the request names a part of it, in words that repeat nothing of
    /// it. Whoever names a part asks for that one, and for no other.
    pub account: Option<Result<Account, String>>,
    /// A name and a password, as `Authorization` shows them; why they cannot be read where it means some. Whoever shows an
    /// account asks for that one, and for no other.
    pub basic: Option<Result<Basic, &'static str>>,
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
    /// Reads a request's headers; `None` when they carry nothing. A header with nothing but spaces is not there. One that
    /// stands twice cannot be used, since it is not clear which of the two is meant; nor can one of more than 2 KiB or with
    /// other than visible ASCII and spaces.
    pub fn read(headers: &HeaderMap) -> Option<Self> {
        let account = account(headers);
        let basic = match authorization::value(headers) {
            Ok(shown) => shown.and_then(basic),
            Err(why) => Some(Err(why)),
        };
        let image_key = match line(headers, IMAGE_KEY) {
            Line::Text(key) => Some(SecretString::from(key)),
            Line::Missing | Line::Unusable => None,
        };
        let carries = account.is_some() || basic.is_some() || image_key.is_some();
        carries.then_some(Self { account, basic, image_key })
    }
}

/// The account of a value of `Authorization`, where it is to be one.
fn basic(value: &[u8]) -> Option<Result<Basic, &'static str>> {
    match authorization::read(value) {
        Ok(Shown::Basic(basic)) => Some(Ok(basic)),
        Ok(Shown::Bearer(_)) => None,
        Err(why) => authorization::is_basic(value).then_some(Err(why)),
    }
}

/// What a header says.
enum Line {
    Missing,
    Unusable,
    Text(String),
}

fn line(headers: &HeaderMap, name: &str) -> Line {
    let mut all = headers.get_all(name).iter();
    let (first, more) = (all.next(), all.next().is_some());
    if headers.get_all(name).iter().all(|value| value.as_bytes().trim_ascii().is_empty()) {
        return Line::Missing;
    }
    let text = first.filter(|value| !more && value.len() <= LONGEST).and_then(|value| value.to_str().ok());
    text.map_or(Line::Unusable, |text| Line::Text(text.trim().to_owned()))
}

/// The account that three headers name together.
fn account(headers: &HeaderMap) -> Option<Result<Account, String>> {
    match SITE.map(|name| (name, line(headers, name))) {
        [(_, Line::Missing), (_, Line::Missing), (_, Line::Missing)] => None,
        [(_, Line::Text(url)), (_, Line::Text(username)), (_, Line::Text(password))] => {
            Some(Ok(Account { url, username, password: SecretString::from(password) }))
        }
        lines => Some(Err(incomplete(&lines))),
    }
}

/// The reason why these do not name an account together.
fn incomplete(lines: &[(&str, Line)]) -> String {
    let those = |which: fn(&Line) -> bool| -> Vec<&str> {
        lines.iter().filter(|(_, line)| which(line)).map(|(name, _)| *name).collect()
    };
    let missing = those(|line| matches!(line, Line::Missing));
    let unusable = those(|line| matches!(line, Line::Unusable));
    let mut why = Vec::new();
    if !missing.is_empty() {
        let are = if missing.len() == 1 { "is" } else { "are" };
        why.push(format!("{} {are} missing", missing.join(" and ")));
    }
    if !unusable.is_empty() {
        let form = "each stands once, with at most 2048 characters of ASCII";
        why.push(format!("{} cannot be used ({form})", unusable.join(" and ")));
    }
    format!("the request names a site and an account by its headers, but {}", why.join(", and "))
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

    /// The reason why these name no account.
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

    /// No base64; a name alone; no name; a line end; Latin-1 and not UTF-8.
    #[test]
    fn an_account_that_cannot_be_read_is_still_meant() {
        for odd in ["Basic", "basic ???", "Basic YW5u", "Basic OnB3", "Basic YW5uOnAKdw==", "Basic YW5uOukg"]
        {
            let carried = Carried::read(&headers(&[("authorization", odd)])).expect(odd);
            let why = carried.basic.unwrap().map(|_| ()).unwrap_err();
            assert!(why.starts_with("the header Authorization"), "{odd}: {why}");
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
