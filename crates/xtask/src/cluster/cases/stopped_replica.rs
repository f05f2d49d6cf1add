//! A replica stands still under load (SIGSTOP), behind balancers with the documented settings, and continues later.

use super::Case;
use crate::chaos::client::{Called, Client, End, Era};
use crate::chaos::process::until;
use crate::chaos::stage::{SOON, Upstream};
use crate::cluster::balancer::Balancer;
use crate::cluster::load::{judged, under_patient_load};
use crate::cluster::rig::{KNOWN, Rig, all_go_on, ends_at, eras, goes_on, key_becomes, status_within};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "stopped-replica",
    title: "a replica stands still: each call gets an answer, or an end within the balancers' 30 s; when it continues, it uses nothing that was revoked, ended or taken over",
    run,
}];

/// The time within which the balancers end requests at a replica that stands still.
const ENDS: Duration = Duration::from_secs(32);

/// The time for which the replica stands still, at least. The balancers' times must pass, and the other replicas must consider it gone.
const STANDS: Duration = Duration::from_secs(32);

/// The time after which `HAProxy` sends nothing to a replica that stands still: two checks, each of one second, and their interval.
const CHECKED: Duration = Duration::from_secs(4);

/// The time that clients wait for an answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// The number of the replica that stands still.
const STOPPED: usize = 1;

/// Everything in front of the replicas.
struct Doors {
    /// Balancers of all replicas.
    all: [Balancer; 2],
    /// Balancers of the replica that stands still.
    only: [Balancer; 2],
}

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    let kid = rig.stage.upstream("kid", &[])?;
    let mut entry = kid.over_stdio();
    entry["affinity"] = json!("session");
    rig.start_unbalanced(&json!({ "kid": entry }), &json!({ "auth": { "keys": true } }))?;
    let addresses = rig.addresses();
    let key = rig.replicas[0].new_key("clients")?;
    key_becomes(&key, 200, &addresses, KNOWN)?;
    let doors = doors(rig, &addresses)?;
    let clients =
        rig.clients(rig.stage.clients, &eras(), &doors.all.each_ref().map(|door| door.address), Some(&key))?;
    all_go_on(&clients, &addresses)?;
    let stale = Stale::prepare(rig, &key)?;
    let owner = rig.stage.client_at(addresses[STOPPED], Era::NEWEST_SESSION, Some(&key))?;
    let before = process(&kid, &owner, addresses[STOPPED])?;
    let streams = streams(rig, &doors, &key)?;

    let (cut, made) = under_patient_load(&clients, PATIENCE, || {
        thread::sleep(Duration::from_millis(500));
        let begun = Instant::now();
        rig.replicas[STOPPED].signal(Signal::STOP);
        let found = thread::scope(|scope| {
            let ends = scope.spawn(|| lost_at_door(rig, &doors, &key));
            let late = stale.used_late(rig, scope);
            let around = around(rig, &doors, &key);
            let home = moved(&kid, &owner, addresses[0], before);
            let ended = streams.iter().try_for_each(|client| {
                let ends = client.hearing.ends(ENDS.saturating_sub(begun.elapsed()));
                if ends { Ok(()) } else { Err("a stream at the replica does not end".to_owned()) }
            });
            thread::sleep(STANDS.saturating_sub(begun.elapsed()));
            rig.replicas[STOPPED].signal(Signal::CONT);
            // A process that has not ended yet would not see the signal before.
            let there = process(&kid, &owner, addresses[STOPPED]);
            ends.join().map_err(|_| "a client panicked")??;
            late?.check()?;
            around?;
            ended?;
            let (home, there) = (home?, there?);
            if there == home {
                Ok(())
            } else {
                Err(format!("the replica that continues uses the process {there}, and the others {home}"))
            }
        });
        rig.replicas[STOPPED].signal(Signal::CONT);
        let cut = (begun, Instant::now() + Duration::from_secs(1));
        found?;
        thread::sleep(Duration::from_secs(1));
        Ok(cut)
    })?;
    let figures = judged(rig, &made, Some(cut), ENDS)?;
    all_go_on(&clients, &addresses)?;
    Ok(figures)
}

fn doors(rig: &Rig<'_>, addresses: &[SocketAddr]) -> Result<Doors, String> {
    let one = &addresses[STOPPED..=STOPPED];
    Ok(Doors {
        all: [
            Balancer::documented_nginx(&rig.stage, "nginx-all", addresses)?,
            Balancer::documented_haproxy(&rig.stage, "haproxy-all", addresses)?,
        ],
        only: [
            Balancer::documented_nginx(&rig.stage, "nginx-one", one)?,
            Balancer::documented_haproxy(&rig.stage, "haproxy-one", one)?,
        ],
    })
}

/// Opens a stream at the replica through each balancer.
fn streams(rig: &Rig<'_>, doors: &Doors, key: &str) -> Result<Vec<Arc<Client>>, String> {
    let open = |door: &Balancer| {
        let client = rig.stage.client_at(door.address, Era::NEWEST_SESSION, Some(key))?;
        client.listen().map_err(|why| format!("cannot listen: {why:?}"))?;
        Ok(client)
    };
    doors.only.iter().map(open).collect()
}

