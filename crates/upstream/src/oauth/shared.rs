//! Consents that several gateways share: the same user's tokens at each gateway, and one gateway at a time that renews
//! them, because a refresh token works only once. Versions decide which tokens are the newest. This module must not know
//! where the consents are shared.

use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use super::ConsentFault;
use super::grant::{EXCHANGE, Grant, HeldTokens, unix};

/// The time between two looks at a consent that another gateway is renewing.
pub(super) const LOOK: Duration = Duration::from_millis(200);

/// The time after which a renewal is tried again that could not begin, in seconds.
const LATER: u64 = 5;

/// The number of attempts to write a consent while other gateways write it, too.
const ATTEMPTS: usize = 3;

/// The version of a consent. A later change has a greater number; a random number decides between two changes with the
/// same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ConsentVersion {
    /// The number of the change.
    pub number: u64,
    /// A random number.
    pub edition: u64,
}

/// A shared consent.
#[derive(Debug, Clone)]
pub struct SharedConsent {
    /// A text that is needed to replace the consent.
    pub mark: String,
    /// The version and the content; `None` if there is no consent.
    pub content: Option<(ConsentVersion, SecretString)>,
}

/// A result of the shared storage, or the reason why there is none.
pub type Sharing<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// The lock of a consent, which the other gateways respect.
pub trait RenewalLock: Send + Sync {
    /// Returns true if the lock will be held for at least this time.
    fn lasts(&self, time: Duration) -> bool;

    /// Releases the lock. A lock that cannot be released ends by itself.
    fn release(&self) -> Sharing<'_, ()>;
}

/// The storage that the gateways share.
pub trait SharedConsents: Send + Sync {
    /// Reads the consent with this name.
    fn read<'a>(&'a self, name: &'a str) -> Sharing<'a, SharedConsent>;

    /// Replaces the consent with this mark; returns false if another gateway was faster.
    fn replace<'a>(
        &'a self,
        name: &'a str,
        mark: &'a str,
        content: (ConsentVersion, SecretString),
    ) -> Sharing<'a, bool>;

    /// Takes the lock of a consent; `None` if another gateway holds it.
    fn lock<'a>(&'a self, name: &'a str) -> Sharing<'a, Option<Box<dyn RenewalLock>>>;
}

impl ConsentVersion {
    fn after(before: Option<Self>) -> Result<Self, String> {
        let mut edition = [0; 8];
        let failed = |_| "the operating system's random number generator failed".to_owned();
        getrandom::fill(&mut edition).map_err(failed)?;
        let number = before.map_or(0, |before| before.number).saturating_add(1);
        Ok(Self { number, edition: u64::from_ne_bytes(edition) })
    }
}

/// A consent that was withdrawn. It is stored, because tokens from before the withdrawal must not come back.
#[derive(Serialize, Deserialize)]
struct WithdrawnConsent {
    withdrawn: ConsentVersion,
}

/// The version of a stored consent, whether it was withdrawn or not.
#[derive(Deserialize)]
struct StoredVersion {
    version: Option<ConsentVersion>,
    withdrawn: Option<ConsentVersion>,
}

fn version_of(text: &SecretString) -> Option<ConsentVersion> {
    let stored: StoredVersion = serde_json::from_str(text.expose_secret()).ok()?;
    stored.version.or(stored.withdrawn)
}

/// The end of a wait for the lock of a consent.
enum LockWait {
    /// This gateway has the lock.
    Locked(Box<dyn RenewalLock>),
    /// Another gateway has renewed the tokens.
    Renewed,
}

impl Grant {
    /// Returns the shared storage; `None` without a cluster, and for tokens of the gateway itself, which each gateway gets.
    fn shared(&self) -> Option<Arc<dyn SharedConsents>> {
        self.around.shared.get().filter(|_| !self.config.is_machine()).cloned()
    }

