//! A server adds a tool: clients of every version see it and can call it.

use super::Scenario;
use crate::chaos::client::Era;
use crate::chaos::measure::BUSY;
use crate::chaos::process::until;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "announced-http",
        fault: 2,
        title: "a tool that a server adds is called by clients of every version within a second",
        variant: "http",
        run,
    },
    Scenario { name: "announced-stdio", fault: 2, title: "the same over pipes", variant: "stdio", run },
];

/// The time after which all clients must know the change.
const KNOWN: Duration = Duration::from_secs(1);

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = if play.variant == "http" { stage.started("up", &[])? } else { stage.upstream("up", &[])? };
    let entry = if play.variant == "http" { up.over_http() } else { up.over_stdio() };
    stage.serve(&[("up", entry)], &json!({}))?;
    // One client listens. Of the others, some only list and call, and some were connected before.
    let listener = stage.client(Era::NEWEST_SESSION, &json!({}))?;
    listener.listen().map_err(|why| format!("{why:?}"))?;
    let is_there = || listener.names(SOON).ok().filter(|names| names.iter().any(|name| name == "up__read"));
    until(SOON, is_there).ok_or("the server does not join")?;
    let mut staying = Vec::new();
    for number in 0..2 * Era::ALL.len() {
        let client = stage.client(Era::ALL[number % Era::ALL.len()], &kind(number))?;
        client.names(SOON)?;
        client.call("up__read", json!({}), SOON).text()?;
        if number % 3 == 0 {
            client.close();
        } else {
            staying.push((number, client));
        }
    }
    std::thread::sleep(Duration::from_secs(1));
    up.switch("tool=news")?;
    std::thread::sleep(KNOWN + BUSY);
    // From now on, they are shown what was known before they asked, because nothing is fetched for a list.
    let mut missing = Vec::new();
    for (number, client) in &staying {
        if !client.names(SOON)?.iter().any(|name| name == "up__news") {
            missing.push(format!("client {number} ({}): not listed in time", client.era.version));
        }
    }
    for number in (0..2 * Era::ALL.len()).filter(|number| number % 3 == 0) {
        staying.push((number, stage.client(Era::ALL[number % Era::ALL.len()], &kind(number))?));
    }
    for (number, client) in &staying {
        let who = format!("client {number} ({})", client.era.version);
        if let Err(why) = client.call("up__news", json!({}), SOON).text() {
            missing.push(format!("{who}: {why}"));
        } else if !client.names(SOON)?.iter().any(|name| name == "up__news") {
            missing.push(format!("{who}: called, but not listed"));
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(missing.join(", ")) }
}

/// The capabilities of a client: for each version, one client declares none, and one declares sampling.
fn kind(number: usize) -> Value {
    if number < Era::ALL.len() { json!({}) } else { json!({ "sampling": {} }) }
}
