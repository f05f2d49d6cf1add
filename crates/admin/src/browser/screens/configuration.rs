//! The configuration in force, and the form that reloads the file.

use std::time::Instant;

use config::{ChangedLine, changed_lines, yaml_of};
use pages::model::{ChangeRow, ConfigFault, ConfigurationPage, DiffLine, DiffMark};
use pages::{page, route};
use serde_json::{Value, json};
use store::audit::Query;

use super::super::page_reply::{self, PageResult, done};
use super::super::page_request::{PageRequest, Subject};
use super::texts;
use crate::insight::calls::{self, RecordedCall};
use crate::insight::configuration::{self, ChangedPart};
use crate::insight::moment::PointInTime;
use gateway::changes::Refusal;

/// The number of changes that the page shows.
const CHANGES: u32 = 20;

/// Shows the configuration.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let shard = &request.shard;
    let found = configuration::configuration(shard);
    let reload = found.last_reload.as_ref();
    let failed = reload.filter(|reload| reload.error.is_some());
    let data = ConfigurationPage {
        path: found.file.as_deref().unwrap_or("no file").into(),
        loaded: PointInTime::of(shard.gateway.in_force_since).0,
        etag: found.revision.clone(),
        faults: faults(request),
        failed: failed.map(|reload| reload.at.0),
        needs_restart: texts(reload.map(|reload| reload.needs_restart.clone()).unwrap_or_default()),
        effective: yaml_of(&found.configuration).into(),
        difference: difference(request),
        changes: changes(request).await,
    };
    page_reply::ok(page::configuration(&request.frame(), &data))
}

fn faults(request: &PageRequest) -> Vec<ConfigFault> {
    let reload = request.shard.gateway.process.last_reload.lock().clone();
    let Some(Err(unread)) = reload.map(|reload| reload.outcome) else { return Vec::new() };
    if unread.faults.is_empty() {
        return vec![ConfigFault { text: unread.message.into(), ..ConfigFault::default() }];
    }
    let one = |fault: &config::Fault| ConfigFault {
        line: Some(super::count(fault.line)),
        column: Some(super::count(fault.column)),
        text: match fault.path.as_str() {
            "" => fault.message.clone(),
            path => format!("{path}: {}", fault.message),
        }
        .into(),
        help: super::text(Some(fault.help.clone())),
        excerpt: super::text(Some(fault.line_text().to_owned())),
    };
    unread.faults.iter().map(one).collect()
}

/// Returns the servers and profiles that differ from the file, as lines of YAML.
fn difference(request: &PageRequest) -> Vec<DiffLine> {
    let changes = configuration::changes(&request.shard);
    let parts = [("mcpServers", changes.servers), ("profiles", changes.profiles)];
    let mut lines = Vec::new();
    for (key, parts) in parts {
        for part in parts {
            lines.push(DiffLine { mark: DiffMark::Same, text: format!("{key}.{}:", part.name).into() });
            lines.extend(lines_of(&part));
        }
    }
    lines
}

fn lines_of(part: &ChangedPart) -> Vec<DiffLine> {
    let yaml = |value: &Option<Value>| match value {
        Some(value) => yaml_of(&without_nothing(value)),
        None => String::new(),
    };
    let (old, new) = (yaml(&part.in_file), yaml(&part.in_force));
    let one = |line: ChangedLine| DiffLine {
        mark: if line.is_added { DiffMark::Added } else { DiffMark::Removed },
        text: format!("  {}", line.text).into(),
    };
    changed_lines(&old, &new).into_iter().map(one).collect()
}

/// Returns a value without the members that are `null`.
fn without_nothing(value: &Value) -> Value {
    match value {
        Value::Object(all) => {
            let own = all.iter().filter(|(_, value)| !value.is_null());
            Value::Object(own.map(|(key, value)| (key.clone(), without_nothing(value))).collect())
        }
        other => json!(other),
    }
}

async fn changes(request: &PageRequest) -> Vec<ChangeRow> {
    let methods = ["reload*", "POST *", "PUT *", "DELETE *", "PATCH *"].map(str::to_owned).to_vec();
    let query = Query { methods, limit: CHANGES, ..Query::default() };
    let found = calls::calls(&request.shard, query).await.map(|page| page.calls).unwrap_or_default();
    let row = |call: RecordedCall| ChangeRow {
        at: call.at.0,
        by: call.principal.into(),
        what: call.method.into(),
        done: call.outcome == "ok",
    };
    found.into_iter().map(row).collect()
}

/// Reads the file again.
pub(in super::super) async fn reload(request: &PageRequest) -> PageResult {
    let started = Instant::now();
    let outcome = if configuration::configuration(&request.shard).revision == request.form.text("etag") {
        configuration::reload(&request.shard).await
    } else {
        let message = "The configuration has changed since this page was loaded. Look at it, and reload the file again.";
        Err(Refusal::new(412, "OUTDATED", message))
    };
    request.note(Subject::Gateway, started, &outcome, "reloaded the file");
    let outcome = outcome.map_err(|refusal| match refusal.code {
        // The page lists the errors itself.
        "INVALID_CONFIG" => Refusal {
            message: "The file has errors, so the old configuration stays in force.".to_owned(),
            ..refusal
        },
        _ => refusal,
    });
    Ok(done(request, outcome, route::CONFIGURATION, "The file was read again, and is in force."))
}
