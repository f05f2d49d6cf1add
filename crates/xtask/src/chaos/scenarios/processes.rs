//! Many clients of many types use one stdio server: few processes run, and no client is rejected.

use super::Scenario;
use crate::chaos::client::{Client, Era};
use crate::chaos::measure::{Times, side_by_side};
use crate::chaos::scenario::Play;
use crate::chaos::stage::{SOON, Stage};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "few-processes",
        fault: 4,
        title: "clients of 7 versions that can be asked share at most 1 + 4 processes, and all have tools",
        variant: "",
        run,
    },
    Scenario {
        name: "few-deaf-processes",
        fault: 4,
        title: "processes that neither the end of stdin nor SIGTERM ends count, and callers wait only for one of them",
        variant: "",
        run: deaf,
    },
    Scenario {
        name: "crowded-pool",
        fault: 4,
        title: "beside 50 sessions that declare everything, 20 askable callers wait at most 3 times as long as plain ones",
        variant: "",
        run: crowded,
    },
];

/// The maximum number of processes: one shared process, and four for callers that can be asked.
const MOST: usize = 5;
/// The number of clients that connect one after the other; none of them ends its session.
const CLIENTS: usize = 35;

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.upstream("up", &[])?;
    let limits = json!({ "limits": { "children": 30, "listWait": "10s" } });
    stage.serve(&[("up", up.over_stdio())], &limits)?;
    let kinds: [Value; 4] = [
        json!({}),
        json!({ "sampling": {} }),
        json!({ "sampling": {}, "roots": {} }),
        json!({ "sampling": {}, "elicitation": {}, "roots": {} }),
    ];
    let stage = &*stage;
    let mut clients = Vec::new();
    let connect = || {
        let mut without = Vec::new();
        for number in 0..CLIENTS {
            let (era, kind) = (Era::ALL[number % Era::ALL.len()], &kinds[number % kinds.len()]);
            let client = stage.client(era, kind)?;
            if !client.names(SOON)?.iter().any(|name| name == "up__read") {
                without.push(format!("client {number} ({}) has no tools", era.version));
            } else if let Err(why) = client.call("up__read", json!({}), SOON).text() {
                without.push(format!("client {number} ({}): {why}", era.version));
            }
            clients.push(client);
        }
        Ok::<_, String>(without)
    };
    let (count, without) = stage.count_processes("fickle --stdio", connect);
    let mut without = without?;
    if count.most > MOST {
        without.insert(0, format!("up to {} processes for {CLIENTS} clients", count.most));
    }
    without.truncate(3);
    if without.is_empty() { Ok(()) } else { Err(without.join("; ")) }
}

/// The time that a process which does not end by itself exists after its link was closed: it gets this time twice, once
/// after the end of stdin, and once after SIGTERM.
const STOP: Duration = Duration::from_millis(750);
/// The number of rounds in which all callers call at the same time.
const ROUNDS_OF_CALLS: usize = 4;
/// The maximum time of a call: the end of one process, and a few starts on a busy machine.
const SLOWEST: Duration = Duration::from_secs(5);

fn deaf(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.upstream("up", &["--stay"])?;
    let limits =
        json!({ "limits": { "childStopTimeout": format!("{}ms", STOP.as_millis()), "listWait": "10s" } });
    stage.serve(&[("up", up.by_shell("trap '' TERM;"))], &limits)?;
    let stage = &*stage;
    // More classes of callers than links, so that links are closed for others.
    let classes = [
        json!({ "sampling": {} }),
        json!({ "elicitation": { "form": {} } }),
        json!({ "elicitation": { "form": {}, "url": {} } }),
        json!({ "sampling": { "tools": {} } }),
        json!({ "sampling": {}, "elicitation": { "form": {} } }),
        json!({ "sampling": {}, "elicitation": { "form": {}, "url": {} } }),
    ];
    let callers = (0..CALLERS).map(|number| stage.client(Era::STATELESS, &classes[number % classes.len()]));
    let callers: Vec<_> = callers.collect::<Result<_, _>>()?;
    for caller in &callers {
        caller.names(SOON)?;
    }
    let read = |client: &Arc<Client>| client.call("up__read", json!({}), 3 * SOON).text().map(drop);
    let (count, times) = stage.count_processes("fickle --stdio", || {
        let mut times = Times::default();
        for _ in 0..ROUNDS_OF_CALLS {
            times.extend(side_by_side(&callers, read)?);
        }
        Ok::<_, String>(times)
    });
    let times = times?;
    stage.log.note(&format!("few-deaf-processes: {count:?}; {times}, at most {:.1?}", times.max()));
    if count.total <= MOST {
        return Err(format!("{} processes in all, so none was closed for another", count.total));
    }
    if count.most > MOST {
        return Err(format!("up to {} processes", count.most));
    }
    if times.max() > SLOWEST {
        return Err(format!("the calls took too long: {times}, at most {:.1?}", times.max()));
    }
    Ok(())
}

