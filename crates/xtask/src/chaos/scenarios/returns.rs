//! A server that was unavailable becomes available again: all clients are notified without a request.

use super::Scenario;
use crate::chaos::measure::BUSY;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Scenario] = &[Scenario {
    name: "returns",
    fault: 1,
    title: "a server that returns is seen and announced to clients of every version within a second each",
    variant: "",
    run,
}];

/// The longest time between two checks of an unavailable server in the first minute: one second, and 20 % of random
/// variation.
const LOOK: Duration = Duration::from_millis(1200);
/// The time within which clients must be notified, once the server has been seen to be available.
const ANNOUNCED: Duration = Duration::from_secs(1);
const CHANGED: &str = "notifications/tools/list_changed";

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.started("up", &[])?;
    let mut late = stage.upstream("late", &[])?;
    stage.serve(&[("up", up.over_http()), ("late", late.over_http())], &json!({}))?;
    let clients = stage.clients_of_all_eras()?;
    let mut before = Vec::new();
    for client in &clients {
        let names = client.names(SOON)?;
        if names.iter().any(|name| name.starts_with("late__")) {
            return Err("tools of a server that is down".to_owned());
        }
        before.push(client.hearing.count(CHANGED));
    }
    // Notices that the first lists still cause must not be mistaken for the expected one.
    std::thread::sleep(Duration::from_secs(1));
    late.start()?;
    let until = Instant::now() + LOOK + ANNOUNCED + BUSY;
    let mut missing = Vec::new();
    for (client, before) in clients.iter().zip(before) {
        if !client.hearing.more_than(before, CHANGED, until.saturating_duration_since(Instant::now())) {
            missing.push(format!("{}: not told", client.era.version));
        } else if !client.names(SOON)?.iter().any(|name| name == "late__read") {
            missing.push(format!("{}: told, but not listed", client.era.version));
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(missing.join(", ")) }
}
