//! Managers' changes that all gateways of a cluster share. Each gateway compares its changes with the document in the
//! store when another gateway has announced a change, when the store can be reached again, and every few seconds. The
//! newer version wins. This module must not know what a change means.

use std::sync::Arc;
use std::time::Duration;

use cluster::{Cluster, DocumentVersion, StoreError, StoredDocument, VersionedDocument};
use secrecy::ExposeSecret as _;
use tokio::time::{Instant, sleep_until};

use crate::changes::{Changes, Refusal, Standing, differences};
use crate::management::changes_file::ChangesFile;
use crate::process::threads::Thread;
use crate::reload::comparison::{NextStep, OwnChanges};
use crate::reload::replacement::replace;
use crate::reload::standing::log_notes;
use crate::reload::watch::Sources;
use crate::session::seal::random_number;

/// The time between two comparisons with the store if no other gateway has announced a change.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// The number of attempts to write while other gateways write, too.
const ATTEMPTS: usize = 3;

/// The changes in the store, compared with those of this gateway.
pub(crate) struct SharedChanges {
    /// `None` without a cluster.
    cluster: Option<Arc<Cluster>>,
    /// The text in place of the version in the store at the last comparison.
    mark: String,
    /// The changes in the store that do not fit the configuration of this gateway.
    unfit: Option<UnfitChanges>,
    /// The key of the ring under which the changes in the store are sealed, as far as this gateway knows.
    sealed_under: String,
    next_look: Instant,
}

/// Changes that cannot be put into force here.
struct UnfitChanges {
    mark: String,
    why: String,
}

impl SharedChanges {
    /// Begins to compare the changes from a gateway; without a cluster, there is nothing to compare.
    pub(super) fn of(thread: &Thread) -> Self {
        let cluster = thread.now().gateway.process.session.cluster.get().cloned();
        // If the document is still sealed under an older key, a gateway that knew the older key seals it again.
        let sealed_under = cluster.as_ref().map(|cluster| cluster.sealed_under()).unwrap_or_default();
        Self { cluster, mark: String::new(), unfit: None, sealed_under, next_look: Instant::now() }
    }

    /// Waits until a comparison is due. Without a cluster, this waits forever.
    pub(super) async fn news(&self) {
        let Some(cluster) = &self.cluster else { return std::future::pending().await };
        tokio::select! {
            () = cluster.managed_news() => {}
            () = sleep_until(self.next_look) => {}
        }
    }

    /// Compares the changes with the store. Errors are logged once.
    pub(super) async fn look(&mut self, thread: &Thread, kept: Option<&ChangesFile>) {
        self.next_look = Instant::now() + LOOK_EVERY;
        match self.compare(thread, kept).await {
            Ok(()) => *thread.now().gateway.process.unfit_changes.lock() = None,
            Err(why) => tracing::debug!("cannot compare the changes from the cluster: {why}"),
        }
    }

    /// Tries again to put changes into force that did not fit, because the configuration file has changed.
    pub(super) fn file_changed(&mut self) {
        self.unfit = None;
        self.next_look = Instant::now();
    }

    /// Compares the changes from this gateway with those in the store, until both are the same.
    ///
    /// # Errors
    /// Returns the reason why no change can be made now, and what to do.
    async fn compare(&mut self, thread: &Thread, kept: Option<&ChangesFile>) -> Result<(), Refusal> {
        let Some(cluster) = self.cluster.clone() else { return Ok(()) };
        for _ in 0..ATTEMPTS {
            let standing = thread.now().gateway.standing.clone();
            if !standing.config().keeps_changes() {
                return Ok(());
            }
            let (changes, sealed_under) = (standing.changes(), cluster.sealed_under());
            let own = OwnChanges {
                version: changes.version(),
                is_empty: changes.is_empty(),
                needs_seal: sealed_under != self.sealed_under,
            };
            self.mark = cluster.managed_mark().await.map_err(|error| unavailable(&error))?;
            let is_same = own.version.map(|version| version.to_string()).unwrap_or_default() == self.mark;
            if is_same && own.compare(own.version) == NextStep::Settled {
                return Ok(());
            }
            if let Some(unfit) = self.unfit.as_ref().filter(|unfit| unfit.mark == self.mark) {
                return Err(unfit.refusal());
            }
            let stored = cluster.managed_document().await.map_err(|error| unavailable(&error))?;
            self.mark.clone_from(&stored.mark);
            match own.compare(stored.document.as_ref().map(|document| document.version)) {
                NextStep::Settled => return Ok(()),
                NextStep::Take => return self.take(thread, kept, stored).await,
                NextStep::Publish => {
                    if self.publish_own(&cluster, thread, kept).await? {
                        self.sealed_under = sealed_under;
                        return Ok(());
                    }
                }
            }
        }
        Err(Refusal::new(503, "BUSY", "other gateways are changing the configuration; try again"))
    }

