//! Servers that resist being ended, each in its own way, together with the processes that they start. They use no protocol.
//!
//! Every process of a kind keeps the same named pipe open for writing, and writes one line when it has reached its state. So a
//! reader sees when all processes have started, and the end of the pipe shows that none is left: no process can be missed. A
//! process that the product does not end ends by itself after two minutes. It must not use any of the product's code, because
//! it judges that code.

mod roles;

use std::{io, path::PathBuf, sync::OnceLock};

use roles::{Place, Role};

/// The path of the program `awkward`, which is built when a test process first asks for it.
///
/// # Panics Panics if the program cannot be built, because no test that needs it can run then.
pub fn program() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| crate::program::program("awkward")).clone()
}

/// The ways in which a server can be awkward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Ends with its stdin, and starts nothing.
    Polite,
    /// Ignores its stdin.
    NeverReads,
    /// Ignores SIGTERM and its stdin.
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
    /// Starts a helper that ignores SIGTERM.
    DeafHelper,
    /// Starts a helper with a process group of its own.
    OwnGroup,
    /// Starts a helper with a session of its own that ignores SIGTERM.
    OwnSession,
    /// Starts a daemon: an orphan with a session of its own, without any pipe of its parents.
    Daemon,
    /// Starts a daemon that ignores SIGTERM, and exits.
    LeavesDaemon,
    /// Starts a deaf helper, which has a session of its own and stops itself.
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
    /// All kinds.
    pub fn all() -> &'static [Self] {
        clap::ValueEnum::value_variants()
    }

    /// The name on the command line.
    pub fn word(self) -> String {
        clap::ValueEnum::to_possible_value(&self).map_or_else(String::new, |word| word.get_name().to_owned())
    }

    /// The number of lines that its processes write until all have reached their state.
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

/// Runs as the process that `options` describes, until it is ended.
///
/// # Errors
/// Fails if the process cannot reach its state.
pub fn run(options: &Options) -> io::Result<()> {
    Place::take(options)?.live()
}
