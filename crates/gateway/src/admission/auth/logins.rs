//! Logins of operators with names and passwords. Checks one login at a time, and at most two per second, no matter
//! how many addresses try. This module must not know pages, or what an operator may do.

use std::net::IpAddr;
use std::time::Duration;

use config::Text;
use engine::credential::Basic;
use secrecy::SecretString;

use super::InvalidSetting;
use super::denied::CredentialDenial;
use super::users::Users;

/// The minimum duration of a check; the next check waits until it has passed.
const PACE: Duration = Duration::from_millis(500);

/// The maximum number of logins that wait for a check.
const IN_LINE: usize = 32;

/// The operators who can log in.
pub struct Logins(Users);

/// The outcome of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginOutcome {
    /// The name and the password are right.
    Right,
    /// The name or the password is wrong.
    Wrong,
    /// Too many logins wait; this one was not checked.
    Busy,
}

impl Logins {
    /// Reads operators and the hashes of their passwords.
    ///
    /// # Errors
    /// Fails for an invalid hash.
    pub(crate) fn new<'a>(
        users: impl IntoIterator<Item = (&'a String, &'a Text)>,
    ) -> Result<Self, InvalidSetting> {
        Ok(Self(Users::paced(users, (1, IN_LINE), PACE)?))
    }

    /// Returns true if nobody can log in.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks a password. A login with a wrong name takes as long as one with a wrong password.
    pub async fn check(&self, name: &str, password: SecretString, address: IpAddr) -> LoginOutcome {
        let Ok(turn) = self.0.turns.take(Some(address)).await else { return LoginOutcome::Busy };
        match self.0.check(Basic { user: name.to_owned(), password }, turn).await {
            Ok(_) => LoginOutcome::Right,
            Err(CredentialDenial::Bad(_) | CredentialDenial::Forbidden(_) | CredentialDenial::TooLittle) => {
                LoginOutcome::Wrong
            }
            Err(CredentialDenial::Unavailable(..)) => LoginOutcome::Busy,
        }
    }
}

impl std::fmt::Debug for Logins {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Logins").field(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use super::*;

    /// A cheap hash of `battery staple`, computed by another program (Node's `crypto.argon2Sync`).
    const HASH: &str =
        "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";

    fn logins() -> Logins {
        Logins::new([(&"ann".to_owned(), &Text::plain(HASH))]).unwrap()
    }

    async fn tried(logins: &Logins, name: &str, password: &str, from: u8) -> LoginOutcome {
        logins.check(name, SecretString::from(password), [203, 0, 113, from].into()).await
    }

    #[tokio::test]
    async fn only_the_right_password_of_the_right_name_counts_and_each_check_takes_its_time() {
        let (logins, started) = (logins(), Instant::now());
        assert_eq!(tried(&logins, "ann", "battery staple", 1).await, LoginOutcome::Right);
        assert_eq!(tried(&logins, "ann", "battery", 1).await, LoginOutcome::Wrong);
        assert_eq!(tried(&logins, "bob", "battery staple", 1).await, LoginOutcome::Wrong);
        assert!(started.elapsed() >= PACE * 3, "{:?}", started.elapsed());
    }

    #[tokio::test]
    async fn one_address_cannot_fill_the_line() {
        let logins = Arc::new(logins());
        let attempts: Vec<_> = (0..20)
            .map(|_| {
                let logins = logins.clone();
                tokio::spawn(async move { tried(&logins, "ann", "wrong", 1).await })
            })
            .collect();
        tokio::task::yield_now().await;
        assert_eq!(tried(&logins, "ann", "battery staple", 2).await, LoginOutcome::Right);
        for attempt in &attempts {
            attempt.abort();
        }
        let refused = futures(attempts).await;
        assert!(refused >= 10, "only {refused} were sent away");
    }

    async fn futures(attempts: Vec<tokio::task::JoinHandle<LoginOutcome>>) -> usize {
        let mut busy = 0;
        for attempt in attempts {
            busy += usize::from(matches!(attempt.await, Ok(LoginOutcome::Busy)));
        }
        busy
    }
}
