//! Checks of the machine on which the gateway runs: the certificate, the clock, and the state folder with its files. The
//! command `doctor` and the page of the same name show the results. This module must not know who asks.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use config::Config;
use rustix::fs::{Access, access, statvfs};

use crate::tls::{self, TlsNote};

/// The earliest time that a correct clock can show, in milliseconds since 1970: the beginning of 2026.
const BUILT: u128 = 1_767_225_600_000;

/// The maximum difference between clocks that is not reported.
const DRIFT: Duration = Duration::from_mins(5);

/// The maximum number of files in the state folder that are checked.
const MANY: usize = 1000;

/// The free space, in bytes, below which nothing can be stored safely, because a database and its journal grow by
/// whole pages.
const NO_SPACE: u64 = 1 << 20;

/// The free space, in bytes, below which the user should act.
const LITTLE_SPACE: u64 = 64 << 20;

/// The level of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingLevel {
    /// Nothing is wrong.
    Ok,
    /// The subject works, but may not be configured as intended.
    Warning,
    /// The subject does not work.
    Error,
}

/// A finding about the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineFinding {
    /// The level.
    pub level: FindingLevel,
    /// The subject: `certificate`, `clock`, `state folder`.
    pub subject: &'static str,
    /// The finding, in words.
    pub message: String,
    /// The next step, if there is one.
    pub help: Option<String>,
}

impl MachineFinding {
    fn new(
        level: FindingLevel,
        subject: &'static str,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Self {
        Self { level, subject, message: message.into(), help }
    }
}

/// Returns the findings about the machine. This reads files and the clock.
pub fn findings(config: &Config, folder: Option<&Path>) -> Vec<MachineFinding> {
    let mut all = certificate(config);
    if let Some(folder) = folder {
        all.extend(state_folder(folder));
        all.push(clock(folder));
    }
    all
}

fn certificate(config: &Config) -> Vec<MachineFinding> {
    let Some(files) = &config.tls else { return Vec::new() };
    let finding =
        |level, note: TlsNote| MachineFinding::new(level, "certificate", note.message, Some(note.help));
    let errors = tls::errors(files).into_iter();
    let mut all: Vec<MachineFinding> = errors.map(|note| finding(FindingLevel::Error, note)).collect();
    if all.is_empty() {
        let sound = format!("{} is valid", files.cert.display());
        all.push(MachineFinding::new(FindingLevel::Ok, "certificate", sound, None));
    }
    let warnings = tls::warnings(files).into_iter();
    all.extend(warnings.map(|note| finding(FindingLevel::Warning, note)));
    all
}

/// Checks that the state folder can be written, and that only its owner can read its files.
fn state_folder(folder: &Path) -> Vec<MachineFinding> {
    let shown = folder.display();
    let finding = |level, message: String, help: Option<String>| {
        MachineFinding::new(level, "state folder", message, help)
    };
    let Ok(found) = fs::metadata(folder) else {
        // It is created at the first start, in the nearest folder that exists.
        let parent = folder.ancestors().skip(1).find(|parent| parent.exists());
        return vec![match parent {
            Some(parent) if access(parent, Access::WRITE_OK).is_err() => finding(
                FindingLevel::Error,
                format!("{shown} does not exist, and cannot be created in {}", parent.display()),
                Some("create it for the user that runs Dragoman, or set `stateFolder`".to_owned()),
            ),
            _ => finding(FindingLevel::Ok, format!("{shown} will be created at the first start"), None),
        }];
    };
    if !found.is_dir() {
        let help = "remove the file, or name another folder with `stateFolder`";
        return vec![finding(FindingLevel::Error, format!("{shown} is not a folder"), Some(help.to_owned()))];
    }
    let mut all = Vec::new();
    if access(folder, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let help = format!("run `chown \"$USER\" {shown}` as its owner, or set `stateFolder`");
        all.push(finding(FindingLevel::Error, format!("{shown} cannot be written by this user"), Some(help)));
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MANY);
    for entry in entries {
        let Ok(found) = entry.metadata() else { continue };
        let mode = found.permissions().mode() & 0o777;
        if found.is_file() && mode & 0o077 != 0 {
            let file = entry.path().display().to_string();
            let help = format!("run `chmod 600 {file}`");
            all.push(finding(
                FindingLevel::Warning,
                format!("other users can open {file} (mode {mode:03o})"),
                Some(help),
            ));
        }
        // Opening a database and closing it again would release the locks of this process on it (fcntl(2)).
        if found.is_file() && access(entry.path(), Access::READ_OK).is_err() {
            let file = entry.path().display().to_string();
            let help = format!(
                "it belongs to the user {}: run Dragoman as that user, or change its owner",
                found.uid()
            );
            all.push(finding(FindingLevel::Error, format!("{file} cannot be read by this user"), Some(help)));
        }
    }
    if let Ok(disk) = statvfs(folder) {
        all.extend(space(folder, disk.f_bavail.saturating_mul(disk.f_frsize)));
    }
    if all.is_empty() {
        all.push(finding(FindingLevel::Ok, format!("{shown} can be used"), None));
    }
    all
}

