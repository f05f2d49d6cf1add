//! The exchange of operators' logins with the other replicas. This module must not know how somebody logs in.

use std::time::Duration;

use crate::cluster::{Cluster, Membership, WRITE, now_ms};
use crate::logins::{self, LoginAttempt, LoginMark};
use crate::valkey::StoreError;

impl Membership {
    /// Compares all ends with the store.
    pub(crate) async fn join_logins(&self) -> Result<(), StoreError> {
        let reply = self.store.one(logins::read_all(&self.keys), WRITE).await?;
        self.logins.lock().compare(&self.keys, &self.values, &reply, now_ms());
        Ok(())
    }

    /// Announces the events that wait.
    pub(crate) async fn write_logins(&self) -> Result<(), StoreError> {
        loop {
            let Some(batch) = self.logins.lock().take() else { return Ok(()) };
            let written = self.store.run(batch.commands(&self.keys, &self.values, &self.me.id), WRITE).await;
            if let Err(error) = written {
                self.logins.lock().put_back(batch);
                return Err(error);
            }
        }
    }
}

impl Cluster {
    /// Ends logins everywhere: those with this mark that were opened before now. `longest` is the maximum duration of a
    /// login. Without the store, the others learn of it later.
    pub fn login_ended(&self, mark: LoginMark, longest: Duration) {
        let longest = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
        self.membership.logins.lock().end_now(mark, now_ms(), longest);
        self.membership.store.announced.notify_one();
    }

    /// Returns true if the login with this mark has ended, here or at another replica.
    pub fn has_login_ended(&self, mark: &LoginMark, opened_ms: u64) -> bool {
        self.membership.logins.lock().has_ended(mark, opened_ms)
    }

    /// Announces an attempt to log in to the other replicas.
    pub fn login_attempted(&self, attempt: LoginAttempt) {
        self.membership.logins.lock().attempt(attempt);
        self.membership.store.announced.notify_one();
    }
}
