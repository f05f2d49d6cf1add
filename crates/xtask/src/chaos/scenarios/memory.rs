//! Many large answers at once, in little memory: calls may be rejected, but the gateway survives, and callers with
//! small messages wait only as long as the server itself makes them wait.

use super::Scenario;
use crate::chaos::client::{Called, Client, End, Era};
use crate::chaos::measure::Times;
use crate::chaos::process::Process;
use crate::chaos::scenario::Play;
use crate::chaos::stage::{SOON, Stage};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "large-answers",
        fault: 14,
        title: "30 answers of 30 MB at once in 700 MiB of memory end with answers or errors, and the gateway goes on",
        variant: "",
        run,
    },
    Scenario {
        name: "large-beside-small",
        fault: 14,
        title: "30 answers of 6 MB over one pipe, which their clients do not read, hold up nobody's small calls for long",
        variant: "",
        run: over_a_pipe,
    },
];

const ANSWERS: usize = 30;
const BYTES: usize = 30_000_000;
/// The minimum number of calls that must be answered. The others may give up after a minute on a busy machine.
const FEWEST: usize = 10;
/// The limit of the gateway's address space, in KiB.
const SPACE: usize = 700 << 10;

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.started("up", &[])?;
    let clients = served(stage, &up.over_http())?;
    let ends = large(&clients, BYTES, Duration::ZERO);
    let answered = answered(&ends)?;
    stage.log.note(&format!("large-answers: {answered} of {ANSWERS} calls were answered"));
    if answered < FEWEST {
        return Err(format!("only {answered} of {ANSWERS} calls were answered"));
    }
    still_serves(stage, &clients[0])
}

/// Starts the gateway in little memory in front of this server; returns the clients with the large calls.
fn served(stage: &mut Stage<'_>, server: &Value) -> Result<Vec<Arc<Client>>, String> {
    let config = json!({ "mcpServers": { "up": server }, "stateFolder": stage.folder.join("state") });
    std::fs::write(stage.config(), config.to_string()).map_err(|error| error.to_string())?;
    let program = stage.programs.dragoman();
    // The limit is soft, so that a server over a pipe can lift it for itself.
    let script = format!("ulimit -S -v {SPACE}; exec '{}' \"$@\"", program.display());
    stage.start_gateway(Command::new("sh").args(["-c", &script, "dragoman"]))?;
    let clients: Vec<_> = (0..ANSWERS)
        // The server has sessions, so answers for stateless clients are translated, and held in memory as a
        // whole.
        .map(|_| stage.client(Era::STATELESS, &json!({})))
        .collect::<Result<_, _>>()?;
    for client in &clients {
        client.names(SOON)?;
    }
    Ok(clients)
}

/// Makes all large calls at once; the clients read their answers after the time `rest`.
fn large(clients: &[Arc<Client>], bytes: usize, rest: Duration) -> Vec<Called> {
    thread::scope(|scope| {
        let call = |client| {
            // A call that gets no memory for its answer fails after a minute.
            scope.spawn(move || Client::call_large(client, "up__payload", bytes, rest, 8 * SOON))
        };
        let calls: Vec<_> = clients.iter().map(|client| call(&**client)).collect();
        calls.into_iter().filter_map(|call| call.join().ok()).collect()
    })
}
/// The number of large calls that were answered; an error if one of them has no end.
fn answered(ends: &[Called]) -> Result<usize, String> {
    let lost: Vec<&str> = ends.iter().filter_map(|called| lost(&called.end)).collect();
    if ends.len() != ANSWERS || !lost.is_empty() {
        let (number, why) = (lost.len(), lost.first().unwrap_or(&""));
        let all = ends.len();
        return Err(format!("{number} of {all} calls ended with neither an answer nor an error: {why}"));
    }
    Ok(ends.iter().filter(|called| matches!(called.end, End::Answered(_))).count())
}

fn still_serves(stage: &mut Stage<'_>, client: &Client) -> Result<(), String> {
    if !stage.gateway.as_mut().is_some_and(Process::runs) {
        return Err("the gateway ended".to_owned());
    }
    client.call("up__read", json!({}), SOON).text().map(drop)
}

/// The size of the answers over a pipe: more than the system's buffers hold for a client that does not read.
const OVER_A_PIPE: usize = 6_000_000;
/// The time after which the clients of large answers read them.
const UNREAD: Duration = Duration::from_secs(30);
/// The maximum time of a small request: reading stops for a second, and large answers that come before the small one have
/// to be read, which takes long without optimization.
const HELD_UP: Duration = Duration::from_secs(10);

/// A kind of small request.
type SmallRequest = fn(&Client) -> Result<(), String>;

fn over_a_pipe(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.upstream("up", &[])?;
    let clients = served(stage, &up.by_shell("ulimit -S -v unlimited;"))?;
    let small = stage.client(Era::NEWEST_SESSION, &json!({}))?;
    small.names(SOON)?;
    let requests: [(&str, SmallRequest); 3] = [
        ("calls", |client| client.call("up__read", json!({}), 6 * SOON).text().map(drop)),
        ("lists", |client| client.names(6 * SOON).map(drop)),
        ("pings", |client| {
            client.request("ping", &json!({}), 6 * SOON).map(drop).map_err(|why| format!("{why:?}"))
        }),
    ];
    let over = AtomicBool::new(false);
    let repeat = |request: SmallRequest| {
        let mut times = Times::default();
        while !over.load(Ordering::Relaxed) {
            let started = Instant::now();
            request(&small)?;
            times.extend([started.elapsed()]);
            thread::sleep(Duration::from_millis(10));
        }
        Ok::<_, String>(times)
    };
    let (ends, times) = thread::scope(|scope| {
        let small: Vec<_> =
            requests.iter().map(|(name, request)| (*name, scope.spawn(|| repeat(*request)))).collect();
        let ends = large(&clients, OVER_A_PIPE, UNREAD);
        over.store(true, Ordering::Relaxed);
        let times = small.into_iter().map(|(name, times)| (name, times.join()));
        (ends, times.collect::<Vec<_>>())
    });
    let answered = answered(&ends)?;
    let mut line = format!("large-beside-small: {answered} of {ANSWERS} large calls were answered");
    let mut late = Vec::new();
    for (name, times) in times {
        let times = times.map_err(|_| "a client panicked")??;
        line.extend([format!("; {name}: {times}, at most {:.1?}", times.max())]);
        if times.max() > HELD_UP {
            late.push(name);
        }
    }
    stage.log.note(&line);
    let others = ends.iter().filter_map(|called| match &called.end {
        End::Failed(why) if !why.contains("limits.memory") => Some(why),
        _ => None,
    });
    if let Some(why) = others.into_iter().next() {
        return Err(format!("a large call failed for another reason: {why}"));
    }
    if answered == ANSWERS || answered == 0 || !late.is_empty() {
        return Err(format!("{line}; late: {late:?}"));
    }
    still_serves(stage, &clients[0])
}

/// The reason why a call got no answer; `None` if the call was answered.
fn lost(end: &End) -> Option<&str> {
    match end {
        End::Lost(why) => Some(why),
        _ => None,
    }
}
