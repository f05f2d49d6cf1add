//! The processes between the gateway and its servers, so that whole trees end, also when the gateway is killed. Linux only.
//!
//! ```text
//! gateway ── guardian (own program again, with the first server) ── holder A (fork) ── server A ── helpers …
//!    └────── pipes of stdin, stdout, stderr go straight to servers ────────┘       └── holder B ── server B
//! ```
//!
//! | file | is for |
//! |---|---|
//! | `message` | what these processes tell each other, as bytes; pure |
//! | `socket` | packets with descriptors beside them |
//! | `kernel` | fork, signals as bytes of a file: all `unsafe` there is |
//! | `guard` | the guardian: forks holders, ends what a killed holder left |
//! | `holder` | the parent of one server: reaps, ends the whole tree |
//! | `server` | a holder's child until the server's program replaces it |
//! | `tree` | descendants in `/proc`, and signals to them |
//!
//! There is a holder for each server, because orphans of a common parent would no longer show whose they were. The server
//! itself adopts nobody: most programs never reap strangers. Guardian and holders have one thread and no runtime, since only
//! such a process may fork and go on. Each holder has a socket whose other end is the gateway's alone: when that is closed,
//! for whatever reason, the holder ends its tree. It must not know the gateway's side, which is `guarded`.

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

/// The argument by which a program is told that it is its own guardian.
const ROLE: &str = "guardian-of-children";

/// This program calls [`enter`] first.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// Is the guardian if this process was started as one, and then returns the process's exit code. To be called before anything
/// else, and above all before there is a second thread. Without it, children are ended by their process groups.
pub fn enter() -> Option<ExitCode> {
    if std::env::args_os().nth(1).is_some_and(|first| first == ROLE) {
        return Some(guard_stdin().map_or(ExitCode::from(2), ExitCode::from));
    }
    ENTERED.store(true, Ordering::Relaxed);
    None
}

/// The arguments by which this program becomes a guardian; `None` for a program that never does.
#[cfg_attr(test, expect(clippy::unnecessary_wraps, reason = "tests always have a guardian"))]
pub(super) fn arguments() -> Option<&'static [&'static str]> {
    #[cfg(test)]
    return Some(&["child::tests::guardian_role", "--exact", "--nocapture", "--test-threads=1"]);
    #[cfg(not(test))]
    ENTERED.load(Ordering::Relaxed).then_some(&[ROLE])
}

/// Guards the servers of the gateway whose socket is this process's stdin. `None` if it is none.
pub(super) fn guard_stdin() -> Option<u8> {
    let stdin = std::io::stdin();
    if socket_type(stdin.as_fd()) != Ok(SocketType::SEQPACKET) {
        return None;
    }
    let gateway: OwnedFd = stdin.as_fd().try_clone_to_owned().ok()?;
    dup2_stdin(File::open("/dev/null").ok()?).ok()?;
    Some(guard::run(gateway))
}
