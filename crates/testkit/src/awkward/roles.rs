//! The life of one awkward process.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::{
    io::{FdFlags, fcntl_setfd},
    process::{Signal, getpid, getppid, kill_process, set_child_subreaper, setpgid, setsid},
    stdio::{dup2_stdin, dup2_stdout},
};

use super::{Kind, Options};

/// The maximum lifetime of any process.
const LIFE: Duration = Duration::from_mins(2);

/// The number of processes of a storm that live at the same time, and the length of their lives.
const STORM: (usize, Duration) = (20, Duration::from_millis(100));

/// The longest chain of successors, which takes more than a minute.
const HOPS: usize = 30_000;

/// The role of a process in its server's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Role {
    /// The server.
    Server,
    /// Waits.
    Helper,
    /// Waits, in a process group of its own.
    GroupLeader,
    /// Waits, in a session of its own.
    SessionLeader,
    /// Stops itself, in a session of its own.
    Sleeper,
    /// Starts a daemon and exits.
    Parent,
    /// Adopts orphans.
    Adopter,
    /// Starts the next link of the chain, and waits.
    Link,
    /// Starts its successor, and exits.
    Hop,
    /// Lives for a moment.
    Mote,
    /// Exits at once.
    Nothing,
}

/// This process, with its options and the pipe.
pub(super) struct Place<'a> {
    options: &'a Options,
    /// The pipe, which every process that this one starts inherits.
    pipe: File,
    end: Instant,
}

impl<'a> Place<'a> {
    /// Opens the pipe.
    pub(super) fn take(options: &'a Options) -> io::Result<Self> {
        let pipe = OpenOptions::new().write(true).open(&options.pipe)?;
        fcntl_setfd(&pipe, FdFlags::empty())?;
        Ok(Self { options, pipe, end: Instant::now() + LIFE })
    }

    /// Performs the role of this process.
    pub(super) fn live(&self) -> io::Result<()> {
        match self.options.role {
            Role::Server => self.serve(),
            Role::Helper => self.stay(),
            Role::GroupLeader => {
                setpgid(None, None)?;
                self.stay()
            }
            Role::SessionLeader => {
                setsid()?;
                self.stay()
            }
            Role::Sleeper => {
                setsid()?;
                self.here()?;
                kill_process(getpid(), Signal::STOP)?;
                self.wait();
                Ok(())
            }
            Role::Parent => {
                setsid()?;
                self.start(Role::SessionLeader, self.options.kind != Kind::Daemon)
            }
            Role::Adopter => {
                set_child_subreaper(Some(getpid()))?;
                self.start(Role::Parent, false)?;
                self.stay()
            }
            Role::Link => {
                if self.options.depth < 8 {
                    self.start(Role::Link, false)?;
                }
                self.stay()
            }
            Role::Hop => {
                setsid()?;
                self.here()?;
                if self.options.depth < HOPS { self.start(Role::Hop, false) } else { Ok(()) }
            }
            Role::Mote => {
                setsid()?;
                self.here()?;
                sleep(STORM.1);
                Ok(())
            }
            Role::Nothing => Ok(()),
        }
    }

    fn serve(&self) -> io::Result<()> {
        match self.options.kind {
            Kind::Polite => {
                self.here()?;
                return io::stdin().read_to_end(&mut Vec::new()).map(drop);
            }
            Kind::NeverReads => {}
            Kind::Deaf => return self.go_deaf(),
            Kind::ClosesStdin => dup2_stdin(File::open("/dev/null")?)?,
            Kind::ClosesStdout => dup2_stdout(OpenOptions::new().write(true).open("/dev/null")?)?,
            Kind::Loud => {
                self.here()?;
                while Instant::now() < self.end && io::stderr().write_all(&[b'x'; 1 << 10]).is_ok() {}
                return Ok(());
            }
            Kind::Stopped => {
                self.here()?;
                kill_process(getpid(), Signal::STOP)?;
            }
            Kind::Helpers | Kind::LeavesHelpers => {
                for _ in 0..3 {
                    self.start(Role::Helper, false)?;
                }
            }
            Kind::DeafHelper => self.start(Role::Helper, true)?,
            Kind::OwnGroup => self.start(Role::GroupLeader, false)?,
            Kind::OwnSession => self.start(Role::SessionLeader, true)?,
            Kind::Daemon | Kind::LeavesDaemon => self.start(Role::Parent, false)?,
            Kind::StoppedHelper => self.start(Role::Sleeper, true)?,
            Kind::Adopter => self.start(Role::Adopter, true)?,
            Kind::Deep => self.start(Role::Link, false)?,
            Kind::Zombies => {
                for _ in 0..20 {
                    self.start(Role::Nothing, false)?;
                }
            }
            Kind::Storm => return self.storm(),
            Kind::Chain => self.start(Role::Hop, true)?,
            Kind::KillsParent => {
                self.start(Role::Parent, true)?;
                // Its daemon's line can come at any time; the parent's death also ends this process.
                self.here()?;
                sleep(Duration::from_secs(1));
                let parent = getppid().ok_or(io::ErrorKind::NotFound)?;
                return kill_process(parent, Signal::KILL).map_err(Into::into);
            }
        }
        self.here()?;
        if matches!(self.options.kind, Kind::LeavesHelpers | Kind::LeavesDaemon) {
            // Long enough for the processes to reach their state.
            sleep(Duration::from_secs(1));
        } else {
            self.wait();
        }
        Ok(())
    }

    fn storm(&self) -> io::Result<()> {
        self.here()?;
        while Instant::now() < self.end {
            self.start(Role::Mote, true)?;
            sleep(STORM.1 / u32::try_from(STORM.0).unwrap_or(1));
        }
        Ok(())
    }

    /// Reports that this process has reached its state. The line is written in one call, so lines of other
    /// processes cannot split it.
    fn here(&self) -> io::Result<()> {
        let line = format!("{} {:?} {}\n", self.options.kind.word(), self.options.role, std::process::id());
        (&self.pipe).write_all(line.as_bytes())
    }

    fn stay(&self) -> io::Result<()> {
        self.here()?;
        self.wait();
        Ok(())
    }

    fn wait(&self) {
        while let Some(left) = self.end.checked_duration_since(Instant::now()) {
            sleep(left);
        }
    }

    /// Starts another process of the same kind, which is never reaped by this one.
    fn start(&self, role: Role, deaf: bool) -> io::Result<()> {
        let Options { kind, pipe, depth, .. } = self.options;
        let own = std::env::current_exe()?;
        let role = clap::ValueEnum::to_possible_value(&role).ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = if deaf { deafened() } else { Command::new(&own) };
        if deaf {
            command.arg(&own);
        }
        command.arg(kind.word()).arg(pipe).arg("--role").arg(role.get_name());
        command.arg("--depth").arg((depth + 1).to_string());
        if matches!(role.get_name(), "session-leader" | "hop" | "mote") {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        }
        command.spawn().map(drop)
    }

    /// Restarts the server as a deaf process; if it is already deaf, waits.
    fn go_deaf(&self) -> io::Result<()> {
        if self.options.depth > 0 {
            return self.stay();
        }
        let Options { kind, pipe, .. } = self.options;
        let mut command = deafened();
        command.arg(std::env::current_exe()?).arg(kind.word()).arg(pipe).args(["--depth", "1"]);
        Err(std::os::unix::process::CommandExt::exec(&mut command))
    }
}

/// A command whose program ignores SIGTERM, SIGINT and SIGHUP; the program is the first argument.
fn deafened() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' TERM INT HUP; exec \"$0\" \"$@\""]);
    command
}
