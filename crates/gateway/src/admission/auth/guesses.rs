//! Limits wrong passwords: after several failures, further attempts from a client address are refused without a check.
//! This module must not know how a password is checked.
//!
//! An address that has used up its attempts may be shared by many callers: a network behind NAT, or a proxy that does
//! not forward client addresses. Callers whose passwords were right before are still admitted. The exception is a name
//! for which many passwords are tried from this address: otherwise the answers would tell an attacker which password is
//! right.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use config::{RateLimit, RateMethods, RatePer, RequestRate};
use engine::access::Scheme;
use engine::credential::authorization::{self, ShownCredential};
use engine::rate::{Limiter, UnknownCaller, Verdict};
use parking_lot::Mutex;

use super::digest::{ByDigest, Digest, NoRandomness};

/// The maximum number of counts that are kept; idle ones are dropped first.
const COUNTS: usize = 100_000;

/// The minimum time between two log lines about refusals.
const BETWEEN: Duration = Duration::from_mins(1);

/// The counts of attempts.
pub(super) struct Guesses {
    by_address: Limiter,
    /// Counts attempts by name and address; used once the address has exhausted its own limit.
    by_name: Limiter,
    /// The passwords that are being checked: if the same password arrives again in the meantime, this is not a further
    /// guess.
    in_flight: Mutex<HashMap<Digest, usize, ByDigest>>,
    /// The number of refusals since the last log line, and the earliest time of the next one.
    refused: Mutex<(u64, Duration)>,
}

/// The sender of a password attempt.
#[derive(Debug, Clone)]
pub(super) struct Guesser {
    pub(super) address: IpAddr,
    /// The name that the password is for.
    pub(super) name: String,
}

impl Guesser {
    /// Returns the sender of a password from this address; `None` for other kinds of credentials.
    fn of(value: &[u8], address: IpAddr) -> Option<Self> {
        match authorization::read(value) {
            Ok(ShownCredential::Basic(basic)) => Some(Self { address, name: basic.user }),
            _ => None,
        }
    }

    fn entering(&self) -> UnknownCaller<'_> {
        UnknownCaller { nobody: &self.name, address: Some(self.address), connection: None, profile: "" }
    }
}

/// An attempt in progress. The attempt counts as failed unless it is removed from the counts.
pub(super) struct Attempt<'a> {
    guesses: &'a Guesses,
    guesser: Guesser,
    digest: Digest,
    counted: Option<&'a Limiter>,
}

impl Attempt<'_> {
    /// Removes the attempt from the counts, because the password was right or could not be checked.
    pub(super) fn take_back(self) {
        if let Some(limiter) = self.counted {
            limiter.let_in(&self.guesser.entering());
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut in_flight = self.guesses.in_flight.lock();
        if let Some(count) = in_flight.get_mut(&self.digest) {
            *count -= 1;
            if *count == 0 {
                in_flight.remove(&self.digest);
            }
        }
    }
}

