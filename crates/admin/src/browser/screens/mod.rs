//! The pages and their forms, one file for each page. A file turns the gateway's state into the data that the crate
//! `pages` shows. Data that several pages show is gathered in separate files. This module must not know HTML.

mod call_rows;
mod client_snippet;
mod definition_changes;
mod messages;
mod paging;
mod reach;
mod schema_form;
mod server_rows;
mod tool_rows;

pub(super) mod access;
pub(super) mod call;
pub(super) mod calls;
pub(super) mod configuration;
pub(super) mod connect;
pub(super) mod doctor;
pub(super) mod keys;
pub(super) mod limits;
pub(super) mod live;
pub(super) mod logins;
pub(super) mod overview;
pub(super) mod playground;
pub(super) mod profile;
pub(super) mod profiles;
pub(super) mod replicas;
pub(super) mod server;
pub(super) mod server_forms;
pub(super) mod servers;
pub(super) mod sessions;
pub(super) mod tool;
pub(super) mod tools;

use pages::model::{Caller, ForeignText};

use gateway::key_names::KeyNames;

/// Converts a text that may be missing.
fn text(text: Option<String>) -> Option<ForeignText> {
    text.filter(|text| !text.is_empty()).map(Into::into)
}

/// Converts several texts.
fn texts<T: AsRef<str>>(all: impl IntoIterator<Item = T>) -> Vec<ForeignText> {
    all.into_iter().map(|one| one.as_ref().into()).collect()
}

/// Returns the caller with this id.
fn caller(names: &KeyNames, id: &str) -> Caller {
    Caller::new(id, names.name_of(id).map(str::to_owned))
}

/// Returns the fault of a JSON text that a person typed.
fn json_fault(error: &serde_json::Error) -> String {
    if error.is_eof() { "it ends before it is complete".to_owned() } else { error.to_string() }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
