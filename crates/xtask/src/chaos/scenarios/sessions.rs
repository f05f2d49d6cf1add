//! A server forgets its sessions, and reports this with its own wording: clients notice nothing.

use super::Scenario;
use crate::chaos::client::Era;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;

/// The names of the wordings that the fickle server can use.
pub(super) const WORDINGS: [(&str, &str); 12] = [
    ("lost-404-32001", "404-32001"),
    ("lost-404-32600", "404-32600"),
    ("lost-404-empty", "404-empty"),
    ("lost-404-text", "404-text"),
    ("lost-410-text", "410-text"),
    ("lost-400-32000-id", "400-32000-id"),
    ("lost-400-32000-init", "400-32000-init"),
    ("lost-400-text", "400-text"),
    ("lost-401-text", "401-text"),
    ("lost-403-text", "403-text"),
    ("lost-200-32001", "200-32001"),
    ("lost-200-32600", "200-32600"),
];

/// The minimum number of sessions between Dragoman and the server: a shared one, and one for each client that can be
/// asked.
const LINKS: usize = 3;

/// A scenario for each wording.
pub(super) fn all() -> Vec<Scenario> {
    let title = "a session that is refused in this wording is opened anew, and the call is executed once";
    WORDINGS.iter().map(|(name, variant)| Scenario { name, fault: 7, title, variant, run }).collect()
}

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.started("up", &[])?;
    stage.serve(&[("up", up.over_http())], &json!({}))?;
    let mut clients = Vec::new();
    for era in [Era::NEWEST_SESSION, Era::STATELESS] {
        for capabilities in [json!({}), json!({ "sampling": {} })] {
            let client = stage.client(era, &capabilities)?;
            client.names(SOON)?;
            client.call("up__write", json!({}), SOON).text()?;
            clients.push(client);
        }
    }
    up.switched(&format!("forget=1 wording={}", play.variant))?;
    for client in &clients {
        let called = client.call("up__write", json!({}), SOON);
        called.text().map_err(|why| format!("{}: {why}", client.era.version))?;
        let times = up.executed(&called.nonce);
        if times != 1 {
            return Err(format!("{} was executed {times} times", called.nonce));
        }
    }
    let refused = up.recorded(&format!("\"refused\":\"{}\"", play.variant));
    if refused < LINKS {
        return Err(format!("only {refused} requests were refused in this wording"));
    }
    Ok(())
}
