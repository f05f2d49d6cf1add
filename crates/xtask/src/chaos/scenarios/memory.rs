//! Many large answers at once, in little memory: calls may be rejected, but the gateway survives.

use super::Scenario;
use crate::chaos::client::{Called, Client, End, Era};
use crate::chaos::process::Process;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;
use std::process::Command;
use std::thread;

pub(super) const ALL: &[Scenario] = &[Scenario {
    name: "large-answers",
    fault: 14,
    title: "30 answers of 30 MB at once in 700 MiB of memory end with answers or errors, and the gateway goes on",
    variant: "",
    run,
}];

const ANSWERS: usize = 30;
const BYTES: usize = 30_000_000;
/// The minimum number of calls that must be answered. The others may give up after a minute on a busy machine.
const FEWEST: usize = 10;
/// The limit of the gateway's address space, in KiB.
const SPACE: usize = 700 << 10;

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.started("up", &[])?;
    let config = json!({ "mcpServers": { "up": up.over_http() }, "stateFolder": stage.folder.join("state") });
    std::fs::write(stage.config(), config.to_string()).map_err(|error| error.to_string())?;
    let program = stage.programs.dragoman();
    let script = format!("ulimit -v {SPACE}; exec '{}' \"$@\"", program.display());
    stage.start_gateway(Command::new("sh").args(["-c", &script, "dragoman"]))?;
    let clients: Vec<_> = (0..ANSWERS)
        // The server has sessions, so answers for stateless clients are translated, and held in memory as a
        // whole.
        .map(|_| stage.client(Era::STATELESS, &json!({})))
        .collect::<Result<_, _>>()?;
    for client in &clients {
        client.names(SOON)?;
    }
    let ends: Vec<Called> = thread::scope(|scope| {
        let call = |client| {
            // A call that gets no memory for its answer fails after a minute.
            scope.spawn(move || Client::call(client, "up__payload", json!({ "bytes": BYTES }), 8 * SOON))
        };
        let calls: Vec<_> = clients.iter().map(|client| call(&**client)).collect();
        calls.into_iter().filter_map(|call| call.join().ok()).collect()
    });
    let lost: Vec<&str> = ends.iter().filter_map(|called| lost(&called.end)).collect();
    if ends.len() != ANSWERS || !lost.is_empty() {
        let (number, why) = (lost.len(), lost.first().unwrap_or(&""));
        let all = ends.len();
        return Err(format!("{number} of {all} calls ended with neither an answer nor an error: {why}"));
    }
    let answered = ends.iter().filter(|called| matches!(called.end, End::Answered(_))).count();
    stage.log.note(&format!("large-answers: {answered} of {ANSWERS} calls were answered"));
    if answered < FEWEST {
        return Err(format!("only {answered} of {ANSWERS} calls were answered"));
    }
    if !stage.gateway.as_mut().is_some_and(Process::runs) {
        return Err("the gateway ended".to_owned());
    }
    clients[0].call("up__read", json!({}), SOON).text().map(drop)
}

/// The reason why a call got no answer; `None` if the call was answered.
fn lost(end: &End) -> Option<&str> {
    match end {
        End::Lost(why) => Some(why),
        _ => None,
    }
}
