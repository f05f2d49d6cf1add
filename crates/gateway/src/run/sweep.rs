//! Periodic jobs while the gateway runs: they remove everything that has expired. This module must not know why
//! anything is kept.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::management::{definitions, shared_definitions};
use crate::process::state::ProcessState;
use crate::process::{Shard, Thread};
use crate::reload::per_caller;

/// The interval between two sweeps of sessions, in seconds.
const SWEEP: u64 = 10;

/// The maximum time between two checks of servers that may be due for another attempt.
const LOOK: Duration = Duration::from_secs(1);

/// The number of seconds after which startup is considered complete, and servers are expected to have sent their
/// lists.
const STARTED: u64 = 3;

/// Starts the jobs, which run until the gateway stops.
pub(super) fn sweep(thread: Arc<Thread>) {
    transport::task::spawn(async move {
        let stop = thread.now().gateway.process.stop.clone();
        for second in 1_u64.. {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
                () = stop.stopped() => return thread.now().session.state.sessions.hang_up(),
            }
            let shard = thread.now();
            tick(&shard);
            if second == STARTED {
                crate::session::tidying::release_program();
            }
            if second % SWEEP == 0 {
                tidy_up(&shard);
            }
        }
    });
}

/// The minimum time between two checks of servers that may be due for another attempt.
const SHORTEST_LOOK: Duration = Duration::from_millis(50);

/// Tries failed servers again when their health state allows it, until the gateway stops. These attempts do not
/// wait for a client request.
pub(super) fn supervise(thread: Arc<Thread>) {
    transport::task::spawn(async move {
        let stop = thread.now().gateway.process.stop.clone();
        let mut pause = LOOK;
        loop {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stop.stopped() => return,
            }
            let shard = thread.now();
            let upstreams = shard.view.state.upstreams.families();
            for upstream in &upstreams {
                upstream.catalogue.retry_if_due(&shard.egress);
            }
            let next = upstreams.iter().filter_map(|upstream| upstream.server.health.next_try()).min();
            let until_next = next.map(|next| next.saturating_duration_since(Instant::now()));
            pause = until_next.unwrap_or(LOOK).clamp(SHORTEST_LOOK, LOOK);
        }
    });
}

/// The time between two evictions; data that cannot be evicted yet is checked again after this time.
const EVICTION: Duration = Duration::from_secs(1);

/// Evicts data that exceeds its share of the memory, until the gateway stops: first ready pages, which can be rebuilt, then
/// kept results, and then events.
pub(super) fn evict(thread: Arc<Thread>) {
    transport::task::spawn(async move {
        let stop = thread.now().gateway.process.stop.clone();
        let kept = transport::budget::of_process().kept();
        loop {
            tokio::select! {
                () = kept.exceeded() => {}
                () = stop.stopped() => return,
            }
            let shard = thread.now();
            let (view, session, call) =
                (shard.view.state.clone(), shard.session.state.clone(), shard.call.state.clone());
            // There may be many sessions.
            let evicted = transport::task::spawn_blocking(move || {
                view.views.drop_pages_until(|| {
                    view.count_kept();
                    kept.has_room()
                });
                view.count_kept();
                call.results.drop_until(|| kept.has_room());
                session.evict_events(kept, Instant::now());
            });
            if evicted.await.is_err() {
                tracing::error!("data above the memory budget was not evicted: the task panicked");
            }
            tokio::select! {
                () = tokio::time::sleep(EVICTION) => {}
                () = stop.stopped() => return,
            }
        }
    });
}

/// Starts checking the key ring every second, until the gateway stops.
pub(super) fn watch_keys(process: &ProcessState) {
    let (ring, stop) = (process.key_ring.clone(), process.stop.clone());
    transport::task::spawn(async move {
        loop {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
                () = stop.stopped() => return,
            }
            let ring = ring.clone();
            // The file may be on a slow medium.
            let _ = transport::task::spawn_blocking(move || ring.look()).await;
        }
    });
}

/// Applies approvals of definitions by another process, for example by the command line, until the gateway stops. Approvals
/// that cannot be read are tried again every second. Also compares the approvals with those of the other gateways.
pub(super) fn watch_definitions(thread: Arc<Thread>) {
    transport::task::spawn(async move {
        let stop = thread.now().gateway.process.stop.clone();
        loop {
            let record = thread.now().gateway.process.definitions.get().cloned();
            let news = async {
                match &record {
                    Some(record) => record.news().arrival().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
                () = news => {}
                () = stop.stopped() => return,
            }
            let (shard, Some(record)) = (thread.now(), record) else { continue };
            // The file may be on a slow medium.
            let looked = record.clone();
            let has_changed = transport::task::spawn_blocking(move || looked.look()).await.unwrap_or(false);
            definitions::follow_file(&shard, has_changed).await;
            if has_changed {
                record.news().all();
            }
            shared_definitions::compare_due(&shard).await;
        }
    });
}

fn tick(shard: &Arc<Shard>) {
    if let Some(rates) = &shard.gateway.manage_rates {
        rates.sweep();
    }
    if shard.view.state.views.had_large() {
        shard.session.state.tidying.count_large();
    }
    shard.session.state.tidying.tick();
    shard.view.state.views.expire_names(&shard.view.state.names);
    shard.gateway.process.parked.sweep();
    shard.call.state.homes.sweep();
    shard.gateway.process.dialect_sessions.sweep();
    shard.gateway.rates.sweep();
    shard.door.sweep();
    if let Some(server) = shard.door.sign_in() {
        server.tick(shard.door.unix_ms());
    }
    shard.gateway.process.consents.tick();
    per_caller::separate_callers(shard);
    shard.call.state.held.lock().sweep(std::time::Instant::now());
    shard.call.state.results.sweep(Instant::now());
    shard.call.state.running_by_tool.sweep();
}

fn tidy_up(shard: &Arc<Shard>) {
    crate::session::ending::sweep(&shard.session);
    shard.view.state.views.drop_unused_pages();
    shard.view.state.count_kept();
    let next = transport::budget::of_process().kept().next_order();
    shard.session.state.ages.note(Instant::now(), next);
    per_caller::shed(shard, shard.gateway.snapshot.limits.session_idle);
    for upstream in &shard.view.state.upstreams.families() {
        upstream.rest_idle(&shard.egress, shard.gateway.snapshot.limits.session_idle);
        if upstream.catalogue.is_old() && upstream.catalogue.can_be_asked() {
            let (catalogue, egress) = (upstream.catalogue.clone(), shard.egress.clone());
            transport::task::spawn(async move { catalogue.renew(&egress).await });
        }
    }
}
