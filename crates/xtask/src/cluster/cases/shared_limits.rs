//! Rate limits that all replicas share: with the store, without it, and after it has come back empty.

use super::Case;
use crate::chaos::client::{Client, End, Era};
use crate::chaos::process::until;
use crate::chaos::stage::SOON;
use crate::cluster::admin_api::{know_each_other, store_becomes};
use crate::cluster::rig::{Rig, each};
use rustix::process::Signal;
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "shared-limits",
    title: "a rate limit applies to all replicas together with at most one command for 20 calls; without the store, each applies its share or refuses",
    run,
}];

/// The bursts of limits with leases, each with the number of calls that one command serves at least.
const LEASED: [(usize, usize); 4] = [(40, 5), (100, 20), (399, 20), (1000, 20)];

/// The number of requests that a replica takes in advance of a burst: a lease, and the beginning of the next one.
const fn in_advance(burst: usize) -> usize {
    match burst {
        ..75 => 7,
        75..500 => 30,
        _ => burst / 16,
    }
}

/// The time in which each of these limits refills.
const REFILLS: Duration = Duration::from_hours(10);

/// The number of clients that make these calls.
const CLIENTS: usize = 6;

/// The number of calls that the limit for a replica's share allows at once: ten at each of three replicas.
const SHARE: usize = 30;

/// The maximum time of a call while the store does not answer: a few waits for the store, on a busy machine.
const PROMPT: Duration = Duration::from_secs(1);

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    let limit = |rate: &str, tools: &str, without: &str| json!({ "rate": rate, "per": [], "tools": tools, "withoutStore": without });
    let mut limits = json!({ "management": { "rate": "100000/1m" }, "rateLimits": [
        limit("1/1h", "up__write", "local"),
        limit("30/10h", "two__read", "local"),
        limit("30/10h", "two__write", "refuse"),
        limit("30/10h", "two__talk", "local"),
    ]});
    let mut servers = json!({ "two": rig.up.over_http() });
    for (burst, _) in LEASED {
        let tool = format!("b{burst}__read");
        limits["rateLimits"].as_array_mut().into_iter().for_each(|all| {
            // A limit that refuses is never exceeded, even if the store answers late on a busy machine.
            all.push(limit(&format!("{burst}/10h"), &tool, "refuse"));
        });
        servers[format!("b{burst}")] = rig.up.over_http();
    }
    rig.start_with_keys(&servers, &limits)?;
    let (doors, replicas) =
        (rig.balancers.iter().map(|one| one.address).collect::<Vec<_>>(), rig.addresses());
    know_each_other(&replicas)?;
    let told = LEASED.iter().map(|leased| with_the_store(rig, &doors, *leased));
    let told = told.collect::<Result<Vec<_>, _>>()?.join(", ");
    let client = rig.clients(1, &[Era::STATELESS], &replicas, None)?.remove(0);
    one_in_all(&client, "up__write", &replicas)?;
    let longest = with_a_stopped_store(rig, &client, &replicas)?;
    without_the_store(rig, &client, &replicas)?;
    Ok(format!("{told}; the longest call with a stopped store {} ms", longest.as_millis()))
}

/// Stops the store, so that it does not answer; returns the duration of the longest call.
fn with_a_stopped_store(
    rig: &Rig<'_>,
    client: &Arc<Client>,
    replicas: &[SocketAddr],
) -> Result<Duration, String> {
    rig.store.signal(Signal::STOP);
    let mut longest = Duration::ZERO;
    let called = replicas.repeat(SHARE / replicas.len()).into_iter().try_for_each(|address| {
        let begun = Instant::now();
        let is_allowed = is_allowed(&client.resumed(address), "two__talk")?;
        longest = longest.max(begun.elapsed());
        if is_allowed {
            Ok(())
        } else {
            Err(format!("a call was refused at {address} while the store stood still"))
        }
    });
    rig.store.signal(Signal::CONT);
    called.map(|()| longest)
}

