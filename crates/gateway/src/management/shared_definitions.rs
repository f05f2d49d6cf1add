//! Approved definitions of tools that all gateways of a cluster share. Each gateway has them in a file of its own, and merges them with
//! the document in the store: when definitions were approved or seen here, when another gateway has announced a change, and when
//! the store can be reached again. This module must not know how decisions are merged.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest;
use cluster::{Cluster, StoredDocument};
use secrecy::ExposeSecret as _;
use store::catalogues::ServerDigest;
use store::definitions::ServerApprovals;
use tokio::time::timeout;
use transport::task::spawn_blocking;
use upstream::per_caller::PerCaller;

use super::definitions::follow;
use crate::changes::Refusal;
use crate::process::Shard;
use crate::process::definition_news::ComparedServer;
use crate::process::kept_definitions::KeptDefinitions;

/// The number of attempts to write while other gateways write, too.
const ATTEMPTS: usize = 4;

/// The maximum size of all texts of a server that are shared. Without the texts, a review elsewhere cannot show what was approved.
const MOST_TEXT: usize = 6 << 20;

/// The maximum time for the first comparison. After it, the gateway starts with its own file.
const FIRST: Duration = Duration::from_secs(3);

/// A server whose decisions are compared.
struct SharedServer<'a> {
    cluster: &'a Cluster,
    record: Arc<KeptDefinitions>,
    digest: ServerDigest,
    /// The name of the document in the store.
    name: &'a str,
    /// The configured name.
    server: Arc<str>,
}

/// Compares all servers before their first lists are fetched: a list is approved on first sight only if no gateway of the cluster has
/// seen the server before.
pub(crate) async fn first_comparison(shard: &Arc<Shard>) {
    if timeout(FIRST, compare_due(shard)).await.is_err() {
        tracing::warn!(
            "approved definitions of tools were not compared with the cluster in time; this gateway starts with its own"
        );
    }
}

/// Compares the servers that are due, unless the store cannot be used.
pub(crate) async fn compare_due(shard: &Arc<Shard>) {
    let process = &shard.gateway.process;
    let (Some(cluster), Some(record)) = (process.session.cluster.get(), process.definitions.get()) else {
        return;
    };
    if !cluster.has_store() {
        return;
    }
    let due = record.news().take();
    let mut names = Vec::new();
    for one in shard.view.state.upstreams.all().iter() {
        let definitions = &one.common.server.definitions;
        let Some(name) = definitions.shared_name() else { continue };
        let is_resealed = definitions
            .digest()
            .and_then(|digest| record.news().compared(&digest))
            .is_some_and(|last| last.sealed_under != cluster.sealed_under());
        if !due.contains(name) && !is_resealed {
            continue;
        }
        names.push(name.to_owned());
        if let Err(why) = compare(shard, one).await {
            tracing::debug!(server = %one.common.name(), "cannot compare approved definitions with the cluster: {why}");
            record.news().failed(due.has_joined);
        }
    }
    // If somebody has put older documents into the store, the others put theirs back.
    if due.has_joined && !names.is_empty() && cluster.announce_definitions(names).await.is_err() {
        record.news().failed(true);
    }
}

/// Compares a server before definitions are approved here.
///
/// # Errors
/// Fails if the store cannot be used.
pub(super) async fn before_approval(shard: &Arc<Shard>, one: &Arc<PerCaller>) -> Result<(), Refusal> {
    compare(shard, one).await.map_err(|why| {
        let message = format!(
            "definitions cannot be approved while the cluster's store is unavailable ({why}); try again once the store answers"
        );
        Refusal::new(503, "STORE_UNAVAILABLE", message)
    })
}

/// Gives the other gateways what was approved here.
pub(super) async fn after_approval(shard: &Arc<Shard>, one: &Arc<PerCaller>) {
    if let Err(why) = compare(shard, one).await {
        tracing::warn!(server = %one.common.name(), "the other gateways do not know of an approval yet; Dragoman will try again: {why}");
    }
}

