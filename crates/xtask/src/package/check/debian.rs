//! The check of the Debian package in a minimal Debian: the package is installed and serves; removing it keeps its
//! configuration, and purging it deletes the configuration.

use super::traces::Traces;
use super::unit;
use crate::files::failed;
use crate::package::system;
use crate::package::workshop::Workshop;
use crate::tally::Tally;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Parts of the paths of files that are ignored: dpkg writes them for every package, or the loader of shared
/// libraries creates them.
const DPKG: &[&str] = &[
    "/var/lib/dpkg/",
    "/var/log/",
    "/var/cache/",
    "/etc/ld.so.cache",
    "/var/lib/systemd/deb-systemd-helper",
];

const CONFIGURATION: &str = "etc/dragoman/dragoman.yaml";

pub(in crate::package) fn checked(workshop: &Workshop<'_>, files: &[PathBuf]) -> Result<Tally, String> {
    let root = Workshop::empty("debian")?.join("root");
    system::copied(&root, workshop.log)?;
    let before = Traces::of(&root, DPKG)?;
    let package = files.first().ok_or("no package")?;
    let inside = root.join("tmp/dragoman.deb");
    let install = || {
        fs::copy(package, &inside).map_err(|error| failed(&inside, &error))?;
        workshop.log.run(&mut within(&root, &["dpkg", "--install", "/tmp/dragoman.deb"]))?;
        fs::remove_file(&inside).map_err(|error| failed(&inside, &error))
    };
    install()?;
    let mut lintian = Command::new("lintian");
    lintian.args(["--fail-on", "error", "--suppress-tags", EXCUSED, "--allow-root"]).arg(package);
    let mut tally = workshop.passes(&mut lintian)?;
    tally += workshop.serves(within(&root, &["/usr/bin/dragoman"]))?;
    tally += unit::started(workshop, &root)?;
    let configuration = root.join(CONFIGURATION);
    fs::write(&configuration, "listen: 127.0.0.1:8809\n").map_err(|error| failed(&configuration, &error))?;
    workshop.log.run(&mut within(&root, &["dpkg", "--remove", "dragoman"]))?;
    tally += workshop.judged(configuration.exists(), "a removal keeps the configuration");
    install()?;
    let kept = fs::read_to_string(&configuration).is_ok_and(|text| text.contains("8809"));
    tally += workshop.judged(kept, "a new installation keeps a changed configuration");
    let state = root.join("var/lib/private/dragoman");
    fs::create_dir_all(&state).map_err(|error| failed(&state, &error))?;
    workshop.log.run(&mut within(&root, &["dpkg", "--purge", "dragoman"]))?;
    let gone = !state.exists() && !configuration.exists();
    tally += workshop.judged(gone, "a purge removes the configuration and the state");
    Ok(tally + workshop.is_removed(&before)?)
}

/// The findings of lintian that are ignored: cargo's dependencies are linked into one program, and the package is
/// not part of Debian.
const EXCUSED: &str = "embedded-library,bogus-mail-host-in-debian-changelog,malformed-contact,maintainer-address-missing,no-copyright-file,statically-linked-binary";

/// Returns a command that runs in the minimal Debian, without this machine's environment variables.
fn within(root: &Path, command: &[&str]) -> Command {
    let mut chroot = Command::new("chroot");
    chroot.arg(root).args(command).env_clear();
    chroot.envs([
        ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"),
        ("HOME", "/root"),
        ("XDG_DATA_HOME", "/var/lib"),
        ("DEBIAN_FRONTEND", "noninteractive"),
    ]);
    chroot
}