/// Calls the replica through each balancer after it has stopped: the calls must end in time, without an answer.
fn lost_at_door(rig: &Rig<'_>, doors: &Doors, key: &str) -> Result<(), String> {
    // It was opened elsewhere, because the replica cannot open a session now.
    let client = rig.stage.client_at(rig.replicas[0].address, Era::NEWEST_SESSION, Some(key))?;
    thread::scope(|scope| {
        let calls = doors.only.each_ref().map(|door| {
            let there = client.resumed(door.address);
            scope.spawn(move || {
                let begun = Instant::now();
                (there.call("up__write", json!({}), PATIENCE), begun.elapsed())
            })
        });
        calls.into_iter().try_for_each(|call| match call.join().map_err(|_| "a client panicked")? {
            (Called { end: End::Answered(_), .. }, _) => {
                Err("a replica that stands still has answered".to_owned())
            }
            (Called { end, .. }, took) if took > ENDS => Err(format!("a call ended after {took:?}: {end:?}")),
            _ => Ok(()),
        })
    })
}

/// Once `HAProxy` has noticed, no call through it may fail or wait.
fn around(rig: &Rig<'_>, doors: &Doors, key: &str) -> Result<(), String> {
    thread::sleep(CHECKED);
    let client = rig.stage.client_at(doors.all[1].address, Era::NEWEST_SESSION, Some(key))?;
    for _ in 0..12 {
        let begun = Instant::now();
        client.call("up__write", json!({}), SOON).text()?;
        if begun.elapsed() > Duration::from_secs(2) {
            return Err(format!("a call through HAProxy took {:?}", begun.elapsed()));
        }
    }
    Ok(())
}

/// A key that is revoked and a session that ends while the replica stands still; the replica has used both before.
struct Stale {
    revoked: String,
    with_revoked: Arc<Client>,
    ended: Arc<Client>,
}

/// Requests that have waited at the replica while it stood still.
struct LateRequests<'scope> {
    calls: Vec<(&'static str, thread::ScopedJoinHandle<'scope, Called>)>,
    list: thread::ScopedJoinHandle<'scope, Result<u16, String>>,
}

impl Stale {
    fn prepare(rig: &Rig<'_>, key: &str) -> Result<Self, String> {
        let (addresses, revoked) = (rig.addresses(), rig.replicas[0].new_key("revoked")?);
        key_becomes(&revoked, 200, &addresses, KNOWN)?;
        let with_revoked = rig.stage.client_at(addresses[STOPPED], Era::NEWEST_SESSION, Some(&revoked))?;
        let ended = rig.stage.client_at(addresses[STOPPED], Era::NEWEST_SESSION, Some(key))?;
        goes_on(&with_revoked, &addresses)?;
        goes_on(&ended, &addresses)?;
        Ok(Self { revoked, with_revoked, ended })
    }

    /// Revokes the key and ends the session at other replicas, and uses them at the replica.
    fn used_late<'scope, 'env>(
        &'env self,
        rig: &'env Rig<'_>,
        scope: &'scope thread::Scope<'scope, 'env>,
    ) -> Result<LateRequests<'scope>, String> {
        let addresses = rig.addresses();
        let others = [addresses[0], addresses[2]];
        rig.replicas[0].command(&["key", "revoke", "revoked"])?;
        key_becomes(&self.revoked, 401, &others, KNOWN)?;
        self.ended.resumed(others[1]).close();
        ends_at(&self.ended, &others, KNOWN)?;
        let there = addresses[STOPPED];
        let call = |why, client: &Arc<Client>| {
            let client = client.resumed(there);
            (why, scope.spawn(move || client.call("up__write", json!({}), PATIENCE)))
        };
        let calls = vec![call("401", &self.with_revoked), call("404", &self.ended)];
        let list = scope.spawn(move || status_within(there, &self.revoked, PATIENCE));
        Ok(LateRequests { calls, list })
    }
}

impl LateRequests<'_> {
    fn check(self) -> Result<(), String> {
        for (status, call) in self.calls {
            let called = call.join().map_err(|_| "a client panicked")?;
            if !matches!(&called.end, End::Failed(why) if why.contains(status)) {
                return Err(format!("a call that must be refused with {status} got {:?}", called.end));
            }
        }
        match self.list.join().map_err(|_| "a client panicked")?? {
            401 => Ok(()),
            status => Err(format!("a list with a revoked key got the status {status}")),
        }
    }
}

/// Calls the process of a session at one replica; returns its number.
fn process(kid: &Upstream, owner: &Arc<Client>, address: SocketAddr) -> Result<u64, String> {
    let called = owner.resumed(address).call("kid__write", json!({}), SOON);
    called.text()?;
    let line = kid.ledger_lines().into_iter().find(|line| line.contains(&called.nonce));
    let call: Option<Value> = line.and_then(|line| serde_json::from_str(&line).ok());
    call.and_then(|call| call["pid"].as_u64()).ok_or(format!("{} was not recorded", called.nonce))
}

/// Waits until the session has a process at another replica; returns its number.
fn moved(kid: &Upstream, owner: &Arc<Client>, address: SocketAddr, before: u64) -> Result<u64, String> {
    let mut seen = BTreeSet::new();
    let moved = until(Duration::from_secs(20), || match process(kid, owner, address) {
        Ok(pid) if pid != before => Some(pid),
        other => {
            seen.insert(format!("{other:?}"));
            None
        }
    });
    moved.ok_or_else(|| format!("the session has no new process: {seen:?}"))
}
