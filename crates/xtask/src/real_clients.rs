//! `cargo xtask clients`: connects real clients by `dragoman connect`, or by the settings that this command shows.
//! This module must not know how a client is used; the scripts determine this.

use crate::files::failed;
use crate::peers::cases;
use crate::root::Programs;
use crate::run::Log;
use crate::scripts::Scripts;
use crate::stage::{Gateway, Serving, configured, scratch};
use crate::tally::Tally;
use crate::tools::{Tools, environment};
use serde_json::json;
use std::fs;
use std::process::Command;

/// The scripts with the clients for the command line. The clients that are built with SDKs are in a Python script.
pub(crate) const CLIENTS: Scripts = Scripts { name: "clients", lanes: &[&["cli"]], run: with_clients };

/// Tools of the demo server.
const TOOLS: [&str; 2] = ["demo__add", "demo__example-echo"];

/// Serves the demo, and lets all clients visit it.
pub(crate) fn with_clients(
    tools: &Tools,
    programs: &Programs,
    only: &[&str],
    log: &Log,
) -> Result<Tally, String> {
    let node = tools.node.with("clients", log)?;
    let python = environment("tests/clients/python.txt", "py-clients", log)?;
    let config = json!({ "mcpServers": { "demo": { "native": "demo" } }, "profiles": { "default": { "names": "prefix" } } });
    let args = configured("clients-gateway", &config)?;
    let gateway =
        Gateway::start_as(programs, Serving { args: args.clone().into(), ..Serving::default() }, log)?;
    // `connect` reads the address from the configuration, so the configuration for the clients names the port that was chosen.
    let folder = scratch("clients")?;
    let address = gateway.at("").trim_start_matches("http://").to_owned();
    let known = folder.join("dragoman.json");
    let mut listening = config;
    listening["listen"] = address.into();
    fs::write(&known, listening.to_string()).map_err(|error| failed(&known, &error))?;
    let world = folder.join("world.json");
    let facts = json!({
        "url": gateway.url, "program": programs.dragoman(), "config": known, "folder": folder.join("homes"), "tools": listed(programs, &gateway.url, log)?
    });
    fs::write(&world, facts.to_string()).map_err(|error| failed(&world, &error))?;
    let mut tally = CLIENTS.each((&node, &[&world]), only, log)?;
    let script = crate::root::checkout().join("tests/clients/sdks.py");
    let (good, said) = log.status(Command::new(python).arg(script).arg(&world))?;
    tally += cases(&said, good);
    if tally.failed > 0 {
        gateway.tell(log);
    }
    Ok(tally)
}

/// The names of all tools, as the command line lists them.
fn listed(programs: &Programs, url: &str, log: &Log) -> Result<Vec<String>, String> {
    let said = log.run(Command::new(programs.dragoman()).args(["list", url, "tools", "--json"]))?;
    let lists: serde_json::Value =
        serde_json::from_str(said.trim()).map_err(|error| format!("{error}: {said}"))?;
    let tools = lists["tools"].as_array().ok_or("no list of tools")?;
    let names: Vec<String> =
        tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect();
    match TOOLS.iter().find(|name| !names.iter().any(|known| known == *name)) {
        Some(missing) => Err(format!("the list lacks {missing}: {names:?}")),
        None => Ok(names),
    }
}
