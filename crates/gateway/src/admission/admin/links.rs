//! One-time links: each opens the operators' pages once, within a quarter of an hour. This module must not know
//! addresses.

use std::time::{Duration, Instant};

use super::secret::{SecretDigest, random};

/// The time for which a link is valid.
pub(crate) const VALID_FOR: Duration = Duration::from_mins(15);

/// The maximum number of valid links; a further one replaces the oldest.
const MOST: usize = 8;

/// The valid links.
#[derive(Debug, Default)]
pub struct OneTimeLinks(Vec<OneTimeLink>);

#[derive(Debug)]
struct OneTimeLink {
    secret: SecretDigest,
    until: Instant,
}

impl OneTimeLinks {
    /// Creates a link; returns its secret, 128 random bits as text, or `None` if the operating system's random number
    /// generator failed.
    pub(crate) fn create(&mut self, now: Instant) -> Option<String> {
        let secret = random::<16>()?;
        self.forget(now);
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(OneTimeLink { secret: SecretDigest::of(&secret)?, until: now + VALID_FOR });
        Some(secret)
    }

    /// Uses up a link; returns false unless it is valid.
    pub fn take(&mut self, secret: &str, now: Instant) -> bool {
        self.forget(now);
        let Some(shown) = SecretDigest::of(secret) else { return false };
        let at = self.0.iter().position(|link| link.secret.is(&shown));
        at.map(|at| self.0.remove(at)).is_some()
    }

    fn forget(&mut self, now: Instant) {
        self.0.retain(|link| link.until > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_once_and_not_too_late() {
        let (mut links, now) = (OneTimeLinks::default(), Instant::now());
        let link = links.create(now).unwrap();
        assert_eq!(link.len(), 22, "128 bits");
        assert!(!links.take("", now) && !links.take(&link[1..], now) && !links.take(&"x".repeat(5000), now));
        assert!(links.take(&link, now));
        assert!(!links.take(&link, now), "once");
        let late = links.create(now).unwrap();
        assert!(!links.take(&late, now + VALID_FOR), "a quarter of an hour");
        let in_time = links.create(now).unwrap();
        assert!(links.take(&in_time, now + VALID_FOR.saturating_sub(Duration::from_secs(1))));
    }

    #[test]
    fn only_the_last_few_links_count_and_nothing_shows_them() {
        let (mut links, now) = (OneTimeLinks::default(), Instant::now());
        let all: Vec<String> = (0..20).map(|_| links.create(now).unwrap()).collect();
        assert!(!all.iter().any(|link| format!("{links:?}").contains(link.as_str())));
        assert!(all[..12].iter().all(|link| !links.take(link, now)));
        assert!(all[12..].iter().all(|link| links.take(link, now)));
    }
}
