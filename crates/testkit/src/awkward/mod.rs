//! Servers that resist being stopped, each in its own way, and the processes that they start. They use no protocol.
//!
//! A server and all processes that it starts keep the same named pipe open for writing. Each process writes one
//! line once it has reached its final state, so a reader sees when all of them have started. The pipe reaches its
//! end only when no process is left, so no process can be overlooked. A process that the product does not end exits
//! by itself after two minutes. This module must not use any of the product's code, because it tests that code.

mod roles;

use std::{io, path::PathBuf, sync::OnceLock};

use roles::{Place, Role};

/// The path of the program `awkward`, which is built when a test process first asks for it.
///
/// # Panics
/// Panics if the program cannot be built, because no test that needs it can run then.
pub fn program() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| crate::program::program("awkward")).clone()
}

/// The ways in which a server can be awkward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Exits when its stdin ends, and starts no processes.
    Polite,
    /// Ignores its stdin.
    NeverReads,
    /// Ignores SIGTERM and its stdin.
    Deaf,
    /// Closes its stdin and keeps running.
    ClosesStdin,
    /// Closes its stdout and keeps running.
    ClosesStdout,
    /// Writes to stderr endlessly.
    Loud,
    /// Stops itself by SIGSTOP.
    Stopped,
    /// Starts helpers in the background.
    Helpers,
    /// Starts helpers and exits.
    LeavesHelpers,
    /// Starts a helper that ignores SIGTERM.
    DeafHelper,
    /// Starts a helper with a process group of its own.
    OwnGroup,
    /// Starts a helper that ignores SIGTERM and has a session of its own.
    OwnSession,
    /// Starts a daemon: an orphan that has a session of its own and none of its parent's standard streams.
    Daemon,
    /// Starts a daemon that ignores SIGTERM; then the server exits.
    LeavesDaemon,
    /// Starts a helper that ignores SIGTERM, has a session of its own, and stops itself by SIGSTOP.
    StoppedHelper,
    /// Starts a helper that adopts orphans without ever reaping them, and that starts a daemon.
    Adopter,
    /// Starts a helper that starts a helper, and so on.
    Deep,
    /// Starts processes that end and are never reaped.
    Zombies,
    /// Starts processes continuously; each ignores SIGTERM and has a session of its own.
    Storm,
    /// Starts a daemon that starts its successor and exits, and so on.
    Chain,
    /// Starts a daemon that ignores SIGTERM, and kills its own parent.
    KillsParent,
}

impl Kind {
    /// All kinds.
    pub fn all() -> &'static [Self] {
        clap::ValueEnum::value_variants()
    }

    /// The name on the command line.
    pub fn word(self) -> String {
        clap::ValueEnum::to_possible_value(&self).map_or_else(String::new, |word| word.get_name().to_owned())
    }

    /// The number of lines that the server and its processes write until all of them have reached their state.
    pub fn lines(self) -> usize {
        match self {
            Self::Helpers | Self::LeavesHelpers => 4,
            Self::DeafHelper
            | Self::OwnGroup
            | Self::OwnSession
            | Self::StoppedHelper
            | Self::Daemon
            | Self::LeavesDaemon
            | Self::KillsParent => 2,
            Self::Adopter => 3,
            Self::Deep => 9,
            Self::Storm => 20,
            Self::Chain => 10,
            _ => 1,
        }
    }
}

/// The program's arguments.
#[derive(Clone, Debug, clap::Parser)]
pub struct Options {
    /// The kind of awkward server.
    #[arg(value_enum)]
    kind: Kind,
    /// The named pipe.
    pipe: PathBuf,
    /// The role of this process in its server's tree; the default is the server itself.
    #[arg(long, value_enum, default_value_t = Role::Server)]
    role: Role,
    /// The number of ancestors of this process, up to and including the server.
    #[arg(long, default_value_t = 0)]
    depth: usize,
}

/// Runs as the process that `options` describes, until it is ended.
///
/// # Errors
/// Fails if the process cannot reach its state.
pub fn run(options: &Options) -> io::Result<()> {
    Place::take(options)?.live()
}
