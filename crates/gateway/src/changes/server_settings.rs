//! The settings of a server beside its link, such as `timeout` and `concurrentCalls`, in the API and among the changes. This module must
//! not know any of these settings: the configuration checks them.

use serde_json::Value;

use super::Refusal;
use super::server_form::{HIDDEN, Object};

/// The keys of an entry that have fields of their own in the API, or belong to the field `config`.
const OWN_FIELDS: &[&str] = &[
    "type",
    "url",
    "headers",
    "command",
    "args",
    "cwd",
    "env",
    "bundle",
    "config",
    "native",
    "site",
    "phases",
    "sources",
    "unknownArguments",
    "description",
    "disabled",
];

/// Returns the settings of an entry among the changes.
pub(super) fn of_entry(entry: &Object) -> impl Iterator<Item = (&String, &Value)> {
    entry.iter().filter(|(key, _)| !OWN_FIELDS.contains(&key.as_str()))
}

/// Returns the settings of an entry in the form that the API shows. `in_force` is the server's configuration with masked secrets.
pub(super) fn shown(entry: &Object, in_force: &Value) -> Object {
    let one = |(key, _): (&String, &Value)| {
        (key.clone(), in_force.get(key).cloned().unwrap_or_else(|| HIDDEN.into()))
    };
    of_entry(entry).map(one).collect()
}

/// Replaces the settings of `server` with those that were sent. A setting that is sent as it is shown keeps its stored value; one that is
/// missing, or null, is removed, so the value from the file, or the default, applies again.
///
/// # Errors
/// Fails if a key is not a setting, or if a hidden value was changed or moved.
pub(super) fn replace(server: &mut Object, sent: &Value, shown: Option<&Value>) -> Result<(), Refusal> {
    let Some(sent) = sent.as_object() else {
        return Err(Refusal::config("`settings` must be an object"));
    };
    let before: Object = of_entry(server).map(|(key, value)| (key.clone(), value.clone())).collect();
    server.retain(|key, _| !before.contains_key(key));
    for (key, value) in sent.iter().filter(|(_, value)| !value.is_null()) {
        if OWN_FIELDS.contains(&key.as_str()) {
            let field = if key == "disabled" { "isActive" } else { key };
            return Err(Refusal::config(format!(
                "`settings` cannot contain {key:?}; use `{field}` or `config`"
            )));
        }
        let is_as_shown = shown.and_then(|shown| shown.get(key)) == Some(value);
        let value = match before.get(key).filter(|_| is_as_shown) {
            Some(stored) => stored.clone(),
            None if hides(value) => {
                return Err(Refusal::config(format!(
                    "write `settings.{key}` in full: its hidden part is not stored for this value"
                )));
            }
            None => value.clone(),
        };
        server.insert(key.clone(), value);
    }
    Ok(())
}

/// Adds the settings of the entry before to the entry of another link. Settings with secrets are left out, because the secrets are for
/// the server that the old link leads to.
pub(super) fn keep(server: &mut Object, before: &Object, shown: &Value) {
    for (key, value) in of_entry(before).filter(|(key, _)| !shown.get(*key).is_none_or(hides)) {
        server.insert(key.clone(), value.clone());
    }
}

/// Returns true if a value contains the placeholder for a hidden text.
fn hides(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(HIDDEN),
        Value::Array(items) => items.iter().any(hides),
        Value::Object(members) => members.values().any(hides),
        _ => false,
    }
}
