//! The settings of every client, written as its documentation shows them: imported, connected, and put back byte for byte.

#![expect(clippy::disallowed_methods, reason = "the tests, not the crate, read files")]

mod connected;
mod imported;

use std::path::Path;

use dragoman_clients::client_app::{ClientApp, Notation};

/// The settings of a client.
fn settings(client: &ClientApp) -> String {
    let ending = match client.notation {
        Notation::Json => "json",
        Notation::Yaml => "yaml",
        Notation::Toml => "toml",
    };
    let file = format!("tests/clients/settings/{}.{ending}", client.name);
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)).expect(&file)
}
