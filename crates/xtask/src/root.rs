//! Where things are: the checkout, the target folder, installed tools, logs.

use std::env;
use std::path::{Path, PathBuf};

/// The checkout's top folder.
pub(crate) fn checkout() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}
