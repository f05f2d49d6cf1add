//! The record of calls of all replicas: complete at each of them, not changed by others, and without a gap after an outage of the store.

use super::Case;
use crate::chaos::client::http::{Sent, exchange};
use crate::chaos::client::{Client, Era};
use crate::chaos::process::until;
use crate::chaos::stage::SOON;
use crate::cluster::admin_api::store_becomes;
use crate::cluster::rig::{Rig, each, goes_on};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "shared-calls",
    title: "each replica shows the calls of all replicas, in pages, without forged entries, and with those made while the store was away",
    run,
}];

/// The number of clients, and of calls of each client.
const CLIENTS: usize = 3;
const CALLS: usize = 20;

/// The number of calls on a page.
const PAGE: usize = 7;

/// The time within which a call is shown everywhere, on a busy machine.
const SHOWN: Duration = Duration::from_secs(5);

/// Copies the oldest entry of a stream. A page contains a copied entry only once.
const COPY: &str = "local e=redis.call('XRANGE',KEYS[1],'-','+','COUNT',1) return redis.call('XADD',KEYS[1],'*',unpack(e[1][2]))";

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.start_with_keys(&json!({}), &json!({ "audit": true, "management": true }))?;
    let doors: Vec<SocketAddr> = rig.balancers.iter().map(|one| one.address).collect();
    let replicas = rig.addresses();
    let clients = rig.clients(CLIENTS, &[Era::STATELESS], &doors, None)?;
    each(&clients, |client| (0..CALLS).try_for_each(|_| called(client)))?;
    let begun = Instant::now();
    let all = CLIENTS * CALLS;
    for replica in &replicas {
        becomes(*replica, all)?;
        in_pages(*replica, all)?;
    }
    let shown = begun.elapsed().as_millis();
    let written =
        rig.store.commands()?.into_iter().find(|(name, _)| name == "xadd").map_or(0, |(_, count)| count);
    if written * 2 > all as u64 {
        return Err(format!("{written} entries were written for {all} calls"));
    }
    let page = read(replicas[0], "limit=1000&tool=no*")?;
    if page["calls"].as_array().is_none_or(|calls| !calls.is_empty()) {
        return Err(format!("a filter that fits no call selects some: {page}"));
    }
    rig.store.cli(&["XADD", "dragoman:journal", "*", "entry", "garbage"])?;
    rig.store.cli(&["EVAL", COPY, "1", "dragoman:journal"])?;
    becomes(replicas[1], all)?;
    rig.store.kill();
    store_becomes(&replicas, "unreachable")?;
    goes_on(&clients[0], &replicas)?;
    rig.store.start_again()?;
    // The store has lost its data, so only the calls made meanwhile are there.
    for replica in &replicas {
        becomes(*replica, replicas.len())?;
    }
    Ok(format!("{all} calls shown everywhere after {shown} ms, {written} entries"))
}

fn called(client: &Arc<Client>) -> Result<(), String> {
    client.call("up__write", json!({}), SOON).text().map(drop)
}

/// Waits until a replica shows this number of calls, some of each replica.
fn becomes(replica: SocketAddr, wanted: usize) -> Result<(), String> {
    let mut last = Err("the calls were not read".to_owned());
    let found = until(SHOWN, || {
        last = read(replica, "limit=1000");
        let calls = last.as_ref().ok()?["calls"].as_array()?;
        (calls.len() == wanted).then_some(())
    });
    found.ok_or_else(|| format!("{replica} does not show {wanted} calls: {last:?}"))?;
    let page = last?;
    let mut gateways = BTreeMap::<&str, usize>::new();
    for call in page["calls"].as_array().into_iter().flatten() {
        *gateways.entry(call["gateway"].as_str().unwrap_or_default()).or_default() += 1;
        if call["call"]["tool"] != "up__write" || call["call"]["outcome"] != "ok" {
            return Err(format!("an entry has another form: {call}"));
        }
    }
    if gateways.keys().copied().collect::<Vec<_>>() != ["gw-1", "gw-2", "gw-3"] || page["missing"] != 0 {
        return Err(format!("{replica} shows calls of {gateways:?}, and {} are missing", page["missing"]));
    }
    Ok(())
}

/// Checks that the pages of a replica together show this number of calls.
fn in_pages(replica: SocketAddr, wanted: usize) -> Result<(), String> {
    let (mut count, mut before) = (0, String::new());
    loop {
        let page = read(replica, &format!("limit={PAGE}{before}"))?;
        count += page["calls"].as_array().map_or(0, Vec::len);
        match page["older"].as_str() {
            Some(older) => before = format!("&before={older}"),
            None if count == wanted => return Ok(()),
            None => return Err(format!("{replica} shows {count} calls in pages, not {wanted}")),
        }
    }
}

/// Reads the recorded calls of all replicas from one of them.
fn read(replica: SocketAddr, query: &str) -> Result<Value, String> {
    let path = format!("/api/replicas/calls?{query}");
    let sent = Sent { method: "GET", path: &path, headers: &[], body: "" };
    let mut reply =
        exchange(replica, &sent, Instant::now() + SOON).map_err(|error| format!("{replica}: {error}"))?;
    let text = reply.text().map_err(|error| format!("{replica}: {error}"))?;
    if reply.status != 200 {
        return Err(format!("{replica} answers {} to {path}: {text}", reply.status));
    }
    serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))
}
