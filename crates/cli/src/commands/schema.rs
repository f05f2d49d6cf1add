//! `dragoman schema`: the JSON schema of the configuration file, for editors.

use crate::output::console::Console;
use crate::output::failure::Failure;

/// Prints the schema.
pub(super) fn run(console: &Console) -> Result<(), Failure> {
    console.print(&config::schema_json())
}
