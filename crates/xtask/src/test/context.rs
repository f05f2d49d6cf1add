//! The data that the steps share: the installed tools, available once the background installation is done.

use crate::root::Programs;
use crate::run::Log;
use crate::tools::{Tools, wordpress};
use std::sync::OnceLock;
use std::time::Duration;

/// The cargo profile for all builds, so that nothing is built twice.
pub(super) const PROFILE: &str = "ci";

const INSTALL_WITHIN: Duration = Duration::from_mins(15);

/// Data shared by all steps of one run.
#[derive(Debug, Default)]
pub(super) struct Context {
    tools: OnceLock<Result<Tools, String>>,
}

impl Context {
    /// Installs the tools; waiting callers of [`Context::tools`] then continue.
    pub(super) fn install(&self) -> bool {
        let installed = Log::create("install", INSTALL_WITHIN).and_then(|log| {
            let tools = Tools::install(&log);
            // A step that needs it tries again, and reports the error.
            let _ = wordpress(None, &log);
            tools
        });
        if let Err(why) = &installed {
            println!("FAIL  install: {why}");
        }
        self.tools.get_or_init(|| installed).is_ok()
    }

    /// The tools, once they are installed.
    pub(super) fn tools(&self) -> Result<&Tools, String> {
        self.tools.wait().as_ref().map_err(|why| format!("not run because tools are missing: {why}"))
    }

    /// The programs that the build step built.
    pub(super) fn programs() -> Programs {
        Programs::of_profile(PROFILE)
    }
}