/// The finding about the free space of the folder's disk, in bytes; `None` if there is enough.
fn space(folder: &Path, free: u64) -> Option<MachineFinding> {
    let shown = folder.display();
    let (level, message) = match free {
        ..NO_SPACE => (FindingLevel::Error, format!("the disk of {shown} is full")),
        NO_SPACE..LITTLE_SPACE => {
            (FindingLevel::Warning, format!("the disk of {shown} has only {} MiB of free space", free >> 20))
        }
        _ => return None,
    };
    let help = "free up space: until then no key, revocation, consent, session or call can be stored";
    Some(MachineFinding::new(level, "state folder", message, Some(help.to_owned())))
}

/// Checks that the clock is not obviously wrong: certificates, tokens and limits depend on it.
fn clock(folder: &Path) -> MachineFinding {
    let newest = fs::read_dir(folder).into_iter().flatten().flatten().take(MANY);
    let newest = newest.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max();
    clock_showing(SystemTime::now(), newest)
}

/// The finding about a clock that shows `now`; the newest file in the state folder was changed at `newest`.
fn clock_showing(now: SystemTime, newest: Option<SystemTime>) -> MachineFinding {
    let millis = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let shown = jiff::Timestamp::try_from(now)
        .map_or_else(|_| "the clock".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string());
    let help = Some("set the clock, for example with `timedatectl set-ntp true`".to_owned());
    if millis < BUILT {
        return MachineFinding::new(
            FindingLevel::Error,
            "clock",
            format!("{shown} UTC is in the past"),
            help,
        );
    }
    if let Some(ahead) =
        newest.and_then(|newest| newest.duration_since(now).ok()).filter(|ahead| *ahead > DRIFT)
    {
        let message =
            format!("{shown} UTC is {} s before the last change in the state folder", ahead.as_secs());
        return MachineFinding::new(FindingLevel::Warning, "clock", message, help);
    }
    MachineFinding::new(FindingLevel::Ok, "clock", format!("{shown} UTC"), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_with_little_space_is_a_finding() {
        let level = |free| space(Path::new("/var/lib/dragoman"), free).map(|finding| finding.level);
        assert_eq!(level(0), Some(FindingLevel::Error));
        assert_eq!(level(NO_SPACE - 1), Some(FindingLevel::Error));
        assert_eq!(level(NO_SPACE), Some(FindingLevel::Warning));
        assert_eq!(level(LITTLE_SPACE - 1), Some(FindingLevel::Warning));
        assert_eq!(level(LITTLE_SPACE), None);
    }

    #[test]
    fn a_clock_before_this_build_or_before_the_newest_file_is_a_finding() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let now = at(1_800_000_000);
        let found = |now, newest| clock_showing(now, newest);
        assert_eq!(found(now, None).level, FindingLevel::Ok);
        assert_eq!(found(now, Some(now - DRIFT)).level, FindingLevel::Ok);
        assert_eq!(found(now, Some(now + DRIFT)).level, FindingLevel::Ok);
        let late = found(now, Some(now + Duration::from_mins(10)));
        assert_eq!(late.level, FindingLevel::Warning);
        assert_eq!(
            late.message,
            "2027-01-15 08:00:00 UTC is 600 s before the last change in the state folder"
        );
        let past = found(at(0), Some(now));
        assert_eq!(past.level, FindingLevel::Error);
        assert_eq!(past.message, "1970-01-01 00:00:00 UTC is in the past");
        assert!(past.help.is_some_and(|help| help.contains("timedatectl")));
    }

    #[test]
    fn looking_at_the_state_folder_keeps_the_locks_of_its_databases() {
        let folder = std::env::temp_dir().join(format!("dragoman-machine-{}", std::process::id()));
        let keys = store::keys::Keys::open(&folder).unwrap();
        let inode = format!(":{} ", fs::metadata(keys.path()).unwrap().ino());
        let locks = || fs::read_to_string("/proc/locks").unwrap().matches(&inode).count();
        let before = locks();
        assert!(before > 0, "an open database is locked");
        assert!(state_folder(&folder).iter().all(|finding| finding.level != FindingLevel::Error));
        assert_eq!(locks(), before);
        fs::remove_dir_all(&folder).unwrap();
    }
}