impl Guesses {
    /// Creates empty counts.
    pub(super) fn new(limit: RequestRate) -> Result<Self, NoRandomness> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(|_| NoRandomness)?;
        let limiter = |per: &[RatePer]| {
            let limit = RateLimit {
                per: per.to_vec(),
                methods: RateMethods::All,
                rate: limit,
                burst: limit.count,
                ..RateLimit::default()
            };
            Limiter::new(&[limit], COUNTS, u64::from_ne_bytes(seed))
        };
        Ok(Self {
            by_address: limiter(&[RatePer::Ip]),
            by_name: limiter(&[RatePer::Ip, RatePer::Principal]),
            in_flight: Mutex::default(),
            refused: Mutex::default(),
        })
    }

    /// Counts an attempt with a credential that has to be checked; `is_familiar` is true if the credential was right
    /// before. Returns `None` for keys and tokens, which cannot be guessed.
    ///
    /// # Errors
    /// Returns the verdict of the exceeded limit.
    pub(super) fn begin(
        &self,
        (value, address): (&[u8], IpAddr),
        (digest, is_familiar): (Digest, bool),
        now: Duration,
    ) -> Result<Option<Attempt<'_>>, Verdict> {
        let Some(guesser) = Guesser::of(value, address) else { return Ok(None) };
        let mut in_flight = self.in_flight.lock();
        let count = in_flight.entry(digest).or_default();
        *count += 1;
        let is_first = *count == 1;
        drop(in_flight);
        let mut attempt = Attempt { guesses: self, guesser, digest, counted: None };
        if is_first {
            attempt.counted = Some(self.count(&attempt.guesser, is_familiar, now)?);
        }
        Ok(Some(attempt))
    }

    fn count(&self, guesser: &Guesser, is_familiar: bool, now: Duration) -> Result<&Limiter, Verdict> {
        let entering = guesser.entering();
        let Err(verdict) = self.by_address.enter(&entering, now) else { return Ok(&self.by_address) };
        let by_name = self.by_name.enter(&entering, now);
        match by_name {
            Ok(()) if is_familiar => Ok(&self.by_name),
            // The count by name is kept: this attempt may have been a guess at a remembered password.
            Ok(()) => Err(self.note(verdict, guesser, now)),
            Err(verdict) => Err(self.note(verdict, guesser, now)),
        }
    }

    /// Admits a caller whose credential is known to be right, without counting an attempt.
    ///
    /// # Errors
    /// Returns the verdict of the exceeded limit.
    pub(super) fn admit(
        &self,
        scheme: Scheme,
        (value, address): (Option<&[u8]>, IpAddr),
        now: Duration,
    ) -> Result<(), Verdict> {
        if !matches!(scheme, Scheme::Basic | Scheme::Site) {
            return Ok(());
        }
        let anyone = Guesser { address, name: String::new() };
        if self.by_address.has_room(&anyone.entering(), now).is_ok() {
            return Ok(());
        }
        let Some(guesser) = value.and_then(|value| Guesser::of(value, address)) else { return Ok(()) };
        let admitted = self.by_name.has_room(&guesser.entering(), now);
        admitted.map_err(|verdict| self.note(verdict, &guesser, now))
    }

    /// Forgets idle counts.
    pub(super) fn sweep(&self, now: Duration) {
        self.by_address.sweep(now);
        self.by_name.sweep(now);
    }

    /// Logs, at most once a minute, that attempts are refused.
    fn note(&self, verdict: Verdict, guesser: &Guesser, now: Duration) -> Verdict {
        let mut refused = self.refused.lock();
        refused.0 += 1;
        if now >= refused.1 {
            let (client, count) = (guesser.address, refused.0);
            tracing::warn!(%client, count, "too many wrong passwords; further attempts are refused (`auth.failures`)");
            *refused = (0, now + BETWEEN);
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::super::digest::Digests;
    use super::*;

    const NOW: Duration = Duration::from_secs(100);

    struct Trial {
        guesses: Guesses,
        digests: Digests,
    }

    impl Trial {
        fn new() -> Self {
            let limit = RequestRate { count: 3, period: Duration::from_mins(1) };
            Self { guesses: Guesses::new(limit).unwrap(), digests: Digests::new().unwrap() }
        }

        fn shown(name: &str, password: &str) -> String {
            format!("Basic {}", BASE64_STANDARD.encode(format!("{name}:{password}")))
        }

        /// Tries a wrong password, or one that was right before.
        fn tries(&self, from: u8, name: &str, password: &str, is_familiar: bool) -> bool {
            let shown = Self::shown(name, password);
            let (value, digest) = (shown.as_bytes(), self.digests.of(shown.as_bytes()));
            let begun = self.guesses.begin((value, address(from)), (digest, is_familiar), NOW);
            let admitted = begun.is_ok();
            if is_familiar && let Ok(Some(attempt)) = begun {
                attempt.take_back();
            }
            admitted
        }

        fn admits(&self, from: u8, name: &str) -> bool {
            let shown = Self::shown(name, "right");
            self.guesses.admit(Scheme::Basic, (Some(shown.as_bytes()), address(from)), NOW).is_ok()
        }
    }

    fn address(last: u8) -> IpAddr {
        [203, 0, 113, last].into()
    }

    #[test]
    fn wrong_passwords_are_limited_by_address_and_right_ones_cost_nothing() {
        let trial = Trial::new();
        assert!((0..10).all(|_| trial.tries(1, "ann", "right", true)));
        let tried = ["a", "b", "c", "d"].map(|password| trial.tries(1, "ann", password, false));
        assert_eq!(tried, [true, true, true, false]);
        assert!(trial.tries(2, "ann", "a", false), "another address has a count of its own");
    }

    #[test]
    fn who_was_let_in_before_gets_in_from_an_address_that_others_guess_from() {
        let trial = Trial::new();
        for number in 0..20 {
            trial.tries(1, &format!("nobody-{number}"), "x", false);
        }
        assert!(!trial.tries(1, "bob", "first time", false));
        assert!((0..10).all(|_| trial.admits(1, "ann") && trial.tries(1, "ann", "right", true)));
    }

    #[test]
    fn the_way_past_a_used_up_limit_does_not_tell_which_password_is_right() {
        let trial = Trial::new();
        for number in 0..6 {
            trial.tries(1, "ann", &number.to_string(), false);
        }
        assert!(!trial.admits(1, "ann") && !trial.tries(1, "ann", "right", true), "as a wrong one");
        assert!(trial.admits(1, "bob") && trial.admits(2, "ann"));
    }

    #[test]
    fn the_same_password_many_times_at_once_is_one_attempt() {
        let trial = Trial::new();
        let shown = Trial::shown("ann", "x");
        let (value, digest) = (shown.as_bytes(), trial.digests.of(shown.as_bytes()));
        let begin = |_| trial.guesses.begin((value, address(1)), (digest, false), NOW);
        let at_once: Vec<_> = (0..9).map(begin).collect();
        assert!(at_once.iter().all(Result::is_ok));
        drop(at_once);
        assert!(trial.guesses.in_flight.lock().is_empty());
        let tried = ["a", "b", "c"].map(|password| trial.tries(1, "ann", password, false));
        assert_eq!(tried, [true, true, false]);
    }
}
