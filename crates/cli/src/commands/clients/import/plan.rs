//! The decision about each server that was found: it is imported under its own or another name, or skipped for a
//! reason. This module must not know how the configuration file is edited.

use std::fs::File;
use std::io::Read as _;

use clients::import::{FoundSecret, ImportFrom, found};
use clients::settings_text::document;
use config::{MAX_FILE_BYTES, read_value};
use serde_json::{Map, Value};

use crate::commands::clients::client_files::ClientFile;
use crate::output::failure::Failure;

/// The folder for files with secrets, beside the configuration file.
const SECRETS: &str = "secrets";

/// The servers of all clients.
pub(super) struct ImportPlan {
    pub(super) sources: Vec<ImportSource>,
}

/// The servers of one file.
pub(super) struct ImportSource {
    pub(super) file: ClientFile,
    pub(super) servers: Vec<PlannedServer>,
    /// The reason why the file cannot be read.
    pub(super) unread: Option<String>,
}

/// A server, and the decision about it.
pub(super) struct PlannedServer {
    pub(super) original: String,
    pub(super) name: String,
    pub(super) decision: ImportDecision,
    pub(super) notes: Vec<String>,
    pub(super) secrets: Vec<FoundSecret>,
}

/// The decision about a server.
pub(super) enum ImportDecision {
    /// The configuration gets this entry.
    Taken(Value),
    /// The configuration already has the server, under this name.
    Present(String),
    /// The entry is Dragoman itself.
    Own,
    /// The server cannot be imported, for this reason.
    Refused(String),
}

impl ImportPlan {
    /// Plans the import of these files into a configuration.
    pub(super) fn of(files: &[ClientFile], configuration: &str) -> Result<Self, Failure> {
        let present =
            read_value(configuration).map_err(|fault| Failure::usage(fault.message).help(fault.help))?;
        let present =
            ["mcpServers", "servers"].iter().find_map(|key| present.get(*key)).and_then(Value::as_object);
        let mut names = present.cloned().unwrap_or_default();
        let sources = files.iter().map(|file| ImportSource::of(file, &mut names)).collect();
        Ok(Self { sources })
    }

    /// The servers to import, with their entries.
    pub(super) fn taken(&self) -> impl Iterator<Item = (&PlannedServer, &Value)> {
        let all = self.sources.iter().flat_map(|source| &source.servers);
        all.filter_map(|server| {
            if let ImportDecision::Taken(entry) = &server.decision { Some((server, entry)) } else { None }
        })
    }

    /// The secrets of the servers to import.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &FoundSecret> {
        self.taken().flat_map(|(server, _)| &server.secrets)
    }
}

impl ImportSource {
    fn of(file: &ClientFile, names: &mut Map<String, Value>) -> Self {
        let read = read(file).and_then(|text| document(file.client, &text).map_err(|fault| fault.message));
        let (document, unread) = match read {
            Ok(document) => (document, None),
            Err(why) => (Value::Null, Some(why)),
        };
        let project = file.project.as_ref().map(|folder| folder.display().to_string());
        let from = ImportFrom { client: file.client, project: project.as_deref(), secrets: SECRETS };
        let mut servers = Vec::new();
        for mut server in found(from, &document) {
            let present = server
                .entry
                .as_ref()
                .ok()
                .and_then(|entry| names.iter().find(|(_, present)| *present == entry));
            let decision = match (server.entry, present.map(|(name, _)| name.clone())) {
                (Err(why), _) => ImportDecision::Refused(why),
                (Ok(entry), _) if is_own(&entry) => ImportDecision::Own,
                (Ok(_), Some(name)) => ImportDecision::Present(name),
                (Ok(entry), None) => {
                    let name = free_name(&server.name, names);
                    let entry = renamed(entry, &mut server.secrets, &server.name, &name);
                    names.insert(name.clone(), entry.clone());
                    server.name = name;
                    ImportDecision::Taken(entry)
                }
            };
            let (original, name, notes, secrets) =
                (server.original, server.name, server.notes, server.secrets);
            servers.push(PlannedServer { original, name, decision, notes, secrets });
        }
        Self { file: file.clone(), servers, unread }
    }
}

fn read(file: &ClientFile) -> Result<String, String> {
    let mut text = String::new();
    let read = File::open(&file.path)
        .and_then(|file| file.take(MAX_FILE_BYTES as u64 + 1).read_to_string(&mut text));
    read.map(|_| text).map_err(|e| e.to_string())
}

/// Returns the name with the first number that makes it unique.
fn free_name(name: &str, names: &Map<String, Value>) -> String {
    let numbered =
        (2..).map(|number| format!("{}-{number}", &name[..name.len().min(config::MAX_SERVER_NAME - 4)]));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    all.find(|name| !names.contains_key(name)).unwrap_or_else(|| name.to_owned())
}

/// Renames the files for the secrets of a renamed server, also in the server's entry.
fn renamed(entry: Value, secrets: &mut [FoundSecret], old: &str, new: &str) -> Value {
    if old == new || secrets.is_empty() {
        return entry;
    }
    let mut text = entry.to_string();
    for secret in secrets {
        let path = secret.path.replacen(&format!("{SECRETS}/{old}."), &format!("{SECRETS}/{new}."), 1);
        text = text.replace(&format!("${{file:{}}}", secret.path), &format!("${{file:{path}}}"));
        secret.path = path;
    }
    serde_json::from_str(&text).unwrap_or(entry)
}

/// Returns true if an entry starts Dragoman.
fn is_own(entry: &Value) -> bool {
    let command = entry["command"].as_str().unwrap_or_default();
    command.rsplit('/').next() == Some("dragoman")
}
