//! The command of the service's unit, started as systemd starts it: with a socket that another process has opened,
//! and with a socket for notifications. systemd itself needs a separate machine, so `systemd-socket-activate` and
//! this module take its place.

use crate::auth::free_address;
use crate::files::template;
use crate::package::workshop::Workshop;
use crate::run::Service;
use crate::tally::Tally;
use crate::tools::for_units;
use std::fs;
use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The maximum time until the service is ready, and until it has ended.
const WITHIN: Duration = Duration::from_secs(20);

/// Starts the program that the tests use, with the command in the unit of this checkout.
pub(in crate::package) fn checked(workshop: &Workshop<'_>) -> Result<Tally, String> {
    let folder = Workshop::empty("unit")?;
    let configuration = folder.join("dragoman.yaml");
    fs::write(&configuration, template("packaging/debian/dragoman.yaml")?)
        .map_err(|error| error.to_string())?;
    let program = workshop.release.program.display().to_string();
    let command = command_of(&template("deploy/systemd/dragoman.service")?)?;
    let command = command.replace("/usr/bin/dragoman", &program);
    let command = command.replace("/etc/dragoman/dragoman.yaml", &configuration.display().to_string());
    activated(workshop, &[], &command, &folder.display().to_string())
}

/// Starts the service of an installed package.
pub(super) fn started(workshop: &Workshop<'_>, root: &Path) -> Result<Tally, String> {
    let unit = ["usr/lib/systemd/system", "lib/systemd/system"]
        .map(|folder| root.join(folder).join("dragoman.service"));
    let text = unit.iter().find_map(|file| fs::read_to_string(file).ok()).ok_or("the package has no unit")?;
    activated(workshop, &["chroot", &root.display().to_string()], &command_of(&text)?, "/var/lib/dragoman")
}

/// The command in a unit.
fn command_of(unit: &str) -> Result<String, String> {
    let found = unit.lines().find_map(|line| line.strip_prefix("ExecStart="));
    found.map(str::to_owned).ok_or_else(|| "the unit has no ExecStart".to_owned())
}

/// Runs a command with a listening socket and a socket for notifications. The connection of the Inspector starts
/// the command.
fn activated(workshop: &Workshop<'_>, before: &[&str], command: &str, home: &str) -> Result<Tally, String> {
    for_units(workshop.log)?;
    let address = free_address()?;
    let name = format!("dragoman-package-{}", std::process::id());
    let place = SocketAddr::from_abstract_name(&name).map_err(|error| error.to_string())?;
    let notices =
        UnixDatagram::bind_addr(&place).map_err(|error| format!("a socket for notices: {error}"))?;
    notices.set_read_timeout(Some(Duration::from_millis(200))).map_err(|error| error.to_string())?;
    let mut activate = Command::new("systemd-socket-activate");
    activate.args([
        "--listen",
        &address,
        "-E",
        &format!("NOTIFY_SOCKET=@{name}"),
        "-E",
        &format!("HOME={home}"),
    ]);
    activate.args(["-E", "XDG_DATA_HOME=/var/lib"]).args(before).args(command.split_whitespace());
    activate.args(["--listen", &address]);
    let ready = |line: &str| line.contains("Listening on").then(String::new);
    let (service, _) = Service::start(&mut activate, workshop.log, ready)?;
    let mut tally =
        workshop.sees(&["--transport", "http", &format!("http://{address}/mcp")], super::inspected::TOOL)?;
    tally += workshop.judged(told(&notices, "READY=1"), "the service tells that it is ready");
    let status = service.ended()?;
    tally += workshop.judged(told(&notices, "STOPPING=1"), "the service tells that it stops");
    Ok(tally + workshop.judged(status.success(), &format!("the service ends well: {status}")))
}

/// Waits for a notification; returns false if it does not arrive in time.
fn told(notices: &UnixDatagram, what: &str) -> bool {
    let until = Instant::now() + WITHIN;
    let mut buffer = [0; 4096];
    while Instant::now() < until {
        match notices.recv(&mut buffer) {
            Ok(length) if String::from_utf8_lossy(&buffer[..length]).lines().any(|line| line == what) => {
                return true;
            }
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) => {}
            Err(_) => return false,
        }
    }
    false
}
