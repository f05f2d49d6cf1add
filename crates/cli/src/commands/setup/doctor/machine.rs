//! Checks of this machine: the addresses to listen on, and the checks of `gateway::machine`.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use config::Config;
use gateway::machine;

use super::finding::{Finding, Level};
use crate::commands::configuration::settings::Settings;
use crate::commands::configuration::state;
use crate::commands::serving::address;

/// The time limit for the complete answer of a program that listens on one of our addresses.
const PATIENCE: Duration = Duration::from_secs(2);

/// Returns the findings about this machine.
pub(super) fn findings(settings: &Settings) -> Vec<Finding> {
    let mut all: Vec<Finding> =
        settings.config.listen.iter().map(|address| listening(*address, &settings.config)).collect();
    let folder = state::folder(settings);
    all.extend(machine::findings(&settings.config, folder.as_deref().ok()).into_iter().map(Finding::from));
    if let Err(failure) = &folder {
        let (message, help) = (failure.message_alone(), failure.help_alone());
        all.push(Finding::new(Level::Error, "state folder", message, help));
    }
    all
}

/// Checks that Dragoman can listen on an address, or that a gateway listens there already.
fn listening(address: SocketAddr, config: &Config) -> Finding {
    let url = address::url(config, address, "/mcp");
    let subject = format!("address {address}");
    match TcpListener::bind(address) {
        Ok(_) => Finding::new(Level::Ok, subject, "it is free", None),
        Err(e) if e.kind() == io::ErrorKind::AddrInUse => match asked(address::here(address)) {
            Some(true) => Finding::new(Level::Ok, subject, format!("a running Dragoman serves {url}"), None),
            Some(false) if config.tls.is_none() => {
                let port = address.port();
                let help = format!(
                    "find it with `ss -ltnp 'sport = :{port}'` and stop it, or choose another port with `listen`"
                );
                Finding::new(Level::Error, subject, "another program listens there", Some(help))
            }
            _ => {
                let help = "if this is not a running Dragoman, stop the other program, or choose another port with `listen`";
                Finding::new(Level::Warning, subject, "something listens there", Some(help.to_owned()))
            }
        },
        Err(e) => {
            let help = match e.kind() {
                io::ErrorKind::PermissionDenied => {
                    "ports below 1024 need a privilege (CAP_NET_BIND_SERVICE); choose a higher port with `listen`"
                }
                _ => "choose an address of this machine with `listen`; 127.0.0.1 always exists",
            };
            Finding::new(Level::Error, subject, format!("cannot listen there: {e}"), Some(help.to_owned()))
        }
    }
}

/// Returns true if a Dragoman answers at an address, false if another HTTP server does, and `None` if nobody
/// answers. This ends after [`PATIENCE`], even if the other side sends slowly.
fn asked(address: SocketAddr) -> Option<bool> {
    let until = Instant::now() + PATIENCE;
    let left = || Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero());
    let mut stream = TcpStream::connect_timeout(&address, left()?).ok()?;
    stream.set_write_timeout(Some(left()?)).ok()?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = [0; 1024];
    let mut read = 0;
    while let Some(left) = left() {
        stream.set_read_timeout(Some(left)).ok()?;
        let Ok(count @ 1..) = stream.read(&mut answer[read..]) else { break };
        read += count;
    }
    let text = String::from_utf8_lossy(&answer[..read]);
    (!text.is_empty()).then(|| text.contains("Dragoman"))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Answers one request with these bytes, with a pause before each.
    fn slow(answer: Vec<u8>, pause: Option<Duration>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut byte = [0];
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                request.push(byte[0]);
            }
            stream.set_read_timeout(pause).unwrap();
            for one in answer {
                // Nothing more arrives, so this read only waits.
                if pause.is_some() {
                    let _ = stream.read(&mut byte);
                }
                if stream.write_all(&[one]).is_err() {
                    break;
                }
            }
        });
        address
    }

    #[test]
    fn a_slow_answer_does_not_take_long() {
        let since = Instant::now();
        assert_eq!(asked(slow(vec![b'x'; 1000], Some(Duration::from_millis(300)))), Some(false));
        assert!(since.elapsed() < PATIENCE * 5, "{:?}", since.elapsed());
        let page = b"HTTP/1.1 200 OK\r\n\r\nDragoman".to_vec();
        assert_eq!(asked(slow(page, None)), Some(true));
        assert_eq!(asked(slow(Vec::new(), None)), None);
    }
}
