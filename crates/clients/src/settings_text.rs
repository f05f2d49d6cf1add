//! Reads, adds and removes servers in the text of a settings file; every other byte stays unchanged. This module
//! must not know any client.

use config::{EditFault, put_member, read_value, remove_member};
use serde_json::{Map, Value};

use crate::client_app::{ClientApp, Notation};
use crate::toml_text;

/// Returns the parsed content of a settings file.
///
/// # Errors
/// Fails if the text is not in the client's notation.
pub fn document(client: &ClientApp, text: &str) -> Result<Value, EditFault> {
    match client.notation {
        Notation::Json | Notation::Yaml => read_value(text),
        Notation::Toml => toml_text::document(text),
    }
}

/// Returns the servers in a settings file, in the order of the file.
///
/// # Errors
/// Fails if the text is not in the client's notation.
pub fn servers(client: &ClientApp, text: &str) -> Result<Map<String, Value>, EditFault> {
    let document = document(client, text)?;
    Ok(document.get(client.servers).and_then(Value::as_object).cloned().unwrap_or_default())
}

/// Returns the text with this entry for a server. A text that consists only of blanks is treated as an empty file.
///
/// # Errors
/// Fails if the text is not in the client's notation, or cannot be edited safely.
pub fn put(client: &ClientApp, text: &str, name: &str, entry: &Value) -> Result<String, EditFault> {
    match client.notation {
        Notation::Json if text.trim().is_empty() => put_member("{}\n", client.servers, name, entry),
        Notation::Json | Notation::Yaml => put_member(text, client.servers, name, entry),
        Notation::Toml => toml_text::put(text, client.servers, name, entry),
    }
}

/// Returns the text without a server.
///
/// # Errors
/// Fails if there is no such server, or if the text cannot be edited safely.
pub fn remove(client: &ClientApp, text: &str, name: &str) -> Result<String, EditFault> {
    match client.notation {
        Notation::Json | Notation::Yaml => remove_member(text, client.servers, name),
        Notation::Toml => toml_text::remove(text, client.servers, name),
    }
}
