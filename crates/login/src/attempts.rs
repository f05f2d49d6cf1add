//! Sign-ins in progress. Each is bound to one browser by a cookie, moves only forward, and expires soon. This
//! module must not know what the steps look like.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use config::address_block;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::Instant;

use crate::authorization_request::AuthorizationRequest;
use crate::random::{self, NoEntropy};
use crate::site::SiteAccount;
use crate::site_address::SiteAddress;

/// The time limit for a sign-in. It includes a login at the site, perhaps with a second factor.
pub(crate) const LIFE: Duration = Duration::from_mins(15);
/// The maximum number of sign-ins in progress, in total and from one address. If one address has too many, its
/// oldest one is dropped.
const MOST: usize = 1024;
const MOST_OF_ADDRESS: usize = 16;
/// The number of leading bits of an IPv6 address that identify a client.
const IPV6_BITS: u8 = 64;

/// A sign-in.
#[derive(Debug, Clone)]
pub(crate) struct SignInAttempt {
    /// A random name. It is part of the sign-in's addresses.
    pub(crate) entry: String,
    /// The value of the browser's cookie.
    mark: SecretString,
    pub(crate) request: AuthorizationRequest,
    pub(crate) stage: Stage,
    address: IpAddr,
    begun: Instant,
}

/// The stage that a sign-in has reached.
#[derive(Debug, Clone)]
pub(crate) enum Stage {
    /// The browser shows our page, which asks the person.
    Asking,
    /// The browser shows the site's page. The site sends the browser back with `state`, which is accepted only
    /// once.
    AtSite { site: SiteAddress, rest: String, state: SecretString },
    /// The site has sent the browser back with a name and a password, which have not been checked yet.
    Returned(ReturnedAccount),
}

/// The account that a site has sent back with a browser, and the application password that it has created for it.
#[derive(Debug, Clone)]
pub(crate) struct ReturnedAccount {
    pub(crate) site: SiteAddress,
    /// The address of the site's REST API.
    pub(crate) rest: String,
    pub(crate) user: String,
    pub(crate) password: SecretString,
}

impl ReturnedAccount {
    /// The account in the form in which the site is asked about it.
    pub(crate) fn account(&self) -> SiteAccount<'_> {
        SiteAccount { rest: &self.rest, user: &self.user, password: &self.password }
    }
}

/// An account whose sign-in was not finished. Nobody can use its password, so the password is deleted at the site.
#[derive(Debug)]
pub(crate) struct AbandonedAccount {
    pub(crate) account: ReturnedAccount,
    /// The time at which the sign-in ended.
    pub(crate) since: Instant,
}

/// All sign-ins in progress.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    running: HashMap<String, SignInAttempt>,
    /// Accounts whose sign-in was not finished, the oldest first.
    abandoned: VecDeque<AbandonedAccount>,
}

impl Attempts {
    /// Begins a sign-in, in the process with this number.
    ///
    /// # Errors
    /// Returns the reason, for the person.
    pub(crate) fn begin(
        &mut self,
        request: AuthorizationRequest,
        address: IpAddr,
        process: u32,
    ) -> Result<SignInAttempt, &'static str> {
        const NO_RANDOMNESS: &str =
            "The random number generator of Dragoman's operating system failed. Try again later.";
        let (now, address) = (Instant::now(), address_block(address, IPV6_BITS));
        self.end_expired();
        let own = self.running.values().filter(|attempt| attempt.address == address);
        if own.clone().count() >= MOST_OF_ADDRESS
            && let Some(oldest) = own.min_by_key(|attempt| attempt.begun).map(|attempt| attempt.entry.clone())
        {
            self.drop_attempt(&oldest);
        }
        if self.running.len() >= MOST {
            return Err("Too many people are signing in at the moment. Try again in a few minutes.");
        }
        let named = || -> Result<_, NoEntropy> {
            let entry = format!("{}{}", random::numbered(process), random::name()?);
            Ok((entry, random::text("")?))
        };
        let (entry, mark) = named().map_err(|_| NO_RANDOMNESS)?;
        let attempt =
            SignInAttempt { entry: entry.clone(), mark, request, stage: Stage::Asking, address, begun: now };
        self.running.insert(entry, attempt.clone());
        Ok(attempt)
    }

    /// Returns the sign-in with this name, if it began in this browser.
    pub(crate) fn of(&self, entry: &str, cookies: &[&str], is_secure: bool) -> Option<&SignInAttempt> {
        let attempt = self.running.get(entry).filter(|attempt| attempt.is_alive())?;
        attempt.is_of(cookies, is_secure).then_some(attempt)
    }

    /// Moves a sign-in to its next stage.
    pub(crate) fn advance(&mut self, entry: &str, stage: Stage) {
        if let Some(attempt) = self.running.get_mut(entry) {
            attempt.stage = stage;
        }
    }

    /// Returns the name of the sign-in that sent its browser to a site with this state.
    pub(crate) fn left_with(&self, state: &str) -> Option<&str> {
        let is_it = |attempt: &&SignInAttempt| matches!(&attempt.stage, Stage::AtSite { state: own, .. } if random::is_same(own, state));
        self.running
            .values()
            .filter(|attempt| attempt.is_alive())
            .find(is_it)
            .map(|attempt| attempt.entry.as_str())
    }

    /// Ends sign-ins that have taken too long.
    fn end_expired(&mut self) {
        let now = Instant::now();
        let expired: Vec<String> = self
            .running
            .values()
            .filter(|attempt| now >= attempt.begun + LIFE)
            .map(|attempt| attempt.entry.clone())
            .collect();
        for entry in &expired {
            self.drop_attempt(entry);
        }
    }

    /// Ends a sign-in that was not finished.
    fn drop_attempt(&mut self, entry: &str) {
        if let Some(SignInAttempt { stage: Stage::Returned(account), .. }) = self.running.remove(entry) {
            self.abandon(AbandonedAccount { account, since: Instant::now() });
        }
    }

    /// Adds an account whose password is to be deleted at its site.
    pub(crate) fn abandon(&mut self, account: AbandonedAccount) {
        if self.abandoned.len() >= MOST {
            self.abandoned.pop_front();
        }
        self.abandoned.push_back(account);
    }

    /// Takes up to `most` accounts whose sign-in was not finished.
    pub(crate) fn take_abandoned(&mut self, most: usize) -> Vec<AbandonedAccount> {
        self.end_expired();
        let count = most.min(self.abandoned.len());
        self.abandoned.drain(..count).collect()
    }

    /// Ends a sign-in.
    pub(crate) fn end(&mut self, entry: &str) -> Option<SignInAttempt> {
        self.running.remove(entry)
    }
}

