//! The metrics of requests: operations, tools, the time that the gateway itself takes, rate limits.

use std::fmt::Result;

use engine::meters::{HistogramFigures, OperationHistograms};
use upstream::Server;

use super::families::{Families, Labels, OTHER};
use super::servers;
use gateway::process::Gateway;
use gateway::telemetry::RateDecisions;

const REQUESTED: (&str, &str) = (
    "mcp_server_operation_duration_seconds",
    "Duration of client requests, from the arrival of the whole request to the answer. Requests that the gateway answers \
     itself are counted only if they are refused.",
);
const SENT: (&str, &str) = (
    "mcp_client_operation_duration_seconds",
    "Duration of requests to servers, from sending the request to the answer.",
);
const TOOL_CALLS: (&str, &str) = ("dragoman_tool_calls", "Tool calls.");
const TOOL_SECONDS: (&str, &str) = ("dragoman_tool_seconds", "The total duration of the calls of a tool.");
const OVERHEAD: (&str, &str) = (
    "dragoman_overhead_seconds",
    "The time that the gateway itself spends on a forwarded request, without waits and without the server.",
);
const RATES: (&str, &str) =
    ("dragoman_rate_limit_decisions", "Requests that a rate limit allowed or refused.");

/// Returns the families whose series are capped where they are created, each with the number of events above the
/// cap. `dragoman_tool_seconds` is left out, because it has the same cap as `dragoman_tool_calls`.
pub(super) fn overflow(gateway: &Gateway) -> [(&'static str, u64); 3] {
    let allowances = &gateway.process.call.figures.allowances;
    [
        (REQUESTED.0, allowances.requested.refused()),
        (SENT.0, allowances.sent.refused()),
        (TOOL_CALLS.0, allowances.tools.refused()),
    ]
}

pub(super) fn write(families: &mut Families<'_, '_>, gateway: &Gateway) -> Result {
    let figures = &gateway.process.call.figures;
    let servers = servers::configured(gateway);
    let server = |one: &'_ std::sync::Arc<upstream::per_caller::PerCaller>| one.common.server.clone();
    let servers: Vec<_> = servers.iter().map(server).collect();
    operations(
        families,
        REQUESTED,
        &servers,
        |server| &server.meters.requested,
        |write| {
            each(&figures.unassigned.requested, "", write)?;
            each(&figures.rest.requested, OTHER, write)
        },
    )?;
    operations(
        families,
        SENT,
        &servers,
        |server| &server.meters.sent,
        |write| each(&figures.rest.sent, OTHER, write),
    )?;
    families.histograms(OVERHEAD, |series| series(&[], figures.overhead.figures()))?;
    tools(families, gateway, &servers)?;
    families.counters::<u64>(RATES, |series| {
        let of_management = gateway.manage_rates.as_ref().map(|rates| rates.known.decisions());
        let all =
            gateway.rates.decisions().each().chain(of_management.into_iter().flat_map(RateDecisions::each));
        for (limit, allowed, refused) in all {
            series(&[("limit", limit), ("decision", "allowed")], allowed)?;
            series(&[("limit", limit), ("decision", "refused")], refused)?;
        }
        Ok(())
    })
}

type WriteHistogram<'a> = &'a mut dyn FnMut(Labels<'_>, HistogramFigures) -> Result;

fn operations(
    families: &mut Families<'_, '_>,
    name: (&'static str, &str),
    servers: &[std::sync::Arc<Server>],
    of: impl Fn(&Server) -> &OperationHistograms,
    others: impl FnOnce(WriteHistogram<'_>) -> Result,
) -> Result {
    families.histograms(name, |write| {
        servers.iter().try_for_each(|server| each(of(server), server.name(), write))?;
        others(write)
    })
}

fn each(operations: &OperationHistograms, server: &str, write: WriteHistogram<'_>) -> Result {
    for (method, outcome, histogram) in operations.each() {
        let method = method.map_or(OTHER, |method| method.name());
        let labels = [("method", method), ("upstream", server), ("outcome", outcome.name())];
        write(&labels, histogram.figures())?;
    }
    Ok(())
}

fn tools(families: &mut Families<'_, '_>, gateway: &Gateway, servers: &[std::sync::Arc<Server>]) -> Result {
    let rest = &gateway.process.call.figures.rest.tools;
    let tables: Vec<_> = servers.iter().map(|server| (server.name(), server.meters.tools.all())).collect();
    let all = tables
        .iter()
        .flat_map(|(server, tools)| tools.iter().map(|(tool, counters)| (&***server, &**tool, &**counters)));
    let has_rest = rest.calls() != (0, 0);
    let all: Vec<_> = all.chain(has_rest.then_some((OTHER, OTHER, rest))).collect();
    families.counters::<u64>(TOOL_CALLS, |series| {
        for (server, tool, counters) in &all {
            let (ok, failed) = counters.calls();
            series(&[("upstream", server), ("tool", tool), ("outcome", "ok")], ok)?;
            series(&[("upstream", server), ("tool", tool), ("outcome", "error")], failed)?;
        }
        Ok(())
    })?;
    families.counters::<f64>(TOOL_SECONDS, |series| {
        let mut all = all.iter();
        all.try_for_each(|(server, tool, counters)| {
            series(&[("upstream", server), ("tool", tool)], counters.seconds())
        })
    })
}
