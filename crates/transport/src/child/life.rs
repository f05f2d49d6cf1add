//! One child from its start to the end of its process group. Runs on the supervisor's thread.

use std::{
    os::fd::OwnedFd,
    process::{ExitStatus, Stdio},
    sync::{Arc, PoisonError},
    time::Duration,
};

use rustix::process::Signal;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, Command},
    sync::watch,
    time::{sleep, timeout},
};

use super::{
    death, environment,
    error::Exit,
    group::Group,
    limits::Limits,
    spec::Spec,
    start_error::{self, SpawnError},
    state::{Shared, Stage, stopping},
    supervisor::{Phase, Slot},
};

/// The time that a process may take to vanish after SIGKILL. One that is stuck in the kernel takes longer; it is left.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// The time that the end of stderr may come after the exit. A descendant outside the group may hold it open for
/// ever.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// A child that runs, for its owner to make pipes of. Dropped unused, it stops the child.
pub(super) struct Launched {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) alive: Alive,
}

/// Stops the child on drop, unless its owner takes over.
pub(super) struct Alive(Option<Arc<Shared>>);

impl Alive {
    pub(super) fn take_over(mut self) -> Option<Arc<Shared>> {
        self.0.take()
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        if let Some(shared) = &self.0 {
            shared.ask_stop();
        }
    }
}

/// Starts the child and the task that sees it through.
pub(super) fn launch(
    spec: &Spec,
    limits: Limits,
    slot: Slot,
    phase: watch::Receiver<Phase>,
) -> Result<Launched, SpawnError> {
    start_error::check(spec)?;
    let mut process = command(spec).spawn().map_err(|error| start_error::explain(spec, error))?;
    let broken = || start_error::explain(spec, std::io::ErrorKind::BrokenPipe.into());
    let pid = process.id().ok_or_else(broken)?;
    let group = Group::of(pid).ok_or_else(broken)?;
    let shared = Arc::new(Shared::new(start_error::name(&spec.program).into(), pid, limits.stderr_bytes));
    let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
    let alive = Alive(Some(shared.clone()));
    let life = Life { process, group, limits, shared: shared.clone(), phase, slot: Some(slot) };
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        tokio::spawn(life.run(None));
        return Err(broken());
    };
    let words = tokio::spawn(drain(stderr, shared));
    tokio::spawn(life.run(Some(words)));
    let owned = |error| start_error::explain(spec, error);
    let stdin = stdin.into_owned_fd().map_err(owned)?;
    let stdout = stdout.into_owned_fd().map_err(owned)?;
    Ok(Launched { stdin, stdout, alive })
}

#[expect(clippy::disallowed_methods, reason = "this is the place that they are kept for")]
fn command(spec: &Spec) -> Command {
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.args)
        .env_clear()
        .envs(environment::inherited(std::env::vars_os(), &spec.inherit))
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(cwd) = &spec.cwd {
        command.current_dir(cwd);
    }
    death::with_parent(&mut command);
    command
}

/// Reads stderr to its end so that the child never waits for us, and keeps the last of it.
async fn drain(mut stderr: impl AsyncRead + Unpin, shared: Arc<Shared>) {
    let mut chunk = vec![0; 8 << 10];
    while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
        shared.stderr.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..count]);
    }
}

struct Life {
    process: Child,
    group: Group,
    limits: Limits,
    shared: Arc<Shared>,
    phase: watch::Receiver<Phase>,
    slot: Option<Slot>,
}

impl Life {
    async fn run(mut self, words: Option<tokio::task::JoinHandle<()>>) {
        let mut stage = self.shared.stage.subscribe();
        let exited = tokio::select! {
            status = self.process.wait() => Some(status.ok()),
            () = stopping(&mut stage) => None,
            _ = self.phase.wait_for(|phase| *phase != Phase::Running) => None,
        };
        // A polite child may have exited before this task saw that it was asked to.
        let asked = !stage.borrow().is_running() || *self.phase.borrow() != Phase::Running;
        let status = match exited {
            Some(status) => status,
            None => self.wind_down().await,
        };
        if let Some(mut words) = words
            && timeout(LAST_WORDS, &mut words).await.is_err()
        {
            words.abort();
        }
        let exit =
            Exit { program: self.shared.program.clone(), status, asked, stderr: self.shared.stderr_text() };
        // Its last words are for whoever may see them: they may hold what it was given in confidence.
        tracing::debug!(pid = self.shared.pid, status = ?exit.status, "{} has ended", exit.program);
        self.shared.stage.send_replace(Stage::Exited(exit.clone()));
        self.end_group().await;
        // Whoever waits for the end finds the place free.
        self.slot.take();
        self.shared.stage.send_replace(Stage::Gone(exit));
    }

    /// Closes stdin, waits, SIGTERM, waits, SIGKILL, waits; until the process has exited.
    async fn wind_down(&mut self) -> Option<ExitStatus> {
        // Closes stdin: the writer task waits for it.
        self.shared.ask_stop();
        if let Some(status) = self.exits_within(self.limits.stdin_grace, true).await {
            return Some(status);
        }
        self.group.signal(Signal::TERM);
        if let Some(status) = self.exits_within(self.limits.term_grace, true).await {
            return Some(status);
        }
        self.group.signal(Signal::KILL);
        self.exits_within(AFTER_KILL, false).await
    }

    /// The exit status if the process ends within `patience`; less when the supervisor has none left and `hurry` holds.
    async fn exits_within(&mut self, patience: Duration, hurry: bool) -> Option<ExitStatus> {
        tokio::select! {
            biased;
            status = self.process.wait() => status.ok(),
            _ = self.phase.wait_for(|phase| *phase == Phase::Killing), if hurry => None,
            () = sleep(patience) => None,
        }
    }

    /// Ends what the child left behind in its group.
    async fn end_group(&mut self) {
        if !self.group.lives() {
            return;
        }
        self.group.signal(Signal::TERM);
        let vanished = tokio::select! {
            biased;
            vanished = self.group.vanishes(self.limits.term_grace) => vanished,
            _ = self.phase.wait_for(|phase| *phase == Phase::Killing) => false,
        };
        if vanished {
            return;
        }
        self.group.signal(Signal::KILL);
        if !self.group.vanishes(AFTER_KILL).await {
            tracing::warn!(group = self.shared.pid, "members of a killed process group are still there");
        }
    }
}

/// Whatever ends this task, nobody waits for the child for ever.
impl Drop for Life {
    fn drop(&mut self) {
        self.shared.stage.send_if_modified(|stage| {
            if matches!(stage, Stage::Gone(_)) {
                return false;
            }
            self.group.signal(Signal::KILL);
            let program = self.shared.program.clone();
            let lost = Exit { program, status: None, asked: true, stderr: self.shared.stderr_text() };
            *stage = Stage::Gone(stage.exit().cloned().unwrap_or(lost));
            true
        });
    }
}
