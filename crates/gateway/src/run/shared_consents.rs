//! Connects the consents of users, the sign-ins of people, and the approved definitions of tools with the store of the cluster. This module must not know how
//! tokens are obtained.

use std::sync::Arc;
use std::time::Duration;

use cluster::{ChangeWatch, Cluster, ConsentLock, DocumentVersion, VersionedDocument};
use secrecy::SecretString;
use upstream::oauth::{ConsentVersion, RenewalLock, SharedConsent, SharedConsents, Sharing};

use crate::call::consent;
use crate::process::Thread;

/// The consents in the store.
pub(super) struct StoredConsents(pub(super) Arc<Cluster>);

impl SharedConsents for StoredConsents {
    fn read<'a>(&'a self, name: &'a str) -> Sharing<'a, SharedConsent> {
        Box::pin(async move {
            let found = self.0.consent(name).await.map_err(|error| error.to_string())?;
            let content = found.document.map(|VersionedDocument { version, text }| {
                let (number, edition) = version.numbers();
                (ConsentVersion { number, edition }, text)
            });
            Ok(SharedConsent { mark: found.mark, content })
        })
    }

    fn replace<'a>(
        &'a self,
        name: &'a str,
        mark: &'a str,
        (version, text): (ConsentVersion, SecretString),
    ) -> Sharing<'a, bool> {
        let version = DocumentVersion::new(version.number, version.edition);
        let document = VersionedDocument { version, text };
        Box::pin(async move {
            self.0.replace_consent(name, mark, &document).await.map_err(|error| error.to_string())
        })
    }

    fn lock<'a>(&'a self, name: &'a str) -> Sharing<'a, Option<Box<dyn RenewalLock>>> {
        Box::pin(async move {
            let lock = self.0.lock_consent(name).await.map_err(|error| error.to_string())?;
            let held =
                |lock| -> Box<dyn RenewalLock> { Box::new(HeldLock { cluster: self.0.clone(), lock }) };
            Ok(lock.map(held))
        })
    }
}

/// A lock in the store.
struct HeldLock {
    cluster: Arc<Cluster>,
    lock: ConsentLock,
}

impl RenewalLock for HeldLock {
    fn lasts(&self, time: Duration) -> bool {
        self.lock.lasts(time)
    }

    fn release(&self) -> Sharing<'_, ()> {
        Box::pin(async move {
            self.cluster.unlock_consent(&self.lock).await;
            Ok(())
        })
    }
}

/// The consents of this gateway.
pub(super) struct GatewayConsents(pub(super) Arc<Thread>);

impl GatewayConsents {
    /// Takes over consents from the store in the background, and fetches the lists of their servers again.
    fn follow(&self, names: Option<Vec<String>>) {
        let thread = self.0.clone();
        transport::task::spawn(async move {
            let consents = thread.now().gateway.process.consents.clone();
            for (server, caller) in consents.follow(names.as_deref()).await {
                consent::changed(&thread.now().call, &server, caller.as_ref());
            }
        });
    }
}

impl ChangeWatch for GatewayConsents {
    fn changed(&self, names: &[String]) {
        self.follow(Some(names.to_vec()));
    }

    fn joined(&self) {
        self.follow(None);
    }
}

/// The sign-ins of this gateway.
pub(super) struct GatewaySignIns(pub(super) Arc<Thread>);

impl GatewaySignIns {
    /// Takes over sign-ins from the store in the background.
    fn follow(&self, names: Option<Vec<String>>) {
        let shard = self.0.now();
        let Some(server) = shard.door.sign_in().cloned() else { return };
        let now_ms = shard.door.unix_ms();
        transport::task::spawn(async move { server.follow(names, now_ms).await });
    }
}

impl ChangeWatch for GatewaySignIns {
    fn changed(&self, names: &[String]) {
        self.follow(Some(names.to_vec()));
    }

    fn joined(&self) {
        self.follow(None);
    }
}

/// The approved definitions of this gateway.
pub(super) struct GatewayDefinitions(pub(super) Arc<Thread>);

impl ChangeWatch for GatewayDefinitions {
    fn changed(&self, names: &[String]) {
        if let Some(record) = self.0.now().gateway.process.definitions.get() {
            record.news().announced(names);
        }
    }

    fn joined(&self) {
        if let Some(record) = self.0.now().gateway.process.definitions.get() {
            record.news().joined();
        }
    }
}
