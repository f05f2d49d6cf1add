//! The check of the images in an empty storage: loaded, serving on this machine's network, healthy, removed.

use super::inspected::endpoint;
use crate::files::failed;
use crate::package::image::Storage;
use crate::package::release::version;
use crate::package::workshop::Workshop;
use crate::run::Service;
use crate::tally::Tally;
use crate::tools::for_containers;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Checks the image with nothing but the program: it serves the demo.
pub(in crate::package) fn empty(workshop: &Workshop<'_>, files: &[PathBuf]) -> Result<Tally, String> {
    served(workshop, files, "dragoman", "mcpServers: { demo: { native: demo } }\n", super::inspected::TOOL)
}

/// Checks the image for servers that are programs: it serves one server that npx starts, and one that uvx starts.
pub(in crate::package) fn with_programs(workshop: &Workshop<'_>, files: &[PathBuf]) -> Result<Tally, String> {
    let servers = "mcpServers:\n  everything: { command: npx, args: [-y, \"@modelcontextprotocol/server-everything\"] }\n  \
                   time: { command: uvx, args: [mcp-server-time] }\nlimits: { listWait: 1m, startTimeout: 2m }\n";
    let mut tally = served(workshop, files, "dragoman-programs", servers, "everything__echo")?;
    tally += served(workshop, files, "dragoman-programs", servers, "time__get_current_time")?;
    Ok(tally)
}

/// Runs an image with a configuration; the Inspector must see this tool.
fn served(
    workshop: &Workshop<'_>,
    files: &[PathBuf],
    name: &str,
    servers: &str,
    tool: &str,
) -> Result<Tally, String> {
    for_containers(workshop.log)?;
    let folder = Workshop::empty(name)?;
    let file = folder.join("dragoman.yaml");
    fs::write(&file, format!("listen: 127.0.0.1:0\n{servers}")).map_err(|error| failed(&file, &error))?;
    let storage = Storage::emptied("running")?;
    let archive = files.first().ok_or("no image")?;
    let tag = format!("localhost/{name}:{}", version());
    workshop.log.run(storage.command("podman").args(["load", "--quiet", "--input"]).arg(archive))?;
    let (service, url) = Service::start(&mut run(&storage, &folder, &tag), workshop.log, endpoint)?;
    // The first start of a server downloads it.
    let patient = ["--transport", "http", &url, "--connect-timeout", "120000"];
    let mut tally = workshop.sees(&patient, tool)?;
    if !tally.good() {
        service.tell(workshop.log);
    }
    let mut healthy = podman(&storage);
    healthy.args([
        "exec",
        CONTAINER,
        "/usr/bin/dragoman",
        "status",
        "--quiet",
        "--config",
        "/etc/dragoman/dragoman.yaml",
    ]);
    tally += workshop.passes(&mut healthy)?;
    let status = service.ended()?;
    tally += workshop.judged(status.success(), &format!("the container ends well: {status}"));
    workshop.log.run(storage.command("podman").args(["rmi", &tag]))?;
    let left = workshop.log.run(storage.command("podman").args(["images", "--quiet"]))?;
    tally += workshop.judged(left.trim().is_empty(), "no image is left");
    storage.removed()?;
    Ok(tally)
}

const CONTAINER: &str = "dragoman-check";

/// The command that runs an image. Package managers in the image use the same registries as those of this machine.
fn run(storage: &Storage, folder: &Path, tag: &str) -> Command {
    let mut command = podman(storage);
    command.args([
        "run",
        "--rm",
        "--network",
        "host",
        "--read-only",
        "--cap-drop",
        "all",
        "--name",
        CONTAINER,
    ]);
    // A machine for tests may not let containers have the usual limits.
    command.args(["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"]);
    command.arg("--volume").arg(format!("{}:/etc/dragoman:ro", folder.display()));
    // Package managers in the image trust the authorities that this machine trusts.
    command.args(["--volume", "/etc/ssl/certs/ca-certificates.crt:/etc/ssl/certs/ca-certificates.crt:ro"]);
    command.args(["--volume", "dragoman-state:/var/lib/dragoman", "--tmpfs", "/tmp:mode=1777,exec"]);
    command.arg(tag);
    command
}

fn podman(storage: &Storage) -> Command {
    let mut command = storage.command("podman");
    command.args(["--runtime", "runc", "--cgroup-manager", "cgroupfs"]);
    command
}
