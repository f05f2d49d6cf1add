//! Requests that only one replica can answer arrive at another one.

use super::Case;
use crate::chaos::client::{Client, Era, Way};
use crate::chaos::process::until;
use crate::chaos::stage::{SOON, Upstream};
use crate::cluster::replica::Replica;
use crate::cluster::rig::{Rig, each, session_eras};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[
    Case {
        name: "asked-anywhere",
        title: "clients of every version answer questions through balancers without stickiness, whichever replica asked",
        run: asked,
    },
    Case {
        name: "own-process",
        title: "a session with a process of its own has the same one at every replica, until the replica with the process is killed",
        run: own_process,
    },
    Case {
        name: "passed-on-store",
        title: "the store is killed and comes back empty: calls that were passed on go on, and sessions keep their processes",
        run: lost_store,
    },
];

/// The number of calls of each client for each server.
const CALLS: usize = 4;

/// The time within which a killed replica must be known to be gone.
const GONE: Duration = Duration::from_secs(15);

fn clients(rig: &Rig<'_>, count: usize, eras: &[Era]) -> Result<Vec<Arc<Client>>, String> {
    let balancers = rig.balancers.iter().map(|balancer| balancer.address).collect::<Vec<_>>();
    let open = |number: usize| {
        let address = balancers[number / eras.len() % balancers.len()];
        rig.stage.askable_at(address, eras[number % eras.len()], &json!({ "sampling": {} }))
    };
    (0..count).map(open).collect()
}

fn asked(rig: &mut Rig<'_>) -> Result<String, String> {
    let kid = rig.stage.upstream("kid", &[])?;
    rig.start_passing_on(&json!({ "kid": kid.over_stdio() }))?;
    let clients = clients(rig, rig.stage.clients, &Era::ALL)?;
    each(&clients, |client| {
        for _ in 0..CALLS {
            for tool in ["up__ask", "kid__ask"] {
                let called = client.call(tool, json!({}), SOON);
                called.text().map_err(|why| format!("{tool} of {}: {why}", client.era.version))?;
            }
        }
        Ok(())
    })?;
    for up in [&rig.up, &kid] {
        let executed = up.executions(|tool| tool == "ask");
        if executed.len() != clients.len() * CALLS || executed.values().any(|times| *times != 1) {
            return Err(format!("{} of {} calls were executed", executed.len(), clients.len() * CALLS));
        }
    }
    let streams = clients.iter().filter(|client| client.era.way == Way::Sse).count();
    let passed = passed_on(&rig.replicas);
    if passed == 0 {
        return Err("no request was passed on".to_owned());
    }
    Ok(format!("{} clients, {streams} of them with HTTP+SSE; {passed} requests passed on", clients.len()))
}

/// The words by which a replica notes in its log that it passes a request on.
const PASSED: &str = "passing a request on to another gateway";

/// Starts replicas with a server of which each session has a process of its own, and opens sessions.
fn with_own_processes(rig: &mut Rig<'_>) -> Result<(Upstream, Vec<Arc<Client>>), String> {
    let kid = rig.stage.upstream("kid", &[])?;
    let mut entry = kid.over_stdio();
    entry["affinity"] = json!("session");
    rig.start_passing_on(&json!({ "kid": entry }))?;
    let clients = clients(rig, 6, &session_eras())?;
    // The first call of a session decides which replica has its process. Balancers could bring all of them to one replica.
    for (client, address) in clients.iter().zip(rig.addresses().into_iter().cycle()) {
        client.resumed(address).call("kid__write", json!({}), SOON).text()?;
    }
    Ok((kid, clients))
}

/// Returns the number of requests that the replicas have passed on.
fn passed_on(replicas: &[Replica]) -> usize {
    replicas.iter().map(|replica| replica.log().matches(PASSED).count()).sum()
}

