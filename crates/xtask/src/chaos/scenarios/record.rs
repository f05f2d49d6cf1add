//! The file of the audit log is deleted while Dragoman serves: a new file is created.

use super::Scenario;
use crate::chaos::client::Era;
use crate::chaos::process::until;
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const ALL: &[Scenario] = &[Scenario {
    name: "record-deleted",
    fault: 15,
    title: "when the record's file is deleted, a new one begins and the log says so",
    variant: "",
    run,
}];

fn run(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.started("up", &[])?;
    stage.serve(&[("up", up.over_http())], &json!({ "audit": {} }))?;
    let kept_in = stage.folder.join("state");
    let client = stage.client(Era::NEWEST_SESSION, &json!({}))?;
    client.names(SOON)?;
    client.call("up__read", json!({}), SOON).text()?;
    let record = || -> Vec<PathBuf> {
        let entries = fs::read_dir(&kept_in).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.filter(|path| path.to_string_lossy().contains("audit")).collect()
    };
    let found = until(SOON, || Some(record()).filter(|record| !record.is_empty()));
    let Some(written) = found else {
        let all: Vec<_> =
            fs::read_dir(&kept_in).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        return Err(format!("no record in {all:?}"));
    };
    // Entries are written in batches.
    std::thread::sleep(Duration::from_secs(1));
    for path in &written {
        fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let began = until(Duration::from_secs(6), || {
        let _ = client.call("up__read", json!({}), SOON);
        Some(record()).filter(|record| !record.is_empty())
    });
    if began.is_none() {
        return Err("no new record after 6 s of calls".to_owned());
    }
    let log = || fs::read_to_string(stage.folder.join("gateway.log")).unwrap_or_default();
    let told = until(SOON, || log().contains("the record of calls was moved or deleted").then_some(()));
    told.ok_or_else(|| "the log does not say that the record was deleted".to_owned())
}
