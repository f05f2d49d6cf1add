//! The limits and their current use. This module must not know what happens at a limit.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use transport::budget::{self, Part};

use gateway::process::Shard;

/// The limits with their use.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitsInUse {
    pub(crate) limits: Vec<LimitInUse>,
    pub(crate) servers: Vec<ServerCalls>,
    pub(crate) memory: MemoryInUse,
    pub(crate) rate_limits: Vec<RateInUse>,
}

/// A limit on a count.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitInUse {
    /// The configuration key of the limit.
    pub(crate) key: &'static str,
    /// A description of what is counted.
    pub(crate) about: &'static str,
    pub(crate) used: usize,
    pub(crate) limit: usize,
}

/// The calls that run at one server.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerCalls {
    pub(crate) server: String,
    pub(crate) running: u64,
    /// The number of calls that wait for their turn.
    pub(crate) waiting: u64,
    pub(crate) limit: u64,
    /// The number of calls that may wait.
    pub(crate) waiting_limit: u64,
    /// The number of calls of one caller that may wait.
    pub(crate) waiting_of_one_caller: u64,
}

/// The memory that large messages and kept data occupy, in bytes.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemoryInUse {
    /// The budget (`limits.memory`).
    pub(crate) total: usize,
    pub(crate) requests: usize,
    pub(crate) answers: usize,
    pub(crate) kept: usize,
    /// The memory that the process occupies; `null` if it is unknown.
    pub(crate) resident: Option<u64>,
}

/// A rate limit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RateInUse {
    /// The position of the limit in the configuration.
    pub(crate) name: String,
    /// The limit as it is configured.
    pub(crate) rule: Value,
    /// The number of requests that the limit has refused since the configuration was put in force.
    pub(crate) refused: u64,
}

/// Returns the limits with their use.
pub(crate) async fn limits(shard: &Arc<Shard>) -> LimitsInUse {
    let snapshot = &shard.gateway.snapshot;
    let budget = budget::of_process();
    let servers = snapshot.upstreams.iter().map(|spec| {
        let concurrency = shard.view.state.upstreams.get(spec.id).server.concurrency.clone();
        let (running, waiting) = concurrency.counts();
        let (all, own) = concurrency.queue_limits();
        ServerCalls {
            server: spec.name.to_string(),
            running,
            waiting,
            limit: concurrency.most(),
            waiting_limit: all as u64,
            waiting_of_one_caller: own as u64,
        }
    });
    let resident =
        transport::task::spawn_blocking(|| transport::child::resident_bytes(std::process::id())).await;
    let memory = MemoryInUse {
        total: snapshot.limits.memory.unwrap_or_else(budget::default_total),
        requests: budget.used(Part::Requests),
        answers: budget.used(Part::Answers),
        kept: budget.kept().used(),
        resident: resident.ok().flatten(),
    };
    LimitsInUse { limits: counted(shard), servers: servers.collect(), memory, rate_limits: rates(shard) }
}

/// Returns the limits on counts.
pub(super) fn counted(shard: &Shard) -> Vec<LimitInUse> {
    let (limits, process) = (&shard.gateway.snapshot.limits, &shard.gateway.process);
    let connections = process.serving.as_ref().map_or(0, |serving| serving.cap.open());
    let limit = |key, about, used, limit| LimitInUse { key, about, used, limit };
    vec![
        limit("limits.connections", "connections of clients", connections, limits.connections),
        limit("limits.sessions", "sessions of clients", process.session.sessions.counted(), limits.sessions),
        limit(
            "limits.parkedCalls",
            "calls that wait for their clients",
            process.parked.count(),
            limits.parked_calls,
        ),
        limit("limits.children", "processes of servers", process.egress.supervisor.count(), limits.children),
    ]
}

fn rates(shard: &Shard) -> Vec<RateInUse> {
    let shown = shard.gateway.standing.config().shown();
    let rules = shown["rateLimits"].as_array().cloned().unwrap_or_default();
    let refused = shard.gateway.rates.refused();
    let one = |(rule, (name, refused)): (Value, (String, u64))| RateInUse { name, rule, refused };
    rules.into_iter().zip(refused).map(one).collect()
}
