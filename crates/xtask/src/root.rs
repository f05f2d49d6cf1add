//! Locations: the checkout, the target folder, installed tools, built programs.

use std::env;
use std::path::{Path, PathBuf};

/// The top folder of the checkout.
pub(crate) fn checkout() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Cargo's target folder; `CARGO_TARGET_DIR` moves it, as it does for cargo.
pub(crate) fn target() -> PathBuf {
    let top = checkout();
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| top.join("target"), |set| top.join(set))
}

/// The folder for installed tools.
pub(crate) fn tools() -> PathBuf {
    target().join("tools")
}

/// The built programs of one cargo profile.
#[derive(Debug, Clone)]
pub(crate) struct Programs(PathBuf);

impl Programs {
    /// The programs of `cargo build --profile NAME` (`dev` builds into `debug`).
    pub(crate) fn of_profile(name: &str) -> Self {
        Self(target().join(if name == "dev" { "debug" } else { name }))
    }

    /// The folder with the programs.
    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// The gateway.
    pub(crate) fn dragoman(&self) -> PathBuf {
        self.0.join("dragoman")
    }

    /// The fixture upstream with everything that the conformance suite needs.
    pub(crate) fn fixture(&self) -> PathBuf {
        self.0.join("fixture")
    }

    /// The fake web site.
    pub(crate) fn site(&self) -> PathBuf {
        self.0.join("site")
    }
}
