//! Prometheus and its tools, from Debian's packages.

use super::apt;
use crate::run::Log;

const PACKAGES: &[apt::Package] = &[("prometheus", &["promtool", "--version"])];

/// Installs the programs that are missing.
pub(crate) fn for_telemetry(log: &Log) -> Result<(), String> {
    apt::install(PACKAGES, log)
}
