//! Servers that are added and removed with the management API of single replicas.

use super::Case;
use crate::chaos::process::until;
use crate::chaos::stage::SOON;
use crate::cluster::admin_api::{api, status};
use crate::cluster::rig::{KNOWN, Rig};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "managed",
    title: "a change made at one replica is in force everywhere within 1 s, of changes at the same time none is lost, and the store can neither lose a change nor bring an old one back",
    run,
}];

/// The number of changes whose time is measured.
const CHANGES: usize = 5;

/// The time within which a replica must have repaired the store's document.
const REPAIRED: Duration = Duration::from_secs(5);

/// The name of the document in the store.
const DOCUMENT: &str = "dragoman:changes";

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.start_amended(&json!({ "management": { "rate": "100000/1m" } }))?;
    let addresses = rig.addresses();
    let mut slowest = Duration::ZERO;
    for number in 0..CHANGES {
        let at = addresses[number % addresses.len()];
        add(at, &format!("one-{number}"))?;
        slowest = slowest.max(becomes(&addresses, &format!("one-{number}"), 200, KNOWN)?);
    }
    expect(addresses[1], "DELETE", "/api/mcp-servers/one-0", &Value::Null, 204)?;
    becomes(&addresses, "one-0", 404, KNOWN)?;
    let again = at_the_same_time(&addresses)?;
    stood_still(rig, &addresses)?;
    rolled_back(rig, &addresses)?;
    forged(rig, &addresses)?;
    lost(rig, &addresses)?;
    own_file(rig, &addresses)?;
    // A replica without any state has all changes as soon as it is ready.
    rig.replicas[2].end()?;
    rig.replicas[2].forget()?;
    rig.replicas[2].start()?;
    becomes(&addresses[2..], "after", 200, Duration::ZERO)?;
    becomes(&addresses[2..], "one-0", 404, Duration::ZERO)?;
    same_everywhere(&addresses)?;
    Ok(format!("in force after at most {} ms, {again} changes had to be repeated", slowest.as_millis()))
}

/// A request for a server that needs nothing.
fn server(name: &str) -> Value {
    json!({ "name": name, "type": "builtin", "config": { "native": "plain" } })
}

fn add(at: SocketAddr, name: &str) -> Result<(), String> {
    expect(at, "POST", "/api/mcp-servers", &server(name), 201)
}

fn expect(at: SocketAddr, method: &str, path: &str, body: &Value, wanted: u16) -> Result<(), String> {
    let (status, said) = api(at, method, path, body)?;
    if status == wanted { Ok(()) } else { Err(format!("{method} {path} at {at}: {status} {said}")) }
}

/// Waits until a server is known (200) or unknown (404) at all addresses; returns the time that this took.
fn becomes(addresses: &[SocketAddr], name: &str, wanted: u16, within: Duration) -> Result<Duration, String> {
    let begun = Instant::now();
    let path = format!("/api/mcp-servers/{name}");
    for address in addresses {
        let left = within.saturating_sub(begun.elapsed());
        until(left, || (status(*address, &path) == Some(wanted)).then_some(()))
            .ok_or_else(|| format!("{name} is not {wanted} at {address} after {within:?}"))?;
    }
    Ok(begun.elapsed())
}

/// Adds servers at all replicas at the same time, and repeats what is refused because another replica was faster; returns
/// the number of repetitions.
fn at_the_same_time(addresses: &[SocketAddr]) -> Result<usize, String> {
    let added = |at: SocketAddr, number: usize| {
        let begun = Instant::now();
        for again in 0.. {
            let name = format!("twin-{number}-{}", at.port());
            let (status, said) = api(at, "POST", "/api/mcp-servers", &server(&name))?;
            if status == 201 {
                return Ok(again);
            }
            let is_conflict = status == 409 && said["error"]["code"] == "CHANGED_ELSEWHERE";
            let is_busy = status == 503 && said["error"]["code"] == "BUSY";
            if !(is_conflict || is_busy) || begun.elapsed() > SOON {
                return Err(format!("{name} at {at}: {status} {said}"));
            }
        }
        Ok(0)
    };
    let mut repeated = 0;
    for number in 0..CHANGES {
        repeated += thread::scope(|scope| {
            let all: Vec<_> = addresses.iter().map(|at| scope.spawn(move || added(*at, number))).collect();
            let ends = all.into_iter().map(|one| one.join().map_err(|_| "a thread panicked".to_owned())?);
            ends.sum::<Result<usize, String>>()
        })?;
    }
    for number in 0..CHANGES {
        for at in addresses {
            becomes(addresses, &format!("twin-{number}-{}", at.port()), 200, KNOWN)?;
        }
    }
    same_everywhere(addresses)?;
    Ok(repeated)
}

