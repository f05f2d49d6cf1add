//! The state of servers and their lists. This module must not know how a server is reached.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::catalogue::{ListKind, Refusals, TokenCost};
use engine::tokens::tokens_of_tool;
use proto::era::{Era, newest_handshake, newest_stateless};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use upstream::Upstream;
use upstream::definitions::{DefinitionCounts, DefinitionRecord};
use upstream::health::HealthWord;
use upstream::pool::PoolFigures;

use super::catalogue::{FamilyRefusals, ServerTokens, refused};
use super::consents;
use super::moment::PointInTime;
use gateway::admission::identity::Identity;
use gateway::changes::ListedTool;
use gateway::process::Shard;

/// The time that a server may take to return its lists.
const PATIENCE: Duration = Duration::from_secs(8);

/// The advice for a server whose clients are moved between its connections.
const ADVICE: &str = "connections were moved between clients, so state that the server keeps in memory for a client was lost or mixed up: \
                      set `affinity: session` if the server keeps such state, or raise `dedicatedConnections`";

/// The state of one server. `status` and `error` keep the values that they had in earlier releases; `state` is the same
/// state of health as in the log, or `per_caller`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerStatus {
    pub(crate) id: String,
    /// The state with the names that other gateways use.
    pub(crate) status: &'static str,
    pub(crate) error: Option<String>,
    pub(crate) tools: usize,
    pub(crate) tokens: u64,
    pub(crate) state: &'static str,
    pub(crate) reason: Option<String>,
    pub(crate) since: Option<PointInTime>,
    pub(crate) next_try: Option<PointInTime>,
    pub(crate) connections: ConnectionCounts,
    pub(crate) moves: u64,
    pub(crate) advice: Option<&'static str>,
    pub(crate) freshness: &'static str,
    pub(crate) stale_reason: Option<String>,
    /// A sentence for each family of clients that refuses tools of the server.
    pub(crate) refusals: Vec<String>,
    /// The last lines that the shared process wrote to stderr.
    pub(crate) stderr: Vec<String>,
    /// The times at which these lines arrived, one for each line; `null` if a time is unknown.
    pub(crate) stderr_times: Vec<Option<PointInTime>>,
    pub(crate) definitions: DefinitionState,
    /// The protocol version of an open connection.
    pub(crate) era: Option<&'static str>,
    /// The transport of an open connection: `http`, `sse`, `stdio` or `embedded`.
    pub(crate) transport: Option<&'static str>,
}

/// The numbers of a server's connections.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConnectionCounts {
    pub(crate) shared: usize,
    pub(crate) dedicated: usize,
    pub(crate) waiting: usize,
}

/// The state of a server's definitions: the policy, and the number of tools that await approval.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DefinitionState {
    pub(crate) policy: &'static str,
    pub(crate) changed: usize,
    pub(crate) new: usize,
    pub(crate) vanished: usize,
}

impl DefinitionState {
    pub(crate) fn of(record: &DefinitionRecord) -> Self {
        let DefinitionCounts { changed, new, vanished } = record.counts();
        Self { policy: record.policy().name(), changed, new, vanished }
    }

    /// Returns the number of tools that await approval.
    pub(crate) fn pending(&self) -> usize {
        self.changed + self.new + self.vanished
    }
}

/// The state of several servers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerStatuses {
    pub(crate) statuses: Vec<ServerStatus>,
}

/// The last changes in a server's state, newest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerHistory {
    pub(crate) id: String,
    pub(crate) changes: Vec<StateChange>,
}

/// A change in a server's state.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StateChange {
    pub(crate) at: PointInTime,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    /// The reason for the new state; empty for `ready`.
    pub(crate) reason: String,
    /// The time spent in the old state, in milliseconds.
    pub(crate) lasted_ms: u64,
}

/// Returns a server as seen by this caller.
fn upstream(shard: &Arc<Shard>, identity: &Identity, name: &str) -> Option<Arc<Upstream>> {
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| &*spec.name == name)?;
    Some(shard.view.state.upstream_of(spec.id, identity))
}

/// Returns the protocol version of the clients for which the server's lists are fetched first.
pub(crate) fn era(upstream: &Upstream) -> &'static Era {
    if upstream.server.over_http() { newest_stateless() } else { newest_handshake() }
}

/// Returns the state of one server.
pub(crate) fn status(shard: &Arc<Shard>, identity: &Identity, name: &str) -> ServerStatus {
    match upstream(shard, identity, name) {
        Some(upstream) => of(shard, &upstream, name),
        None => disabled(name),
    }
}

fn disabled(name: &str) -> ServerStatus {
    ServerStatus {
        id: name.to_owned(),
        status: "disconnected",
        error: None,
        tools: 0,
        tokens: 0,
        state: "disabled",
        reason: Some("the server is disabled".to_owned()),
        since: None,
        next_try: None,
        connections: ConnectionCounts::default(),
        moves: 0,
        advice: None,
        freshness: "unknown",
        stale_reason: None,
        refusals: Vec::new(),
        stderr: Vec::new(),
        stderr_times: Vec::new(),
        definitions: DefinitionState { policy: "allow", changed: 0, new: 0, vanished: 0 },
        era: None,
        transport: None,
    }
}

