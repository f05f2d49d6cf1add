//! The browser in which the pages of MCP Apps run, from Debian's packages.

use super::apt;
use crate::run::Log;

const PACKAGES: &[apt::Package] = &[("chromium", &["/usr/bin/chromium", "--version"])];

/// Installs the browser if it is missing.
pub(crate) fn for_apps(log: &Log) -> Result<(), String> {
    apt::install(PACKAGES, log)
}
