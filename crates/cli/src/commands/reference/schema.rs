//! `dragoman schema`: the JSON schema of the configuration file, for editors.

use std::io::Read as _;

use flate2::read::GzDecoder;

use crate::output::console::Console;
use crate::output::failure::Failure;

/// The published schema, compressed. Tests make sure that it equals the schema of the configuration's types; the code that generates it
/// is not in the program.
const SCHEMA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/dragoman.schema.json.gz"));

/// Prints the schema.
pub(crate) fn run(console: &Console) -> Result<(), Failure> {
    let mut text = String::new();
    let read = GzDecoder::new(SCHEMA).read_to_string(&mut text);
    read.map_err(|e| Failure::new(format!("the schema in this program cannot be read: {e}")))?;
    console.print(&text)
}
