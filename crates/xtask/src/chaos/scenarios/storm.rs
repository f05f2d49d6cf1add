//! All faults at random, with servers of every kind, while clients of all versions call.
//!
//! | file | concern |
//! |---|---|
//! | `weather` | the faults |
//! | `callers` | the calls that clients make during the faults, and the check that the calls ended well |

mod callers;
mod weather;

use super::{Scenario, status};
use crate::chaos::client::Era;
use crate::chaos::dice::Dice;
use crate::chaos::open_files;
use crate::chaos::process::{descriptors, resident, until};
use crate::chaos::scenario::Play;
use crate::chaos::stage::{SOON, Stage, Upstream, entries};
use callers::Call;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

pub(super) const ALL: &[Scenario] = &[Scenario {
    name: "storm",
    fault: 0,
    title: "all faults at random: no answer lost, doubled or foreign, everything explained, nothing left",
    variant: "",
    run,
}];

/// The number of clients, also in the short form.
const CLIENTS: usize = 50;
/// The time after which a call must have ended in any case.
const ENDS: Duration = Duration::from_secs(40);
/// The additional descriptors and memory that the gateway may use after the storm, because its allocator and its
/// pools keep them.
const MORE_DESCRIPTORS: usize = 24;
const MORE_KIB: u64 = 64 << 10;
/// The time between two looks at the states of all servers.
const LOOK: Duration = Duration::from_millis(200);
/// The time within which the gateway must return to the resources that it used before the storm: idle connections
/// to servers are closed after a minute.
const BACK: Duration = Duration::from_secs(75);

fn run(play: &mut Play<'_>) -> Result<(), String> {
    // The short form is one round of faults.
    let length = play.minutes.map_or(Duration::ZERO, Duration::from_mins);
    let stage = &mut play.stage;
    let mut servers = stage.of_each_sort()?;
    let entries = entries(&servers);
    stage.serve(&entries, &json!({ "limits": { "listWait": "10s", "callIdleTimeout": "8s" } }))?;
    calm(stage, &servers, 0)?;
    crowd(stage, &servers)?;
    thread::sleep(Duration::from_secs(3));
    let opened = Opened::now(stage, &servers);
    let seed = SystemTime::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_secs());
    stage.log.note(&format!("storm: seed {seed}; {} descriptors: {}", opened.descriptors, opened.kinds));
    let found = weather(stage, &mut servers, length, seed).and_then(|()| {
        heal(&mut servers)?;
        calm(stage, &servers, 2)?;
        crowd(stage, &servers)?;
        for (_, up) in &servers {
            let told = stage.status(up.name)?;
            if !status::is_good(&told) && !status::is_explained(&told) {
                return Err(format!("unexplained: {told}"));
            }
        }
        opened.is_back(stage, &servers)
    });
    found.map_err(|why| format!("seed {seed}: {why}"))
}

/// The resources of the gateway before the storm.
struct Opened {
    descriptors: usize,
    memory: u64,
    kinds: String,
}

impl Opened {
    fn now(stage: &Stage<'_>, servers: &[(bool, Upstream)]) -> Self {
        let pid = stage.pid();
        let named = servers.iter().filter(|(http, _)| *http).map(|(_, up)| (up.name, up.address.port()));
        let named: Vec<(&str, u16)> = named.chain([("its door", stage.address().port())]).collect();
        Self { descriptors: descriptors(pid), memory: resident(pid), kinds: open_files::by_kind(pid, &named) }
    }

    /// Waits until the gateway uses no more resources than before.
    fn is_back(&self, stage: &Stage<'_>, servers: &[(bool, Upstream)]) -> Result<(), String> {
        let pid = stage.pid();
        let back = || {
            let few = descriptors(pid) <= self.descriptors + MORE_DESCRIPTORS;
            (few && resident(pid) <= self.memory + MORE_KIB).then_some(())
        };
        let found = until(BACK, back);
        let now = Self::now(stage, servers);
        stage.log.note(&format!("storm: {} descriptors after: {}", now.descriptors, now.kinds));
        found.ok_or_else(|| {
            let Self { descriptors, memory, kinds } = self;
            format!(
                "{descriptors} descriptors before ({kinds}), {} after ({}); memory {memory} KiB before, {} after",
                now.descriptors, now.kinds, now.memory
            )
        })
    }
}

