//! `cargo xtask pages`: opens every admin page with realistic, missing and hostile data in a real browser. This
//! module must not know what a page shows; the data is in the gallery of the crate `pages`, and the checks are in
//! the script.

use crate::root::{self, Programs};
use crate::run::Log;
use crate::scripts::Scripts;
use crate::stage::scratch;
use crate::tally::Tally;
use crate::tools::{Tools, for_apps};
use std::process::Command;

/// The scripts: one checks the gallery, one uses it, and the others act as operators of a running gateway: with a
/// mouse, with only the keyboard, without JavaScript, and with invalid texts.
pub(crate) const PAGES: Scripts = Scripts {
    name: "pages",
    lanes: &[&["gallery"], &["behavior", "journeys", "keyboard", "no-script", "paste"]],
    run: in_browser,
};

/// Writes the gallery, and opens each page of it. With `DRAGOMAN_PICTURES`, the screenshots are in
/// `target/test-work/pages/screenshots`.
pub(crate) fn in_browser(
    tools: &Tools,
    programs: &Programs,
    only: &[&str],
    log: &Log,
) -> Result<Tally, String> {
    for_apps(log)?;
    let node = tools.node.with("pages", log)?;
    let folder = scratch("pages")?;
    let gallery = folder.join("gallery");
    let built = programs.folder().file_name().and_then(|name| name.to_str()).unwrap_or("debug");
    let profile = if built == "debug" { "dev" } else { built };
    let write =
        ["run", "--quiet", "--package", "dragoman-pages", "--example", "gallery", "--profile", profile, "--"];
    log.run(Command::new("cargo").args(write).arg(&gallery).current_dir(root::checkout()))?;
    let screenshots = folder.join("screenshots");
    let program = programs.dragoman();
    PAGES.each((&node, &[gallery.as_os_str(), screenshots.as_os_str(), program.as_os_str()]), only, log)
}
