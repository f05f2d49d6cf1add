//! The file of the audit log is deleted while Dragoman serves: a new file is created, and no later entry is lost.

use super::Scenario;
use crate::chaos::client::{Client, Era};
use crate::chaos::process::until;
use crate::chaos::scenario::Play;
use crate::chaos::stage::{SOON, Stage};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

pub(super) const ALL: &[Scenario] = &[Scenario {
    name: "record-deleted",
    fault: 15,
    title: "when the record's file is deleted, a new one begins with all later entries, and the log says so",
    variant: "",
    run,
}];

/// The number of calls after the deletion, and the pause between them: some are made before the new file exists.
const CALLS: (usize, Duration) = (20, Duration::from_millis(50));

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.started("up", &[])?;
    // The arguments contain the nonces.
    stage.serve(&[("up", up.over_http())], &json!({ "audit": { "arguments": true } }))?;
    let client = stage.client(Era::NEWEST_SESSION, &json!({}))?;
    client.names(SOON)?;
    let first = called(&client)?;
    recorded(stage, std::slice::from_ref(&first))?;
    let files = record(stage);
    if files.is_empty() {
        return Err("there is no file of the record".to_owned());
    }
    for path in &files {
        fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let mut later = Vec::new();
    for _ in 0..CALLS.0 {
        later.push(called(&client)?);
        thread::sleep(CALLS.1);
    }
    recorded(stage, &later)?;
    if entries(stage)?.contains(&first) {
        return Err("the old file is still in use".to_owned());
    }
    let log = || fs::read_to_string(stage.folder.join("gateway.log")).unwrap_or_default();
    let told = until(SOON, || log().contains("the record of calls was moved or deleted").then_some(()));
    told.ok_or_else(|| "the log does not say that the record was deleted".to_owned())
}

/// Makes a call; returns its nonce.
fn called(client: &Client) -> Result<String, String> {
    let called = client.call("up__read", json!({}), SOON);
    called.text()?;
    Ok(called.nonce)
}

/// Waits until the record contains each of these calls once.
fn recorded(stage: &Stage<'_>, nonces: &[String]) -> Result<(), String> {
    let missing = |found: &[String]| {
        let count = |nonce: &String| found.iter().filter(|entry| *entry == nonce).count();
        nonces.iter().filter(|nonce| count(nonce) != 1).count()
    };
    // Entries are written in batches.
    let complete = until(SOON, || entries(stage).is_ok_and(|found| missing(&found) == 0).then_some(()));
    if complete.is_some() {
        return Ok(());
    }
    let missing = missing(&entries(stage)?);
    Err(format!("{missing} of {} calls are missing from the record, or doubled", nonces.len()))
}

/// The nonces of the calls in the record, as `dragoman audit` shows them.
fn entries(stage: &Stage<'_>) -> Result<Vec<String>, String> {
    let mut command = Command::new(stage.programs.dragoman());
    command.args(["audit", "--json", "--limit", "1000", "--state"]).arg(stage.folder.join("state"));
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let entries = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(entries.filter_map(|entry| nonce(&entry["arguments"])).collect())
}

/// The nonce in the arguments of an entry, which are an object or its text.
fn nonce(arguments: &Value) -> Option<String> {
    let parsed = arguments.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    parsed.as_ref().unwrap_or(arguments)["nonce"].as_str().map(str::to_owned)
}

/// The files of the record.
fn record(stage: &Stage<'_>) -> Vec<PathBuf> {
    let files = fs::read_dir(stage.folder.join("state")).into_iter().flatten().flatten();
    files.map(|file| file.path()).filter(|path| path.to_string_lossy().contains("audit")).collect()
}