    /// Puts changes from another gateway into force.
    async fn take(
        &mut self,
        thread: &Thread,
        kept: Option<&ChangesFile>,
        stored: StoredDocument,
    ) -> Result<(), Refusal> {
        let StoredDocument { mark, document: Some(document) } = stored else { return Ok(()) };
        let before = thread.now().gateway.standing.clone();
        let taken = put_into_force(thread, &before, &document).await;
        let standing = taken.map_err(|why| {
            tracing::error!(
                "the changes that another gateway has made to the configuration are not in force here: {why}"
            );
            let unfit = UnfitChanges { mark, why };
            let refusal = unfit.refusal();
            *thread.now().gateway.process.unfit_changes.lock() = Some(unfit.why.clone());
            self.unfit = Some(unfit);
            refusal
        })?;
        self.unfit = None;
        let what = differences(before.config(), standing.config());
        let (changes, version) = (before.changes(), document.version);
        if changes.version().is_none() && !changes.is_empty() {
            tracing::warn!(%what, "the changes from the cluster replace the changes that were made here before this gateway joined the cluster");
        } else {
            tracing::info!(%what, %version, "applied the changes from another gateway");
        }
        keep(kept, &standing).await;
        Ok(())
    }

    /// Writes the changes from this gateway to the store; returns false if another gateway was faster.
    async fn publish_own(
        &self,
        cluster: &Cluster,
        thread: &Thread,
        kept: Option<&ChangesFile>,
    ) -> Result<bool, Refusal> {
        let standing = thread.now().gateway.standing.clone();
        let is_new = standing.changes().version().is_none();
        let standing = if is_new { following(&standing, (*standing).clone())? } else { (*standing).clone() };
        let document = document(&standing)?;
        let written = cluster.replace_managed(&self.mark, &document).await;
        if !written.map_err(|error| unavailable(&error))? {
            return Ok(false);
        }
        tracing::info!(version = %document.version, "wrote the changes from this gateway to the cluster's store");
        if is_new {
            replace(thread, standing.clone()).await.map_err(Refusal::internal)?;
            keep(kept, &standing).await;
        }
        Ok(true)
    }

    /// Compares the changes with the store before an edit is made.
    ///
    /// # Errors
    /// Returns the reason why no change can be made now, and what to do.
    pub(super) async fn before_edit(
        &mut self,
        thread: &Thread,
        kept: Option<&ChangesFile>,
    ) -> Result<(), Refusal> {
        self.compare(thread, kept).await
    }

    /// Puts an edit into force here and in the cluster.
    ///
    /// # Errors
    /// Returns the reason why the edit is not in force, and what to do.
    pub(super) async fn make(
        &mut self,
        thread: &Thread,
        kept: Option<&ChangesFile>,
        (before, edited): (Arc<Standing>, Standing),
    ) -> Result<(), Refusal> {
        let Some(cluster) = self.cluster.clone() else {
            return Box::pin(make_alone(thread, kept, (before, edited.versioned(None)))).await;
        };
        let edited = following(&before, edited)?;
        let document = document(&edited)?;
        // The edit is tried here first, so that no gateway gets one that cannot be put into force.
        replace(thread, edited.clone()).await.map_err(|why| Refusal::new(400, "INVALID_CONFIG", why))?;
        let refusal = match self.written(&cluster, &document).await {
            Ok(true) => {
                self.sealed_under = cluster.sealed_under();
                keep(kept, &edited).await;
                return Ok(());
            }
            Ok(false) => {
                let message = "another gateway has changed the configuration at the same time; read the configuration again, and repeat the change";
                Refusal::new(409, "CHANGED_ELSEWHERE", message)
            }
            Err(error) => unconfirmed(&error),
        };
        if let Err(why) = replace(thread, (*before).clone()).await {
            tracing::error!("a change that the cluster has not accepted is still in force here: {why}");
        }
        // The refusal of the edit counts, not the outcome of this comparison, which is repeated anyway.
        let _ = self.compare(thread, kept).await;
        Err(refusal)
    }

