//! The commands that the store gets while clients call.

use super::Case;
use crate::chaos::client::Era;
use crate::chaos::process::until;
use crate::chaos::stage::SOON;
use crate::cluster::rig::{Rig, all_go_on, each};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "cost",
    title: "calls cause no command at the store: there are only the heartbeats of the replicas, and events of event streams",
    run,
}];

/// The number of calls with sessions, and also of calls without sessions.
const CALLS: usize = 5000;

/// The number of clients that make these calls.
const CLIENTS: usize = 6;

/// The time between two heartbeats of a replica in seconds, and the maximum number of commands for one heartbeat.
const BEAT: (f64, f64) = (3.0, 9.0);

/// The commands of a heartbeat, including those that it may cause.
const OF_A_BEAT: [&str; 9] =
    ["set", "zadd", "zrange", "zremrangebyscore", "get", "hget", "xrevrange", "mget", "xrange"];

/// The time without other commands after which what clients have begun is considered written.
const QUIET: Duration = Duration::from_millis(250);

/// The commands, and how often each was executed since `before`.
fn added(before: &[(String, u64)], after: Vec<(String, u64)>) -> impl Iterator<Item = (String, u64)> {
    after.into_iter().filter_map(|(name, count)| {
        let known = before.iter().find(|(its, _)| *its == name).map_or(0, |(_, count)| *count);
        (name != "info" && count > known).then(|| (name, count - known))
    })
}

/// Waits until the store gets nothing but signs of life: sessions and lists are written a little later.
fn becomes_quiet(rig: &Rig<'_>) -> Result<(), String> {
    let quiet = until(SOON, || {
        let before = rig.store.commands().ok()?;
        thread::sleep(QUIET);
        let mut more = added(&before, rig.store.commands().ok()?);
        more.all(|(name, _)| OF_A_BEAT.contains(&name.as_str())).then_some(())
    });
    quiet.ok_or_else(|| "the store gets commands although nobody calls".to_owned())
}

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.start(false)?;
    let addresses = rig.addresses();
    let mut told = Vec::new();
    for era in [Era::STATELESS, Era::NEWEST_SESSION] {
        let clients = rig.clients(CLIENTS, &[era], &addresses, None)?;
        all_go_on(&clients, &addresses)?;
        becomes_quiet(rig)?;
        let (before, begun) = (rig.store.commands()?, Instant::now());
        each(&clients, |client| {
            for number in 0..=(CALLS / CLIENTS) {
                let at = client.resumed(addresses[number % addresses.len()]);
                at.call("up__read", json!({}), SOON).text()?;
            }
            Ok(())
        })?;
        let (after, seconds) = (rig.store.commands()?, begun.elapsed().as_secs_f64());
        let mut sum = 0;
        for (name, more) in added(&before, after) {
            if !OF_A_BEAT.contains(&name.as_str()) {
                return Err(format!("{CALLS} calls of {} caused {more} commands `{name}`", era.version));
            }
            sum += more;
        }
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let (sum, replicas) = (sum as f64, addresses.len() as f64);
        let most = replicas * BEAT.1 * (seconds / BEAT.0 + 1.0);
        if sum > most {
            return Err(format!(
                "{sum} commands in {seconds:.1} s with calls of {}; at most {most:.0} were expected",
                era.version
            ));
        }
        told.push(format!("{sum} commands in {seconds:.1} s with {CALLS} calls of {}", era.version));
    }
    told.push(streamed(rig, &addresses)?);
    Ok(told.join(", "))
}

/// The number of calls that are answered with event streams, and the number of notes in each: a log message and a progress notification.
const STREAMED: (u64, u64) = (120, 10);

/// Adds up the memory that the store needs for the values whose names match a pattern.
const MEMORY: &str = "local sum = 0; for _, name in ipairs(redis.call('KEYS', ARGV[1])) do \
    sum = sum + redis.call('MEMORY', 'USAGE', name, 'SAMPLES', 0) end return sum";

/// Makes calls that are answered with event streams; returns the commands, and the memory of the store, for their events.
fn streamed(rig: &Rig<'_>, addresses: &[SocketAddr]) -> Result<String, String> {
    let clients = rig.clients(CLIENTS, &[Era::NEWEST_SESSION], addresses, None)?;
    thread::sleep(Duration::from_millis(500));
    let appended = || -> Result<u64, String> {
        let commands = rig.store.commands()?;
        Ok(commands.iter().find(|(name, _)| name == "rpush").map_or(0, |(_, count)| *count))
    };
    let before = appended()?;
    let size = AtomicUsize::new(0);
    each(&clients, |client| {
        for _ in 0..STREAMED.0 / CLIENTS as u64 {
            let (.., mut stream) = client
                .call_stream("up__talk", json!({ "notes": STREAMED.1 }), SOON)
                .map_err(|why| format!("{why:?}"))?;
            let messages = stream.rest().map_err(|why| format!("{why:?}"))?;
            let sizes = messages.iter().map(|(_, message)| message.to_string().len());
            size.fetch_add(sizes.sum(), Ordering::Relaxed);
        }
        Ok(())
    })?;
    let copied = || rig.store.names("dragoman:events:*").map(|names| names.len() as u64);
    let _ = until(SOON, || (copied().ok()? >= STREAMED.0).then_some(()));
    let (chunks, streams) = (appended()? - before, copied()?);
    // Each stream begins with an event without data, and ends with the answer.
    let events = STREAMED.0 * (2 * STREAMED.1 + 2);
    let bytes: u64 = rig.store.cli(&["EVAL", MEMORY, "0", "dragoman:events:*"])?.parse().unwrap_or(0);
    if streams != STREAMED.0 || bytes == 0 || chunks >= events {
        return Err(format!("{events} events of {} calls: {chunks} chunks in {streams} streams", STREAMED.0));
    }
    Ok(format!(
        "{events} events of {streams} streams in {chunks} chunks, {} bytes for each stream with {} bytes of messages",
        bytes / streams,
        size.into_inner() as u64 / streams
    ))
}