    /// Returns the name of the consent in the shared storage; it reveals nothing.
    pub(super) fn shared_name(&self) -> String {
        let digest = digest(&SHA256, self.place().as_bytes());
        digest.as_ref()[..16].iter().fold(String::with_capacity(32), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Returns true if the other gateways lack a change that was made here.
    pub(super) fn is_unshared(&self) -> bool {
        self.is_unshared.load(Ordering::Relaxed)
    }

    /// Compares the stored consent with the shared one; the newer one is then in both places.
    ///
    /// # Errors
    /// Returns the reason why the shared consent cannot be read or written.
    pub(super) async fn compare(&self) -> Result<(), String> {
        let Some(shared) = self.shared() else { return Ok(()) };
        let _turn = self.sharing.lock().await;
        self.compared(&*shared).await
    }

    async fn compared(&self, shared: &dyn SharedConsents) -> Result<(), String> {
        let (name, place) = (self.shared_name(), self.place());
        for _ in 0..ATTEMPTS {
            let own = self.around.kept.text(&place).await;
            let version = own.as_ref().and_then(version_of);
            let SharedConsent { mark, content } = shared.read(&name).await?;
            match (own, version, content) {
                (_, Some(own), Some((theirs, _))) if own == theirs => return Ok(()),
                (_, own, Some((theirs, text))) if own.is_none_or(|own| own < theirs) => {
                    self.around.kept.put_text(&place, text).await;
                    return Ok(());
                }
                (None, ..) => return Ok(()),
                (Some(text), Some(version), _) => {
                    if shared.replace(&name, &mark, (version, text)).await? {
                        return Ok(());
                    }
                }
                // A consent from before this gateway joined the cluster.
                (Some(_), None, _) => {
                    let held: Option<HeldTokens> = self.around.kept.get(&place).await;
                    let Some(held) = held else { return Ok(()) };
                    let version = Some(ConsentVersion::after(None)?);
                    self.around.kept.put(&place, &HeldTokens { version, ..held }).await;
                }
            }
        }
        Err("other gateways are changing the same consent".to_owned())
    }

    /// Stores new tokens, here and for the other gateways. Returns the tokens with their version.
    pub(super) async fn store(&self, held: HeldTokens) -> HeldTokens {
        let (_turn, place) = (self.sharing.lock().await, self.place());
        let held = HeldTokens { version: self.next_version(held.version).await, ..held };
        self.around.kept.put(&place, &held).await;
        self.publish().await;
        held
    }

    /// Removes the stored tokens, here and for the other gateways.
    pub(super) async fn withdraw(&self, version: Option<ConsentVersion>) {
        let (_turn, place) = (self.sharing.lock().await, self.place());
        match self.next_version(version).await {
            Some(withdrawn) => self.around.kept.put(&place, &WithdrawnConsent { withdrawn }).await,
            None => self.around.kept.remove(&place).await,
        }
        self.publish().await;
    }

    /// Returns the version of the next change; `None` if the consent was never shared.
    async fn next_version(&self, held: Option<ConsentVersion>) -> Option<ConsentVersion> {
        let kept = self.around.kept.text(&self.place()).await;
        let before = kept.as_ref().and_then(version_of).max(held);
        if before.is_none() && self.shared().is_none() {
            return None;
        }
        ConsentVersion::after(before)
            .inspect_err(|why| tracing::error!("cannot create a version of a changed consent: {why}"))
            .ok()
    }

    /// Passes a change on to the other gateways. If that fails, it is repeated every second.
    async fn publish(&self) {
        let Some(shared) = self.shared() else { return };
        let published = self.compared(&*shared).await;
        self.is_unshared.store(published.is_err(), Ordering::Relaxed);
        if let Err(why) = published {
            tracing::warn!(server = %self.server, "the other gateways do not have the latest change to a consent yet: {why}");
        }
    }

    /// Takes over the shared consent; returns true if the tokens are other ones now.
    pub(super) async fn follow(&self) -> bool {
        let _turn = self.busy.lock().await;
        if self.has_left() {
            return false;
        }
        self.followed().await.unwrap_or(false)
    }

    /// Takes over the shared consent, while no tokens are being obtained here.
    async fn followed(&self) -> Result<bool, String> {
        let compared = self.compare().await;
        self.is_unshared.fetch_and(compared.is_err(), Ordering::Relaxed);
        compared?;
        let kept: Option<HeldTokens> = self.around.kept.get(&self.place()).await;
        let held = self.held().and_then(|held| held.version);
        match kept {
            Some(kept) if held == kept.version => Ok(false),
            Some(_) => Ok(self.adopt_kept(None).await),
            None => Ok(self.forget_tokens().is_some()),
        }
    }

    /// Renews the tokens while no other gateway does.
    ///
    /// # Errors
    /// Fails like [`Grant::exchange_refresh_token`], and if the lock cannot be had: tokens are never renewed without it.
    pub(super) async fn renew_alone(&self) -> Result<(), ConsentFault> {
        let Some(shared) = self.shared() else { return self.exchange_refresh_token().await };
        let lock = match self.wait_for_lock(&*shared).await {
            Ok(LockWait::Locked(lock)) => lock,
            Ok(LockWait::Renewed) => return Ok(()),
            Err(why) => return Err(self.not_now(&why)),
        };
        // Another gateway may have renewed the tokens before this one had the lock.
        let renewed = match self.followed().await {
            Ok(true) => Ok(()),
            Ok(false) if !lock.lasts(EXCHANGE + EXCHANGE) => Err(self.not_now("this gateway stood still")),
            Ok(false) => self.exchange_refresh_token().await,
            Err(why) => Err(self.not_now(&why)),
        };
        // If the others do not have the new tokens, they must not renew the old ones.
        if !self.is_unshared() {
            // A lock that cannot be released ends by itself.
            let _ = lock.release().await;
        }
        renewed
    }

    async fn wait_for_lock(&self, shared: &dyn SharedConsents) -> Result<LockWait, String> {
        let (name, until) = (self.shared_name(), Instant::now() + EXCHANGE);
        loop {
            if let Some(lock) = shared.lock(&name).await? {
                return Ok(LockWait::Locked(lock));
            }
            if Instant::now() >= until {
                return Err("another gateway has been renewing the token for too long".to_owned());
            }
            sleep(LOOK).await;
            if self.followed().await? {
                return Ok(LockWait::Renewed);
            }
        }
    }

    /// Postpones a renewal, and returns its fault.
    fn not_now(&self, why: &str) -> ConsentFault {
        tracing::debug!(server = %self.server, why, "the access token is not renewed now");
        let why = format!(
            "the token is not renewed now, because the gateways of the cluster cannot agree on it: {why}"
        );
        let mut known = self.known.lock();
        if let Some(held) = &mut known.held {
            held.tokens.renew = held.tokens.renew.map(|_| unix() + LATER);
        }
        known.postponed = Some(why.clone());
        ConsentFault::RefreshFailed { why, for_good: false }
    }
}
