//! The status API reports the actual state, with a reason.

use super::Scenario;
use crate::chaos::client::Era;
use crate::chaos::client::http::{Sent, exchange};
use crate::chaos::process::until;
use crate::chaos::scenario::Play;
use crate::chaos::stage::{SOON, Stage};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "status-of-dead",
        fault: 3,
        title: "the status of a server that died says so and why, and heals without a request",
        variant: "",
        run: dead,
    },
    Scenario {
        name: "status-of-answering",
        fault: 3,
        title: "the status of a server that answers says so, whoever was answered",
        variant: "",
        run: answering,
    },
];

/// The time within which a change must be visible.
const SEEN: Duration = Duration::from_secs(6);

/// The states of a server that can be used.
const GOOD: [&str; 4] = ["connected", "ready", "resting", "degraded"];

/// Returns true for a status of a server that can be used and has tools.
pub(super) fn is_good(status: &Value) -> bool {
    let word = status["status"].as_str().unwrap_or_default();
    GOOD.iter().any(|good| word.starts_with(good)) && status["tools"].as_u64().is_some_and(|tools| tools > 0)
}

/// Returns true for a status of a server that cannot be used, with a reason.
pub(super) fn is_explained(status: &Value) -> bool {
    let word = status["status"].as_str().unwrap_or_default();
    let why = ["error", "reason"].iter().any(|key| status[key].as_str().is_some_and(|why| !why.is_empty()));
    !word.is_empty() && !GOOD.iter().any(|good| word.starts_with(good)) && why
}

/// Waits until the status matches.
fn becomes(stage: &Stage<'_>, fits: fn(&Value) -> bool, what: &str) -> Result<(), String> {
    let found = until(SEEN, || stage.status("up").ok().filter(fits));
    match found {
        Some(_) => Ok(()),
        None => Err(format!("{what}: {}", stage.status("up")?)),
    }
}

fn dead(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let mut up = stage.started("up", &[])?;
    stage.serve(&[("up", up.over_http())], &json!({ "ready": "all" }))?;
    let client = stage.client(Era::NEWEST_SESSION, &json!({}))?;
    client.names(SOON)?;
    client.call("up__read", json!({}), SOON).text()?;
    becomes(stage, is_good, "a server that answers")?;
    is_ready(stage, 200)?;
    up.kill();
    becomes(stage, is_explained, "a server that died")?;
    is_ready(stage, 503)?;
    up.start()?;
    becomes(stage, is_good, "a server that returned")?;
    is_ready(stage, 200)
}

/// Checks the status of the answer of `/ready`, which shows the same states as the status API.
fn is_ready(stage: &Stage<'_>, status: u16) -> Result<(), String> {
    let sent = Sent { method: "GET", path: "/ready", headers: &[], body: "" };
    let reply = exchange(stage.address(), &sent, Instant::now() + SOON).map_err(|error| error.to_string())?;
    if reply.status == status {
        Ok(())
    } else {
        Err(format!("/ready answers {}, not {status}", reply.status))
    }
}

fn answering(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.upstream("up", &[])?;
    stage.serve(&[("up", up.over_stdio())], &json!({}))?;
    for era in Era::ALL {
        let client = stage.client(era, &json!({}))?;
        client.names(SOON)?;
        client.call("up__read", json!({}), SOON).text()?;
        let status = stage.status("up")?;
        if !is_good(&status) {
            return Err(format!("it answered a client of {}: {status}", era.version));
        }
    }
    Ok(())
}
