//! Changes a client's settings for `connect`, and undoes the change for `disconnect`. If the file has not changed
//! since, it is restored byte for byte. Otherwise only Dragoman's entry is removed, and the servers that it
//! replaced are restored. This module must not know files.

use config::EditFault;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client_app::ClientApp;
use crate::settings_text::{put, remove, servers};

/// The record of what `connect` changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionRecord {
    /// The client's name.
    pub client: String,
    /// The name of Dragoman's entry.
    pub name: String,
    /// The names of the servers that Dragoman replaced.
    pub replaced: Vec<String>,
    /// The text before the change; `None` if there was no file.
    pub before: Option<String>,
    /// The text that was written.
    pub after: String,
}

/// Adds Dragoman's entry to a text, in place of the servers in `replaced`.
///
/// # Errors
/// Fails if the text cannot be edited safely.
pub fn connect(
    client: &ClientApp,
    before: Option<&str>,
    (name, entry): (&str, &Value),
    replaced: &[String],
) -> Result<ConnectionRecord, EditFault> {
    let mut text = before.unwrap_or_default().to_owned();
    for other in replaced.iter().filter(|other| *other != name) {
        text = remove(client, &text, other)?;
    }
    let after = put(client, &text, name, entry)?;
    Ok(ConnectionRecord {
        client: client.name.to_owned(),
        name: name.to_owned(),
        replaced: replaced.iter().filter(|other| *other != name).cloned().collect(),
        before: before.map(str::to_owned),
        after,
    })
}

/// Undoes a connection. Returns `None` if the file is to be removed.
///
/// # Errors
/// Fails if the text cannot be edited safely.
pub fn disconnect(
    client: &ClientApp,
    now: &str,
    record: &ConnectionRecord,
) -> Result<Option<String>, EditFault> {
    if now == record.after {
        return Ok(record.before.clone());
    }
    let mut text = without(client, now, &record.name)?;
    let before = record.before.as_deref().unwrap_or_default();
    let present = servers(client, &text)?;
    // An entry with Dragoman's name that was there before comes back, too.
    for (name, entry) in servers(client, before)? {
        let was_ours = record.replaced.contains(&name) || name == record.name;
        if was_ours && !present.contains_key(&name) {
            text = put(client, &text, &name, &entry)?;
        }
    }
    Ok(Some(text))
}

/// Returns the text without Dragoman's entry; the text itself if somebody has removed the entry.
fn without(client: &ClientApp, text: &str, name: &str) -> Result<String, EditFault> {
    if servers(client, text)?.contains_key(name) { remove(client, text, name) } else { Ok(text.to_owned()) }
}
