//! Grants that end. Their tokens stop working at once. Their passwords are deleted at the site, with retries until
//! the site answers.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use store::grants::StoredGrant;
use tokio::time::Instant;

use crate::AuthorizationServer;
use crate::attempts::{AbandonedAccount, ReturnedAccount};
use crate::random;
use crate::site::{Deletion, SiteAccount};

/// The time for which Dragoman tries to delete a password at a site, in milliseconds.
const TRIED_MS: u64 = 7 * 24 * 60 * 60 * 1000;
/// The time after which a password that the site ignores is considered deleted, in milliseconds.
const IGNORED_MS: u64 = 60 * 60 * 1000;
/// The time for which Dragoman tries to delete the password of a sign-in that was not finished.
const ABANDONED: Duration = Duration::from_hours(24);
/// The maximum number of ended sign-ins that are remembered until their streams have ended.
const MOST_ENDED: usize = 4096;
/// The maximum number of passwords that one run deletes.
const AT_ONCE: usize = 16;
/// The time between two attempts to delete the same password.
const BETWEEN: Duration = Duration::from_mins(1);

/// A grant as shown to operators. All times are in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedGrant {
    /// The name of the grant.
    pub id: String,
    /// The client's name, which is not verified.
    pub client: String,
    /// The client's id.
    pub client_id: String,
    /// The site.
    pub site: String,
    /// The name of the account at the site.
    pub user: String,
    /// The time at which the person signed in.
    pub created_ms: u64,
    /// The time of the last use, to within ten minutes.
    pub used_ms: u64,
}

/// Digests of the passwords of ended sign-ins. Every second, each session checks if its own password is among them.
#[derive(Debug, Default)]
pub(crate) struct EndedPasswords {
    known: HashSet<[u8; 32]>,
    /// The digests, the oldest first.
    order: VecDeque<[u8; 32]>,
}