/// Merges the decisions about a server with those in the store, until both are the same.
async fn compare(shard: &Arc<Shard>, one: &Arc<PerCaller>) -> Result<(), String> {
    let (process, definitions) = (&shard.gateway.process, &one.common.server.definitions);
    let (Some(cluster), Some(record)) = (process.session.cluster.get(), process.definitions.get()) else {
        return Ok(());
    };
    let (Some(digest), Some(name)) = (definitions.digest(), definitions.shared_name()) else { return Ok(()) };
    let server =
        SharedServer { cluster, record: record.clone(), digest, name, server: one.common.name().clone() };
    let mut has_changed = false;
    let mut outcome = Err("other gateways write at the same time".to_owned());
    for _ in 0..ATTEMPTS {
        match server.exchange(&mut has_changed).await {
            Ok(false) => {}
            Ok(true) => {
                outcome = Ok(());
                break;
            }
            Err(why) => {
                outcome = Err(why);
                break;
            }
        }
    }
    if has_changed {
        tracing::info!(server = %server.server, "applied approvals of definitions from another gateway");
        follow(shard, one).await;
    }
    outcome
}

impl SharedServer<'_> {
    /// Makes the file and the store the same; returns false if another gateway was faster. Sets `has_changed` if the file has other
    /// decisions now.
    async fn exchange(&self, has_changed: &mut bool) -> Result<bool, String> {
        let own = self.own().await?;
        let mark = self.cluster.definitions_mark(self.name).await.map_err(|error| error.to_string())?;
        let sealed_under = self.cluster.sealed_under();
        let last = self.record.news().compared(&self.digest);
        let now = ComparedServer { mark, own: digest_of(own.as_ref()), sealed_under };
        if last.as_ref() == Some(&now) {
            return Ok(true);
        }
        let needs_seal = last.is_some_and(|last| last.sealed_under != now.sealed_under);
        let stored = self.cluster.definitions(self.name).await.map_err(|error| error.to_string())?;
        let (mut mark, theirs) = (stored.mark.clone(), decisions(&stored)?);
        let merged = match theirs.clone() {
            None => own,
            Some(theirs) => {
                let (record, digest, name) = (self.record.clone(), self.digest, self.server.clone());
                let merged = spawn_blocking(move || record.merge(&digest, (&name, theirs))).await;
                let merged = merged.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
                *has_changed |= merged.as_ref().is_some_and(|(_, differs)| *differs);
                merged.map(|(merged, _)| merged)
            }
        };
        let Some(merged) = merged else { return Ok(true) };
        let own = digest_of(Some(&merged));
        if needs_seal || !theirs.is_some_and(|theirs| theirs.decides_like(&merged)) {
            match self.publish(&mark, merged).await? {
                Some(written) => mark = written,
                None => return Ok(false),
            }
        }
        self.record.news().note(self.digest, ComparedServer { mark, own, ..now });
        Ok(true)
    }

    async fn own(&self) -> Result<Option<ServerApprovals>, String> {
        let (record, digest) = (self.record.clone(), self.digest);
        let own = spawn_blocking(move || record.approvals(&digest)).await;
        own.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    /// Writes decisions to the store. Returns the new mark; `None` if another gateway was faster.
    async fn publish(&self, mark: &str, mut decisions: ServerApprovals) -> Result<Option<String>, String> {
        decisions.limit_bodies(MOST_TEXT);
        let text = serde_json::to_string(&decisions).map_err(|error| error.to_string())?;
        let written = self.cluster.replace_definitions(self.name, mark, text.into()).await;
        written.map_err(|error| error.to_string())
    }
}

/// Reads the decisions in the store; `None` if there are none.
fn decisions(stored: &StoredDocument) -> Result<Option<ServerApprovals>, String> {
    let text = stored.document.as_ref().map(|document| document.text.expose_secret());
    let read = text.map(serde_json::from_str).transpose();
    read.map_err(|_| "a newer version of Dragoman has written them".to_owned())
}

fn digest_of(decisions: Option<&ServerApprovals>) -> [u8; 32] {
    let text = decisions.and_then(|decisions| serde_json::to_vec(decisions).ok()).unwrap_or_default();
    let mut own = [0; 32];
    own.copy_from_slice(digest::digest(&digest::SHA256, &text).as_ref());
    own
}
