//! The programs for a measurement: ours in a release build, nginx from Debian's packages.

use super::contestant::Contestant;
use super::options::Options;
use crate::tools::NotStarted;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The path of nginx in Debian, whose folder is not always in a user's `PATH`.
const NGINX: &str = "/usr/sbin/nginx";

/// The paths of all programs.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    pub(crate) upstream: PathBuf,
    pub(crate) load: PathBuf,
    dragoman: PathBuf,
    /// The older build, with which this one is compared.
    old: Option<PathBuf>,
    pub(crate) nginx: PathBuf,
    /// The number of Dragoman's threads; one per core if `None`.
    pub(crate) threads: Option<usize>,
}

impl Programs {
    /// Builds and installs the required programs that are missing.
    pub(crate) fn prepare(options: &Options) -> Result<Self, String> {
        let built = crate::root::target().join("release");
        let programs = Self {
            upstream: built.join("bench_upstream"),
            load: built.join("bench_load"),
            dragoman: options.dragoman.clone().unwrap_or_else(|| built.join("dragoman")),
            old: options.against.clone(),
            nginx: NGINX.into(),
            threads: options.threads,
        };
        let wants_dragoman = options.contestants.iter().any(|contestant| contestant.runtime().is_some());
        if options.build {
            build(&["-p", "dragoman-testkit", "--bin", "bench_upstream", "--bin", "bench_load"])?;
            if wants_dragoman && options.dragoman.is_none() {
                build(&["-p", "dragoman", "--bin", "dragoman"])?;
            }
        }
        if options.contestants.contains(&Contestant::Nginx) && !programs.nginx.exists() {
            install_nginx()?;
        }
        let mut needed = vec![&programs.upstream, &programs.load];
        needed.extend(wants_dragoman.then_some(&programs.dragoman));
        needed.extend(&programs.old);
        match needed.into_iter().find(|path| !path.exists()) {
            Some(missing) => Err(format!("{} is missing: run without --no-build", missing.display())),
            None => Ok(programs),
        }
    }

    /// The build of Dragoman that a contestant runs.
    pub(crate) fn dragoman(&self, contestant: Contestant) -> &Path {
        match &self.old {
            Some(old) if contestant.is_old() => old,
            _ => &self.dragoman,
        }
    }
}

/// Builds with the release profile; cargo itself shows its progress.
fn build(what: &[&str]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release"])
        .args(what)
        .arg("--target-dir")
        .arg(crate::root::target())
        .current_dir(crate::root::checkout())
        .status()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("cargo build --release {} failed", what.join(" "))) }
}

fn install_nginx() -> Result<(), String> {
    let by_hand =
        "install it with `sudo apt-get install nginx`, or leave it out with --contestants direct,dragoman";
    if !rustix::process::geteuid().is_root() {
        return Err(format!("nginx is missing: {by_hand}"));
    }
    eprintln!("bench: installing nginx");
    let _not_started = NotStarted::new();
    apt(&["update"])
        .and_then(|()| apt(&["install", "--no-install-recommends", "nginx"]))
        .map_err(|why| format!("nginx is missing, and {why}; {by_hand}"))
}

fn apt(args: &[&str]) -> Result<(), String> {
    let done = Command::new("apt-get")
        .args(["-q", "-y", "-o", "DPkg::Lock::Timeout=120"])
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("apt-get did not start: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("`apt-get {}` failed: {}", args.join(" "), String::from_utf8_lossy(&done.stderr).trim()))
}
