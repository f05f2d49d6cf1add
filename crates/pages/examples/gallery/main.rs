//! Writes every page with lifelike data to a folder, for people who look at them and for the browser tests in `tests/pages`.
//!
//! ```console
//! $ cargo run -p dragoman-pages --example gallery -- FOLDER
//! ```

#![expect(clippy::disallowed_methods, reason = "an example writes files")]

mod sample;

use dragoman_pages::asset;
use sample::Sample;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(
        std::env::args_os().nth(1).ok_or_else(|| std::io::Error::other("usage: gallery FOLDER"))?,
    );
    for (kind, sample) in [
        ("lifelike", Sample::default()),
        ("empty", Sample { rows: 0, ..Sample::default() }),
        ("one", Sample { rows: 1, ..Sample::default() }),
        ("many", Sample { rows: 5_000, ..Sample::default() }),
        ("hostile", Sample { rows: 3, hostile: Some(sample::HOSTILE.to_owned()) }),
    ] {
        let folder = folder.join(kind);
        std::fs::create_dir_all(&folder)?;
        for (name, html) in sample::all(&sample) {
            std::fs::write(folder.join(format!("{name}.html")), html)?;
        }
    }
    for asset in asset::ASSETS {
        write(&folder, &asset.path(), asset.body)?;
    }
    std::fs::write(folder.join("csp.txt"), asset::CONTENT_SECURITY_POLICY)
}

fn write(folder: &Path, path: &str, body: &[u8]) -> std::io::Result<()> {
    let file = folder.join(path.trim_start_matches('/'));
    std::fs::create_dir_all(file.parent().unwrap_or(folder))?;
    std::fs::write(file, body)
}
