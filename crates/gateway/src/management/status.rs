//! The state of servers and their lists, for managers. It must not know HTTP.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use engine::catalogue::{ListKind, Refusals};
use jiff::Timestamp;
use proto::era::{Era, newest_handshake, newest_stateless};
use serde_json::{Value, json};
use upstream::Upstream;
use upstream::health::HealthWord;
use upstream::pool::PoolFigures;

use crate::admission::identity::Identity;
use crate::changes::ListedTool;
use crate::process::Shard;

/// The time that a server may take to return its lists.
const PATIENCE: Duration = Duration::from_secs(8);

/// The advice for a server whose clients are moved between its connections.
const ADVICE: &str = "clients were moved to another connection and lost the state that the server kept for them in memory: set \
                      `affinity: session` if the server keeps such state, or raise `dedicatedConnections`";

/// Returns a server as seen by this caller.
fn upstream(shard: &Arc<Shard>, identity: &Identity, name: &str) -> Option<Arc<Upstream>> {
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| &*spec.name == name)?;
    Some(shard.view.state.upstream_of(spec.id, identity))
}

/// Returns the version of the clients for which the server's lists are fetched first.
fn era(upstream: &Upstream) -> &'static Era {
    if upstream.server.over_http() { newest_stateless() } else { newest_handshake() }
}

/// Returns the status of one server. `status` and `error` keep their established values; `state` is the same state of
/// health as in the log.
pub(crate) fn status(shard: &Arc<Shard>, identity: &Identity, name: &str) -> Value {
    let Some(upstream) = upstream(shard, identity, name) else {
        return json!({
            "id": name, "status": "disconnected", "error": null, "tools": 0,
            "state": "disabled", "reason": "it is disabled", "since": null, "nextTry": null,
            "connections": { "shared": 0, "dedicated": 0, "waiting": 0 }, "moves": 0, "advice": null,
            "freshness": "unknown", "staleReason": null, "refusals": [], "stderr": [],
        });
    };
    let health = upstream.server.health.report();
    let freshness = upstream.catalogue.freshness(era(&upstream), Instant::now());
    let known = upstream.catalogue.tools(era(&upstream));
    let tools = known.as_ref().map_or(0, |catalogue| catalogue.list(ListKind::Tools).len());
    let refusals =
        known.ok().filter(|catalogue| catalogue.has_refusals()).map(|catalogue| catalogue.refusals());
    let refusals: Vec<String> = refusals.iter().flat_map(|all| all.iter()).map(ToString::to_string).collect();
    let status = status_of(health.word);
    let reason = (!health.cause.detail.is_empty()).then_some(&health.cause.detail);
    let error = reason.filter(|_| matches!(status, "error" | "auth_required"));
    let since = SystemTime::now().checked_sub(health.since.elapsed());
    let next = |at: Instant| SystemTime::now().checked_add(at.saturating_duration_since(Instant::now()));
    let figures = upstream.links.figures();
    let PoolFigures { links: dedicated, waiting, moves } = figures.dedicated;
    let connections = json!({ "shared": figures.shared, "dedicated": dedicated, "waiting": waiting });
    json!({
        "id": name, "status": status, "error": error, "tools": tools,
        "state": health.word.name(), "reason": reason,
        "since": since.and_then(shown), "nextTry": health.next_try.and_then(next).and_then(shown),
        "connections": connections, "moves": moves, "advice": (moves > 0).then_some(ADVICE),
        "freshness": freshness.name(), "staleReason": freshness.reason(), "refusals": refusals,
        "stderr": upstream.links.last_words(),
    })
}

/// Finds out which families of clients refuse tools of a server, unless that is known. Many tools take a while, which other
/// connections of the thread must not wait for.
pub(crate) async fn examine(shard: &Arc<Shard>, identity: &Identity, name: &str) {
    let known =
        upstream(shard, identity, name).and_then(|upstream| upstream.catalogue.tools(era(&upstream)).ok());
    if let Some(catalogue) = known.filter(|catalogue| !catalogue.has_refusals()) {
        // Without an answer, the status is shown without refusals.
        let _ = tokio::task::spawn_blocking(move || drop(catalogue.refusals())).await;
    }
}

/// Returns the tools of a server that families of clients refuse, as far as this is known.
pub(crate) fn refusals(shard: &Arc<Shard>, identity: &Identity, name: &str) -> Value {
    let known =
        upstream(shard, identity, name).and_then(|upstream| upstream.catalogue.tools(era(&upstream)).ok());
    let known = known.filter(|catalogue| catalogue.has_refusals());
    known.map_or_else(|| json!([]), |catalogue| Refusals::listed(&catalogue.refusals()))
}

/// Returns the name that other gateways use for a state.
fn status_of(state: HealthWord) -> &'static str {
    match state {
        HealthWord::Ready | HealthWord::Degraded => "connected",
        HealthWord::Starting | HealthWord::Listing => "connecting",
        HealthWord::Resting => "resting",
        HealthWord::BackingOff | HealthWord::Unreachable => "error",
        HealthWord::AuthRequired => "auth_required",
        HealthWord::Leaving => "disconnected",
    }
}

/// Returns a time as text, to the second.
fn shown(at: SystemTime) -> Option<String> {
    let seconds = at.duration_since(UNIX_EPOCH).ok()?.as_secs();
    Timestamp::from_second(i64::try_from(seconds).ok()?).ok().map(|at| at.to_string())
}

/// Returns the tools in a server's list; if `fresh` is true, the list is fetched again.
///
/// # Errors
/// Returns the reason why the list is unknown.
pub(crate) async fn tools(
    shard: &Arc<Shard>,
    identity: &Identity,
    name: &str,
    fresh: bool,
) -> Result<Vec<Value>, String> {
    let upstream = upstream(shard, identity, name).ok_or("it is disabled")?;
    let (era, catalogue) = (era(&upstream), &upstream.catalogue);
    let asking = async {
        if !catalogue.is_known(era) {
            let mut done = catalogue.fetch(&shard.egress, era);
            let _ = done.changed().await;
        } else if fresh && !catalogue.refresh(&shard.egress).await {
            return Err("it could not be refreshed; see the log".to_owned());
        }
        Ok(())
    };
    let late = |_| format!("it did not answer within {} s", PATIENCE.as_secs());
    tokio::time::timeout(PATIENCE, asking).await.map_err(late)??;
    let known = catalogue.tools(era).map_err(|absence| absence.reason)?;
    let tools = known.list(ListKind::Tools).iter();
    Ok(tools.filter_map(|tool| serde_json::from_slice(&tool.text).ok()).collect())
}

/// Returns tools in the form that profiles use.
pub(crate) fn known(tools: &[Value]) -> Vec<ListedTool> {
    let text = |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).map(str::to_owned);
    let one = |tool: &Value| {
        let (name, description) = (text(tool, "name")?, text(tool, "description"));
        Some(ListedTool { name, description, input_schema: tool.get("inputSchema").cloned() })
    };
    tools.iter().filter_map(one).collect()
}
