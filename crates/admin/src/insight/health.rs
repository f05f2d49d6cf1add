//! The findings that need an operator's attention, with what to do. This module must not know HTTP.

use std::sync::Arc;
use std::time::Instant;

use config::DefinitionPolicy;
use schemars::JsonSchema;
use serde::Serialize;
use upstream::health::HealthWord;

use super::configuration::Reload;
use super::consents;
use super::limits::counted;
use super::moment::PointInTime;
use super::replicas;
use super::servers::DefinitionState;
use gateway::process::{Shard, VERSION};

/// The state of the gateway.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GatewayHealth {
    pub(crate) version: &'static str,
    pub(crate) pid: u32,
    pub(crate) started: PointInTime,
    pub(crate) uptime_seconds: u64,
    /// The addresses at which clients can connect.
    pub(crate) addresses: Vec<String>,
    /// True if there is no finding that is an error.
    pub(crate) is_fine: bool,
    pub(crate) findings: Vec<HealthFinding>,
}

/// Something that an operator should look at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HealthFinding {
    /// `error` or `warning`.
    pub(crate) severity: &'static str,
    /// The subject of the finding: `server NAME`, or a configuration key.
    pub(crate) subject: String,
    pub(crate) message: String,
    /// The advice to the operator.
    pub(crate) help: String,
}

/// The numbers of servers and tools that need an operator's attention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AttentionCounts {
    /// The servers that cannot be used.
    pub(crate) failing_servers: u32,
    /// The tools whose definitions await approval.
    pub(crate) pending_definitions: u32,
}

impl AttentionCounts {
    pub(crate) fn of(shard: &Shard) -> Self {
        let mut counts = Self::default();
        for spec in &shard.gateway.snapshot.upstreams {
            let server = shard.view.state.upstreams.get(spec.id).server.clone();
            let word = server.health.report().word;
            let fails = word.is_trouble() && word != HealthWord::Degraded;
            counts.failing_servers += u32::from(fails && consents::of_each_caller(shard, &server).is_none());
            let pending = u32::try_from(DefinitionState::of(&server.definitions).pending());
            counts.pending_definitions =
                counts.pending_definitions.saturating_add(pending.unwrap_or(u32::MAX));
        }
        counts
    }
}

/// The beginning of the advice to review definitions, with a command for the terminal.
pub(crate) const REVIEW: &str = "review them: dragoman definitions";

/// The use at which a limit is reported, in percent of the limit.
const NEARLY: usize = 90;

/// Returns the state of the gateway, with everything that needs an operator's attention.
pub(crate) fn health(shard: &Arc<Shard>) -> GatewayHealth {
    let process = &shard.gateway.process;
    let mut findings = servers(shard);
    findings.extend(configuration(shard));
    findings.extend(limits(shard));
    findings.extend(replicas::findings(shard));
    let uptime = process.started.elapsed();
    let addresses = process.serving.as_ref().map(|serving| serving.addresses()).unwrap_or_default();
    GatewayHealth {
        version: VERSION,
        pid: std::process::id(),
        started: PointInTime::at(Instant::now().checked_sub(uptime).unwrap_or(process.started)),
        uptime_seconds: uptime.as_secs(),
        addresses: addresses.iter().map(ToString::to_string).collect(),
        is_fine: !findings.iter().any(|finding| finding.severity == "error"),
        findings,
    }
}

fn servers(shard: &Shard) -> Vec<HealthFinding> {
    let mut findings = Vec::new();
    for spec in &shard.gateway.snapshot.upstreams {
        let server = shard.view.state.upstreams.get(spec.id).server.clone();
        let subject = format!("server {}", spec.name);
        let report = server.health.report();
        if report.word.is_trouble() && consents::of_each_caller(shard, &server).is_none() {
            let severity = if report.word == HealthWord::Degraded { "warning" } else { "error" };
            let message = format!("{}: {}", report.word, report.cause.detail);
            let help = advice_for(report.word.name()).unwrap_or("wait until the server is ready").to_owned();
            findings.push(HealthFinding { severity, subject: subject.clone(), message, help });
        }
        let pending = DefinitionState::of(&server.definitions).pending();
        if pending > 0 {
            findings.push(HealthFinding {
                severity: "warning",
                subject,
                message: awaiting(pending, server.definitions.policy()),
                help: format!("{REVIEW} {}", spec.name),
            });
        }
    }
    findings
}

/// Returns the message about tools that await approval.
fn awaiting(pending: usize, policy: DefinitionPolicy) -> String {
    let tools = if pending == 1 { "tool awaits" } else { "tools await" };
    let consequence = match policy {
        DefinitionPolicy::Hold => "clients do not get the changed and new ones until somebody approves them",
        DefinitionPolicy::Warn | DefinitionPolicy::Allow => "clients get them already",
    };
    format!("{pending} changed, new or vanished {tools} approval; {consequence}")
}

/// Returns the advice for a server in the state with this name; `None` if the state needs no action.
pub(crate) fn advice_for(state: &str) -> Option<&'static str> {
    const ADVICE: [(HealthWord, &str); 4] = [
        (
            HealthWord::Degraded,
            "read the reason; details are in the log, which `dragoman logs` and the page Doctor show",
        ),
        (HealthWord::BackingOff, "look at the server's stderr; run its command by hand to see why it ends"),
        (HealthWord::Unreachable, "check that the server runs and that its address is right"),
        (HealthWord::AuthRequired, "give consent to the server, or configure a credential for it"),
    ];
    ADVICE.iter().find(|(word, _)| word.name() == state).map(|(_, advice)| *advice)
}

fn configuration(shard: &Shard) -> Vec<HealthFinding> {
    let mut findings = Vec::new();
    let reload = shard.gateway.process.last_reload.lock().clone().map(Reload::from);
    if let Some(error) = reload.as_ref().and_then(|reload| reload.error.clone()) {
        findings.push(HealthFinding {
            severity: "error",
            subject: "configuration file".to_owned(),
            message: error,
            help: "correct the file; the configuration before it stays in force until then".to_owned(),
        });
    }
    if let Some(keys) = reload.map(|reload| reload.needs_restart).filter(|keys| !keys.is_empty()) {
        findings.push(HealthFinding {
            severity: "warning",
            subject: keys.join(", "),
            message: "the change takes effect after a restart".to_owned(),
            help: "restart Dragoman".to_owned(),
        });
    }
    if shard.gateway.process.folder.is_none() {
        findings.push(HealthFinding {
            severity: "warning",
            subject: "stateFolder".to_owned(),
            message:
                "there is no state folder, so keys, consents and sessions are lost when the gateway stops"
                    .to_owned(),
            help: "set `stateFolder`".to_owned(),
        });
    }
    findings
}

fn limits(shard: &Shard) -> Vec<HealthFinding> {
    let is_near = |used: usize, limit: usize| used.saturating_mul(100) >= limit.saturating_mul(NEARLY);
    let near = counted(shard).into_iter().filter(|one| one.limit > 0 && is_near(one.used, one.limit));
    near.map(|one| HealthFinding {
        severity: "warning",
        subject: one.key.to_owned(),
        message: format!("{} of {} are in use", one.used, one.limit),
        help: format!("raise `{}`", one.key),
    })
    .collect()
}
