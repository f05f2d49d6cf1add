//! A burst of calls from a client that can be asked, to a stdio server that starts slowly.

use super::Scenario;
use crate::chaos::client::Era;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Scenario] = &[Scenario {
    name: "burst",
    fault: 5,
    title: "20 calls at once to a server that starts slowly take at most 1 + 4 processes and a few starts' time",
    variant: "",
    run,
}];

const CALLS: usize = 20;
const MOST: usize = 5;
/// The maximum time of a call; the server takes 0.7 s to start.
const SLOWEST: Duration = Duration::from_secs(4);

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.upstream("up", &["--start-ms", "700"])?;
    stage.serve(&[("up", up.over_stdio())], &json!({ "limits": { "listWait": "10s" } }))?;
    let plain = stage.client(Era::STATELESS, &json!({}))?;
    plain.names(SOON)?;
    plain.call("up__read", json!({}), SOON).text()?;
    let client = stage.client(Era::STATELESS, &json!({ "sampling": {} }))?;
    client.names(SOON)?;
    let stage = &*stage;
    let (count, calls) = stage.count_processes("fickle --stdio", || {
        thread::scope(|scope| {
            let calls: Vec<_> = (0..CALLS)
                .map(|_| {
                    scope.spawn(|| {
                        let started = Instant::now();
                        let called = client.call("up__read", json!({}), 3 * SOON);
                        (called, started.elapsed())
                    })
                })
                .collect();
            calls.into_iter().filter_map(|call| call.join().ok()).collect::<Vec<_>>()
        })
    });
    for (called, _) in &calls {
        called.text()?;
    }
    let slowest = calls.iter().map(|(_, took)| *took).max().unwrap_or_default();
    if calls.len() < CALLS || count.most > MOST || slowest > SLOWEST {
        return Err(format!(
            "{} calls, up to {} processes, the slowest took {slowest:.1?}",
            calls.len(),
            count.most
        ));
    }
    Ok(())
}
