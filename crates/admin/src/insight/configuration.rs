//! The configuration in force, and how it came about. Secrets are masked. This module must not know how a configuration is
//! read or put in force.

use std::fmt::Write as _;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::moment::PointInTime;
use gateway::changes::edits::Reloaded;
use gateway::changes::{Differences, Refusal, differences};
use gateway::management::edit;
use gateway::process::Shard;

/// The configuration in force.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfigurationInForce {
    /// The file of the configuration; `null` if there is none.
    pub(crate) file: Option<String>,
    pub(crate) state_folder: Option<String>,
    /// A text that changes with the configuration; also sent as `ETag`.
    pub(crate) revision: String,
    /// The configuration: defaults are filled in, and secrets are masked.
    pub(crate) configuration: Value,
    /// The last time that the file was read again; `null` if it was read only at startup.
    pub(crate) last_reload: Option<Reload>,
}

/// A reload of the file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reload {
    pub(crate) at: PointInTime,
    /// The names of the changed parts; `null` if the reload failed.
    pub(crate) changed: Option<ChangedNames>,
    /// The errors of the file; the previous configuration stays in force.
    pub(crate) error: Option<String>,
    /// The keys that take effect only after a restart.
    pub(crate) needs_restart: Vec<String>,
}

/// The names of changed parts of the configuration.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangedNames {
    pub(crate) added: Vec<String>,
    pub(crate) changed: Vec<String>,
    pub(crate) removed: Vec<String>,
}

impl From<Differences> for ChangedNames {
    fn from(Differences { added, changed, removed }: Differences) -> Self {
        Self { added, changed, removed }
    }
}

impl From<Reloaded> for Reload {
    fn from(Reloaded { at, outcome, needs_restart }: Reloaded) -> Self {
        let (changed, error) = match outcome {
            Ok(differences) => (Some(differences.into()), None),
            Err(unread) => (None, Some(unread.message)),
        };
        Self { at: PointInTime::of(at), changed, error, needs_restart }
    }
}

/// The changes that operators made at run time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuntimeChanges {
    /// True if operators can make changes at run time, and such changes are stored.
    pub(crate) are_stored: bool,
    pub(crate) names: ChangedNames,
    pub(crate) servers: Vec<ChangedPart>,
    pub(crate) profiles: Vec<ChangedPart>,
}

/// A server or profile that differs from the file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangedPart {
    pub(crate) name: String,
    /// The form in the file; `null` if the file does not contain it. Secrets are masked.
    pub(crate) in_file: Option<Value>,
    /// The form in force; `null` if it was removed.
    pub(crate) in_force: Option<Value>,
}

/// Returns the configuration in force.
pub(crate) fn configuration(shard: &Arc<Shard>) -> ConfigurationInForce {
    let process = &shard.gateway.process;
    let standing = &shard.gateway.standing;
    let configuration = standing.config().shown();
    ConfigurationInForce {
        file: process.config_file.as_ref().map(|file| file.display().to_string()),
        state_folder: process.folder.as_ref().map(|folder| folder.display().to_string()),
        revision: revision(&configuration, process.seed, shard.gateway.generation),
        configuration,
        last_reload: process.last_reload.lock().clone().map(Reload::from),
    }
}

/// Returns a text that changes with the configuration. The generation makes it change even if only a secret has changed.
fn revision(configuration: &Value, seed: u64, generation: u64) -> String {
    let mut text = configuration.to_string().into_bytes();
    text.extend_from_slice(&seed.to_le_bytes());
    text.extend_from_slice(&generation.to_le_bytes());
    let mut revision = String::with_capacity(32);
    for byte in &digest(&SHA256, &text).as_ref()[..16] {
        // Writing to a string cannot fail.
        let _ = write!(revision, "{byte:02x}");
    }
    revision
}

/// Returns the changes that operators made at run time.
pub(crate) fn changes(shard: &Arc<Shard>) -> RuntimeChanges {
    let standing = &shard.gateway.standing;
    let (base, config) = (standing.base(), standing.config());
    let names = differences(base, config).into();
    let (file, force) = (base.shown(), config.shown());
    let parts = |key: &str| differing(&file[key], &force[key]);
    RuntimeChanges {
        are_stored: config.keeps_changes(),
        names,
        servers: parts("mcpServers"),
        profiles: parts("profiles"),
    }
}

fn differing(file: &Value, force: &Value) -> Vec<ChangedPart> {
    let names =
        |value: &Value| value.as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
    let mut all: Vec<String> = names(file);
    all.extend(Vec::into_iter(names(force)).filter(|name| file.get(name).is_none()));
    let part = |name: String| {
        let (in_file, in_force) = (file.get(&name).cloned(), force.get(&name).cloned());
        (in_file != in_force).then_some(ChangedPart { name, in_file, in_force })
    };
    all.into_iter().filter_map(part).collect()
}

/// Reads the file of the configuration again, and puts it in force.
///
/// # Errors
/// Fails if the file has errors, which the message lists, or if the configuration has no file.
pub(crate) async fn reload(shard: &Arc<Shard>) -> Result<Reload, Refusal> {
    let process = &shard.gateway.process;
    if process.config_file.is_none() {
        return Err(Refusal::new(409, "NO_FILE", "the configuration does not come from a file"));
    }
    let reload = Reload::from(edit::reload(shard).await?);
    match &reload.error {
        Some(error) => Err(Refusal::new(400, "INVALID_CONFIG", error.clone())),
        None => Ok(reload),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        let file = json!({ "same": 1, "changed": 1, "removed": 1 });
        let force = json!({ "same": 1, "changed": 2, "added": 1 });
        let shown: Vec<_> = differing(&file, &force)
            .into_iter()
            .map(|part| (part.name, part.in_file, part.in_force))
            .collect();
        assert_eq!(
            shown,
            [
                ("changed".to_owned(), Some(json!(1)), Some(json!(2))),
                ("removed".to_owned(), Some(json!(1)), None),
                ("added".to_owned(), None, Some(json!(1))),
            ]
        );
    }

    #[test]
    fn a_changed_secret_is_another_revision() {
        let shown = json!({ "auth": "***" });
        assert_ne!(revision(&shown, 7, 1), revision(&shown, 7, 2));
        assert_eq!(revision(&shown, 7, 1), revision(&shown, 7, 1));
    }
}