impl SignInAttempt {
    fn is_alive(&self) -> bool {
        Instant::now() < self.begun + LIFE
    }

    /// Returns true if one of the browser's cookies belongs to this sign-in.
    fn is_of(&self, cookies: &[&str], is_secure: bool) -> bool {
        let name = cookie_name(&self.entry, is_secure);
        let pairs =
            cookies.iter().flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.into_iter().any(|(key, value)| key == name && random::is_same(&self.mark, value))
    }

    /// Returns the value of `Set-Cookie` for the browser.
    pub(crate) fn cookie(&self, is_secure: bool) -> String {
        let (name, secure) = (cookie_name(&self.entry, is_secure), if is_secure { "; Secure" } else { "" });
        let (mark, life) = (self.mark.expose_secret(), LIFE.as_secs());
        // `Lax`, because the site's page sends the browser back.
        format!("{name}={mark}; Path=/; Max-Age={life}; HttpOnly; SameSite=Lax{secure}")
    }
}

fn cookie_name(entry: &str, is_secure: bool) -> String {
    format!("{}dragoman-sign-in-{entry}", if is_secure { "__Host-" } else { "" })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn request() -> AuthorizationRequest {
        AuthorizationRequest {
            client: Arc::new(serde_json::from_str("{}").unwrap()),
            redirect_uri: String::new(),
            state: None,
            challenge: String::new(),
            profiles: None,
        }
    }

    fn address(last: u8) -> IpAddr {
        [203, 0, 113, last].into()
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_in_belongs_to_its_browser_and_ends() {
        let mut attempts = Attempts::default();
        let one = attempts.begin(request(), address(1), 0).unwrap();
        let cookie = one.cookie(true);
        let pair = cookie.split(';').next().unwrap();
        assert!(pair.starts_with("__Host-") && cookie.ends_with("; Secure"), "{cookie}");
        assert!(attempts.of(&one.entry, &["a=b", &format!("c=d; {pair}")], true).is_some());
        for other in [&[][..], &["a=b"], &[&format!("{}x", &pair[..pair.len() - 1])]] {
            assert!(attempts.of(&one.entry, other, true).is_none());
        }
        let two = attempts.begin(request(), address(1), 0).unwrap();
        assert!(attempts.of(&two.entry, &[pair], true).is_none(), "the cookie of another sign-in");
        tokio::time::advance(LIFE).await;
        assert!(attempts.of(&one.entry, &[pair], true).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn one_address_cannot_use_up_all_sign_ins() {
        let mut attempts = Attempts::default();
        let others = attempts.begin(request(), address(2), 0).unwrap();
        for _ in 0..MOST_OF_ADDRESS * 3 {
            attempts.begin(request(), address(1), 0).unwrap();
        }
        assert_eq!(attempts.running.len(), MOST_OF_ADDRESS + 1);
        assert!(attempts.running.contains_key(&others.entry));
        for number in 0..2 * MOST {
            let bytes = u32::try_from(number).unwrap().to_be_bytes();
            let _ = attempts.begin(request(), IpAddr::from(bytes), 0);
        }
        assert_eq!(attempts.running.len(), MOST);
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_names_one_sign_in_at_a_site() {
        let mut attempts = Attempts::default();
        let one = attempts.begin(request(), address(1), 0).unwrap();
        assert_eq!(attempts.left_with("s"), None);
        let site = SiteAddress::configured("https://a.example").unwrap();
        attempts
            .advance(&one.entry, Stage::AtSite { site, rest: String::new(), state: SecretString::from("s") });
        assert_eq!(attempts.left_with("s"), Some(one.entry.as_str()));
        assert_eq!(attempts.left_with("t"), None);
        attempts.end(&one.entry);
        assert_eq!(attempts.left_with("s"), None);
    }
}