impl EndedPasswords {
    fn note(&mut self, digest: [u8; 32]) {
        if !self.known.insert(digest) {
            return;
        }
        self.order.push_back(digest);
        if self.order.len() > MOST_ENDED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

impl AuthorizationServer {
    /// Returns all grants that have not ended, the newest first.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    pub async fn list(&self) -> Result<Vec<ListedGrant>, String> {
        let all = self.grants.with(|file| file.grants()).await?;
        Ok(all.into_iter().filter(|grant| grant.ended_ms.is_none()).map(listed).collect())
    }

    /// Ends a grant. Returns `false` if there is none with this name.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be written.
    pub async fn end(&self, id: &str, now_ms: u64) -> Result<bool, String> {
        let own = id.to_owned();
        let ended = self.grants.with(move |file| file.end(&own, now_ms)).await?;
        if let Some(grant) = &ended {
            self.has_ended(grant);
            self.tell_end(id, now_ms).await;
        }
        Ok(ended.is_some())
    }

    /// Ends a grant whose password no longer exists at the site.
    pub(crate) async fn forget(&self, id: &str, now_ms: u64) {
        // A failure was logged; the grant stays, and ends at its next use.
        let is_told = self.end(id, now_ms).await.is_ok() && !self.unshared.lock().contains(id);
        if is_told {
            let own = id.to_owned();
            // A failure was logged; the next cleanup removes the grant.
            let _ = self.grants.with(move |file| file.remove(&own)).await;
        }
    }

    pub(crate) fn has_ended(&self, grant: &StoredGrant) {
        self.confirmations.lock().forget(&grant.id);
        self.ended.lock().note(random::digest_of(grant.password.expose_secret()));
        self.endings.fetch_add(1, Ordering::Release);
        *self.next_tidying.lock() = None;
    }

    /// Returns true if the sign-in with this password ended recently in this process. Sign-ins that ended earlier
    /// are not remembered, because their streams have ended, too.
    pub fn is_ended(&self, password: &SecretString) -> bool {
        let digest = random::digest_of(password.expose_secret());
        self.ended.lock().known.contains(&digest)
    }

    /// Returns a counter that grows when a grant ends in this process. Results about tokens are valid only while
    /// the counter stays the same.
    pub fn endings(&self) -> u64 {
        self.endings.load(Ordering::Acquire)
    }

    /// Ends idle grants, and deletes the passwords of ended grants at their sites, in the background. Call this
    /// every second; it does nothing if nothing is due, or if the previous run has not finished.
    pub fn tick(self: &Arc<Self>, now_ms: u64) {
        let now = Instant::now();
        let mut next = self.next_tidying.lock();
        if next.is_some_and(|at| now < at) || self.is_tidying.swap(true, Ordering::AcqRel) {
            return;
        }
        *next = Some(now + BETWEEN);
        drop(next);
        self.limit.sweep();
        let server = self.clone();
        transport::task::spawn(async move {
            server.tidy(now_ms).await;
            server.is_tidying.store(false, Ordering::Release);
        });
    }

    pub(crate) async fn tidy(&self, now_ms: u64) {
        let idle_ms = u64::try_from(self.settings.idle.as_millis()).unwrap_or(u64::MAX);
        let before = now_ms.saturating_sub(idle_ms);
        self.tell_unshared(now_ms).await;
        let swept = match self.swept_together(before, now_ms).await {
            Ok(()) => {
                self.grants.with(move |file| file.sweep(before, now_ms).and_then(|_| file.grants())).await
            }
            Err(why) => {
                tracing::debug!(
                    "unused sign-ins do not end now, because another gateway may use them: {why}"
                );
                self.grants.with(|file| file.grants()).await
            }
        };
        let mut ended: Vec<StoredGrant> = swept.unwrap_or_default();
        ended.retain(|grant| grant.ended_ms.is_some());
        // Each run begins at another grant and asks each site once, so that a site that does not answer does not hold up the
        // others.
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let start = run.wrapping_mul(AT_ONCE) % ended.len().max(1);
        ended.rotate_left(start);
        let mut sites = HashSet::new();
        ended.retain(|grant| sites.insert(grant.site.clone()));
        for grant in ended.into_iter().take(AT_ONCE) {
            self.delete_password(grant, now_ms).await;
        }
        self.delete_abandoned().await;
    }

    /// Ends the grants that no gateway has used for too long.
    async fn swept_together(&self, before_ms: u64, now_ms: u64) -> Result<(), String> {
        if self.shared.get().is_none() {
            return Ok(());
        }
        for grant in self.grants.with(move |file| file.due(before_ms, now_ms)).await? {
            self.pull(&grant).await?;
        }
        for grant in self.grants.with(move |file| file.due(before_ms, now_ms)).await? {
            self.end(&grant, now_ms).await?;
        }
        Ok(())
    }

    /// Deletes the password of a sign-in that was not finished; `id` is the password's id at the site, if it is known.
    pub(crate) async fn discard(&self, account: ReturnedAccount, id: Option<&str>) {
        let deleted = self.reach(account.site.as_str()).delete_password(account.account(), id).await;
        if deleted == Deletion::Unanswered {
            self.attempts.lock().abandon(AbandonedAccount { account, since: Instant::now() });
        }
    }

    /// Deletes the passwords of sign-ins that were not finished, for a day.
    async fn delete_abandoned(&self) {
        let abandoned = self.attempts.lock().take_abandoned(AT_ONCE);
        let mut sites = HashSet::new();
        for one in abandoned {
            let (site, account) = (one.account.site.as_str().to_owned(), one.account.account());
            // Each site is asked once in a run, so that a site that does not answer does not hold up the others.
            let is_open = !sites.insert(site.clone())
                || self.reach(&site).delete_password(account, None).await == Deletion::Unanswered;
            if is_open && one.since.elapsed() < ABANDONED {
                self.attempts.lock().abandon(one);
            } else if is_open {
                tracing::warn!(
                    site,
                    user = one.account.user,
                    "cannot delete the application password of a sign-in that was not finished; the user can delete it in their \
                    WordPress profile"
                );
            }
        }
    }

    async fn delete_password(&self, grant: StoredGrant, now_ms: u64) {
        let account = SiteAccount { rest: &grant.rest, user: &grant.user, password: &grant.password };
        let deleted = self.reach(&grant.site).delete_password(account, grant.password_id.as_deref()).await;
        let is_older_than = |time| grant.ended_ms.is_some_and(|ended| ended + time < now_ms);
        let is_gone = match deleted {
            Deletion::Gone => true,
            Deletion::Ignored => is_older_than(IGNORED_MS),
            Deletion::Unanswered => false,
        };
        let is_late = is_older_than(TRIED_MS);
        if is_late && !is_gone {
            let (site, user) = (&grant.site, &grant.user);
            tracing::warn!(%site, %user, "cannot delete the application password of an ended sign-in; the user can delete it in \
                their WordPress profile");
        }
        if (is_gone || is_late) && !self.unshared.lock().contains(&grant.id) {
            // A failure was logged; the next run tries again.
            let _ = self.grants.with(move |file| file.remove(&grant.id)).await;
        } else {
            tracing::debug!(
                site = grant.site,
                "the application password of an ended sign-in is not deleted yet"
            );
        }
    }
}

fn listed(grant: StoredGrant) -> ListedGrant {
    ListedGrant {
        id: grant.id,
        client: grant.client_name,
        client_id: grant.client,
        site: grant.site,
        user: grant.user,
        created_ms: grant.created_ms,
        used_ms: grant.used_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_ended_passwords_are_known() {
        let mut ended = EndedPasswords::default();
        let digest = |number: usize| random::digest_of(&number.to_string());
        for number in (0..=MOST_ENDED).chain([MOST_ENDED]) {
            ended.note(digest(number));
        }
        assert_eq!((ended.known.len(), ended.order.len()), (MOST_ENDED, MOST_ENDED));
        assert!(!ended.known.contains(&digest(0)) && ended.known.contains(&digest(MOST_ENDED)));
    }
}
