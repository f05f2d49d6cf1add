//! A server ends an idle session and then changes its lists: Dragoman fetches them in a new session.

use super::Scenario;
use crate::chaos::client::Era;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;
use std::time::Duration;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "refresh-reopens",
        fault: 17,
        title: "lists that changed while a server lost its sessions are fetched in a new session, without a call",
        variant: "400-32000-id",
        run,
    },
    Scenario {
        name: "refresh-other-wording",
        fault: 17,
        title: "the same when the server answers with an error in status 200",
        variant: "200-32001",
        run,
    },
];

/// The time after which a change must be known, without a call.
const KNOWN: Duration = Duration::from_secs(5);

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let mut up = stage.started("up", &[])?;
    stage.serve(&[("up", up.over_http())], &json!({}))?;
    let client = stage.client(Era::NEWEST_SESSION, &json!({}))?;
    client.listen().map_err(|why| format!("{why:?}"))?;
    client.names(SOON)?;
    client.call("up__read", json!({}), SOON).text()?;
    let lists = |tool: &str, when: &str| {
        std::thread::sleep(KNOWN);
        let names = client.names(SOON)?;
        if names.iter().any(|name| name == tool) {
            Ok(())
        } else {
            Err(format!("{when}: {tool} is not listed"))
        }
    };
    // First the sessions are lost, then the change is announced over a stream that is still open.
    let lost = format!("forget=1 wording={}", play.variant);
    up.switched(&lost)?;
    up.switch(&format!("{lost} tool=news"))?;
    lists("up__news", "announced in a lost session")?;
    // The process ends together with its stream, and nobody calls.
    up.kill();
    up.switch("tool=news tool=more")?;
    up.start()?;
    lists("up__more", "after a new start")
}
