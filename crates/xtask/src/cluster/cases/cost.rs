//! The commands that the store gets while clients call.

use super::Case;
use crate::chaos::client::Era;
use crate::chaos::process::until;
use crate::chaos::stage::SOON;
use crate::cluster::rig::{Rig, all_go_on, each};
use serde_json::json;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "cost",
    title: "calls cause no command at the store: there are only the heartbeats of the replicas",
    run,
}];

/// The number of calls with sessions, and also of calls without sessions.
const CALLS: usize = 2000;

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
    Ok(told.join(", "))
}
