//! Messages to the service manager that started this process (`sd_notify(3)` of systemd): ready, stopping, and
//! alive. Without a service manager, nothing is sent. This module must not know what the gateway does.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use transport::net::Stop;

/// Tells the service manager that the gateway listens on these addresses.
pub(super) fn ready(addresses: &str) {
    tell(&format!("READY=1\nSTATUS=listening on {addresses}"));
}

/// Reports that the gateway is alive, if the service manager requires this, and finally that the gateway is
/// stopping. This runs on a serving thread, so a gateway that no longer serves does not appear to be alive.
pub(super) fn report(stop: Stop) {
    let pause = watchdog().map(|within| (within / 2).max(Duration::from_millis(10)));
    transport::task::spawn(async move {
        let alive = async {
            let Some(pause) = pause else { return std::future::pending().await };
            loop {
                tell("WATCHDOG=1");
                tokio::time::sleep(pause).await;
            }
        };
        tokio::select! {
            () = alive => {}
            () = stop.stopped() => tell("STOPPING=1\nSTATUS=finishing open requests"),
        }
    });
}

/// Returns the interval within which the service manager expects a heartbeat.
fn watchdog() -> Option<Duration> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let is_meant = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
    number("WATCHDOG_USEC").filter(|_| is_meant).map(Duration::from_micros)
}

fn tell(message: &str) {
    let Some(place) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(e) = send(&place, message) {
        tracing::debug!("the service manager does not accept messages at {}: {e}", place.display());
    }
}

/// Sends a message to a socket. `place` is the path of the socket, or an abstract name, which begins with `@`.
fn send(place: &OsStr, message: &str) -> io::Result<()> {
    let address = match place.as_bytes().strip_prefix(b"@") {
        Some(name) => nameless(name)?,
        None => SocketAddr::from_pathname(place)?,
    };
    let socket = UnixDatagram::unbound()?;
    // A service manager that does not read must not stop the gateway.
    socket.set_nonblocking(true)?;
    socket.send_to_addr(message.as_bytes(), &address).map(drop)
}

#[cfg(target_os = "linux")]
fn nameless(name: &[u8]) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt as _;
    SocketAddr::from_abstract_name(name)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &[u8]) -> io::Result<SocketAddr> {
    Err(io::ErrorKind::Unsupported.into())
}
