//! Logins, one-time links and results of form submissions that browsers carry as sealed texts, so that every gateway of a
//! cluster can read them. Each kind is sealed for its own purpose and for one cluster. This module must not know cookies'
//! names or pages.

use std::time::Duration;

use cluster::LoginMark;
use engine::exchange::Sealer;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::secret::random;
use super::sessions::{AdmittedBy, FormNotice, Lifetimes};

/// The maximum length of a sealed text.
const LONGEST: usize = 4000;

/// The maximum length of each text of a form's result, so that a cookie can hold the result.
const LONGEST_NOTICE: usize = 900;

/// The share of the idle time after which a login is sealed again with the time of its last use.
const RENEWALS: u32 = 8;

/// Seals and opens the texts of one cluster.
pub(crate) struct CarriedTexts<'a> {
    pub(crate) sealer: &'a (dyn Sealer + Sync),
    /// The name of the cluster, so that two clusters with the same key ring do not accept each other's texts.
    pub(crate) cluster: &'a str,
}

/// A login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CarriedLogin {
    pub(crate) id: LoginMark,
    /// The operator's name; `None` for a holder of a one-time link.
    name: Option<String>,
    /// The operator's entry in the configuration at the time of the login.
    pub(crate) operator: LoginMark,
    /// The token that each HTML form of the session contains.
    pub(crate) form_token: String,
    pub(crate) opened_ms: u64,
    used_ms: u64,
}

/// A one-time link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CarriedLink {
    pub(crate) id: LoginMark,
    until_ms: u64,
}

impl CarriedLogin {
    /// Begins a login; `None` if the operating system's random number generator failed.
    pub(crate) fn new(by: &AdmittedBy, operator: LoginMark, now_ms: u64) -> Option<Self> {
        let name = match by {
            AdmittedBy::Link => None,
            AdmittedBy::Password(name) => Some(name.to_string()),
        };
        let form_token = random::<32>()?;
        Some(Self { id: mark()?, name, operator, form_token, opened_ms: now_ms, used_ms: now_ms })
    }

    /// Returns the way in which the operator was admitted.
    pub(crate) fn by(&self) -> AdmittedBy {
        self.name.as_deref().map_or(AdmittedBy::Link, |name| AdmittedBy::Password(name.into()))
    }

    /// Returns true if the login is not too old, and was used recently.
    pub(crate) fn is_current(&self, lifetimes: Lifetimes, now_ms: u64) -> bool {
        let since = |ms: u64| Duration::from_millis(now_ms.saturating_sub(ms));
        since(self.used_ms) < lifetimes.idle && since(self.opened_ms) < lifetimes.whole
    }

    /// Returns the login with its current use, if the last recorded use was some time ago.
    pub(crate) fn renewed(&self, lifetimes: Lifetimes, now_ms: u64) -> Option<Self> {
        let since = Duration::from_millis(now_ms.saturating_sub(self.used_ms));
        (since >= lifetimes.idle / RENEWALS).then(|| Self { used_ms: now_ms, ..self.clone() })
    }
}

impl CarriedLink {
    /// Creates a link; `None` if the operating system's random number generator failed.
    pub(crate) fn new(life: Duration, now_ms: u64) -> Option<Self> {
        let life = u64::try_from(life.as_millis()).unwrap_or(u64::MAX);
        Some(Self { id: mark()?, until_ms: now_ms.saturating_add(life) })
    }

    /// Returns the time for which the link is still valid.
    pub(crate) fn left(&self, now_ms: u64) -> Option<Duration> {
        let left = self.until_ms.checked_sub(now_ms)?;
        (left > 0).then(|| Duration::from_millis(left))
    }

    /// Returns the name of the link's single use.
    pub(crate) fn use_name(&self) -> String {
        format!("link/{:032x}", u128::from_be_bytes(self.id))
    }
}

impl CarriedTexts<'_> {
    /// Seals a login as the value of its cookie.
    pub(crate) fn seal_login(&self, login: &CarriedLogin) -> Option<String> {
        self.seal("login", login)
    }

    /// Opens the value of a cookie.
    pub(crate) fn login(&self, sealed: &str) -> Option<CarriedLogin> {
        self.open("login", sealed)
    }

    /// Seals a link as the secret in its address.
    pub(crate) fn seal_link(&self, link: &CarriedLink) -> Option<String> {
        self.seal("link", link)
    }

    /// Opens the secret in the address of a link.
    pub(crate) fn link(&self, sealed: &str) -> Option<CarriedLink> {
        self.open("link", sealed)
    }

    /// Seals the result of a form submission for the next page of a session.
    pub(crate) fn seal_notice(&self, session: &LoginMark, mut notice: FormNotice) -> Option<String> {
        for text in std::iter::once(&mut notice.text).chain(&mut notice.advice) {
            if text.len() > LONGEST_NOTICE {
                text.truncate(text.floor_char_boundary(LONGEST_NOTICE));
                text.push('…');
            }
        }
        self.seal(&purpose(session), &notice)
    }

    /// Opens the result of a form submission of a session.
    pub(crate) fn notice(&self, session: &LoginMark, sealed: &str) -> Option<FormNotice> {
        self.open(&purpose(session), sealed)
    }

    fn seal(&self, purpose: &str, value: &impl Serialize) -> Option<String> {
        let sealed = self.sealer.seal(&serde_json::to_vec(value).ok()?, &self.bound(purpose));
        // An empty text means that the random number generator failed.
        (!sealed.is_empty() && sealed.len() <= LONGEST).then_some(sealed)
    }

    fn open<T: DeserializeOwned>(&self, purpose: &str, sealed: &str) -> Option<T> {
        let plain = (sealed.len() <= LONGEST).then(|| self.sealer.open(sealed, &self.bound(purpose)))??;
        serde_json::from_slice(&plain).ok()
    }

    fn bound(&self, purpose: &str) -> Vec<u8> {
        format!("operator/{purpose}/{}", self.cluster).into_bytes()
    }
}

