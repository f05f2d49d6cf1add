//! The check of the bundle: unpacked as a desktop client does it, and started with the command in its manifest.

use crate::files::failed;
use crate::package::workshop::Workshop;
use crate::tally::Tally;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

pub(in crate::package) fn checked(workshop: &Workshop<'_>, files: &[PathBuf]) -> Result<Tally, String> {
    let folder = Workshop::empty("bundle")?;
    let bundle = files.first().ok_or("no bundle")?;
    let unpacked = folder.join("unpacked");
    let node = workshop.node.with("package", workshop.log)?;
    let mut unpack = Command::new(node.program());
    unpack.arg(node.module("@anthropic-ai/mcpb/dist/cli/cli.js")).arg("unpack").arg(bundle).arg(&unpacked);
    workshop.log.run(&mut unpack)?;
    let read = |file: PathBuf| fs::read_to_string(&file).map_err(|error| failed(&file, &error));
    let manifest: Value = serde_json::from_str(&read(unpacked.join("manifest.json"))?)
        .map_err(|error| format!("manifest: {error}"))?;
    let configuration = folder.join("dragoman.yaml");
    fs::write(&configuration, "mcpServers: { demo: { native: demo } }\n")
        .map_err(|error| failed(&configuration, &error))?;
    let filled = |text: &Value| {
        let text = text.as_str().unwrap_or_default().replace("${__dirname}", &unpacked.display().to_string());
        text.replace("${user_config.config}", &configuration.display().to_string())
    };
    let command = &manifest["server"]["mcp_config"];
    let args: Vec<String> = command["args"].as_array().into_iter().flatten().map(filled).collect();
    let servers = folder.join("servers.json");
    let entry = json!({ "mcpServers": { "it": { "command": filled(&command["command"]), "args": args } } });
    fs::write(&servers, entry.to_string()).map_err(|error| failed(&servers, &error))?;
    workshop.sees(&["--config", &servers.display().to_string(), "--server", "it"], super::inspected::TOOL)
}
