//! `cargo xtask apps`: runs all official example servers of MCP Apps from npm behind Dragoman, and shows their
//! pages with a host in a real browser. This module must not know what a page does; the scripts determine this.

use crate::root::Programs;
use crate::run::Log;
use crate::scripts::Scripts;
use crate::stage::scratch;
use crate::tally::Tally;
use crate::tools::{Tools, for_apps};

/// The host, a script.
pub(crate) const APPS: Scripts = Scripts { name: "apps", lanes: &[&["host"]], run: with_host };

/// Runs the host, which starts the gateway and the servers itself.
pub(crate) fn with_host(
    tools: &Tools,
    programs: &Programs,
    only: &[&str],
    log: &Log,
) -> Result<Tally, String> {
    for_apps(log)?;
    let node = tools.node.with("apps", log)?;
    let folder = scratch("apps")?;
    APPS.each((&node, &[programs.dragoman().as_os_str(), folder.as_os_str()]), only, log)
}
