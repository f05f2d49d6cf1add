//! A call with thousands of log messages keeps its answer.

use super::Scenario;
use crate::chaos::client::{Era, Way};
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;

pub(super) const ALL: &[Scenario] = &[Scenario {
    name: "chatter",
    fault: 8,
    title: "a call with 5 000 log messages keeps its answer, for clients of every version",
    variant: "",
    run,
}];

const NOTES: u64 = 5_000;

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.started("up", &[])?;
    stage.serve(&[("up", up.over_http())], &json!({}))?;
    let mut lost = Vec::new();
    for era in Era::ALL {
        let client = stage.client(era, &json!({}))?;
        client.names(SOON)?;
        let mut meta = json!({ "progressToken": 1 });
        if era.way == Way::Stateless {
            meta["io.modelcontextprotocol/logLevel"] = json!("debug");
        }
        for _ in 0..2 {
            let called = client.call_with("up__talk", json!({ "notes": NOTES }), meta.clone(), 3 * SOON);
            if let Err(why) = called.text() {
                lost.push(format!("{}: {why}", era.version));
            }
        }
        if client.hearing.count("notifications/message") == 0 {
            lost.push(format!("{}: received none of the log messages", era.version));
        }
    }
    if lost.is_empty() { Ok(()) } else { Err(lost.join("; ")) }
}
