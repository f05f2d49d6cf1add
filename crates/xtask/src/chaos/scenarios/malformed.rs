//! One tool in a server's list is invalid: the server's other tools, and those of other servers, remain available.

use super::Scenario;
use crate::chaos::process::MARK;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::{Value, json};
use std::fs;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "malformed-tool",
        fault: 9,
        title: "a malformed tool is left out, and no other, for clients of every version",
        variant: "malformed",
        run,
    },
    Scenario {
        name: "deep-tool",
        fault: 9,
        title: "a tool whose schema nests 200 levels hides no other",
        variant: "deep",
        run,
    },
    Scenario {
        name: "malformed-for-sdks",
        fault: 9,
        title: "SDKs accept the lists of a server with items that violate the protocol in 60 ways",
        variant: "",
        run: with_sdks,
    },
];

/// The end of the output of a failed script, in bytes.
const SHOWN: usize = 1000;

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let (bad, good) = (stage.started("bad", &[])?, stage.started("good", &[])?);
    bad.switched(play.variant)?;
    stage.serve(
        &[("bad", bad.over_http()), ("good", good.over_http())],
        &json!({ "limits": { "listWait": "10s" } }),
    )?;
    let mut faults = Vec::new();
    for client in stage.clients_of_all_eras()? {
        let tools = client.tools(SOON)?;
        for wanted in ["good__read", "bad__read", "bad__write"] {
            if !tools.iter().any(|tool| tool["name"] == wanted) {
                faults.push(format!("{}: no {wanted}", client.era.version));
            }
        }
        faults.extend(
            tools
                .iter()
                .filter(|tool| !is_proper(tool))
                .map(|tool| format!("{}: clients refuse a list with {}", client.era.version, tool["name"])),
        );
    }
    let status = stage.status("bad")?.to_string();
    if !status.contains("1 item in the server's lists is left out") {
        faults.push(format!("the status does not say that an item is left out: {status}"));
    }
    let log = fs::read_to_string(stage.folder.join("gateway.log")).unwrap_or_default();
    let named = if play.variant == "deep" { "it nests more than" } else { "malformed" };
    if !log.lines().any(|line| line.contains("is left out: ") && line.contains(named)) {
        faults.push(format!("the log does not say why it is left out ({named})"));
    }
    faults.truncate(4);
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

fn with_sdks(play: &mut Play<'_>) -> Result<(), String> {
    let server = play.node.staged("malformed-server.mjs")?;
    let entry = json!({ "command": play.node.program(), "args": [server], "env": { MARK: play.stage.mark } });
    play.stage.serve(&[("up", entry)], &json!({ "limits": { "listWait": "10s" } }))?;
    let mut script = play.node.script("malformed.mjs")?;
    let output = script
        .arg(format!("http://{}/mcp", play.stage.address()))
        .output()
        .map_err(|error| format!("node: {error}"))?;
    let said = [output.stdout, output.stderr].concat();
    if output.status.success() {
        return Ok(());
    }
    let end = &said[said.len().saturating_sub(SHOWN)..];
    Err(String::from_utf8_lossy(end).into_owned())
}

/// Returns true for a tool that SDKs accept.
fn is_proper(tool: &Value) -> bool {
    tool["name"].is_string()
        && tool["inputSchema"]["type"] == "object"
        && (tool["description"].is_null() || tool["description"].is_string())
}