fn own_process(rig: &mut Rig<'_>) -> Result<String, String> {
    let (kid, clients) = with_own_processes(rig)?;
    let nonces = nonces(&clients, CALLS * 2)?;
    let homes = processes(&kid, &nonces)?;
    let different: BTreeSet<_> = homes.iter().collect();
    if different.len() != homes.len() {
        return Err(format!("{} sessions share {} processes", homes.len(), different.len()));
    }
    // The processes of a killed replica end with it, and the sessions get new ones.
    rig.replicas[0].kill();
    let begun = Instant::now();
    let again = loop {
        match self::nonces(&clients, 1) {
            Ok(nonces) => break nonces,
            Err(why) if begun.elapsed() > GONE => return Err(why),
            Err(_) => thread::sleep(Duration::from_millis(200)),
        }
    };
    let took = begun.elapsed();
    let after = processes(&kid, &again)?;
    let kept = homes.iter().zip(&after).filter(|(before, after)| before == after).count();
    if kept == 0 || kept == homes.len() {
        return Err(format!(
            "{kept} of {} sessions kept their process after a replica was killed",
            homes.len()
        ));
    }
    Ok(format!(
        "{} sessions; {kept} kept their process after a kill, the others went on after {} ms",
        homes.len(),
        took.as_millis()
    ))
}

/// The duration of the calls during which the store is lost, in milliseconds.
const LONG_CALL: u64 = 6000;

fn lost_store(rig: &mut Rig<'_>) -> Result<String, String> {
    let (kid, clients) = with_own_processes(rig)?;
    let homes = processes(&kid, &nonces(&clients, CALLS)?)?;
    // Two of three calls of each session are passed on.
    let doors =
        clients.iter().flat_map(|client| rig.addresses().into_iter().map(|door| client.resumed(door)));
    let doors: Vec<_> = doors.collect();
    let (replicas, store) = (&rig.replicas, &mut rig.store);
    let before = passed_on(replicas);
    thread::scope(|scope| {
        let calls: Vec<_> = doors
            .iter()
            .map(|client| scope.spawn(|| client.call("kid__late", json!({ "ms": LONG_CALL }), SOON)))
            .collect();
        let begun = until(SOON, || (passed_on(replicas) > before).then_some(()));
        begun.ok_or("no call was passed on")?;
        store.kill();
        store.start_again()?;
        calls.into_iter().try_for_each(|call| {
            let called = call.join().map_err(|_| "a client panicked")?;
            called.text().map(drop)
        })
    })?;
    let after = processes(&kid, &nonces(&clients, CALLS)?)?;
    if after != homes {
        return Err(format!("the processes {homes:?} became {after:?}"));
    }
    Ok(format!("{} sessions kept their processes", homes.len()))
}

/// Lets each client call its process, and returns the nonces of its calls.
fn nonces(clients: &[Arc<Client>], calls: usize) -> Result<Vec<Vec<String>>, String> {
    let calls = |client: &Arc<Client>| {
        let call = |_| {
            let called = client.call("kid__write", json!({}), SOON);
            called.text().map_err(|why| format!("{}: {why}", client.era.version))?;
            Ok(called.nonce)
        };
        (0..calls).map(call).collect()
    };
    clients.iter().map(calls).collect()
}

/// Returns the process of each session, which must have executed all its calls.
fn processes(kid: &Upstream, nonces: &[Vec<String>]) -> Result<Vec<u64>, String> {
    let mut by_nonce = BTreeMap::new();
    for line in kid.ledger_lines() {
        let Ok(call) = serde_json::from_str::<Value>(&line) else { continue };
        if let (Some(nonce), Some(pid)) = (call["nonce"].as_str(), call["pid"].as_u64()) {
            by_nonce.insert(nonce.to_owned(), pid);
        }
    }
    let process = |nonces: &Vec<String>| {
        let pids: BTreeSet<_> = nonces.iter().filter_map(|nonce| by_nonce.get(nonce)).copied().collect();
        match pids.iter().collect::<Vec<_>>()[..] {
            [pid] => Ok(*pid),
            _ => Err(format!("the calls of one session ran in the processes {pids:?}")),
        }
    };
    nonces.iter().map(process).collect()
}
