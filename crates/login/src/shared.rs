//! Sign-ins that several gateways share: grants with their tokens, registered clients, and which refresh tokens were used.
//! Each gateway has the grants that it needs in its own file, and merges them with the records of the others. This module
//! must not know where the records are.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use store::grants::{FoundToken, GrantRecord, TokenDigest};

use crate::AuthorizationServer;
use crate::random;

/// The time for which a record is kept after its last change, beyond the time after which an unused grant ends.
const LONGER: Duration = Duration::from_hours(7 * 24);

/// The time for which the other gateways know a registered client after it was last used.
pub(crate) const CLIENT_LIFE: Duration = Duration::from_hours(30 * 24);

/// The time for which the use of a refresh token is known.
const SPENT_LIFE: Duration = Duration::from_hours(24);

/// The number of attempts to write a record while other gateways write it, too.
const ATTEMPTS: usize = 5;

/// The maximum number of grants whose latest change the other gateways lack.
const MOST_UNSHARED: usize = 4096;

/// A shared text.
#[derive(Debug, Clone)]
pub struct SharedText {
    /// A text that is needed to replace the shared text; empty if there is none.
    pub mark: String,
    /// The text; `None` if there is none.
    pub text: Option<SecretString>,
}

/// The use of a refresh token, counted at all gateways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SharedUse {
    First,
    Second,
    Later,
}

/// A result of the shared storage, or the reason why there is none.
pub type Sharing<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// The storage that the gateways share.
pub trait SharedSignIns: Send + Sync {
    /// Reads the text with this name.
    fn read<'a>(&'a self, name: &'a str) -> Sharing<'a, SharedText>;

    /// Replaces the text with this mark; returns false if another gateway was faster. The text is forgotten after the time
    /// `life`.
    fn replace<'a>(
        &'a self,
        name: &'a str,
        mark: &'a str,
        text: (SecretString, Duration),
    ) -> Sharing<'a, bool>;

    /// Tells the other gateways that a grant began or ended.
    fn announce<'a>(&'a self, grant: &'a str) -> Sharing<'a, ()>;
}

fn grant_name(id: &str) -> String {
    format!("grant:{id}")
}

fn client_name(id: &str) -> String {
    format!("client:{id}")
}

/// Returns the grant that a token names; `None` for a token without a name. Anybody can make up a name.
fn grant_of(token: &str) -> Option<&str> {
    let name = token.get(random::MARK..random::MARK + random::NAME)?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (is_name && token.len() == random::MARK + random::NAME + random::LENGTH).then_some(name)
}

impl AuthorizationServer {
    /// Shares all sign-ins with other gateways. `process` is the number by which they recognize this process; 0 if they pass no
    /// requests on.
    pub fn share(&self, shared: Arc<dyn SharedSignIns>, process: u32) {
        // This is set once: a process joins its cluster at its start.
        let _ = self.shared.set(shared);
        self.process.store(process, Ordering::Relaxed);
    }

    fn shared(&self) -> Option<Arc<dyn SharedSignIns>> {
        self.shared.get().cloned()
    }

    /// Returns the number by which the other gateways recognize this process; 0 without other gateways.
    pub(crate) fn process(&self) -> u32 {
        self.process.load(Ordering::Relaxed)
    }