/// A round in which everything must work: clients of all versions connect, call every server and disconnect.
fn calm(stage: &Stage<'_>, servers: &[(bool, Upstream)], tries: usize) -> Result<(), String> {
    for number in 0..Era::ALL.len() * 2 {
        let capabilities = if number % 2 == 0 { json!({}) } else { json!({ "sampling": {} }) };
        let client = stage.client(Era::ALL[number % Era::ALL.len()], &capabilities)?;
        client.names(2 * SOON)?;
        for (_, up) in servers {
            let tool = format!("{}__read", up.name);
            let mut called = client.call(&tool, json!({}), ENDS);
            for _ in 0..tries {
                if called.text().is_ok() {
                    break;
                }
                thread::sleep(Duration::from_secs(5));
                called = client.call(&tool, json!({}), ENDS);
            }
            called.text().map_err(|why| format!("{} of {}: {why}", up.name, client.era.version))?;
        }
        client.close();
    }
    Ok(())
}

/// Opens as many clients at once as the storm does; half of them can be asked. Each pool keeps some of the links
/// that it opened for these clients, so the gateway has the same number of links before and after the storm.
fn crowd(stage: &Stage<'_>, servers: &[(bool, Upstream)]) -> Result<(), String> {
    let visit = |number: usize| {
        let capabilities = if number.is_multiple_of(2) { json!({}) } else { json!({ "sampling": {} }) };
        let client = stage.client(Era::ALL[number % Era::ALL.len()], &capabilities)?;
        for (http, up) in servers {
            // Another child is started only if the calls so far keep all others busy for a while.
            let ms = if *http { 50 } else { 400 };
            client.call(&format!("{}__late", up.name), json!({ "ms": ms }), ENDS).text()?;
        }
        client.close();
        Ok(())
    };
    thread::scope(|scope| {
        let visits: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(move || visit(number))).collect();
        visits.into_iter().try_for_each(|one| one.join().map_err(|_| "a client panicked")?)
    })
}

fn heal(servers: &mut [(bool, Upstream)]) -> Result<(), String> {
    for (http, up) in servers {
        up.signal(rustix::process::Signal::CONT);
        up.switched("")?;
        // A server that still runs keeps its sessions and streams, so the gateway cannot get rid of them by a restart.
        if *http && !up.runs() {
            up.start()?;
        }
    }
    Ok(())
}

/// Looks at the state of every server again and again while faults come and go. Each state must be good, or have a reason.
/// Returns the number of states.
fn watch(stage: &Stage<'_>, names: &[&str], over: &AtomicBool) -> Result<usize, String> {
    let mut looks = 0;
    while !over.load(Ordering::Relaxed) {
        for name in names {
            let told = stage.status(name)?;
            if !status::is_good(&told) && !status::is_explained(&told) {
                return Err(format!("unexplained during the faults: {told}"));
            }
            looks += 1;
        }
        thread::sleep(LOOK);
    }
    if looks == 0 { Err("no state was seen during the faults".to_owned()) } else { Ok(looks) }
}

/// Makes the calls of all clients while faults come and go.
fn weather(
    stage: &Stage<'_>,
    servers: &mut [(bool, Upstream)],
    length: Duration,
    seed: u64,
) -> Result<(), String> {
    let names: Vec<&'static str> = servers.iter().map(|(_, up)| up.name).collect();
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let capabilities = if number % 2 == 0 { json!({}) } else { json!({ "sampling": {} }) };
        let client = stage.client(Era::ALL[number % Era::ALL.len()], &capabilities)?;
        let _ = client.listen();
        clients.push(client);
    }
    let over = AtomicBool::new(false);
    let (done, faults) = thread::scope(|scope| {
        let callers: Vec<_> = clients
            .iter()
            .zip(1..)
            .map(|(client, number)| {
                let dice = Dice::new(seed.wrapping_mul(number).wrapping_add(7919));
                let (names, over) = (names.as_slice(), &over);
                scope.spawn(move || callers::calls(client, names, dice, over))
            })
            .collect();
        let watcher = scope.spawn(|| watch(stage, &names, &over));
        let faults = weather::blow(servers, length, Dice::new(seed));
        over.store(true, Ordering::Relaxed);
        let explained = watcher.join().unwrap_or_else(|_| Err("the watcher panicked".to_owned()));
        let done: Vec<Call> = callers.into_iter().filter_map(|caller| caller.join().ok()).flatten().collect();
        (done, faults.and_then(|faults| explained.map(|looks| (faults, looks))))
    });
    for client in &clients {
        client.close();
    }
    let (faults, looks) = faults?;
    stage.log.note(&format!("storm: {faults} faults; {looks} states seen meanwhile, all explained"));
    callers::judge(&done, servers, stage)
}
