//! A child of this process in its own process group: this is how children run without a guardian. A descendant that
//! leaves the group is not ended. This module must not know grace periods: the owner decides when to end a child.

use std::{
    io,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::Signal;
use tokio::process::{Child, Command};

use super::{death, group::Group, pipes::Pipes, program::ServerProgram};

/// A child and its process group.
pub(super) struct GroupedServer {
    child: Child,
    group: Group,
    pub(super) pid: u32,
}

impl GroupedServer {
    /// Starts a child. Call this function in the runtime of the thread that outlives all children.
    ///
    /// # Errors
    /// Returns the system's error if the child cannot be started.
    pub(super) fn start(program: ServerProgram) -> io::Result<(Self, Pipes)> {
        let mut child = spawn(command(program))?;
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let pid = child.id().ok_or_else(broken)?;
        let group = Group::of(pid).ok_or_else(broken)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let pipes = || -> io::Result<Pipes> {
            let (stdin, stdout, stderr) =
                (pipes.0.ok_or_else(broken)?, pipes.1.ok_or_else(broken)?, pipes.2.ok_or_else(broken)?);
            Ok(Pipes {
                stdin: stdin.into_owned_fd()?,
                stdout: stdout.into_owned_fd()?,
                stderr: stderr.into_owned_fd()?,
            })
        };
        match pipes() {
            Ok(pipes) => Ok((Self { child, group, pid }, pipes)),
            Err(error) => {
                group.signal(Signal::KILL);
                Err(error)
            }
        }
    }

    /// Waits until the child has ended; returns `None` if the system does not report the child's status. It is safe to
    /// drop the future and call this function again.
    pub(super) async fn wait(&mut self) -> Option<ExitStatus> {
        self.child.wait().await.ok()
    }

    /// See [`Group::vanishes`].
    pub(super) async fn vanishes(&self, patience: Duration) -> bool {
        self.group.vanishes(patience).await
    }

    /// Returns true if the group has no members left. Call this function once the child has been reaped.
    pub(super) fn is_gone(&self) -> bool {
        !self.group.lives()
    }

    /// Asks the group to end.
    pub(super) fn terminate(&self) {
        self.group.signal(Signal::TERM);
    }

    /// Kills the group.
    pub(super) fn kill(&self) {
        self.group.signal(Signal::KILL);
    }
}

#[cfg(target_os = "linux")]
impl Drop for GroupedServer {
    fn drop(&mut self) {
        super::guarded::forget_child(self.pid);
    }
}

#[cfg(target_os = "linux")]
fn spawn(mut command: Command) -> io::Result<Child> {
    super::guarded::own_child(|| command.spawn(), Child::id)
}

#[cfg(not(target_os = "linux"))]
fn spawn(mut command: Command) -> io::Result<Child> {
    command.spawn()
}

#[expect(clippy::disallowed_methods, reason = "this is a part of the module that starts child processes")]
fn command(program: ServerProgram) -> Command {
    let mut command = Command::new(program.program);
    command
        .args(program.args)
        .env_clear()
        .envs(program.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(cwd) = program.cwd {
        command.current_dir(cwd);
    }
    death::with_parent(&mut command);
    command
}
