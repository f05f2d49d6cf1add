//! The servers of a client, as entries of a Dragoman configuration. Secrets are taken out of the entries: the caller stores them
//! in files that only the user can read, and the entries refer to these files. This module must not know files.

use config::EditFault;
use serde_json::{Map, Value};

use crate::client_app::ClientApp;
use crate::foreign_entry::ForeignEntry;
pub use crate::secrets::FoundSecret;
use crate::secrets::taken_out;
use crate::settings_text::servers;

/// A server that was found in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundServer {
    /// The name in the client's settings.
    pub original: String,
    /// The name in a configuration of Dragoman, which allows fewer characters.
    pub name: String,
    /// The entry, or the reason why the server cannot be imported.
    pub entry: Result<Value, String>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The secrets that the entry refers to.
    pub secrets: Vec<FoundSecret>,
}

/// The source of an import, and the folder for its secrets.
#[derive(Debug, Clone, Copy)]
pub struct ImportFrom<'a> {
    /// The client to which the settings belong.
    pub client: &'a ClientApp,
    /// The folder of the project, if the settings belong to one.
    pub project: Option<&'a str>,
    /// The folder for files with secrets, as the configuration names it.
    pub secrets: &'a str,
}

/// Returns the servers in a client's settings, in the order of the file. `document` is the parsed text of the settings.
pub fn found(from: ImportFrom<'_>, document: &Value) -> Vec<FoundServer> {
    let mut all = Vec::new();
    let mut add = |servers: Option<&Value>, project: Option<&str>| {
        for (name, entry) in servers.and_then(Value::as_object).into_iter().flatten() {
            all.push(one(ImportFrom { project, ..from }, document, name, entry));
        }
    };
    add(document.get(from.client.servers), from.project);
    // Claude Code keeps the servers of each project in the user's file, too.
    for (folder, project) in document.get("projects").and_then(Value::as_object).into_iter().flatten() {
        add(project.get(from.client.servers), Some(folder));
    }
    all
}

/// Returns the names of the servers that Dragoman can import from a client's own mapping, as the client writes
/// them.
///
/// # Errors
/// Fails if the text is not in the client's notation.
pub fn replaceable(from: ImportFrom<'_>, text: &str) -> Result<Vec<String>, EditFault> {
    let all = servers(from.client, text)?;
    let document = Value::from(Map::from_iter([(from.client.servers.to_owned(), Value::from(all))]));
    Ok(found(from, &document).into_iter().filter(|one| one.entry.is_ok()).map(|one| one.original).collect())
}

fn one(from: ImportFrom<'_>, document: &Value, original: &str, entry: &Value) -> FoundServer {
    let name = Some(config::allowed_server_name(original)).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "server".to_owned());
    let members = entry.as_object().cloned().unwrap_or_default();
    let mut foreign =
        ForeignEntry { name: original, members, document, project: from.project, notes: Vec::new() };
    let adapted = (from.client.adapt)(&mut foreign);
    let secrets = taken_out(&mut foreign.members, &name, from.secrets);
    FoundServer {
        original: original.to_owned(),
        entry: adapted.map(|()| foreign.members.into()),
        notes: foreign.notes,
        secrets,
        name,
    }
}