/// Makes half as many calls again as a limit allows, through the balancers.
fn with_the_store(
    rig: &Rig<'_>,
    doors: &[SocketAddr],
    (burst, serves): (usize, usize),
) -> Result<String, String> {
    let (clients, tool) = (rig.clients(CLIENTS, &[Era::STATELESS], doors, None)?, format!("b{burst}__read"));
    let (before, begun, allowed) = (evaluated(rig)?, Instant::now(), AtomicUsize::new(0));
    let each_makes = (burst + burst / 2).div_ceil(CLIENTS);
    each(&clients, |client| {
        for _ in 0..each_makes {
            allowed.fetch_add(usize::from(is_allowed(client, &tool)?), Ordering::Relaxed);
        }
        Ok(())
    })?;
    let (elapsed, allowed, calls) = (begun.elapsed(), allowed.into_inner(), each_makes * CLIENTS);
    let commands = evaluated(rig)? - before;
    let refilled = elapsed.as_secs_f64() / REFILLS.as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let refilled = refilled * burst as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
    let most = burst + refilled.ceil() as usize;
    let least = burst.saturating_sub(rig.replicas.len() * in_advance(burst));
    if !(least..=most).contains(&allowed) {
        return Err(format!("{allowed} of {calls} calls were allowed, not {least} to {most}"));
    }
    if commands > (calls / serves + rig.replicas.len()) as u64 {
        return Err(format!("{calls} calls to a limit of {burst} caused {commands} commands at the store"));
    }
    let stored = rig.store.names("dragoman:count:*")?;
    let lives = stored.iter().map(|name| rig.store.cli(&["PTTL", name])).collect::<Result<Vec<_>, _>>()?;
    if stored.is_empty() || lives.iter().any(|ms| ms.parse().is_ok_and(|ms: i64| ms <= 0)) {
        return Err(format!("the store has the counts {stored:?}, which live for {lives:?} ms"));
    }
    Ok(format!("{allowed} of {calls} calls allowed by a limit of {burst} with {commands} commands"))
}

/// Checks that a limit of one call is exact although every replica is asked.
fn one_in_all(client: &Arc<Client>, tool: &str, replicas: &[SocketAddr]) -> Result<(), String> {
    let allowed = allowed_at(client, tool, &[replicas, replicas].concat())?;
    if allowed == 1 { Ok(()) } else { Err(format!("{allowed} calls were allowed by a limit of one")) }
}

/// Kills the store, and starts it again, empty.
fn without_the_store(rig: &mut Rig<'_>, client: &Arc<Client>, replicas: &[SocketAddr]) -> Result<(), String> {
    rig.store.kill();
    store_becomes(replicas, "unreachable")?;
    let each_in_turn = replicas.repeat(SHARE / replicas.len() + 5);
    let (local, refuse) =
        (allowed_at(client, "two__read", &each_in_turn)?, allowed_at(client, "two__write", replicas)?);
    if local != SHARE || refuse != 0 {
        return Err(format!(
            "without the store, {local} calls were allowed by the shares of a limit of {SHARE}, and {refuse} by a limit that refuses"
        ));
    }
    rig.store.start_again()?;
    until(SOON, || {
        is_allowed(&client.resumed(replicas[0]), "two__write").is_ok_and(|allowed| allowed).then_some(())
    })
    .ok_or("a limit that refuses without the store still refuses after its return")?;
    let after =
        until(SOON, || (allowed_at(client, "two__write", replicas).ok()? == replicas.len()).then_some(()));
    after.ok_or("not all replicas use the store again")?;
    let again = allowed_at(client, "two__read", replicas)?;
    if again != 0 {
        return Err(format!(
            "the empty store made {again} more calls possible, although the replicas know the count"
        ));
    }
    Ok(())
}

/// Makes a call at each of these addresses; returns the number of allowed ones.
fn allowed_at(client: &Arc<Client>, tool: &str, addresses: &[SocketAddr]) -> Result<usize, String> {
    let mut count = 0;
    for address in addresses {
        count += usize::from(is_allowed(&client.resumed(*address), tool)?);
    }
    Ok(count)
}

/// Makes a call; returns true if it was allowed, and false if a limit refused it.
fn is_allowed(client: &Arc<Client>, tool: &str) -> Result<bool, String> {
    let begun = Instant::now();
    let called = client.call(tool, json!({}), SOON);
    if begun.elapsed() > PROMPT {
        return Err(format!("a call took {:?}", begun.elapsed()));
    }
    match called.end {
        End::Answered(_) => Ok(true),
        End::Failed(why) if why.contains("429") || why.contains("too many requests") => Ok(false),
        End::Failed(why) if why.contains("cluster's store is unavailable") => Ok(false),
        other => Err(format!("{tool}: {other:?}")),
    }
}

/// The number of scripts that the store has executed.
fn evaluated(rig: &Rig<'_>) -> Result<u64, String> {
    Ok(rig.store.commands()?.into_iter().find(|(name, _)| name == "eval").map_or(0, |(_, count)| count))
}
