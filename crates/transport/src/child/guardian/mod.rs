//! The processes between the gateway and its servers. Thanks to them, whole trees end even if the gateway is killed.
//! Linux only.
//!
//! ```text
//! gateway ── guardian (own program again, with the first server) ── holder A (fork) ── server A ── helpers …
//!    └────── pipes of stdin, stdout, stderr go straight to servers ────────┘       └── holder B ── server B
//! ```
//!
//! | file | is for |
//! |---|---|
//! | `message` | the messages between these processes, as bytes; pure |
//! | `socket` | packets with attached descriptors |
//! | `kernel` | forks, and signals through a file descriptor: all `unsafe` code |
//! | `guard` | the guardian: forks holders, ends the processes that a killed holder left behind |
//! | `holder` | the parent of one server: reaps, ends the whole tree |
//! | `server` | a holder's child until the server's program replaces it |
//! | `tree` | descendants in `/proc`, and signals to them |
//!
//! There is one holder for each server: if servers had a common parent, it could not be determined to which server
//! an orphan belongs. The server itself adopts no orphans: most programs never reap unknown children. The guardian
//! and the holders have one thread and no runtime, because only such a process may continue after a fork. Each
//! holder has a socket whose other end only the gateway holds. When that end is closed, for whatever reason, the
//! holder ends its tree. This module must not know the gateway's side, which is in `guarded`.

mod guard;
mod holder;
mod kernel;
pub(super) mod message;
mod server;
pub(super) mod socket;
mod tree;

use std::{
    fs::File,
    os::fd::{AsFd, OwnedFd},
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::{
    net::{SocketType, sockopt::socket_type},
    stdio::dup2_stdin,
};

/// The argument that starts this program as a guardian.
const ROLE: &str = "guardian-of-children";

/// True if this program calls [`enter`] first.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// Runs the guardian if this process was started as one, and then returns the process's exit code. Call this
/// function before anything else, and in particular before there is a second thread. If this function is not
/// called, children are ended by their process groups.
pub fn enter() -> Option<ExitCode> {
    if std::env::args_os().nth(1).is_some_and(|first| first == ROLE) {
        return Some(guard_stdin().map_or(ExitCode::from(2), ExitCode::from));
    }
    ENTERED.store(true, Ordering::Relaxed);
    None
}

/// Returns the arguments that make this program a guardian; `None` if the program never calls [`enter`].
#[cfg_attr(test, expect(clippy::unnecessary_wraps, reason = "tests always have a guardian"))]
pub(super) fn arguments() -> Option<&'static [&'static str]> {
    #[cfg(test)]
    return Some(&["child::tests::guardian_role", "--exact", "--nocapture", "--test-threads=1"]);
    #[cfg(not(test))]
    ENTERED.load(Ordering::Relaxed).then_some(&[ROLE])
}

/// Guards the servers of the gateway whose socket is this process's stdin. Returns `None` if stdin is not such a
/// socket.
pub(super) fn guard_stdin() -> Option<u8> {
    let stdin = std::io::stdin();
    if socket_type(stdin.as_fd()) != Ok(SocketType::SEQPACKET) {
        return None;
    }
    let gateway: OwnedFd = stdin.as_fd().try_clone_to_owned().ok()?;
    dup2_stdin(File::open("/dev/null").ok()?).ok()?;
    Some(guard::run(gateway))
}