fn purpose(session: &LoginMark) -> String {
    format!("notice/{:032x}", u128::from_be_bytes(*session))
}

fn mark() -> Option<LoginMark> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sealer that only binds texts to their purposes.
    struct OpenSealer;

    impl Sealer for OpenSealer {
        fn seal(&self, plain: &[u8], bound: &[u8]) -> String {
            format!("{}|{}", String::from_utf8_lossy(bound), String::from_utf8_lossy(plain))
        }

        fn seal_name(&self, plain: &[u8], bound: &[u8]) -> String {
            self.seal(plain, bound)
        }

        fn open(&self, sealed: &str, bound: &[u8]) -> Option<Vec<u8>> {
            let rest = sealed.strip_prefix(std::str::from_utf8(bound).ok()?)?;
            rest.strip_prefix('|').map(|plain| plain.as_bytes().to_vec())
        }

        fn fresh_key(&self) -> u64 {
            1
        }

        fn epoch(&self) -> u64 {
            1
        }
    }

    const OWN: CarriedTexts<'_> = CarriedTexts { sealer: &OpenSealer, cluster: "own" };
    const OTHER: CarriedTexts<'_> = CarriedTexts { sealer: &OpenSealer, cluster: "other" };
    const LIVES: Lifetimes = Lifetimes { idle: Duration::from_mins(30), whole: Duration::from_hours(2) };

    fn minutes(number: u64) -> u64 {
        number * 60_000
    }

    fn login() -> CarriedLogin {
        CarriedLogin::new(&AdmittedBy::Password("ann".into()), [3; 16], minutes(1000)).unwrap()
    }

    #[test]
    fn each_text_is_read_for_its_own_purpose_and_cluster_alone() {
        let (login, link) = (login(), CarriedLink::new(Duration::from_mins(15), 5).unwrap());
        let notice = FormNotice { is_fault: true, text: "no".to_owned(), advice: None };
        let (login_text, link_text) = (OWN.seal_login(&login).unwrap(), OWN.seal_link(&link).unwrap());
        let notice_text = OWN.seal_notice(&[1; 16], notice.clone()).unwrap();
        assert_eq!((OWN.login(&login_text), OWN.link(&link_text)), (Some(login), Some(link)));
        assert_eq!(OWN.notice(&[1; 16], &notice_text), Some(notice));
        assert_eq!(OWN.notice(&[2; 16], &notice_text), None, "another session");
        assert!(OWN.login(&link_text).is_none() && OWN.link(&login_text).is_none());
        assert!(OTHER.login(&login_text).is_none() && OTHER.link(&link_text).is_none());
        assert!(OWN.login("").is_none() && OWN.login(&"x".repeat(LONGEST + 1)).is_none());
    }

    #[test]
    fn a_login_ends_when_it_is_idle_or_old() {
        let login = login();
        assert_eq!(login.by(), AdmittedBy::Password("ann".into()));
        assert!(login.is_current(LIVES, minutes(1029)) && !login.is_current(LIVES, minutes(1030)), "idle");
        assert!(login.is_current(LIVES, minutes(999)), "clocks differ a little");
        let mut used = login.clone();
        for minute in (1004..1120).step_by(4) {
            assert!(used.is_current(LIVES, minutes(minute)), "{minute}");
            used = used.renewed(LIVES, minutes(minute)).unwrap();
        }
        assert!(!used.is_current(LIVES, minutes(1120)), "old, although it was used");
        assert_eq!(login.renewed(LIVES, minutes(1003)), None, "not with each request");
        assert_eq!((used.id, used.opened_ms), (login.id, login.opened_ms));
    }

    #[test]
    fn a_link_is_valid_for_a_while() {
        let link = CarriedLink::new(Duration::from_secs(9), 1000).unwrap();
        assert_eq!(link.left(1000), Some(Duration::from_secs(9)));
        assert_eq!((link.left(9999), link.left(10_000)), (Some(Duration::from_millis(1)), None));
        assert_ne!(link.use_name(), CarriedLink::new(Duration::from_secs(9), 1000).unwrap().use_name());
    }

    #[test]
    fn long_results_are_shortened_for_the_cookie() {
        let notice = FormNotice { is_fault: false, text: "é".repeat(5000), advice: Some("x".repeat(5000)) };
        let sealed = OWN.seal_notice(&[1; 16], notice).unwrap();
        let read = OWN.notice(&[1; 16], &sealed).unwrap();
        assert!(read.text.len() < LONGEST_NOTICE + 4 && read.text.ends_with("é…"));
        assert!(read.advice.unwrap().ends_with("x…"));
    }
}
