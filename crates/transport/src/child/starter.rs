//! The two ways to start a child: through the guardian, or as a child of this process if there can be no guardian.
//! Runs on the supervisor's thread. This module must not know who requested the child.

use std::time::Duration;

#[cfg(target_os = "linux")]
use super::guarded::{Launcher, Reaper};
use super::{
    environment,
    grouped::GroupedServer,
    limits::Limits,
    pipes::Pipes,
    process::ServerProcess,
    program::ServerProgram,
    spec::Spec,
    start_error::{self, SpawnError},
};

/// Starts the children of one supervisor in one of the two ways.
pub(super) struct Starter {
    /// The launcher of servers under a guardian; `None` if children are ended by their process groups.
    #[cfg(target_os = "linux")]
    launcher: Option<Launcher>,
    #[cfg(target_os = "linux")]
    reaper: Option<Reaper>,
}

/// Returns a program with its complete environment.
fn program(spec: &Spec) -> ServerProgram {
    let inherited = environment::inherited(std::env::vars_os(), &spec.inherit);
    let own = spec.env.iter().map(|(name, value)| (name.into(), value.into()));
    ServerProgram {
        program: spec.program.clone().into(),
        args: spec.args.iter().map(Into::into).collect(),
        env: inherited.into_iter().chain(own).collect(),
        cwd: spec.cwd.clone().map(Into::into),
    }
}

#[cfg(target_os = "linux")]
impl Starter {
    /// Creates a starter that uses a guardian if `guarded` is true and this program can run as a guardian. Call this function in
    /// the runtime of the supervisor's thread.
    pub(super) fn new(guarded: bool) -> Self {
        let launcher = guarded.then(Launcher::new).flatten();
        let reaper = (launcher.is_some() || is_first()).then(Reaper::new).flatten();
        Self { launcher, reaper }
    }

    /// Starts a child. Under a guardian, only begins the start: see [`ServerProcess::started`].
    pub(super) async fn start(
        &mut self,
        spec: &Spec,
        limits: &Limits,
    ) -> Result<(ServerProcess, Pipes), SpawnError> {
        start_error::check(spec)?;
        let program = program(spec);
        let explain = |error| start_error::explain(spec, error);
        if let Some(launcher) = &mut self.launcher {
            match launcher.prepare().await {
                Ok(()) => {
                    let (server, pipes) =
                        launcher.start(&program, (limits.term_grace, spec.caps)).await.map_err(explain)?;
                    return Ok((ServerProcess::Held(server), pipes));
                }
                Err(error) => {
                    let means = "when a child ends, only its process group is stopped";
                    tracing::warn!(%error, "the guardian of child processes could not be started; {means}");
                    self.launcher = None;
                }
            }
        }
        if spec.caps.are_any() {
            tracing::warn!(
                "`maxMemory` and `maxProcesses` have no effect without the guardian of child processes"
            );
        }
        let (server, pipes) = GroupedServer::start(program).map_err(explain)?;
        Ok((ServerProcess::Grouped(server), pipes))
    }

    /// Reaps processes for which no code waits, until the future is dropped.
    pub(super) async fn reap(&mut self) {
        match &mut self.reaper {
            Some(reaper) => reaper.run().await,
            None => std::future::pending().await,
        }
    }

    /// Releases the guardian, and waits for its end for at most `patience`.
    pub(super) async fn close(&mut self, patience: Duration) {
        if let (Some(launcher), Some(reaper)) = (&mut self.launcher, &mut self.reaper)
            && let Some(guardian) = launcher.close()
        {
            // If the guardian does not end in time, this process ends first.
            let _ = tokio::time::timeout(patience, reaper.reap_one(guardian)).await;
        }
    }
}

/// Returns true if this process is the init process (PID 1) of its machine or container, which adopts all orphans.
#[cfg(target_os = "linux")]
pub(super) fn is_first() -> bool {
    rustix::process::getpid().is_init()
}

#[cfg(not(target_os = "linux"))]
impl Starter {
    pub(super) fn new(_guarded: bool) -> Self {
        Self {}
    }

    pub(super) async fn start(
        &mut self,
        spec: &Spec,
        _limits: &Limits,
    ) -> Result<(ServerProcess, Pipes), SpawnError> {
        start_error::check(spec)?;
        let started = GroupedServer::start(program(spec));
        let (server, pipes) = started.map_err(|error| start_error::explain(spec, error))?;
        Ok((ServerProcess::Grouped(server), pipes))
    }

    pub(super) async fn reap(&mut self) {
        std::future::pending().await
    }

    pub(super) async fn close(&mut self, _patience: Duration) {}
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_first() -> bool {
    false
}
