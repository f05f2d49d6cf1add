//! All faults at random, with servers of every kind, while clients of all versions call.

mod weather;

use super::{Scenario, status};
use crate::chaos::client::{Client, End, Era, Way};
use crate::chaos::dice::Dice;
use crate::chaos::open_files;
use crate::chaos::process::{descriptors, resident, until};
use crate::chaos::scenario::Play;
use crate::chaos::stage::{SOON, Stage, Upstream, entries};
use serde_json::json;
use std::sync::Arc;
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

/// The length of the short form.
const SHORT: Duration = Duration::from_secs(20);
/// The time after which a call must have ended in any case.
const ENDS: Duration = Duration::from_secs(40);
/// The number of additional descriptors, and the memory, that may remain: the allocator and the pools keep
/// them.
const MORE_DESCRIPTORS: usize = 24;
const MORE_KIB: u64 = 64 << 10;
/// The time after which they must have been returned, because idle connections to servers are closed after a
/// minute.
const BACK: Duration = Duration::from_secs(75);

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let length = play.minutes.map_or(SHORT, Duration::from_mins);
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

/// Opens as many clients at once as in the storm, half of which can be asked. Each pool keeps some of the links that it
/// opened for them, so the gateway holds equally many before and after the storm.
fn crowd(stage: &Stage<'_>, servers: &[(bool, Upstream)]) -> Result<(), String> {
    let visit = |number: usize| {
        let capabilities = if number.is_multiple_of(2) { json!({}) } else { json!({ "sampling": {} }) };
        let client = stage.client(Era::ALL[number % Era::ALL.len()], &capabilities)?;
        for (http, up) in servers {
            // Another child is started only if the calls so far keep all others busy for a while.
            let ms = if *http { 50 } else { 800 };
            client.call(&format!("{}__late", up.name), json!({ "ms": ms }), ENDS).text()?;
        }
        client.close();
        Ok(())
    };
    thread::scope(|scope| {
        let visits: Vec<_> = (0..stage.clients).map(|number| scope.spawn(move || visit(number))).collect();
        visits.into_iter().try_for_each(|one| one.join().map_err(|_| "a client panicked")?)
    })
}

fn heal(servers: &mut [(bool, Upstream)]) -> Result<(), String> {
    for (http, up) in servers {
        up.signal(rustix::process::Signal::CONT);
        up.switched("")?;
        if *http {
            up.kill();
            up.start()?;
        }
    }
    Ok(())
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
    for number in 0..stage.clients {
        let capabilities = if number % 2 == 0 { json!({}) } else { json!({ "sampling": {} }) };
        let client = stage.client(Era::ALL[number % Era::ALL.len()], &capabilities)?;
        let _ = client.listen();
        clients.push(client);
    }
    let over = AtomicBool::new(false);
    let (calls, faults) = thread::scope(|scope| {
        let callers: Vec<_> = clients
            .iter()
            .zip(1..)
            .map(|(client, number)| {
                let dice = Dice::new(seed.wrapping_mul(number).wrapping_add(7919));
                let (names, over) = (names.as_slice(), &over);
                scope.spawn(move || calls(client, names, dice, over))
            })
            .collect();
        let faults = weather::blow(servers, length, Dice::new(seed));
        over.store(true, Ordering::Relaxed);
        let calls: Vec<Ended> =
            callers.into_iter().filter_map(|caller| caller.join().ok()).flatten().collect();
        (calls, faults)
    });
    for client in &clients {
        client.close();
    }
    faults?;
    judge(&calls, servers, stage)
}

/// A call of the storm: the server's name, the tool, and the outcome.
struct Ended {
    server: &'static str,
    nonce: String,
    end: End,
}

fn calls(client: &Arc<Client>, names: &[&'static str], mut dice: Dice, over: &AtomicBool) -> Vec<Ended> {
    let mut ended = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let server = names[dice.below(names.len())];
        let tool = ["read", "read", "write", "write", "talk", "ask", "late"][dice.below(7)];
        let mut meta = json!({});
        if tool == "talk" {
            meta["progressToken"] = json!(ended.len());
            if client.era.way == Way::Stateless {
                meta["io.modelcontextprotocol/logLevel"] = json!("debug");
            }
        }
        let arguments = json!({ "notes": dice.below(20), "ms": dice.below(300) });
        let called = client.call_with(&format!("{server}__{tool}"), arguments, meta, ENDS);
        ended.push(Ended { server, nonce: called.nonce, end: called.end });
        if dice.below(10) == 0 {
            let _ = client.names(ENDS);
        }
        thread::sleep(Duration::from_millis(u64::try_from(dice.below(40)).unwrap_or(0)));
    }
    ended
}

fn judge(calls: &[Ended], servers: &[(bool, Upstream)], stage: &Stage<'_>) -> Result<(), String> {
    let mut faults = Vec::new();
    let answered = calls.iter().filter(|call| matches!(call.end, End::Answered(_))).count();
    for (_, up) in servers {
        faults.extend(
            up.doubled(&["write", "ask"]).iter().map(|nonce| format!("{nonce} ran twice at {}", up.name)),
        );
        let executed = up.executions(|_| true);
        for call in calls.iter().filter(|call| call.server == up.name) {
            match &call.end {
                End::Answered(_) if !executed.contains_key(&call.nonce) => {
                    faults.push(format!("{} was answered, but not executed", call.nonce));
                }
                End::Lost(why) => faults.push(format!("{} of {} has no answer: {why}", call.nonce, up.name)),
                End::Answered(_) | End::Failed(_) => {}
            }
        }
    }
    stage.log.note(&format!("storm: {} calls, {answered} answered", calls.len()));
    if answered * 4 < calls.len() {
        faults.push(format!("only {answered} of {} calls were answered", calls.len()));
    }
    let count = faults.len();
    faults.truncate(4);
    if faults.is_empty() { Ok(()) } else { Err(format!("{count} faults: {}", faults.join("; "))) }
}
