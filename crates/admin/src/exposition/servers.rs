//! The metrics of servers: states, running and waiting calls, links, lists.

use std::fmt::Result;
use std::sync::Arc;

use proto::era::{newest_handshake, newest_stateless};
use upstream::per_caller::PerCaller;

use super::families::{Families, number};
use gateway::process::Gateway;

/// Returns the servers of the configuration in force, without removed servers that are still finishing their calls.
pub(super) fn configured(gateway: &Gateway) -> Vec<Arc<PerCaller>> {
    let upstreams = &gateway.process.view.upstreams;
    gateway.snapshot.upstreams.iter().map(|spec| upstreams.entry(spec.id)).collect()
}

pub(super) fn write(families: &mut Families<'_, '_>, gateway: &Gateway) -> Result {
    let servers = configured(gateway);
    states(families, &servers)?;
    let about = ("dragoman_upstream_calls", "Calls that are running at a server or waiting for it.");
    families.gauges(about, |series| {
        for one in &servers {
            let (name, (running, waiting)) = (one.common.name(), one.common.server.concurrency.counts());
            series(&[("upstream", name), ("state", "running")], number(running))?;
            series(&[("upstream", name), ("state", "waiting")], number(waiting))?;
        }
        Ok(())
    })?;
    families.gauges(
        ("dragoman_upstream_calls_limit", "The maximum number of calls that can run at a server at once."),
        |series| {
            let mut all = servers.iter();
            all.try_for_each(|one| {
                series(&[("upstream", one.common.name())], number(one.common.server.concurrency.most()))
            })
        },
    )?;
    links(families, &servers)?;
    families.gauges(("dragoman_upstream_tools", "The number of tools that a server lists."), |series| {
        for one in &servers {
            let era = if one.common.server.over_http() { newest_stateless() } else { newest_handshake() };
            let Ok(lists) = one.common.catalogue.tools(era) else { continue };
            let tools = lists.list(engine::catalogue::ListKind::Tools).len();
            series(&[("upstream", one.common.name())], number(tools as u64))?;
        }
        Ok(())
    })
}

fn states(families: &mut Families<'_, '_>, servers: &[Arc<PerCaller>]) -> Result {
    let report = |one: &Arc<PerCaller>| (one.common.name().clone(), one.common.server.health.report());
    // A server that every caller uses with its own credentials has no state that holds for all callers.
    let is_common = |one: &&Arc<PerCaller>| {
        let server = &one.common.server;
        !server.is_per_caller() || server.has_common_state()
    };
    let common: Vec<_> = servers.iter().filter(is_common).map(report).collect();
    let about = (
        "dragoman_upstream_up",
        "1 if a server can be used, 0 if not; left out if this differs between callers.",
    );
    families.gauges(about, |series| {
        let mut all = common.iter();
        all.try_for_each(|(name, health)| {
            series(&[("upstream", name)], number(u64::from(health.word.is_usable())))
        })
    })?;
    let reports: Vec<_> = servers.iter().map(report).collect();
    let about =
        ("dragoman_upstream_state", "1 for the current state of a server, with the class of its reason.");
    families.gauges(about, |series| {
        reports.iter().try_for_each(|(name, health)| {
            let (state, reason) = (health.word.name(), health.cause.class.name());
            series(&[("upstream", name), ("state", state), ("reason", reason)], 1.0)
        })
    })?;
    let about =
        ("dragoman_upstream_state_age_seconds", "The time since the current state of a server began.");
    families.gauges(about, |series| {
        let mut all = reports.iter();
        all.try_for_each(|(name, health)| series(&[("upstream", name)], health.since.elapsed().as_secs_f64()))
    })
}

fn links(families: &mut Families<'_, '_>, servers: &[Arc<PerCaller>]) -> Result {
    let figures: Vec<_> = servers
        .iter()
        .map(|one| {
            let family: Vec<_> = one.family().iter().map(|upstream| upstream.links.figures()).collect();
            let sum = |of: fn(&upstream::pool::LinkFigures) -> u64| family.iter().map(of).sum::<u64>();
            let shared = sum(|links| links.shared as u64);
            let dedicated = sum(|links| links.dedicated.links as u64);
            let waiting = sum(|links| links.dedicated.waiting as u64);
            (one.common.name(), shared, dedicated, waiting, one.common.links.moves())
        })
        .collect();
    families.gauges(("dragoman_upstream_links", "Open links to a server."), |series| {
        for (name, shared, dedicated, ..) in &figures {
            series(&[("upstream", name), ("kind", "shared")], number(*shared))?;
            series(&[("upstream", name), ("kind", "dedicated")], number(*dedicated))?;
        }
        Ok(())
    })?;
    let about = ("dragoman_upstream_link_waiters", "Clients that wait for a link of their own to a server.");
    families.gauges(about, |series| {
        let mut all = figures.iter();
        all.try_for_each(|(name, .., waiting, _)| series(&[("upstream", name)], number(*waiting)))
    })?;
    let about = (
        "dragoman_upstream_link_moves",
        "Clients that were moved to another link, and lost the server's state.",
    );
    families.counters::<u64>(about, |series| {
        let mut all = figures.iter();
        all.try_for_each(|(name, .., moves)| series(&[("upstream", name)], *moves))
    })
}