/// Compares the lists of servers.
fn same_everywhere(addresses: &[SocketAddr]) -> Result<(), String> {
    let list = |at: &SocketAddr| api(*at, "GET", "/api/mcp-servers", &Value::Null);
    let lists = addresses.iter().map(list).collect::<Result<Vec<_>, _>>()?;
    let differs = lists.iter().any(|one| *one != lists[0]);
    if differs { Err(format!("the replicas have different servers: {lists:?}")) } else { Ok(()) }
}

/// Changes the configuration while a replica is suspended.
fn stood_still(rig: &Rig<'_>, addresses: &[SocketAddr]) -> Result<(), String> {
    rig.replicas[2].signal(Signal::STOP);
    let done = add(addresses[0], "meanwhile").and_then(|()| {
        becomes(&addresses[..2], "meanwhile", 200, KNOWN)?;
        // Longer than a replica may be silent.
        thread::sleep(Duration::from_secs(11));
        Ok(())
    });
    rig.replicas[2].signal(Signal::CONT);
    done?;
    becomes(addresses, "meanwhile", 200, KNOWN + KNOWN).map(drop)
}

fn version(rig: &Rig<'_>) -> Result<String, String> {
    rig.store.cli(&["HGET", DOCUMENT, "version"])
}

/// Waits until the store has this version again.
fn repaired(rig: &Rig<'_>, wanted: &str) -> Result<(), String> {
    until(REPAIRED, || version(rig).ok().filter(|found| found == wanted))
        .map(drop)
        .ok_or_else(|| format!("the store has the version {:?}, not {wanted}", version(rig)))
}

/// Brings back the document that was there before a change.
fn rolled_back(rig: &Rig<'_>, addresses: &[SocketAddr]) -> Result<(), String> {
    rig.store.cli(&["COPY", DOCUMENT, "saved"])?;
    add(addresses[0], "rolled")?;
    becomes(addresses, "rolled", 200, KNOWN)?;
    let newest = version(rig)?;
    rig.store.cli(&["COPY", "saved", DOCUMENT, "REPLACE"])?;
    repaired(rig, &newest)?;
    // The older document under the name of the newest version is no document of the cluster.
    rig.store.cli(&["COPY", "saved", DOCUMENT, "REPLACE"])?;
    rig.store.cli(&["HSET", DOCUMENT, "version", "999999-0000000000000001"])?;
    repaired(rig, &newest)?;
    becomes(addresses, "rolled", 200, Duration::ZERO).map(drop)
}

/// Deletes the document, and writes garbage in its place.
fn forged(rig: &Rig<'_>, addresses: &[SocketAddr]) -> Result<(), String> {
    let newest = version(rig)?;
    rig.store.cli(&["DEL", DOCUMENT])?;
    repaired(rig, &newest)?;
    rig.store.cli(&["HSET", DOCUMENT, "version", &newest, "sealed", "garbage"])?;
    add(addresses[1], "over-garbage")?;
    becomes(addresses, "over-garbage", 200, KNOWN).map(drop)
}

/// The store goes away, and comes back empty.
fn lost(rig: &mut Rig<'_>, addresses: &[SocketAddr]) -> Result<(), String> {
    let newest = version(rig)?;
    rig.store.kill();
    let (status, said) = api(addresses[0], "POST", "/api/mcp-servers", &server("away"))?;
    if (status, said["error"]["code"].as_str()) != (503, Some("STORE_UNAVAILABLE")) {
        return Err(format!("a change without the store: {status} {said}"));
    }
    becomes(addresses, "rolled", 200, Duration::ZERO)?;
    becomes(addresses, "away", 404, Duration::ZERO)?;
    // A replica that starts without the store has the changes that it had before.
    rig.replicas[1].end()?;
    rig.replicas[1].start()?;
    becomes(&addresses[1..2], "rolled", 200, Duration::ZERO)?;
    rig.store.start_again()?;
    repaired(rig, &newest)?;
    until(REPAIRED, || add(addresses[0], "after").ok())
        .ok_or("changes are refused although the store is back")?;
    becomes(addresses, "after", 200, KNOWN).map(drop)
}

/// One replica gets a server of its own in its file: the changes apply there, too.
fn own_file(rig: &Rig<'_>, addresses: &[SocketAddr]) -> Result<(), String> {
    rig.replicas[2].amend(&json!({ "mcpServers": { "own": { "native": "plain" } } }))?;
    becomes(&addresses[2..], "own", 200, SOON)?;
    add(addresses[0], "beside")?;
    becomes(addresses, "beside", 200, KNOWN)?;
    becomes(&addresses[2..], "own", 200, Duration::ZERO)?;
    becomes(&addresses[..2], "own", 404, Duration::ZERO)?;
    rig.replicas[2].amend(&json!({ "mcpServers": { "up": rig.up.over_http() } }))?;
    becomes(&addresses[2..], "own", 404, SOON).map(drop)
}
