//! The state of servers and their lists, for managers. This module must not know HTTP.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use engine::catalogue::{ListKind, Refusals, TokenCost};
use engine::tokens::tokens_of_tool;
use jiff::Timestamp;
use proto::era::{Era, newest_handshake, newest_stateless};
use proto::rpc::{Frame, FrameLimits};
use serde_json::{Map, Value, json};
use upstream::Upstream;
use upstream::health::HealthWord;
use upstream::pool::PoolFigures;

use super::definitions;
use crate::admission::identity::Identity;
use crate::call::stateless;
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

/// Returns the status of one server. `status` and `error` keep the values that they had in earlier releases; `state` is
/// the same state of health as in the log.
pub(crate) fn status(shard: &Arc<Shard>, identity: &Identity, name: &str) -> Value {
    let Some(upstream) = upstream(shard, identity, name) else {
        return json!({
            "id": name, "status": "disconnected", "error": null, "tools": 0, "tokens": 0,
            "state": "disabled", "reason": "the server is disabled", "since": null, "nextTry": null,
            "connections": { "shared": 0, "dedicated": 0, "waiting": 0 }, "moves": 0, "advice": null,
            "freshness": "unknown", "staleReason": null, "refusals": [], "stderr": [],
            "definitions": { "policy": "allow", "changed": 0, "new": 0, "vanished": 0 },
        });
    };
    let health = upstream.server.health.report();
    let freshness = upstream.catalogue.freshness(era(&upstream), Instant::now());
    let known = upstream.catalogue.tools(era(&upstream));
    let TokenCost { tools, tokens } = known
        .as_ref()
        .map_or_else(|_| TokenCost::default(), |catalogue| TokenCost::of(catalogue.list(ListKind::Tools)));
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
        "id": name, "status": status, "error": error, "tools": tools, "tokens": tokens,
        "state": health.word.name(), "reason": reason,
        "since": since.and_then(shown), "nextTry": health.next_try.and_then(next).and_then(shown),
        "connections": connections, "moves": moves, "advice": (moves > 0).then_some(ADVICE),
        "freshness": freshness.name(), "staleReason": freshness.reason(), "refusals": refusals,
        "stderr": upstream.links.last_words(),
        "definitions": definitions::state(&upstream.server.definitions),
    })
}

/// Finds out which families of clients refuse tools of a server, unless this is known. For many tools this takes a while,
/// so it runs on the blocking pool, where it does not hold up the thread's other connections.
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
    let upstream = upstream(shard, identity, name).ok_or("the server is disabled")?;
    let (era, catalogue) = (era(&upstream), &upstream.catalogue);
    let asking = async {
        if !catalogue.is_known(era) {
            let mut done = catalogue.fetch(&shard.egress, era);
            let _ = done.changed().await;
        } else if fresh && !catalogue.refresh(&shard.egress).await {
            return Err("the list could not be refreshed; see the log".to_owned());
        }
        Ok(())
    };
    let late = |_| format!("the server did not answer within {} s", PATIENCE.as_secs());
    tokio::time::timeout(PATIENCE, asking).await.map_err(late)??;
    let known = catalogue.tools(era).map_err(|absence| format!("the server {}", absence.reason))?;
    let tools = known.list(ListKind::Tools).iter();
    Ok(tools.filter_map(|tool| serde_json::from_slice(&tool.text).ok()).collect())
}

/// Returns tools in the form that profiles use.
pub(crate) fn known(tools: &[Value]) -> Vec<ListedTool> {
    let text = |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).map(str::to_owned);
    let one = |tool: &Value| {
        let (name, description) = (text(tool, "name")?, text(tool, "description"));
        let tokens = tokens_of(&name, tool);
        Some(ListedTool { name, description, input_schema: tool.get("inputSchema").cloned(), tokens })
    };
    tools.iter().filter_map(one).collect()
}

/// Returns the estimated numbers of tokens in tools' definitions: in total, and for each tool by its name.
pub(crate) fn tokens(tools: &[Value]) -> Value {
    let one = |tool: &Value| {
        let name = tool.get("name").and_then(Value::as_str)?;
        Some((name.to_owned(), Value::from(tokens_of(name, tool))))
    };
    let each: Map<String, Value> = tools.iter().filter_map(one).collect();
    json!({ "total": each.values().filter_map(Value::as_u64).sum::<u64>(), "tools": each })
}

fn tokens_of(name: &str, tool: &Value) -> u64 {
    tokens_of_tool(name, tool.to_string().as_bytes())
}

/// A request for the list of tools: a view that gets this request waits until its servers' lists are known.
const LIST_TOOLS: &str = r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#;

/// Returns the tools of a profile as this caller sees them, and the numbers of tokens in their definitions. `searchable` in the
/// result contains these numbers for the tools that clients find by searching.
pub(crate) async fn profile(shard: &Arc<Shard>, identity: &Identity, slug: &str) -> Option<Value> {
    let at = shard.gateway.snapshot.profiles.iter().position(|profile| &*profile.slug == slug)?;
    let mode = shard.gateway.snapshot.profiles[at].rules.tools.mode;
    let cell = stateless::view(&shard.call, at, newest_handshake(), identity).await;
    let frame = Frame::parse(LIST_TOOLS.into(), FrameLimits::default()).ok()?;
    let view = stateless::view_for(&shard.call, &cell, &frame).await;
    let shown = |TokenCost { tools, tokens }: TokenCost| json!({ "tools": tools, "tokens": tokens });
    Some(json!({
        "id": slug, "mode": mode.name(), "listed": shown(view.token_cost()),
        "searchable": view.search().map(|search| shown(search.token_cost())),
    }))
}
