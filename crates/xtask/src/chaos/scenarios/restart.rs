//! A server is killed and started again under load: callers of read-only tools notice nothing, calls that were
//! certainly not executed wait, and no call is executed twice.

use super::Scenario;
use crate::chaos::client::{Client, End, Era};
use crate::chaos::scenario::Play;
use crate::chaos::stage::{SOON, Upstream};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "restart-http",
        fault: 10,
        title: "while a server is away for up to 5 s, no call fails that only reads or was surely not executed, and none runs twice",
        variant: "http",
        run,
    },
    Scenario { name: "restart-stdio", fault: 10, title: "the same over pipes", variant: "stdio", run },
    Scenario {
        name: "crash-under-load",
        fault: 0,
        title: "while a child crashes again and again, each call ends with an answer or an error",
        variant: "",
        run: ends,
    },
];

/// The times for which the server is down: first a crash, then a slow restart.
const AWAY: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(5)];
/// The error of a request that may be sent again, because the server has certainly not acted on it.
const NOT_EXECUTED: &str = "\"retry\":true";

/// Returns the capabilities of a client. Two of three clients can be asked, so they use dedicated links.
fn capabilities(number: usize) -> Value {
    match number % 3 {
        0 => json!({}),
        1 => json!({ "sampling": {} }),
        _ => json!({ "sampling": {}, "elicitation": {} }),
    }
}

/// The observations of one client.
#[derive(Default)]
struct Seen {
    calls: usize,
    /// Read-only calls that failed, or got no answer.
    failed: Vec<String>,
    /// The nonces of answered calls; all of them must be in the ledger.
    answered: Vec<String>,
    /// Failed calls of `write` whose error states that they were not executed: nonce and error.
    unexecuted: Vec<(String, String)>,
    /// Calls that ended without an answer or an error.
    lost: Vec<String>,
}

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let http = play.variant == "http";
    let stage = &mut play.stage;
    let mut up = if http { stage.started("up", &[])? } else { stage.upstream("up", &[])? };
    let entry = if http { up.over_http() } else { up.over_stdio() };
    stage.serve(&[("up", entry)], &json!({ "limits": { "listWait": "10s" } }))?;
    let clients: Vec<_> = (0..stage.clients)
        .map(|number| stage.client(Era::ALL[number % Era::ALL.len()], &capabilities(number)))
        .collect::<Result<_, _>>()?;
    for client in &clients {
        client.names(SOON)?;
        client.call("up__read", json!({}), SOON).text()?;
    }
    let over = AtomicBool::new(false);
    let (seen, restarted) = thread::scope(|scope| {
        let callers: Vec<_> = clients.iter().map(|client| scope.spawn(|| calls(client, &over))).collect();
        let restarted = restart(&mut up, http);
        thread::sleep(Duration::from_secs(1));
        over.store(true, Ordering::Relaxed);
        let seen: Vec<Seen> = callers.into_iter().filter_map(|caller| caller.join().ok()).collect();
        (seen, restarted)
    });
    restarted?;
    let mut faults: Vec<String> =
        up.doubled(&["write"]).iter().map(|nonce| format!("{nonce} ran twice")).collect();
    let executed = up.executions(|_| true);
    let answered = seen.iter().flat_map(|seen| &seen.answered);
    faults.extend(
        answered
            .filter(|nonce| !executed.contains_key(*nonce))
            .map(|nonce| format!("{nonce} was answered, but not executed")),
    );
    let calls: usize = seen.iter().map(|seen| seen.calls).sum();
    let count = |what: &str, failed: Vec<String>| {
        failed.first().map(|first| format!("{} of {calls} calls {what}; {first}", failed.len()))
    };
    let (ran, waited): (Vec<_>, Vec<_>) =
        seen.iter().flat_map(|seen| &seen.unexecuted).partition(|(nonce, _)| executed.contains_key(nonce));
    let shown =
        |these: Vec<&(String, String)>| these.iter().map(|(nonce, why)| format!("{nonce}: {why}")).collect();
    faults.extend(count("failed that only read", seen.iter().flat_map(|seen| seen.failed.clone()).collect()));
    faults.extend(count("were executed, and their errors say otherwise", shown(ran)));
    faults.extend(count("were not executed and failed instead of waiting", shown(waited)));
    faults.extend(seen.iter().flat_map(|seen| &seen.lost).cloned());
    faults.truncate(4);
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

/// Makes as many calls as possible while the child crashes.
fn ends(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.upstream("up", &[])?;
    stage.serve(&[("up", up.over_stdio())], &json!({ "limits": { "listWait": "10s" } }))?;
    let clients: Vec<_> = (0..stage.clients)
        .map(|number| stage.client(Era::ALL[number % Era::ALL.len()], &capabilities(number)))
        .collect::<Result<_, _>>()?;
    for client in &clients {
        client.names(SOON)?;
    }
    let over = AtomicBool::new(false);
    let ended = thread::scope(|scope| {
        let callers: Vec<_> = clients
            .iter()
            .map(|client| {
                scope.spawn(|| {
                    let mut lost = Vec::new();
                    while !over.load(Ordering::Relaxed) {
                        let called = client.call("up__write", json!({}), SOON);
                        if let End::Lost(why) = called.end {
                            let times = up.executed(&called.nonce);
                            let version = client.era.version;
                            lost.push(format!("{version}: {} ran {times} times: {why}", called.nonce));
                        }
                    }
                    lost
                })
            })
            .collect();
        let mut switched = Ok(());
        for _ in 0..6 {
            thread::sleep(Duration::from_millis(500));
            switched = switched.and_then(|()| up.switched("die")).and_then(|()| up.switched(""));
        }
        over.store(true, Ordering::Relaxed);
        let lost: Vec<_> = callers.into_iter().filter_map(|caller| caller.join().ok()).flatten().collect();
        switched.map(|()| lost)
    })?;
    let doubled = up.doubled(&["write"]);
    match ended.first() {
        Some(first) => Err(format!("{} calls without an end; {first}", ended.len())),
        None if !doubled.is_empty() => Err(format!("ran twice: {doubled:?}")),
        None => Ok(()),
    }
}

fn restart(up: &mut Upstream, http: bool) -> Result<(), String> {
    for away in AWAY {
        thread::sleep(Duration::from_millis(700));
        if http {
            up.kill();
        } else {
            // The gateway starts the child again, and it ends again as long as it is told to stay down.
            up.switched("die down")?;
        }
        thread::sleep(away);
        if http { up.start()? } else { up.switch("")? }
    }
    Ok(())
}

/// Makes calls of read-only tools and calls that must not be executed twice, in turn.
fn calls(client: &Arc<Client>, over: &AtomicBool) -> Seen {
    let mut seen = Seen::default();
    while !over.load(Ordering::Relaxed) {
        // Slow enough that some calls are always in progress.
        let read = client.call("up__late", json!({ "ms": 30 }), 2 * SOON);
        let write = client.call("up__write", json!({}), 2 * SOON);
        seen.calls += 2;
        if let Err(why) = read.text() {
            seen.failed.push(format!("{}: {why}", client.era.version));
        }
        if let End::Failed(why) = &write.end
            && why.contains(NOT_EXECUTED)
        {
            seen.unexecuted.push((write.nonce.clone(), why.clone()));
        }
        for called in [read, write] {
            match called.end {
                End::Answered(_) => seen.answered.push(called.nonce),
                End::Lost(why) => {
                    seen.lost.push(format!("{}: {} has no answer: {why}", client.era.version, called.nonce));
                }
                End::Failed(_) => {}
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    seen
}
