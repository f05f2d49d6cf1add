//! Sessions of operators. Their cookies are kept as digests only. This module must not know cookies' names or pages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::LoginMark;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::secret::{SecretDigest, random};

/// The maximum number of sessions; a further one replaces the least recently used one.
const MOST: usize = 64;

/// The way in which an operator was admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdmittedBy {
    /// With a one-time link.
    Link,
    /// With this name and a password.
    Password(Arc<str>),
}

impl AdmittedBy {
    /// Returns the name for the log and the record of calls.
    pub fn name(&self) -> String {
        match self {
            Self::Link => "admin".to_owned(),
            Self::Password(name) => format!("admin:{name}"),
        }
    }
}

/// The times after which a session ends.
#[derive(Debug, Clone, Copy)]
pub struct Lifetimes {
    /// The maximum time without a request.
    pub(crate) idle: Duration,
    /// The maximum time since the session was opened.
    pub(crate) whole: Duration,
}

#[derive(Debug)]
struct AdminSession {
    cookie: SecretDigest,
    /// The token that each HTML form of the session contains.
    form_token: Arc<str>,
    by: AdmittedBy,
    opened: Instant,
    used: Instant,
    /// The result of the last form submission, until a page shows it.
    notice: Option<FormNotice>,
}

/// The result of a form submission, for the next page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormNotice {
    /// True if the operation failed.
    pub is_fault: bool,
    /// The result, in one sentence.
    pub text: String,
    /// The next step, if there is one.
    pub advice: Option<String>,
}

impl AdminSession {
    fn is_over(&self, lifetimes: Lifetimes, now: Instant) -> bool {
        now.saturating_duration_since(self.used) >= lifetimes.idle
            || now.saturating_duration_since(self.opened) >= lifetimes.whole
    }
}

/// A session that was found by its cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSession {
    /// The way in which the operator was admitted.
    pub by: AdmittedBy,
    /// The token that each HTML form of the session contains.
    pub form_token: Arc<str>,
    /// The number of the session, if its cookie carries it from one gateway of a cluster to another.
    pub(crate) carried: Option<LoginMark>,
    /// The new value of the cookie, if its value must be replaced.
    pub renewed: Option<String>,
}

impl FoundSession {
    /// Returns true if the session's cookie carries it from one gateway of a cluster to another.
    pub fn is_carried(&self) -> bool {
        self.carried.is_some()
    }

