//! Compresses the published description of the management API to a tenth of its size; the program contains the
//! compressed form.

use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::Path;

const DOCUMENT: &str = "../../dragoman.openapi.json";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed={DOCUMENT}");
    let out = std::env::var("OUT_DIR").map_err(std::io::Error::other)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&std::fs::read(DOCUMENT)?)?;
    std::fs::write(Path::new(&out).join("dragoman.openapi.json.gz"), encoder.finish()?)
}
