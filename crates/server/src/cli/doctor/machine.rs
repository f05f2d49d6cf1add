//! Checks of this machine: the addresses to listen at, the certificate, the clock, and the state folder with its files.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use engine::config::Config;
use gateway::tls::{self, TlsNote};
use rustix::fs::{Access, access};

use super::super::settings::Settings;
use super::super::{address, state};
use super::finding::{Finding, Level};
use crate::output::moment;

/// The time that a program at one of our addresses has for its whole answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The earliest time that a correct clock can show, in milliseconds since 1970: the beginning of 2026.
const BUILT: u64 = 1_767_225_600_000;

/// The difference between clocks that is never noticed.
const DRIFT: Duration = Duration::from_mins(5);

/// The maximum number of files in the state folder that are looked at.
const MANY: usize = 1000;

/// Returns the findings about this machine.
pub(super) fn findings(settings: &Settings) -> Vec<Finding> {
    let mut all: Vec<Finding> =
        settings.config.listen.iter().map(|address| listening(*address, &settings.config)).collect();
    all.extend(certificate(&settings.config));
    let folder = state::folder(settings);
    match &folder {
        Ok(folder) => {
            all.extend(state_folder(folder));
            all.push(clock(folder));
        }
        Err(failure) => {
            let (message, help) = (failure.message_alone(), failure.help_alone());
            all.push(Finding::new(Level::Error, "state folder", message, help));
        }
    }
    all
}

/// Checks that an address can be listened at, or that a gateway listens there already.
fn listening(address: SocketAddr, config: &Config) -> Finding {
    let url = address::url(config, address, "/mcp");
    let subject = format!("address {address}");
    match TcpListener::bind(address) {
        Ok(_) => Finding::new(Level::Ok, subject, "it is free", None),
        Err(e) if e.kind() == io::ErrorKind::AddrInUse => match asked(address::here(address)) {
            Some(true) => Finding::new(Level::Ok, subject, format!("a Dragoman serves {url}"), None),
            Some(false) if config.tls.is_none() => {
                let port = address.port();
                let help = format!(
                    "`ss -ltnp 'sport = :{port}'` names it; stop it, or choose another port with `listen`"
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

/// Returns true if a Dragoman answers at an address, false if another HTTP server does, and `None` if nobody answers. However
/// slowly the other side sends, this ends after [`PATIENCE`].
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

fn certificate(config: &Config) -> Vec<Finding> {
    let Some(files) = &config.tls else { return Vec::new() };
    let finding = |level, note: TlsNote| Finding::new(level, "certificate", note.message, Some(note.help));
    let errors = tls::errors(files).into_iter();
    let mut all: Vec<Finding> = errors.map(|note| finding(Level::Error, note)).collect();
    if all.is_empty() {
        let sound = format!("{} is valid", files.cert.display());
        all.push(Finding::new(Level::Ok, "certificate", sound, None));
    }
    let warnings = tls::warnings(files).into_iter();
    all.extend(warnings.map(|note| finding(Level::Warning, note)));
    all
}

/// Checks that the state folder can be written, and that only its owner can read its files.
fn state_folder(folder: &Path) -> Vec<Finding> {
    let shown = folder.display();
    let finding =
        |level, message: String, help: Option<String>| Finding::new(level, "state folder", message, help);
    let Ok(found) = fs::metadata(folder) else {
        // It is created at the first start, in the nearest folder that exists.
        let parent = folder.ancestors().skip(1).find(|parent| parent.exists());
        return vec![match parent {
            Some(parent) if access(parent, Access::WRITE_OK).is_err() => finding(
                Level::Error,
                format!("{shown} does not exist, and cannot be created in {}", parent.display()),
                Some("create it for the user that runs Dragoman, or set `stateFolder`".to_owned()),
            ),
            _ => finding(Level::Ok, format!("{shown} will be created at the first start"), None),
        }];
    };
    if !found.is_dir() {
        let help = "remove the file, or name another folder with `stateFolder`";
        return vec![finding(Level::Error, format!("{shown} is not a folder"), Some(help.to_owned()))];
    }
    let mut all = Vec::new();
    if access(folder, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let help = format!("run `chown \"$USER\" {shown}` as its owner, or set `stateFolder`");
        all.push(finding(Level::Error, format!("{shown} cannot be written by this user"), Some(help)));
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MANY);
    for entry in entries {
        let Ok(found) = entry.metadata() else { continue };
        let mode = found.permissions().mode() & 0o777;
        if found.is_file() && mode & 0o077 != 0 {
            let file = entry.path().display().to_string();
            let help = format!("run `chmod 600 {file}`");
            all.push(finding(
                Level::Warning,
                format!("other users can open {file} (mode {mode:03o})"),
                Some(help),
            ));
        }
        if found.is_file() && OpenOptions::new().read(true).open(entry.path()).is_err() {
            let file = entry.path().display().to_string();
            let help = format!(
                "it belongs to the user {}: run Dragoman as that user, or change its owner",
                found.uid()
            );
            all.push(finding(Level::Error, format!("{file} cannot be read by this user"), Some(help)));
        }
    }
    if all.is_empty() {
        all.push(finding(Level::Ok, format!("{shown} can be used"), None));
    }
    all
}

/// Checks that the clock is not obviously wrong: certificates, tokens and limits depend on it.
fn clock(folder: &Path) -> Finding {
    let now = SystemTime::now();
    let shown = moment::short(moment::now());
    let help = Some("set the clock, for example with `timedatectl set-ntp true`".to_owned());
    let newest = fs::read_dir(folder).into_iter().flatten().flatten().take(MANY);
    let newest = newest.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max();
    if moment::now() < BUILT {
        return Finding::new(Level::Error, "clock", format!("{shown} UTC is in the past"), help);
    }
    if let Some(ahead) =
        newest.and_then(|newest| newest.duration_since(now).ok()).filter(|ahead| *ahead > DRIFT)
    {
        let message =
            format!("{shown} UTC is {} s before the last change in the state folder", ahead.as_secs());
        return Finding::new(Level::Warning, "clock", message, help);
    }
    Finding::new(Level::Ok, "clock", format!("{shown} UTC"), None)
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
                // Nothing more arrives, so that this read only waits.
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