    /// Writes an edit to the store; returns false if another gateway was faster. If the store does not confirm the edit,
    /// the store is asked which version it has.
    async fn written(&self, cluster: &Cluster, document: &VersionedDocument) -> Result<bool, StoreError> {
        match cluster.replace_managed(&self.mark, document).await {
            Err(error) => match cluster.managed_mark().await {
                Ok(mark) if mark == document.version.to_string() => Ok(true),
                _ => Err(error),
            },
            written => written,
        }
    }
}

impl UnfitChanges {
    fn refusal(&self) -> Refusal {
        let why = &self.why;
        let message = format!(
            "changes that were made at another gateway do not fit the configuration file of this gateway: {why}; use the same configuration file and the same version of Dragoman at all gateways"
        );
        Refusal::new(409, "CONFIG_DIFFERS", message)
    }
}

/// Compares the changes from this gateway with those of the cluster before clients are served.
pub(crate) async fn first_comparison(thread: &Thread, sources: &Sources) {
    let mut shared = SharedChanges::of(thread);
    // Each command has a deadline, and the comparison is repeated later.
    Box::pin(shared.look(thread, sources.kept.as_ref())).await;
}

/// Stores an edit in the file, then puts it into force; for gateways without a cluster.
async fn make_alone(
    thread: &Thread,
    kept: Option<&ChangesFile>,
    (before, edited): (Arc<Standing>, Standing),
) -> Result<(), Refusal> {
    if let Some(kept) = kept {
        kept.keep(edited.changes().text()?).await?;
    }
    if let Err(why) = replace(thread, edited).await {
        if let Some(kept) = kept {
            kept.keep(before.changes().text()?).await?;
        }
        return Err(Refusal::new(400, "INVALID_CONFIG", why));
    }
    Ok(())
}

/// Puts the changes in a document into force.
async fn put_into_force(
    thread: &Thread,
    before: &Standing,
    document: &VersionedDocument,
) -> Result<Standing, String> {
    let (base, text, version) = (before.base().clone(), document.text.clone(), document.version);
    let read = transport::task::spawn_blocking(move || {
        let changes = Changes::parse(text.expose_secret())
            .map_err(|why| format!("they were made by another version of Dragoman ({why})"))?;
        let standing = Standing::new(base, changes).map_err(|refusal| refusal.message)?;
        Ok::<_, String>(standing.versioned(Some(version)))
    });
    let standing = read.await.map_err(|error| error.to_string())??;
    log_notes(&standing);
    replace(thread, standing.clone()).await?;
    Ok(standing)
}

/// Gives changes the version that follows the version of `before`.
fn following(before: &Standing, changed: Standing) -> Result<Standing, Refusal> {
    let failed = |_| Refusal::internal("the operating system's random number generator failed");
    let edition = random_number().map_err(failed)?;
    Ok(changed.versioned(Some(DocumentVersion::after(before.changes().version(), edition))))
}

/// Returns the document with the changes, which must have a version.
fn document(standing: &Standing) -> Result<VersionedDocument, Refusal> {
    let changes = standing.changes();
    let version = changes.version().ok_or_else(|| Refusal::internal("the changes have no version"))?;
    Ok(VersionedDocument { version, text: changes.text()?.into() })
}

/// Stores changes that are in force in the cluster, for the next start. The store has them, so a failure is only logged.
async fn keep(kept: Option<&ChangesFile>, standing: &Standing) {
    let Some(kept) = kept else { return };
    let stored = match standing.changes().text() {
        Ok(text) => kept.keep(text).await,
        Err(refusal) => Err(refusal),
    };
    if let Err(why) = stored {
        tracing::warn!("the changes from the cluster are in force, but not in this gateway's file: {why}");
    }
}

fn unconfirmed(error: &StoreError) -> Refusal {
    let message = format!(
        "the cluster's store has not confirmed the change ({error}); once the store answers, check whether the change was made, and repeat it if it was not"
    );
    Refusal::new(503, "STORE_UNAVAILABLE", message)
}

fn unavailable(error: &StoreError) -> Refusal {
    let message = format!(
        "servers and profiles cannot be changed while the cluster's store is unavailable ({error}); the configuration in force stays, so try again once the store answers"
    );
    Refusal::new(503, "STORE_UNAVAILABLE", message)
}