    /// Lets the other gateways know a grant that has just begun. If they cannot, the grant is removed.
    ///
    /// # Errors
    /// Returns the reason, for the person.
    pub(crate) async fn share_begun(&self, grant: &str, now_ms: u64) -> Result<(), &'static str> {
        let Err(why) = self.push(grant, now_ms).await else { return Ok(()) };
        tracing::warn!(
            "nobody can sign in, because the gateways of the cluster cannot share the sign-in: {why}"
        );
        let own = grant.to_owned();
        // A failure was logged; the grant ends when its client does not ask for tokens.
        let _ = self.grants.with(move |file| file.remove(&own)).await;
        Err("The gateways of this cluster cannot share the sign-in at the moment. Try again in a minute.")
    }

    /// Returns the beginning of the tokens of a grant. Shared tokens name their grant, so that any gateway finds it.
    pub(crate) fn token_mark(&self, mark: &str, grant: &str) -> String {
        if self.shared.get().is_some() { format!("{mark}{grant}") } else { mark.to_owned() }
    }

    /// Returns a token with its grant, which another gateway may have issued.
    ///
    /// # Errors
    /// Returns the reason why nobody knows.
    pub(crate) async fn find(&self, token: &str) -> Result<Option<FoundToken>, String> {
        let digest = random::digest_of(token);
        let own = self.grants.with(move |file| file.find(&digest)).await?;
        let (None, Some(grant), Some(_)) = (&own, grant_of(token), self.shared.get()) else { return Ok(own) };
        self.pull(grant).await?;
        self.grants.with(move |file| file.find(&digest)).await
    }

    /// Merges the record of the other gateways into the own file. Returns the record's mark.
    ///
    /// # Errors
    /// Returns the reason why the record cannot be read.
    pub(crate) async fn pull(&self, grant: &str) -> Result<String, String> {
        let Some(shared) = self.shared() else { return Ok(String::new()) };
        let SharedText { mark, text } = shared.read(&grant_name(grant)).await?;
        let record = text.and_then(|text| serde_json::from_str::<GrantRecord>(text.expose_secret()).ok());
        if let Some(record) = record.filter(|record| record.id == grant) {
            let random = random::bytes().map_err(|error| error.to_string())?;
            let ended = self.grants.with(move |file| file.merge(&record, random)).await?;
            if let Some(ended) = ended {
                self.has_ended(&ended);
            }
        }
        Ok(mark)
    }

    /// Writes a grant for the other gateways.
    ///
    /// # Errors
    /// Returns the reason why the others do not have the change.
    pub(crate) async fn push(&self, grant: &str, now_ms: u64) -> Result<(), String> {
        let Some(shared) = self.shared() else { return Ok(()) };
        let idle = self.settings.idle.saturating_add(LONGER);
        for _ in 0..ATTEMPTS {
            let mark = self.pull(grant).await?;
            let id = grant.to_owned();
            let Some(record) = self.grants.with(move |file| file.record(&id, now_ms)).await? else {
                return Ok(());
            };
            let text = serde_json::to_string(&record).map_err(|error| error.to_string())?;
            if shared.replace(&grant_name(grant), &mark, (text.into(), idle)).await? {
                return Ok(());
            }
        }
        Err("other gateways are changing the same sign-in".to_owned())
    }

    /// Tells the other gateways that a grant began or ended here.
    ///
    /// # Errors
    /// Fails like [`AuthorizationServer::push`].
    pub(crate) async fn tell(&self, grant: &str, now_ms: u64) -> Result<(), String> {
        self.push(grant, now_ms).await?;
        match self.shared() {
            Some(shared) => shared.announce(grant).await,
            None => Ok(()),
        }
    }

    /// Tells the other gateways that a grant has ended here, now or as soon as that is possible. Returns true once they know.
    pub(crate) async fn tell_end(&self, grant: &str, now_ms: u64) -> bool {
        let told = self.tell(grant, now_ms).await;
        let mut unshared = self.unshared.lock();
        match told {
            Ok(()) => {
                unshared.remove(grant);
                true
            }
            Err(why) => {
                tracing::warn!("the other gateways do not know yet that a sign-in has ended: {why}");
                if unshared.len() < MOST_UNSHARED {
                    unshared.insert(grant.to_owned());
                }
                false
            }
        }
    }

    /// Tells the other gateways of the ends that they do not know yet.
    pub(crate) async fn tell_unshared(&self, now_ms: u64) {
        let unshared: Vec<String> = self.unshared.lock().iter().cloned().collect();
        for grant in unshared {
            if !self.tell_end(&grant, now_ms).await {
                return;
            }
        }
    }

    /// Records the use of a refresh token for all gateways.
    ///
    /// # Errors
    /// Returns the reason why nobody knows how often the token was used; it must not be used then.
    pub(crate) async fn spend(&self, digest: &TokenDigest) -> Result<SharedUse, String> {
        let Some(shared) = self.shared() else { return Ok(SharedUse::First) };
        let hex = digest.iter().fold(String::with_capacity(64), |text, byte| format!("{text}{byte:02x}"));
        for (family, which) in [("spent", SharedUse::First), ("spent-again", SharedUse::Second)] {
            let text = (SecretString::from(family), SPENT_LIFE);
            if shared.replace(&format!("{family}:{hex}"), "", text).await? {
                return Ok(which);
            }
        }
        Ok(SharedUse::Later)
    }

    /// Lets the other gateways know a registered client.
    ///
    /// # Errors
    /// Returns the reason why they do not know it.
    pub(crate) async fn share_client(&self, id: &str, metadata: String) -> Result<(), String> {
        let Some(shared) = self.shared() else { return Ok(()) };
        let name = client_name(id);
        let mark = shared.read(&name).await?.mark;
        shared.replace(&name, &mark, (metadata.into(), CLIENT_LIFE)).await.map(drop)
    }

    /// Returns the metadata of a client that registered at another gateway.
    ///
    /// # Errors
    /// Returns the reason why nobody knows.
    pub(crate) async fn client_elsewhere(&self, id: &str) -> Result<Option<String>, String> {
        let Some(shared) = self.shared() else { return Ok(None) };
        let found = shared.read(&client_name(id)).await?;
        Ok(found.text.map(|text| text.expose_secret().to_owned()))
    }

    /// Takes over the grants with these names, because they began or ended at another gateway. Without names, compares all
    /// grants, because changes may have been missed or lost.
    pub async fn follow(&self, grants: Option<Vec<String>>, now_ms: u64) {
        if let Some(grants) = grants {
            for grant in grants {
                if let Err(why) = self.pull(&grant).await {
                    tracing::debug!("cannot take over a sign-in of another gateway: {why}");
                }
            }
            return;
        }
        let Some(shared) = self.shared() else { return };
        let all = self.grants.with(|file| file.grants()).await.unwrap_or_default();
        for grant in all {
            if grant.ended_ms.is_some() {
                // The others may not know this end yet.
                self.tell_end(&grant.id, now_ms).await;
                continue;
            }
            let found = shared.read(&grant_name(&grant.id)).await;
            let done = match found {
                Ok(SharedText { text: Some(_), .. }) => self.pull(&grant.id).await.map(drop),
                Ok(SharedText { text: None, .. }) => self.push(&grant.id, now_ms).await,
                Err(why) => Err(why),
            };
            if let Err(why) = done {
                // The next connection to the store begins another comparison.
                return tracing::debug!("cannot compare sign-ins with those of the other gateways: {why}");
            }
        }
    }
}
