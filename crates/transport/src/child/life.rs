//! One child, from its start until none of its processes is left. Runs on the supervisor's thread.

use std::{
    os::fd::OwnedFd,
    process::ExitStatus,
    sync::{Arc, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::unix::pipe,
    sync::watch,
    time::{sleep, timeout},
};

use super::{
    error::Exit,
    limits::Limits,
    pipes::Pipes,
    process::ServerProcess,
    spec::Spec,
    start_error::{self, SpawnError},
    state::{Shared, Stage, stopping},
    supervisor::{Phase, Slot},
};

/// The time that a process may take to vanish after SIGKILL. A process that is stuck in the kernel takes longer; the
/// supervisor does not wait for it.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// The maximum wait for the end of stderr after the exit. A descendant may hold stderr open for longer, or forever.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// A running child whose owner still has to make the pipes usable. If this value is dropped unused, the child is
/// stopped.
pub(super) struct Launched {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) alive: UnfinishedChild,
}

/// Stops the child when dropped, unless the owner of the child has taken over by then.
pub(super) struct UnfinishedChild(Option<Arc<Shared>>);

impl UnfinishedChild {
    pub(super) fn take_over(mut self) -> Option<Arc<Shared>> {
        self.0.take()
    }
}

impl Drop for UnfinishedChild {
    fn drop(&mut self) {
        if let Some(shared) = &self.0 {
            shared.ask_stop();
        }
    }
}

/// Waits until a child's program runs, and starts the task that watches the child until its end.
pub(super) async fn launch(
    spec: &Spec,
    (mut process, pipes): (ServerProcess, Pipes),
    limits: Limits,
    slot: Slot,
    phase: watch::Receiver<Phase>,
) -> Result<Launched, SpawnError> {
    let explain = |error| start_error::explain(spec, error);
    let pid = process.started().await.map_err(explain)?;
    let shared = Arc::new(Shared::new(start_error::name(&spec.program).into(), pid, limits.stderr_bytes));
    let alive = UnfinishedChild(Some(shared.clone()));
    let words = pipe::Receiver::from_owned_fd(pipes.stderr);
    let life = Life { process, limits, shared: shared.clone(), phase, slot: Some(slot) };
    let words = match words {
        Ok(stderr) => crate::task::spawn(drain(stderr, shared)),
        Err(error) => {
            crate::task::spawn(life.run(None));
            return Err(explain(error));
        }
    };
    crate::task::spawn(life.run(Some(words)));
    Ok(Launched { stdin: pipes.stdin, stdout: pipes.stdout, alive })
}

/// Reads stderr to its end, so that the child never has to wait for a reader, and keeps the last part.
async fn drain(mut stderr: impl AsyncRead + Unpin, shared: Arc<Shared>) {
    let mut chunk = vec![0; 8 << 10];
    while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        shared.stderr.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..count], now);
    }
}

struct Life {
    process: ServerProcess,
    limits: Limits,
    shared: Arc<Shared>,
    phase: watch::Receiver<Phase>,
    slot: Option<Slot>,
}

impl Life {
    async fn run(mut self, words: Option<tokio::task::JoinHandle<()>>) {
        let mut stage = self.shared.stage.subscribe();
        let exited = tokio::select! {
            status = self.process.wait() => Some(status),
            () = stopping(&mut stage) => None,
            _ = self.phase.wait_for(|phase| *phase != Phase::Running) => None,
        };
        // A cooperative child may have exited before this task saw the request to stop.
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
        // A child that was asked to end has not hit a cap.
        let cap = self.process.cap().filter(|_| !asked);
        let program = self.shared.program.clone();
        let exit = Exit { program, status, asked, cap, stderr: self.shared.stderr_output() };
        // The child's last lines are not logged, because they may contain secrets that the child was given.
        tracing::debug!(pid = self.shared.pid, status = ?exit.status, "{} has ended", exit.program);
        self.shared.stage.send_replace(Stage::Exited(exit.clone()));
        self.end_rest().await;
        // A task that waits for this end must find the slot free.
        self.slot.take();
        self.shared.stage.send_replace(Stage::Gone(exit));
    }

    /// Closes stdin, waits, sends SIGTERM, waits, sends SIGKILL, and waits until the process has exited.
    async fn wind_down(&mut self) -> Option<ExitStatus> {
        // This closes stdin, because the writer task watches the stage.
        self.shared.ask_stop();
        if let Some(status) = self.exits_within(self.limits.stdin_grace, true).await {
            return Some(status);
        }
        self.process.terminate();
        if let Some(status) = self.exits_within(self.limits.term_grace, true).await {
            return Some(status);
        }
        self.process.kill();
        self.exits_within(AFTER_KILL, false).await
    }

    /// Returns the exit status if the process ends within `patience`. If `hurry` is true, the wait ends early when the
    /// supervisor kills all children.
    async fn exits_within(&mut self, patience: Duration, hurry: bool) -> Option<ExitStatus> {
        tokio::select! {
            biased;
            status = self.process.wait() => status,
            _ = self.phase.wait_for(|phase| *phase == Phase::Killing), if hurry => None,
            () = sleep(patience) => None,
        }
    }

    /// Ends the processes that the child left running.
    async fn end_rest(&mut self) {
        if self.process.is_gone() {
            return;
        }
        self.process.terminate();
        let vanished = tokio::select! {
            biased;
            vanished = self.process.vanishes(self.limits.term_grace) => vanished,
            _ = self.phase.wait_for(|phase| *phase == Phase::Killing) => false,
        };
        if vanished {
            return;
        }
        self.process.kill();
        if !self.process.vanishes(AFTER_KILL).await {
            tracing::warn!(
                pid = self.shared.pid,
                "processes that a child left behind were killed but still exist"
            );
        }
    }
}

/// Ensures that nobody waits for the child forever, however this task ends.
impl Drop for Life {
    fn drop(&mut self) {
        self.shared.stage.send_if_modified(|stage| {
            if matches!(stage, Stage::Gone(_)) {
                return false;
            }
            self.process.kill();
            let program = self.shared.program.clone();
            let stderr = self.shared.stderr_output();
            let lost = Exit { program, status: None, asked: true, cap: None, stderr };
            *stage = Stage::Gone(stage.exit().cloned().unwrap_or(lost));
            true
        });
    }
}
