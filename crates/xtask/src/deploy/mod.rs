//! The step `deploy` of `cargo xtask test`: the files in `deploy`. systemd checks the units, the schemas of Kubernetes
//! check the manifests, Dragoman checks the configurations, and real proxies run with their snippets in front of
//! Dragoman. This module must not know what a setting means.
//!
//! | file | is for |
//! |---|---|
//! | `proxies` | nginx, HAProxy and Caddy in front of Dragoman |

mod proxies;

use crate::root::{Programs, checkout};
use crate::run::Log;
use crate::stage::scratch;
use crate::tally::Tally;
use crate::tools::for_deploy;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The folder of the files.
const FOLDER: &str = "deploy";

/// The maximum exposure that `systemd-analyze security` may report for the unit, in tenths.
const EXPOSURE: &str = "20";

const MANIFESTS: [&str; 3] = ["deployment.yaml", "service.yaml", "storage.yaml"];

/// Checks all files.
pub(crate) fn checked(programs: &Programs, log: &Log) -> Result<Tally, String> {
    let python = for_deploy(log)?;
    let folder = checkout().join(FOLDER);
    let mut tally = units(&folder.join("systemd"), log)?;
    for manifest in MANIFESTS {
        let mut command = Command::new(python.with_file_name("kubernetes-validate"));
        command.arg("--strict").arg(folder.join("kubernetes").join(manifest));
        tally += passed(&mut command, log)?;
    }
    for place in ["kubernetes", "container"] {
        let mut command = Command::new(programs.dragoman());
        command.args(["check", "--config"]).arg(folder.join(place).join("dragoman.yaml"));
        tally += passed(&mut command, log)?;
    }
    tally += versions(&folder, log)?;
    tally += proxies::pass_streams(programs, &folder.join("proxies"), log)?;
    Ok(tally)
}

/// Checks that systemd knows every setting of the units, and that the service is well confined.
fn units(folder: &Path, log: &Log) -> Result<Tally, String> {
    let exposure = format!("--threshold={EXPOSURE}");
    let mut security = Command::new("systemd-analyze");
    security.args(["security", "--offline=yes", &exposure]).arg(folder.join("dragoman.service"));
    let mut tally = passed(&mut security, log)?;
    // The units are checked in a copy: the program of the original is not installed here.
    let copy = scratch("deploy-units")?;
    let drop_in = copy.join("dragoman.service.d");
    let failed = |error: std::io::Error| format!("{}: {error}", copy.display());
    fs::create_dir_all(&drop_in).map_err(failed)?;
    for (name, from) in [
        ("dragoman.service", "dragoman.service"),
        ("dragoman.socket", "activation/dragoman.socket"),
        ("dragoman.service.d/10-children.conf", "dragoman.service.d/10-children.conf"),
    ] {
        let text = fs::read_to_string(folder.join(from)).map_err(|error| format!("{from}: {error}"))?;
        fs::write(copy.join(name), text.replace("/usr/bin/dragoman", "/bin/true")).map_err(failed)?;
    }
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no"]).arg(copy.join("dragoman.service")).arg(copy.join("dragoman.socket"));
    let (good, said) = log.status(&mut verify)?;
    // systemd only warns about settings that it does not know.
    tally += judged(good && !said.contains("dragoman."), "systemd knows every setting of the units", log);
    Ok(tally)
}

/// Checks that the files name the image of this version.
fn versions(folder: &Path, log: &Log) -> Result<Tally, String> {
    let image = format!("image: dragoman:{}", env!("CARGO_PKG_VERSION"));
    let mut tally = Tally::default();
    for name in ["kubernetes/deployment.yaml", "container/compose.yaml"] {
        let text = fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
        tally += judged(text.contains(&image), &format!("{name} names the image of this version"), log);
    }
    Ok(tally)
}

fn passed(command: &mut Command, log: &Log) -> Result<Tally, String> {
    Ok(Tally::one(log.status(command)?.0))
}

fn judged(good: bool, what: &str, log: &Log) -> Tally {
    log.note(&format!("{} {what}", if good { "ok" } else { "not ok" }));
    Tally::one(good)
}
