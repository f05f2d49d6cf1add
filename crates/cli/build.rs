//! Compresses the published schema of the configuration to a sixth of its size; the program contains the compressed
//! form.

use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::Path;

const SCHEMA: &str = "../../dragoman.schema.json";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed={SCHEMA}");
    let out = std::env::var("OUT_DIR").map_err(std::io::Error::other)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&std::fs::read(SCHEMA)?)?;
    std::fs::write(Path::new(&out).join("dragoman.schema.json.gz"), encoder.finish()?)
}
