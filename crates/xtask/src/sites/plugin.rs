//! Plugins from folders that the command line names: no package registry offers them.

use super::site::Site;
use crate::root;
use crate::run::Log;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The files that a released plugin does not contain.
const LEFT_OUT: [&str; 3] = ["--exclude=.git", "--exclude=node_modules", "--exclude=./tests"];

/// Installs the MCP adapter for WordPress on a site and activates it.
pub(super) fn install_adapter(tree: &Path, site: &Site, wordpress: &Path, log: &Log) -> Result<(), String> {
    let name = "mcp-adapter";
    let main = format!("{name}/{}", main_file(tree)?);
    copy(tree, site, name, log)?;
    let tests = root::checkout().join("tests");
    let loader = tests.join("sites/php/adapter.php");
    let always = site.folder().join("content/mu-plugins/adapter.php");
    fs::copy(&loader, &always).map_err(|error| format!("{}: {error}", always.display()))?;
    let script = tests.join("community/php/setup.php");
    log.run(site.php().arg(script).arg(wordpress).args([&main, "activate"]))?;
    Ok(())
}

/// Installs Yoast SEO on a site and activates it; without its folder, installs a stand-in.
pub(super) fn install_yoast(
    tree: Option<&Path>,
    site: &Site,
    wordpress: &Path,
    log: &Log,
) -> Result<(), String> {
    let tests = root::checkout().join("tests");
    let Some(tree) = tree else {
        let stand_in = site.folder().join("content/mu-plugins/yoast.php");
        return fs::copy(tests.join("sites/php/yoast.php"), &stand_in)
            .map(drop)
            .map_err(|error| format!("{}: {error}", stand_in.display()));
    };
    let name = "wordpress-seo";
    copy(tree, site, name, log)?;
    let folder = site.folder().join("content/plugins").join(name);
    if !folder.join("vendor/autoload.php").exists() {
        log.run(site.php().arg(tests.join("sites/php/classmap.php")).arg(&folder))?;
    }
    let main = format!("{name}/{}", main_file(tree)?);
    let script = tests.join("community/php/setup.php");
    log.run(site.php().arg(script).arg(wordpress).args([&main, "activate"]))?;
    Ok(())
}

/// The file of a plugin that contains its name.
pub(crate) fn main_file(folder: &Path) -> Result<String, String> {
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(said)? {
        let path = entry.map_err(said)?.path();
        let is_php = path.extension().is_some_and(|extension| extension == "php");
        if is_php && fs::read_to_string(&path).is_ok_and(|text| text.contains("Plugin Name:")) {
            return Ok(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
        }
    }
    Err(format!("{}: no plugin of WordPress", folder.display()))
}

/// Copies a plugin to a site, into the folder with this name, as it would be installed.
pub(crate) fn copy(tree: &Path, site: &Site, name: &str, log: &Log) -> Result<(), String> {
    let to = &site.folder().join("content/plugins").join(name);
    let said = |error: std::io::Error| format!("{}: {error}", to.display());
    fs::create_dir_all(to).map_err(said)?;
    let packed = to.with_extension("tar");
    log.run(
        Command::new("tar")
            .arg("--create")
            .arg("--file")
            .arg(&packed)
            .args(LEFT_OUT)
            .arg("-C")
            .arg(tree)
            .arg("."),
    )?;
    log.run(Command::new("tar").arg("--extract").arg("--file").arg(&packed).arg("-C").arg(to))?;
    fs::remove_file(&packed).map_err(said)
}
