//! Starts the guardian with the first server, starts another guardian if the first one was killed, and starts servers
//! through the guardian. This module must not know why servers are started.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Seek, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use rustix::{
    fs::{MemfdFlags, memfd_create},
    process::{Pid, getpid, set_child_subreaper},
};
use tokio::{sync::watch, time::timeout};

use super::{
    super::{
        caps::ChildCaps,
        guardian::{
            self,
            message::{GuardianNote, GuardianOrder},
            socket,
        },
        pipes::Pipes,
        program::{LONGEST, ServerProgram},
    },
    held::HeldServer,
    packets::PacketSocket,
};

/// The maximum time until a new guardian accepts orders.
const READY: Duration = Duration::from_secs(10);

/// The maximum time for which an order waits while other orders fill the guardian's socket.
const ORDER: Duration = Duration::from_secs(5);

/// Starts servers under a guardian.
pub(in super::super) struct Launcher {
    guardian: Option<Guardian>,
    /// The arguments that make this program a guardian.
    arguments: &'static [&'static str],
}

/// A running guardian.
struct Guardian {
    pid: Pid,
    socket: Arc<PacketSocket>,
    /// False once the guardian is gone.
    alive: watch::Receiver<bool>,
}

impl Launcher {
    /// Creates a launcher that has started nothing yet; `None` if this program cannot run as a guardian.
    pub(in super::super) fn new() -> Option<Self> {
        Some(Self { guardian: None, arguments: guardian::arguments()? })
    }

    /// Ensures that there is a guardian. Always call this function in the runtime of the same thread.
    ///
    /// # Errors
    /// Fails if no guardian can be started. Later attempts will then probably fail as well.
    pub(in super::super) async fn prepare(&mut self) -> io::Result<()> {
        if self.guardian.as_ref().is_some_and(|guardian| *guardian.alive.borrow()) {
            return Ok(());
        }
        self.guardian = None;
        self.guardian = Some(Guardian::start(self.arguments).await?);
        Ok(())
    }

    /// Passes a server to the guardian. Call [`prepare`](Self::prepare) first. The returned server reports its own state.
    ///
    /// # Errors
    /// Fails if the system has no resources for the pipes, or if the guardian is gone.
    pub(in super::super) async fn start(
        &self,
        program: &ServerProgram,
        (grace, caps): (Duration, ChildCaps),
    ) -> io::Result<(HeldServer, Pipes)> {
        let guardian = self.guardian.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let file = file_of(&program.encode())?;
        let (child_in, stdin) = io::pipe()?;
        let (stdout, child_out) = io::pipe()?;
        let (stderr, child_err) = io::pipe()?;
        let (own, holders) = socket::pair()?;
        let descriptors =
            [child_in.as_fd(), child_out.as_fd(), child_err.as_fd(), holders.as_fd(), file.as_fd()];
        let grace = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
        let order = GuardianOrder::Start { grace, caps }.encode();
        let sent = guardian.socket.send(&order, &descriptors);
        timeout(ORDER, sent).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        let pipes = Pipes { stdin: stdin.into(), stdout: stdout.into(), stderr: stderr.into() };
        Ok((HeldServer::new(own, caps)?, pipes))
    }

    /// Releases the guardian, which ends once none of its servers' processes is left. Returns the guardian's process
    /// id, so that the caller can have the guardian reaped.
    pub(in super::super) fn close(&mut self) -> Option<Pid> {
        let guardian = self.guardian.take()?;
        // The task that watches the guardian still holds the socket.
        guardian.socket.close();
        Some(guardian.pid)
    }
}

/// Creates a memory file with these bytes, positioned at its beginning.
fn file_of(bytes: &[u8]) -> io::Result<OwnedFd> {
    if bytes.len() > LONGEST {
        return Err(io::ErrorKind::ArgumentListTooLong.into());
    }
    let mut file = File::from(memfd_create(c"program", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

impl Guardian {
    async fn start(arguments: &[&str]) -> io::Result<Self> {
        let (own, theirs) = socket::pair()?;
        // If the guardian is killed, its holders become children of this process, not of an unrelated one.
        set_child_subreaper(Some(getpid()))?;
        let own = PacketSocket::new(own)?;
        let mut process = execute(theirs, arguments)?;
        if let Err(error) = greet(&own).await {
            // No other code waits for this process, and it ends immediately.
            let _ = process.kill();
            let _ = process.wait();
            return Err(error);
        }
        // From here on, this process is reaped like every process for which no code waits.
        let pid = Pid::from_child(&process);
        let socket = Arc::new(own);
        let (lives, alive) = watch::channel(true);
        crate::task::spawn(watch_end(socket.clone(), lives));
        Ok(Self { pid, socket, alive })
    }
}

/// Waits until the guardian accepts orders, and sends the first one.
async fn greet(guardian: &PacketSocket) -> io::Result<()> {
    let frame =
        timeout(READY, guardian.receive()).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
    let note = frame.and_then(|frame| GuardianNote::decode(&frame));
    let Some(GuardianNote::Ready { sees_processes }) = note else {
        return Err(io::Error::other("the guardian ended immediately"));
    };
    if !sees_processes {
        let means = "when a child ends, only its process group is stopped";
        tracing::warn!("/proc is missing or hides processes (hidepid); {means}");
    }
    match crate::files::started_with() {
        None => Ok(()),
        Some(files) => {
            let order = GuardianOrder::Files { soft: files.current, hard: files.maximum };
            guardian.send_now(&order.encode())
        }
    }
}

/// Waits for the guardian's end.
async fn watch_end(socket: Arc<PacketSocket>, lives: watch::Sender<bool>) {
    while socket.receive().await.is_some() {}
    tracing::debug!("the guardian of child processes has ended");
    lives.send_replace(false);
}

/// Executes this program again, with the socket as its stdin and an empty environment.
fn execute(socket: OwnedFd, arguments: &[&str]) -> io::Result<Child> {
    #[expect(clippy::disallowed_methods, reason = "this is a part of the module that starts child processes")]
    let mut command = Command::new("/proc/self/exe");
    let name = std::env::args_os().next().unwrap_or_else(|| OsString::from("dragoman"));
    command.arg0(name).args(arguments).env_clear();
    command.stdin(Stdio::from(socket)).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn()
}
