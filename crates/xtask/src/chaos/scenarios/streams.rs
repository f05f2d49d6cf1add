//! Streams break off: the streams of calls, before the answer has arrived, and the streams of notifications.

use super::Scenario;
use crate::chaos::client::End;
use crate::chaos::process::until;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;
use std::time::Duration;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "cut-calls",
        fault: 0,
        title: "a call whose stream is cut fails once with an error or is answered, and never runs twice",
        variant: "",
        run: calls,
    },
    Scenario {
        name: "cut-notices",
        fault: 0,
        title: "a change is seen although the server keeps ending its stream of notices",
        variant: "",
        run: notices,
    },
];

fn calls(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.started("up", &[])?;
    stage.serve(&[("up", up.over_http())], &json!({ "limits": { "callIdleTimeout": "5s" } }))?;
    let clients = stage.clients_of_all_eras()?;
    for client in &clients {
        client.names(SOON)?;
    }
    up.switched("cut")?;
    for client in &clients {
        let called = client.call("up__write", json!({}), 2 * SOON);
        if matches!(called.end, End::Lost(_)) || up.executed(&called.nonce) != 1 {
            let times = up.executed(&called.nonce);
            return Err(format!("{}: ran {times} times: {:?}", client.era.version, called.end));
        }
    }
    up.switched("")?;
    for client in &clients {
        client.call("up__write", json!({}), SOON).text()?;
    }
    Ok(())
}

fn notices(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.started("up", &[])?;
    up.switched("deafen")?;
    stage.serve(&[("up", up.over_http())], &json!({}))?;
    let clients = stage.clients_of_all_eras()?;
    for client in &clients {
        client.names(SOON)?;
        client.call("up__read", json!({}), SOON).text()?;
    }
    up.switch("deafen tool=news")?;
    for client in &clients {
        let shown = || client.names(SOON).ok().filter(|names| names.iter().any(|name| name == "up__news"));
        if until(Duration::from_secs(8), shown).is_none() {
            return Err(format!("{}: the new tool is not listed after 8 s", client.era.version));
        }
    }
    Ok(())
}