/// The number of sessions that declare all capabilities and are used while others make calls.
const SESSIONS: usize = 50;
/// The number of callers in a burst.
const CALLERS: usize = 20;
/// The number of bursts of each kind, which alternate.
const BURSTS: usize = 10;
/// The maximum number of measurements. If one is too slow, another one is made: a pause of the machine disturbs
/// only one measurement, but a fault disturbs all of them.
const ROUNDS: usize = 3;
/// The maximum duration of calls by clients that can be asked, as a multiple of the duration for clients that share
/// a link.
const TIMES: u32 = 3;
/// The difference below which a time is not evaluated, because it may be noise of the machine.
const NOISE: Duration = Duration::from_millis(30);

fn crowded(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.upstream("up", &[])?;
    let limits = json!({ "limits": { "children": 30, "listWait": "10s" } });
    stage.serve(&[("up", up.over_stdio())], &limits)?;
    let (count, times) = stage.count_processes("fickle --stdio", || bursts(stage));
    let times = times?;
    let is_prompt = is_prompt(&times);
    let (shared, asked) = times;
    stage.log.note(&format!("crowded-pool: {count:?}; plain callers {shared}; askable callers {asked}"));
    if count.most > MOST {
        return Err(format!("up to {} processes", count.most));
    }
    if !is_prompt {
        return Err(format!("plain callers took {shared}, askable ones {asked}"));
    }
    Ok(())
}

/// Opens all sessions, and lets clients that cannot be asked and clients that can be asked make calls in turn;
/// returns the times of both groups.
fn bursts(stage: &Stage<'_>) -> Result<(Times, Times), String> {
    let everything = json!({ "sampling": {}, "elicitation": {}, "roots": { "listChanged": true } });
    let opened = |number: usize, eras: &[Era], kind: &Value| {
        let client = stage.client(eras[number % eras.len()], kind)?;
        if !client.names(SOON)?.iter().any(|name| name == "up__read") {
            return Err(format!("client {number} ({}) has no tools", client.era.version));
        }
        client.call("up__read", json!({}), SOON).text()?;
        Ok(client)
    };
    let with_sessions = &Era::ALL[..Era::ALL.len() - 1];
    let many = |count: usize, eras: &[Era], kind: Value| {
        (0..count).map(|number| opened(number, eras, &kind)).collect::<Result<Vec<Arc<Client>>, String>>()
    };
    let sessions = many(SESSIONS, with_sessions, everything)?;
    let askable = many(CALLERS, &Era::ALL, json!({ "sampling": {} }))?;
    let plain = many(CALLERS, &Era::ALL, json!({}))?;
    let read = |client: &Arc<Client>| client.call("up__read", json!({}), SOON).text().map(drop);
    let round = || {
        let (mut shared, mut asked) = (Times::default(), Times::default());
        for _ in 0..BURSTS {
            shared.extend(side_by_side(&plain, read)?);
            asked.extend(side_by_side(&askable, read)?);
        }
        Ok::<_, String>((shared, asked))
    };
    let mut times = round()?;
    for _ in 1..ROUNDS {
        if is_prompt(&times) {
            break;
        }
        times = round()?;
    }
    // No earlier session is rejected.
    side_by_side(&sessions, read)?;
    Ok(times)
}

/// Returns true if the clients that can be asked waited no longer than allowed.
fn is_prompt((shared, asked): &(Times, Times)) -> bool {
    asked.p99() <= (shared.p99() * TIMES).max(NOISE)
}
