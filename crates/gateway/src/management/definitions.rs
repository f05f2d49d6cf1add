//! Reviews and approvals of tools' definitions on the running gateway. This module must not know HTTP.

use std::sync::Arc;

use serde_json::{Value, json};
use store::definitions::{ApprovalRefused, ApprovalRequest, StoredDefinition};
use upstream::definitions::{DefinitionCounts, DefinitionRecord};
use upstream::per_caller::PerCaller;

use crate::changes::Refusal;
use crate::definitions::Review;
use crate::management::shared_definitions;
use crate::process::Shard;
use crate::process::kept_definitions::KeptDefinitions;

/// The tools that a manager approves.
pub struct Approval {
    /// The names of the tools; `None` for all tools that await approval.
    pub tools: Option<Vec<String>>,
    /// The revision of the definitions that the manager reviewed.
    pub revision: Option<String>,
    /// The id of the manager.
    pub by: Arc<str>,
}

/// Returns the state of a server's definitions: the policy, and the number of tools that await approval.
fn state(record: &DefinitionRecord) -> Value {
    let DefinitionCounts { changed, new, vanished } = record.counts();
    json!({ "policy": record.policy().name(), "changed": changed, "new": new, "vanished": vanished })
}

/// Returns the servers with tools that await approval.
pub fn servers(shard: &Shard) -> Value {
    let has_changes =
        |one: &&Arc<PerCaller>| one.common.server.definitions.counts() != DefinitionCounts::default();
    let all = shard.view.state.upstreams.all();
    let shown = all.iter().filter(has_changes).map(|one| {
        let mut value = state(&one.common.server.definitions);
        value["id"] = json!(&**one.common.name());
        value
    });
    json!({ "servers": shown.collect::<Vec<_>>() })
}

/// Returns the changes to a server's tools that await approval, in the form of the API.
pub async fn review(shard: &Shard, server: &str, is_full: bool) -> Result<Value, Refusal> {
    let policy = recorded(shard, server)?.0.common.server.definitions.policy().name();
    let review = examine(shard, server, is_full).await?;
    let name = server.to_owned();
    let made = transport::task::spawn_blocking(move || review.to_json(&name, is_full)).await;
    let mut review = made.map_err(|e| Refusal::internal(e.to_string()))?;
    review["policy"] = json!(policy);
    Ok(review)
}

/// Returns the changes to a server's tools that await approval.
pub async fn examine(shard: &Shard, server: &str, is_full: bool) -> Result<Review, Refusal> {
    let (all, revision) = stored(shard, server).await?;
    let made = transport::task::spawn_blocking(move || Review::of(&all, revision, is_full)).await;
    made.map_err(|e| Refusal::internal(e.to_string()))
}

/// Returns the stored definitions of a server, and a code for their state.
///
/// # Errors
///
/// Fails if the definitions of the server are not recorded, or cannot be read.
pub async fn stored(shard: &Shard, server: &str) -> Result<(Vec<StoredDefinition>, String), Refusal> {
    let (one, store) = recorded(shard, server)?;
    let Some(digest) = one.common.server.definitions.digest() else { return Err(not_recorded(server)) };
    let read = transport::task::spawn_blocking(move || store.of_server(&digest)).await;
    let all = read.map_err(|e| Refusal::internal(e.to_string()))?;
    all.map_err(|e| Refusal::internal(format!("{e}; {}", e.help())))
}

/// Approves definitions; returns the names of the approved tools once clients see these tools.
pub async fn approve(shard: &Arc<Shard>, server: &str, approval: Approval) -> Result<Vec<String>, Refusal> {
    let (one, store) = recorded(shard, server)?;
    let Some(digest) = one.common.server.definitions.digest() else { return Err(not_recorded(server)) };
    shared_definitions::before_approval(shard, &one).await?;
    let made = transport::task::spawn_blocking(move || {
        let Approval { tools, revision, by } = &approval;
        let request = ApprovalRequest { tools: tools.as_deref(), revision: revision.as_deref(), by };
        store.approve(&digest, request)
    });
    let made = made.await.map_err(|e| Refusal::internal(e.to_string()))?;
    let made = made.map_err(|e| Refusal::internal(format!("{e}; {}", e.help())))?;
    let tools = made.map_err(|refused| {
        let code = match refused {
            ApprovalRefused::Outdated(_) => (409, "DEFINITIONS_CHANGED"),
            ApprovalRefused::Unknown(_) => (404, "NOTHING_TO_APPROVE"),
            ApprovalRefused::TooMany(_) => (409, "TOO_MANY_DEFINITIONS"),
        };
        Refusal::new(code.0, code.1, refused.to_string())
    })?;
    tracing::info!(%server, "definitions of tools were approved: {}", named(&tools));
    follow(shard, &one).await;
    shared_definitions::after_approval(shard, &one).await;
    Ok(tools)
}

/// Applies approvals that another process has written to the file. If `has_changed` is false, applies only approvals that
/// could not be read before.
pub(crate) async fn follow_file(shard: &Arc<Shard>, has_changed: bool) {
    for one in shard.view.state.upstreams.all().iter() {
        if has_changed || one.common.server.definitions.is_outdated() {
            follow(shard, one).await;
        }
    }
}

/// Applies the policies of a new configuration.
pub(crate) async fn follow_policies(shard: &Arc<Shard>) {
    for one in shard.view.state.upstreams.all().iter() {
        let Some(spec) = shard.gateway.snapshot.upstream(one.common.server.spec.id) else { continue };
        if one.common.server.definitions.set_policy(spec.definitions) {
            for upstream in one.family() {
                upstream.catalogue.follow_definitions(&shard.egress).finished().await;
            }
        }
    }
}

/// Returns the names of tools as one text for the log or the record of calls. Invisible characters are escaped.
pub fn named(tools: &[String]) -> String {
    let names: Vec<String> = tools.iter().map(|tool| engine::pinning::visible(tool)).collect();
    names.join(", ")
}

/// Applies what the file has for a server now.
pub(super) async fn follow(shard: &Arc<Shard>, one: &Arc<PerCaller>) {
    let record = one.common.server.definitions.clone();
    let was_outdated = record.is_outdated();
    match transport::task::spawn_blocking(move || record.reload()).await {
        Ok(Ok(true)) => {
            for upstream in one.family() {
                upstream.catalogue.follow_approvals(&shard.egress).finished().await;
            }
        }
        Ok(Ok(false)) => {}
        Ok(Err(_)) if was_outdated => {}
        Ok(Err(why)) => {
            tracing::warn!(server = %one.common.name(), "approvals are not applied yet; Dragoman will try again: {why}");
        }
        Err(e) => tracing::warn!(server = %one.common.name(), "cannot apply approvals: {e}"),
    }
}

/// Returns the server with this name, and the record of definitions.
fn recorded(shard: &Shard, server: &str) -> Result<(Arc<PerCaller>, Arc<KeptDefinitions>), Refusal> {
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| &*spec.name == server);
    let store = shard.gateway.process.definitions.get();
    match (spec, store) {
        (Some(spec), Some(store)) => Ok((shard.view.state.upstreams.entry(spec.id), store.clone())),
        _ => Err(not_recorded(server)),
    }
}

fn not_recorded(server: &str) -> Refusal {
    let message = format!(
        "the definitions of {server:?} are not recorded: the server is disabled, is embedded, or has `definitions: allow`"
    );
    Refusal::new(409, "NOT_RECORDED", message)
}
