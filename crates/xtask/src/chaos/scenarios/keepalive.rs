//! A server closes idle connections after some seconds, as Node does: calls after a pause must not fail.

use super::Scenario;
use crate::chaos::client::Era;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;
use std::thread;
use std::time::Duration;

pub(super) const ALL: &[Scenario] = &[Scenario {
    name: "idle-connections",
    fault: 16,
    title: "calls after a pause survive a server that drops requests over connections idle for 5 s",
    variant: "",
    run,
}];

/// A pause that is longer than the time for which the server keeps an idle connection.
const PAUSE: Duration = Duration::from_millis(5900);
const CALLS: usize = 8;

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.started("up", &[])?;
    up.switched("idle-close=5000")?;
    stage.serve(&[("up", up.over_http())], &json!({}))?;
    let clients: Vec<_> = (0..CALLS)
        .map(|number| stage.client(Era::ALL[number % Era::ALL.len()], &json!({})))
        .collect::<Result<_, _>>()?;
    for client in &clients {
        client.names(SOON)?;
    }
    for burst in 0..3 {
        let calls: Vec<_> = thread::scope(|scope| {
            let calls: Vec<_> = clients
                .iter()
                .map(|client| scope.spawn(|| client.call("up__write", json!({}), SOON)))
                .collect();
            calls.into_iter().filter_map(|call| call.join().ok()).collect()
        });
        let failed: Vec<_> = calls.iter().filter_map(|called| called.text().err()).collect();
        if let Some(first) = failed.first() {
            return Err(format!("{} of {CALLS} calls of burst {burst} failed; {first}", failed.len()));
        }
        if burst < 2 {
            thread::sleep(PAUSE);
        }
    }
    let doubled = up.doubled(&["write"]);
    if doubled.is_empty() { Ok(()) } else { Err(format!("ran twice: {doubled:?}")) }
}
