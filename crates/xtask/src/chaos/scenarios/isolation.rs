//! Questions, log messages and progress notes reach only the caller that caused them.

use super::Scenario;
use crate::chaos::client::{Client, Era, Way};
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;
use std::sync::Arc;
use std::thread;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "isolation-http",
        fault: 0,
        title: "questions, log messages and progress notes reach their caller and nobody else",
        variant: "http",
        run,
    },
    Scenario { name: "isolation-stdio", fault: 0, title: "the same over pipes", variant: "stdio", run },
    Scenario {
        name: "isolation-aside",
        fault: 0,
        title: "the same when the server asks over its stream of notices",
        variant: "aside",
        run,
    },
];

/// The number of rounds of calls for each client.
const ROUNDS: usize = 6;

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let piped = play.variant == "stdio";
    let stage = &mut play.stage;
    let up = if piped { stage.upstream("up", &[])? } else { stage.started("up", &[])? };
    let entry = if piped { up.over_stdio() } else { up.over_http() };
    stage.serve(&[("up", entry)], &json!({ "limits": { "listWait": "10s" } }))?;
    let mut clients = Vec::new();
    for number in 0..stage.clients {
        // Half of the clients can be asked.
        let capabilities = if number % 2 == 0 { json!({ "sampling": {} }) } else { json!({}) };
        let client = stage.client(Era::ALL[number % Era::ALL.len()], &capabilities)?;
        client.listen().map_err(|why| format!("{why:?}"))?;
        client.names(SOON)?;
        clients.push((format!("c{}", number + 1), number % 2 == 0, client));
    }
    let aside = play.variant == "aside";
    let failed: Vec<String> = thread::scope(|scope| {
        let callers: Vec<_> = clients
            .iter()
            .map(|(name, askable, client)| scope.spawn(move || talks(name, *askable, aside, client)))
            .collect();
        callers.into_iter().filter_map(|caller| caller.join().ok()).flatten().collect()
    });
    let doubled = up.doubled(&["ask", "talk"]);
    match failed.first() {
        Some(first) => Err(format!("{} calls; {first}", failed.len())),
        None if !doubled.is_empty() => Err(format!("ran twice: {doubled:?}")),
        None => Ok(()),
    }
}

/// Makes calls that cause questions and messages; returns the failures. The client itself detects messages for
/// other clients.
fn talks(name: &str, askable: bool, aside: bool, client: &Arc<Client>) -> Vec<String> {
    let mut failed = Vec::new();
    for round in 0..ROUNDS {
        let mut meta = json!({ "progressToken": format!("{name}-{round}") });
        if client.era.way == Way::Stateless {
            meta["io.modelcontextprotocol/logLevel"] = json!("debug");
        }
        let talk = client.call_with("up__talk", json!({ "notes": 3 }), meta, 3 * SOON);
        failed.extend(talk.text().err().map(|why| format!("{}: {why}", client.era.version)));
        let ask = client.call("up__ask", json!({ "aside": aside }), 3 * SOON);
        let who = if askable { name } else { "nobody" };
        match ask.text() {
            Ok(text) if text.ends_with(&format!(":{who}")) => {}
            Ok(text) => failed.push(format!("{}: {who} was to be asked: {text}", client.era.version)),
            Err(why) => failed.push(format!("{}: {why}", client.era.version)),
        }
    }
    if client.hearing.count("notifications/progress") == 0 {
        failed.push(format!("{}: received none of its own progress notifications", client.era.version));
    }
    failed
}
