//! Grants that end: their tokens stop working at once, and their passwords are deleted at the site, again and again until the site
//! answers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use store::grants::StoredGrant;
use tokio::time::Instant;

use crate::AuthorizationServer;
use crate::site::SiteAccount;

/// The time for which Dragoman tries to delete a password at a site, in milliseconds.
const TRIED_MS: u64 = 7 * 24 * 60 * 60 * 1000;
/// The number of passwords that are deleted in one go.
const AT_ONCE: usize = 16;
/// The time between two attempts at the same password.
const BETWEEN: Duration = Duration::from_mins(1);

/// A grant, as operators see it. All times are in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedGrant {
    /// The name of the grant.
    pub id: String,
    /// The client's name; anybody can choose any name.
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
        if ended {
            self.has_ended(id);
        }
        Ok(ended)
    }

    /// Ends a grant whose password no longer exists at the site.
    pub(crate) async fn forget(&self, id: &str, now_ms: u64) {
        let own = id.to_owned();
        // A failure was logged; the grant stays, and ends at its next use.
        let _ = self.grants.with(move |file| file.end(&own, now_ms).and_then(|_| file.remove(&own))).await;
        self.has_ended(id);
    }

    fn has_ended(&self, id: &str) {
        self.confirmations.lock().forget(id);
        self.endings.fetch_add(1, Ordering::Release);
        *self.next_tidying.lock() = None;
    }

    /// Returns a number that grows when a grant ends in this process; results about tokens that are older may be wrong.
    pub fn endings(&self) -> u64 {
        self.endings.load(Ordering::Acquire)
    }

    /// Ends idle grants, and deletes the passwords of ended ones at their sites, in the background. To be called each second; does
    /// nothing if nothing is due, or if the last run still goes on.
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
        let swept =
            self.grants.with(move |file| file.sweep(before, now_ms).and_then(|_| file.grants())).await;
        let ended = swept.unwrap_or_default().into_iter().filter(|grant| grant.ended_ms.is_some());
        for grant in ended.take(AT_ONCE) {
            self.delete_password(grant, now_ms).await;
        }
    }

    async fn delete_password(&self, grant: StoredGrant, now_ms: u64) {
        let account = SiteAccount { rest: &grant.rest, user: &grant.user, password: &grant.password };
        let is_gone = match &grant.password_id {
            Some(id) => self.reach().delete_password(account, id).await,
            // WordPress before 5.7 does not say which password this is.
            None => false,
        };
        let is_late = grant.ended_ms.is_some_and(|ended| ended + TRIED_MS < now_ms);
        let is_given_up = !is_gone && (is_late || grant.password_id.is_none());
        if is_given_up {
            let (site, user) = (&grant.site, &grant.user);
            tracing::warn!(%site, %user, "cannot delete the application password of an ended sign-in; its user can delete it \
                in the profile");
        }
        if is_gone || is_given_up {
            // A failure was logged; the next run tries again.
            let _ = self.grants.with(move |file| file.remove(&grant.id)).await;
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
