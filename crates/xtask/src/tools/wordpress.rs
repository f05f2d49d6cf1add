//! A WordPress that is served from a folder: Debian's own package, unpacked but not installed, with its requirements.

use super::apt;
use super::stamp;
use crate::root;
use crate::run::Log;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages that WordPress requires, and commands that detect them.
const RUNS_ON: &[apt::Package] = &[
    ("php-cli", &["php", "--version"]),
    ("php-mysql", &["php", "-r", "exit((int) !extension_loaded('mysqli'));"]),
    ("php-gd", &["php", "-r", "exit((int) !extension_loaded('gd'));"]),
    ("php-zip", &["php", "-r", "exit((int) !extension_loaded('zip'));"]),
    ("mariadb-server-core", &["mariadbd", "--version"]),
];
/// The additional packages for community plugins.
const FOR_COMMUNITIES: &[apt::Package] = &[
    ("php-mbstring", &["php", "-r", "exit((int) !extension_loaded('mbstring'));"]),
    ("php-xml", &["php", "-r", "exit((int) !extension_loaded('dom'));"]),
];
/// The packages that contain WordPress. Packages that would install a web server or a database as a service are
/// left out.
const MADE_OF: &[&str] = &["wordpress", "php-getid3"];
const THEME: &str = "wordpress-theme-";

/// Installs the requirements of WordPress, and returns a folder with WordPress: `own`, or else Debian's, unpacked below
/// `target/tools`. The settings are those in `tests/sites/php/wp-config.php`.
pub(crate) fn wordpress(own: Option<&Path>, log: &Log) -> Result<PathBuf, String> {
    apt::install(RUNS_ON, log)?;
    if let Some(tree) = own {
        let tree = fs::canonicalize(tree).map_err(|error| format!("{}: {error}", tree.display()))?;
        if !tree.join("wp-load.php").exists() {
            return Err(format!("{}: no WordPress, wp-load.php is missing", tree.display()));
        }
        configured(&tree)?;
        return Ok(tree);
    }
    let folder = root::tools().join("wordpress");
    let tree = folder.join("tree/usr/share/wordpress");
    stamp::once(&folder, &MADE_OF.join(" "), || unpack(&folder, &tree, log))?;
    configured(&tree)?;
    Ok(tree)
}

/// As [`wordpress`], with the requirements of community plugins.
pub(crate) fn wordpress_for_communities(own: Option<&Path>, log: &Log) -> Result<PathBuf, String> {
    apt::install(FOR_COMMUNITIES, log)?;
    wordpress(own, log)
}

/// Copies the settings of the test sites into a WordPress.
fn configured(tree: &Path) -> Result<(), String> {
    let settings = root::checkout().join("tests/sites/php/wp-config.php");
    let ours = tree.join("wp-config.php");
    // Usually the settings have not changed; then another run may be reading them.
    let same = fs::read(&ours).ok() == fs::read(&settings).ok();
    if !same {
        fs::copy(&settings, &ours).map_err(|error| format!("{}: {error}", ours.display()))?;
    }
    Ok(())
}

fn unpack(folder: &Path, tree: &Path, log: &Log) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    let (packages, to) = (folder.join("packages"), folder.join("tree"));
    for folder in [&packages, &to] {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(said)?;
        }
        fs::create_dir_all(folder).map_err(said)?;
    }
    apt::know("wordpress", log)?;
    let depends = log.run(Command::new("apt-cache").args(["depends", "wordpress"]))?;
    let themes = depends.split_whitespace().filter(|word| word.starts_with(THEME)).take(1);
    let mut download = Command::new("apt-get");
    // Another user could not write here.
    download.args(["-q", "-o", "APT::Sandbox::User=root", "download"]).args(MADE_OF).args(themes);
    log.run(download.current_dir(&packages))?;
    for entry in fs::read_dir(&packages).map_err(said)? {
        let package = entry.map_err(said)?.path();
        log.run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&to))?;
    }
    fs::remove_dir_all(&packages).map_err(said)?;
    if !tree.join("wp-load.php").exists() {
        return Err(format!("the package wordpress has no {}/wp-load.php", tree.display()));
    }
    Ok(())
}
