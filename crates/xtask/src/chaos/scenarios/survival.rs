//! Dragoman is stopped or killed and started again: lists are available while all servers are down, and sessions
//! continue.

use super::Scenario;
use crate::chaos::client::Era;
use crate::chaos::process::until;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "lists-survive",
        fault: 12,
        title: "after a restart with all servers down, clients of every version have their lists at once",
        variant: "",
        run: lists,
    },
    Scenario {
        name: "sessions-survive-term",
        fault: 12,
        title: "sessions go on after SIGTERM and a new start",
        variant: "term",
        run: sessions,
    },
    Scenario {
        name: "sessions-survive-kill",
        fault: 12,
        title: "sessions go on after `kill -9` and a new start",
        variant: "kill",
        run: sessions,
    },
];

/// The time within which a stored list is available: it does not wait for any server. A list that is not stored
/// waits half a second for its server, so this time distinguishes the two cases.
const AT_ONCE: Duration = Duration::from_millis(400);

fn is_whole(names: &[String]) -> bool {
    ["piped__read", "up__read"].iter().all(|wanted| names.iter().any(|name| name == wanted))
}

fn lists(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let mut up = stage.started("up", &[])?;
    let piped = stage.upstream("piped", &[])?;
    stage.serve(&[("up", up.over_http()), ("piped", piped.over_stdio())], &json!({}))?;
    for client in stage.clients_of_all_eras()? {
        let whole = || client.names(SOON).ok().filter(|names| is_whole(names));
        until(SOON, whole).ok_or("the servers do not join")?;
    }
    // Data that is written in the background is stored by now.
    std::thread::sleep(Duration::from_secs(2));
    restart(play, true)?;
    up.kill();
    piped.switched("down")?;
    restart(play, false)?;
    let mut missing = Vec::new();
    for client in play.stage.clients_of_all_eras()? {
        let started = Instant::now();
        let names = client.names(SOON)?;
        let took = started.elapsed();
        if !is_whole(&names) || took > AT_ONCE {
            missing.push(format!("{}: {} tools after {took:.1?}", client.era.version, names.len()));
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(missing.join(", ")) }
}

/// Starts the gateway again with the same configuration. Before that, the gateway is asked to end or, if `asked` is
/// false, killed.
fn restart(play: &mut Play<'_>, asked: bool) -> Result<(), String> {
    if let Some(mut gateway) = play.stage.gateway.take() {
        if asked && !gateway.end(2 * SOON) {
            return Err("the gateway does not end".to_owned());
        }
        gateway.kill();
    }
    let program = play.stage.programs.dragoman();
    play.stage.start_gateway(&mut Command::new(program))
}

fn sessions(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.started("up", &[])?;
    stage.serve(&[("up", up.over_http())], &json!({}))?;
    let mut clients = Vec::new();
    for capabilities in [json!({}), json!({ "sampling": {} })] {
        let client = stage.client(Era::NEWEST_SESSION, &capabilities)?;
        client.names(SOON)?;
        client.call("up__read", json!({}), SOON).text()?;
        clients.push(client);
    }
    // Data that is written in the background is stored by now.
    std::thread::sleep(Duration::from_millis(1500));
    restart(play, play.variant == "term")?;
    let address = play.stage.address();
    for client in &clients {
        client.resumed(address).call("up__read", json!({}), SOON).text()?;
    }
    Ok(())
}