    /// Returns true if this is the token of the session's forms.
    pub fn owns(&self, form_token: &str) -> bool {
        self.form_token.as_bytes().ct_eq(form_token.as_bytes()).into()
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub struct AdminSessions(Vec<AdminSession>);

impl AdminSessions {
    /// Opens a session; returns the value of its cookie, 256 random bits as text, or `None` if the operating system's
    /// random number generator failed.
    pub fn open(&mut self, by: AdmittedBy, lifetimes: Lifetimes, now: Instant) -> Option<String> {
        let (cookie, form_token) = (random::<32>()?, random::<32>()?);
        self.0.retain(|session| !session.is_over(lifetimes, now));
        if self.0.len() >= MOST
            && let Some((oldest, _)) = self.0.iter().enumerate().min_by_key(|(_, session)| session.used)
        {
            self.0.swap_remove(oldest);
        }
        let secret = SecretDigest::of(&cookie)?;
        self.0.push(AdminSession {
            cookie: secret,
            form_token: form_token.into(),
            by,
            opened: now,
            used: now,
            notice: None,
        });
        Some(cookie)
    }

    /// Returns the session with this cookie, and records its use.
    pub fn find(&mut self, cookie: &str, lifetimes: Lifetimes, now: Instant) -> Option<FoundSession> {
        let shown = SecretDigest::of(cookie)?;
        self.0.retain(|session| !session.is_over(lifetimes, now));
        let session = self.0.iter_mut().find(|session| session.cookie.is(&shown))?;
        session.used = now;
        Some(FoundSession {
            by: session.by.clone(),
            form_token: session.form_token.clone(),
            carried: None,
            renewed: None,
        })
    }

    /// Returns true if the session with this cookie is still open, without counting this as a use.
    pub fn is_open(&self, cookie: &str, lifetimes: Lifetimes, now: Instant) -> bool {
        self.with(cookie).is_some_and(|at| !self.0[at].is_over(lifetimes, now))
    }

    /// Keeps the result of a form submission for the next page of the session.
    pub fn tell(&mut self, cookie: &str, notice: FormNotice) {
        if let Some(at) = self.with(cookie) {
            self.0[at].notice = Some(notice);
        }
    }

    /// Takes the result of the last form submission.
    pub fn take_notice(&mut self, cookie: &str) -> Option<FormNotice> {
        let at = self.with(cookie)?;
        self.0[at].notice.take()
    }

    fn with(&self, cookie: &str) -> Option<usize> {
        let shown = SecretDigest::of(cookie)?;
        self.0.iter().position(|session| session.cookie.is(&shown))
    }

    /// Ends the session with this cookie.
    pub fn close(&mut self, cookie: &str) {
        if let Some(shown) = SecretDigest::of(cookie) {
            self.0.retain(|session| !session.cookie.is(&shown));
        }
    }

    /// Ends all sessions, because the configuration of operators has changed.
    pub(crate) fn close_all(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVES: Lifetimes = Lifetimes { idle: Duration::from_mins(30), whole: Duration::from_hours(2) };

    fn minutes(number: u64) -> Duration {
        Duration::from_mins(number)
    }

    #[test]
    fn a_session_ends_when_it_is_idle_or_old_or_closed() {
        let (mut sessions, now) = (AdminSessions::default(), Instant::now());
        let cookie = sessions.open(AdmittedBy::Link, LIVES, now).unwrap();
        assert_eq!(cookie.len(), 43, "256 bits");
        let found =
            |sessions: &mut AdminSessions, at| sessions.find(&cookie, LIVES, now + minutes(at)).is_some();
        for at in [29, 58, 87, 116] {
            assert!(found(&mut sessions, at), "{at}: each use counts");
        }
        assert!(!found(&mut sessions, 120), "it is old, although it was used");
        let cookie = sessions.open(AdmittedBy::Link, LIVES, now).unwrap();
        assert!(sessions.find(&cookie, LIVES, now + minutes(30)).is_none(), "idle");
        let cookie = sessions.open(AdmittedBy::Link, LIVES, now).unwrap();
        sessions.close(&cookie);
        assert!(sessions.find(&cookie, LIVES, now).is_none(), "closed");
    }

    #[test]
    fn another_cookie_finds_nothing_and_tokens_differ_by_session() {
        let (mut sessions, now) = (AdminSessions::default(), Instant::now());
        let ann = sessions.open(AdmittedBy::Password("ann".into()), LIVES, now).unwrap();
        let other = sessions.open(AdmittedBy::Link, LIVES, now).unwrap();
        for wrong in ["", &ann[1..], &ann.to_uppercase(), &"x".repeat(5000)] {
            assert!(sessions.find(wrong, LIVES, now).is_none(), "{wrong}");
        }
        let (ann_found, other_found) =
            (sessions.find(&ann, LIVES, now).unwrap(), sessions.find(&other, LIVES, now).unwrap());
        assert_eq!((ann_found.by.name().as_str(), other_found.by.name().as_str()), ("admin:ann", "admin"));
        assert!(ann_found.owns(&ann_found.form_token) && !ann_found.owns(&other_found.form_token));
        assert!(!ann_found.owns("") && !ann_found.owns(&ann));
        let shown = format!("{sessions:?}");
        assert!(!shown.contains(&ann) && !shown.contains(&other), "cookies are kept nowhere");
        sessions.close_all();
        assert!(sessions.find(&ann, LIVES, now).is_none());
    }

    #[test]
    fn sessions_are_few_and_the_least_used_one_makes_room() {
        let (mut sessions, now) = (AdminSessions::default(), Instant::now());
        let at = |number: usize| now + Duration::from_secs(number as u64);
        let all: Vec<String> =
            (0..=MOST).map(|number| sessions.open(AdmittedBy::Link, LIVES, at(number)).unwrap()).collect();
        assert_eq!(sessions.0.len(), MOST);
        let found =
            |sessions: &mut AdminSessions, cookie: &str| sessions.find(cookie, LIVES, at(MOST)).is_some();
        assert!(!found(&mut sessions, &all[0]) && found(&mut sessions, &all[1]));
    }
}
