//! The resources that the process holds for its clients, and their limits: sessions, waiting calls, connections, buffers. This
//! module must not know what they are for.

use std::fmt::Result;

use cluster::Cluster;
use transport::budget::{self, Part};

use super::families::{Families, number};
use gateway::admission::count_store::CountStore;
use gateway::process::Gateway;

fn write_cluster(
    families: &mut Families<'_, '_>,
    cluster: &Cluster,
    counts: &CountStore,
    lost: u64,
) -> Result {
    let is_ready = u64::from(cluster.health().is_ready());
    let up = ("dragoman_cluster_store_up", "1 if the store of the cluster can be used, otherwise 0.");
    families.gauges(up, |series| series(&[], number(is_ready)))?;
    let count = cluster.replicas().len() as u64;
    let alive = ("dragoman_cluster_replicas", "Gateways of the cluster that are alive, including this one.");
    families.gauges(alive, |series| series(&[], number(count)))?;
    write_events(families, cluster)?;
    let (asked, alone) = counts.figures();
    let asks =
        ("dragoman_rate_limit_commands", "Commands that rate limits sent to the store of the cluster.");
    families.counters::<u64>(asks, |series| series(&[], asked))?;
    let without = (
        "dragoman_rate_limit_without_store",
        "Requests that rate limits decided without the store of the cluster.",
    );
    families.counters::<u64>(without, |series| series(&[], alone))?;
    let gap = (
        "dragoman_audit_shared_lost",
        "Entries of the record of calls that were not sent to the other gateways of the cluster.",
    );
    families.counters::<u64>(gap, |series| series(&[], lost))
}

fn write_events(families: &mut Families<'_, '_>, cluster: &Cluster) -> Result {
    let Some(figures) = cluster.event_figures() else { return Ok(()) };
    let copied = (
        "dragoman_replay_events_copied",
        "Events of clients' event streams that were copied to the store of the cluster.",
    );
    families.counters::<u64>(copied, |series| series(&[], figures.copied))?;
    let lost = (
        "dragoman_replay_events_lost",
        "Events of clients' event streams that were not copied to the store of the cluster.",
    );
    families.counters::<u64>(lost, |series| series(&[], figures.lost))?;
    let resumed = (
        "dragoman_replay_streams_resumed",
        "Event streams of other gateways of the cluster that clients have resumed at this one.",
    );
    families.counters::<u64>(resumed, |series| series(&[], figures.resumed))?;
    let bytes = (
        "dragoman_replay_bytes",
        "Bytes of events of clients' event streams that the store of the cluster keeps for this gateway.",
    );
    families.gauges(bytes, |series| series(&[], number(figures.bytes)))
}

pub(super) fn write(families: &mut Families<'_, '_>, gateway: &Gateway) -> Result {
    let (process, limits) = (&gateway.process, &gateway.snapshot.limits);
    families.gauges(("dragoman_sessions", "Open sessions of clients."), |series| {
        series(&[("kind", "mcp")], number(process.session.sessions.count() as u64))?;
        series(&[("kind", "dialect")], number(process.dialect_sessions.count() as u64))
    })?;
    let connections = process.serving.as_ref().map_or(0, |serving| serving.cap.open());
    let held = [
        (
            "dragoman_parked_calls",
            "Calls that wait until their client answers a question.",
            process.parked.count(),
        ),
        ("dragoman_listen_streams", "Open streams of notifications.", process.call.listens.held()),
        ("dragoman_children", "Child processes.", process.egress.supervisor.count()),
        ("dragoman_connections", "Open connections of clients.", connections),
        (
            "dragoman_audit_waiting",
            "Entries that wait to be written to the record of calls.",
            process.call.audit.waiting(),
        ),
    ];
    for (name, about, count) in held {
        families.gauges((name, about), |series| series(&[], number(count as u64)))?;
    }
    families.gauges(("dragoman_limit", "Configured limits, by their keys in `limits`."), |series| {
        for (key, limit) in [
            ("sessions", limits.sessions),
            ("parkedCalls", limits.parked_calls),
            ("listenStreams", limits.listen_streams),
            ("children", limits.children),
            ("connections", limits.connections),
        ] {
            series(&[("limit", key)], number(limit as u64))?;
        }
        Ok(())
    })?;
    if let Some(cluster) = process.session.cluster.get() {
        write_cluster(families, cluster, &process.counts, process.call.audit.lost_shared())?;
    }
    if let Some(tracer) = &process.call.tracer {
        families.counters::<u64>(
            ("dragoman_traces_lost", "Traced requests whose spans were lost."),
            |series| series(&[], tracer.queue.dropped()),
        )?;
    }
    if let Some(lost) = process.call.audit.lost_exports() {
        families.counters::<u64>(
            (
                "dragoman_log_records_lost",
                "Entries of the record of calls that were not sent to the collector.",
            ),
            |series| series(&[], lost),
        )?;
    }
    buffers(families)?;
    families.gauges(("dragoman_build_info", "1, with the version of this program."), |series| {
        series(&[("version", gateway::process::VERSION)], 1.0)
    })
}

fn buffers(families: &mut Families<'_, '_>) -> Result {
    let budget = budget::of_process();
    let (requests, answers, kept) = (Part::Requests, Part::Answers, budget.kept());
    let parts = [
        ("requests", budget.used(requests), budget.total(requests)),
        ("answers", budget.used(answers), budget.total(answers)),
        ("kept", kept.used(), kept.total()),
    ];
    families
        .gauges(("dragoman_buffer_bytes", "Bytes in use for large messages and kept data."), |series| {
            parts.iter().try_for_each(|(part, used, _)| series(&[("part", part)], number(*used as u64)))
        })?;
    families.gauges(
        ("dragoman_buffer_limit_bytes", "The maximum number of bytes for large messages and kept data."),
        |series| {
            parts.iter().try_for_each(|(part, _, total)| series(&[("part", part)], number(*total as u64)))
        },
    )
}
