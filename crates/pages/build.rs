//! Compresses the style sheet and the scripts once, while the crate is built.

#![expect(clippy::disallowed_methods, reason = "a build script reads and writes files")]

use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::Path;

const ASSETS: [&str; 4] = ["style.css", "pages.js", "htmx.min.js", "icon.svg"];

fn main() -> std::io::Result<()> {
    let out = std::env::var("OUT_DIR").map_err(std::io::Error::other)?;
    for name in ASSETS {
        let path = Path::new("assets").join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&std::fs::read(&path)?)?;
        std::fs::write(Path::new(&out).join(format!("{name}.gz")), encoder.finish()?)?;
    }
    Ok(())
}
