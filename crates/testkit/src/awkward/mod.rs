//! Servers that do not want to end, each in its own way, with all that they start. They speak no protocol.
//!
//! Every process of a kind holds the same named pipe open for writing and writes one line when it is where it wants to be. So a
//! reader sees when all are there, and by the end of the pipe that nobody is left: no process can be missed. What none of
//! the product ends ends by itself after two minutes. Must not use any of the product's code, whose judge it is.

mod roles;

use std::{io, path::PathBuf, sync::OnceLock};

use roles::{Place, Role};

/// The path of the program `awkward`; built the first time that a test process asks.
///
/// # Panics
/// When it cannot be built: then no test that needs it can run.
pub fn program() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| crate::program::program("awkward")).clone()
}

/// The ways in which a server can be awkward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Ends with its stdin, and starts nothing.
    Polite,
    /// Takes no notice of its stdin.
    NeverReads,
    /// Takes no notice of SIGTERM and of its stdin either.
    Deaf,
    /// Closes its stdin and goes on.
    ClosesStdin,
    /// Closes its stdout and goes on.
    ClosesStdout,
    /// Writes to stderr without end.
    Loud,
    /// Stops itself by SIGSTOP.
    Stopped,
    /// Starts helpers in the background.
    Helpers,
    /// Starts helpers and exits.
    LeavesHelpers,
    /// Starts a helper that takes no notice of SIGTERM.
    DeafHelper,
    /// Starts a helper with a process group of its own.
    OwnGroup,
    /// Starts a helper with a session of its own that takes no notice of SIGTERM.
    OwnSession,
    /// Starts a daemon: an orphan with a session of its own, without any pipe of its parents.
    Daemon,
    /// Starts a daemon that takes no notice of SIGTERM, and exits.
    LeavesDaemon,
    /// Starts a deaf helper with a session of its own that stops itself.
    StoppedHelper,
    /// Starts a helper that adopts orphans, never reaps them, and has a daemon.
    Adopter,
    /// Starts a helper that starts a helper, and so on.
    Deep,
    /// Starts processes that end and are never reaped.
    Zombies,
    /// Starts processes all the time, each deaf and in a session of its own.
    Storm,
    /// Starts a daemon that starts its successor and exits, and so on.
    Chain,
    /// Starts a deaf daemon and kills its own parent.
    KillsParent,
}

impl Kind {
    /// All of them.
    pub fn all() -> &'static [Self] {
        clap::ValueEnum::value_variants()
    }

    /// The word for it on the command line.
    pub fn word(self) -> String {
        clap::ValueEnum::to_possible_value(&self).map_or_else(String::new, |word| word.get_name().to_owned())
    }

    /// The number of lines that its processes write until all that it wants is there.
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
    /// The way in which it is awkward.
    #[arg(value_enum)]
    kind: Kind,
    /// The named pipe.
    pipe: PathBuf,
    /// Its place in the tree; the server itself if this is missing.
    #[arg(long, value_enum, default_value_t = Role::Server)]
    role: Role,
    /// The number of processes between it and its server.
    #[arg(long, default_value_t = 0)]
    depth: usize,
}

/// Is that process until it is ended.
///
/// # Errors
/// It could not be what it was told to be.
pub fn run(options: &Options) -> io::Result<()> {
    Place::take(options)?.live()
}