fn of(shard: &Shard, upstream: &Upstream, name: &str) -> ServerStatus {
    let health = upstream.server.health.report();
    let per_caller = consents::of_each_caller(shard, &upstream.server);
    let freshness = upstream.catalogue.freshness(era(upstream), Instant::now());
    let known = upstream.catalogue.tools(era(upstream));
    let TokenCost { tools, tokens } =
        known.as_ref().map_or_else(|_| TokenCost::default(), |catalogue| catalogue.tool_cost());
    let refusals =
        known.ok().filter(|catalogue| catalogue.has_refusals()).map(|catalogue| catalogue.refusals());
    let refusals: Vec<String> = refusals.iter().flat_map(|all| all.iter()).map(ToString::to_string).collect();
    let (status, state) = match per_caller {
        Some(_) => ("connected", consents::PER_CALLER),
        None => (status_of(health.word), health.word.name()),
    };
    let reason = per_caller.or(Some(health.cause.detail)).filter(|detail| !detail.is_empty());
    let figures = upstream.links.figures();
    let PoolFigures { links: dedicated, waiting, moves } = figures.dedicated;
    let (spoken, lines) = (super::links::spoken(upstream), upstream.links.last_words());
    ServerStatus {
        id: name.to_owned(),
        status,
        error: reason.clone().filter(|_| matches!(status, "error" | "auth_required")),
        tools,
        tokens,
        state,
        reason,
        since: Some(PointInTime::at(health.since).to_the_second()),
        next_try: health.next_try.map(|at| PointInTime::at(at).to_the_second()),
        connections: ConnectionCounts { shared: figures.shared, dedicated, waiting },
        moves,
        advice: (moves > 0).then_some(ADVICE),
        freshness: freshness.name(),
        stale_reason: freshness.reason(),
        refusals,
        stderr_times: lines.iter().map(|line| line.at.map(PointInTime)).collect(),
        stderr: lines.into_iter().map(|line| line.text).collect(),
        definitions: DefinitionState::of(&upstream.server.definitions),
        era: spoken.map(|(era, _)| era),
        transport: spoken.map(|(_, transport)| transport),
    }
}

/// Returns the last changes in a server's state, newest first.
pub(crate) fn history(shard: &Arc<Shard>, name: &str) -> ServerHistory {
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| &*spec.name == name);
    let changes = spec.map(|spec| shard.view.state.upstreams.get(spec.id).server.health.history());
    let change = |one: upstream::health::PastChange| StateChange {
        at: PointInTime::at(one.at),
        from: one.from.name(),
        to: one.to.name(),
        reason: one.reason,
        lasted_ms: u64::try_from(one.lasted.as_millis()).unwrap_or(u64::MAX),
    };
    let changes = changes.unwrap_or_default().into_iter().rev().map(change).collect();
    ServerHistory { id: name.to_owned(), changes }
}

/// Finds out which families of clients refuse tools of a server, unless this has been done before. For many tools
/// this takes a while, so it runs on the blocking pool, where it does not hold up the thread's other connections.
pub(crate) async fn examine(shard: &Arc<Shard>, identity: &Identity, name: &str) {
    let known =
        upstream(shard, identity, name).and_then(|upstream| upstream.catalogue.tools(era(&upstream)).ok());
    if let Some(catalogue) = known.filter(|catalogue| !catalogue.has_refusals()) {
        // Without an answer, the status is shown without refusals.
        let _ = transport::task::spawn_blocking(move || drop(catalogue.refusals())).await;
    }
}

/// Returns the tools of a server that families of clients refuse; none if they have not been examined yet.
pub(crate) fn refusals(shard: &Arc<Shard>, identity: &Identity, name: &str) -> Vec<FamilyRefusals> {
    let known =
        upstream(shard, identity, name).and_then(|upstream| upstream.catalogue.tools(era(&upstream)).ok());
    let known = known.filter(|catalogue| catalogue.has_refusals());
    let all: Option<Arc<[Refusals]>> = known.map(|catalogue| catalogue.refusals());
    all.iter().flat_map(|all| all.iter()).map(refused).collect()
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

/// Converts listed tools to the form that profiles use.
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
pub(crate) fn tokens(tools: &[Value]) -> ServerTokens {
    let one = |tool: &Value| {
        let name = tool.get("name").and_then(Value::as_str)?;
        Some((name.to_owned(), tokens_of(name, tool)))
    };
    ServerTokens::of(tools.iter().filter_map(one).collect())
}

fn tokens_of(name: &str, tool: &Value) -> u64 {
    tokens_of_tool(name, tool.to_string().as_bytes())
}
