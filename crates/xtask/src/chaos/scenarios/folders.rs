//! The real filesystem server, whose folders are its client's roots: no client can reach the folders of
//! another.

use super::Scenario;
use crate::chaos::client::{Client, Era};
use crate::chaos::measure::side_by_side;
use crate::chaos::process::MARK;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) const ALL: &[Scenario] = &[Scenario {
    name: "real-filesystem",
    fault: 0,
    title: "clients of the filesystem server reach the folders of their own roots, and nobody else's",
    variant: "",
    run,
}];

const MAIN: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";
/// The number of rounds in which all clients read at the same time.
const ROUNDS: usize = 2;

/// A client with its own folder.
struct Owner {
    client: Arc<Client>,
    folder: PathBuf,
}

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let made = |path: PathBuf, text: &str| {
        let written = fs::create_dir_all(&path).and_then(|()| fs::write(path.join("note.txt"), text));
        written.map(|()| path.clone()).map_err(|error| format!("{}: {error}", path.display()))
    };
    let common = made(play.stage.folder.join("common"), "common")?;
    let entry = json!({
        "command": play.node.program(),
        "args": [play.node.module(MAIN), common],
        "env": { MARK: play.stage.mark },
    });
    play.stage.serve(&[("up", entry)], &json!({ "limits": { "listWait": "20s" } }))?;
    let stage = &play.stage;
    let mut owners = Vec::new();
    // Two clients for each of three versions.
    let eras = [Era::ALL[2], Era::NEWEST_SESSION, Era::STATELESS].repeat(2);
    for era in eras {
        let folder = made(stage.folder.join(format!("own-{}", owners.len())), "own")?;
        let client = stage.client_in(&folder, era)?;
        client.names(2 * SOON)?;
        // One of the two has a stream for the server's question; the other gets the question with its first call.
        if owners.len() >= 3 {
            client.listen().map_err(|why| format!("client {}: {why:?}", owners.len()))?;
        }
        if !can_read(&client, &folder)? {
            return Err(format!("client {}'s first call does not reach its folder", owners.len()));
        }
        owners.push(Owner { client, folder });
    }
    let plain = stage.client(Era::NEWEST_SESSION, &json!({}))?;
    let clients: Vec<Arc<Client>> = owners.iter().map(|owner| Arc::clone(&owner.client)).collect();
    for _ in 0..ROUNDS {
        side_by_side(&clients, |client| {
            let at = owners.iter().position(|owner| Arc::ptr_eq(&owner.client, client)).unwrap_or(0);
            looks_around(&owners, at)
        })?;
        if !can_read(&plain, &common)? {
            return Err("a client without roots does not see the common folder".to_owned());
        }
        for owner in &owners {
            if can_read(&plain, &owner.folder)? {
                return Err(format!("a client without roots reads {}", owner.folder.display()));
            }
        }
    }
    Ok(())
}

/// Reads in the owner's folder and tries to read in all others.
fn looks_around(owners: &[Owner], at: usize) -> Result<(), String> {
    let Owner { client, folder } = &owners[at];
    for (number, other) in owners.iter().enumerate() {
        let reads = can_read(client, &other.folder)?;
        if reads != (number == at) {
            let version = client.era.version;
            let does = if reads { "reads another client's" } else { "cannot read its own" };
            let told = called(client, "up__list_allowed_directories", &json!({}))?;
            return Err(format!("client {at} ({version}) {does} folder {}: {told}", other.folder.display()));
        }
    }
    let told = called(client, "up__list_allowed_directories", &json!({}))?.to_string();
    if told.matches("/own-").count() > told.matches(&folder.display().to_string()).count() {
        return Err(format!("client {at} is told of other folders: {told}"));
    }
    Ok(())
}

fn can_read(client: &Client, folder: &Path) -> Result<bool, String> {
    let result = called(client, "up__read_text_file", &json!({ "path": folder.join("note.txt") }))?;
    Ok(result["isError"] != true)
}

fn called(client: &Client, tool: &str, arguments: &Value) -> Result<Value, String> {
    client
        .request("tools/call", &json!({ "name": tool, "arguments": arguments }), 2 * SOON)
        .map_err(|why| format!("{tool} of {}: {why:?}", client.era.version))
}
