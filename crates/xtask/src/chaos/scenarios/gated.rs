//! A server offers a tool only to clients that can be asked: such clients see the tool, even without a session, and
//! other clients do not.

use super::Scenario;
use crate::chaos::client::Era;
use crate::chaos::process::until;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;
use std::time::Duration;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "gated-http",
        fault: 6,
        title: "tools for clients that can be asked are shown to stateless clients that can, and to nobody else",
        variant: "http",
        run,
    },
    Scenario { name: "gated-stdio", fault: 6, title: "the same over pipes", variant: "stdio", run },
];

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = if play.variant == "http" { stage.started("up", &[])? } else { stage.upstream("up", &[])? };
    up.switched("gate")?;
    let entry = if play.variant == "http" { up.over_http() } else { up.over_stdio() };
    stage.serve(&[("up", entry)], &json!({ "limits": { "listWait": "10s" } }))?;
    for era in [Era::NEWEST_SESSION, Era::STATELESS] {
        let (with, without) =
            (stage.client(era, &json!({ "sampling": {} }))?, stage.client(era, &json!({}))?);
        let shown = || with.names(SOON).ok().filter(|names| names.iter().any(|name| name == "up__gated"));
        if until(Duration::from_secs(5), shown).is_none() {
            return Err(format!("not shown to a client of {} that can be asked", era.version));
        }
        with.call("up__gated", json!({}), SOON).text()?;
        if without.names(SOON)?.iter().any(|name| name == "up__gated") {
            return Err(format!("shown to a client of {} that cannot be asked", era.version));
        }
        let called = without.call("up__gated", json!({}), SOON);
        if called.text().is_ok() || up.executed(&called.nonce) > 0 {
            return Err(format!("called by a client of {} that cannot be asked", era.version));
        }
    }
    Ok(())
}
