//! The state that the parts of one child share: its stage, and the last part of its stderr.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::watch;

use super::{
    error::{ChildError, Exit},
    stderr::{LastOutput, Ring},
};

/// The stage of a child's life, which only moves forward.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    Running,
    /// The child was asked to end; its stdin is being closed.
    Stopping,
    /// The process was reaped; members of its group may still be alive.
    Exited(Exit),
    /// No process of the child's group is left.
    Gone(Exit),
}

impl Stage {
    pub(super) fn exit(&self) -> Option<&Exit> {
        match self {
            Self::Exited(exit) | Self::Gone(exit) => Some(exit),
            Self::Running | Self::Stopping => None,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self, Self::Running)
    }
}

/// Waits until the process was reaped.
pub(super) async fn exited(stage: &mut watch::Receiver<Stage>) {
    // An error means that no task is left that could report anything, so the child has ended.
    let _ = stage.wait_for(|stage| stage.exit().is_some()).await;
}

/// Waits until the child has been asked to stop or has exited.
pub(super) async fn stopping(stage: &mut watch::Receiver<Stage>) {
    let _ = stage.wait_for(|stage| !stage.is_running()).await;
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) program: Arc<str>,
    pub(super) pid: u32,
    pub(super) stage: watch::Sender<Stage>,
    pub(super) stderr: Mutex<Ring>,
}

impl Shared {
    pub(super) fn new(program: Arc<str>, pid: u32, stderr_bytes: usize) -> Self {
        let stderr = Mutex::new(Ring::new(stderr_bytes));
        Self { program, pid, stage: watch::Sender::new(Stage::Running), stderr }
    }

    /// Requests the child's end; the supervisor does the rest. Returns true for the first request.
    pub(super) fn ask_stop(&self) -> bool {
        self.stage.send_if_modified(|stage| {
            let running = stage.is_running();
            if running {
                *stage = Stage::Stopping;
            }
            running
        })
    }

    pub(super) fn stderr_output(&self) -> LastOutput {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).output()
    }

    /// Returns the final error, which describes how the child ended. When a pipe closes, the exit is usually reported
    /// a moment later, so this function waits for that report, for at most `patience`. A child that continues without `stream`
    /// is of no use, so it is asked to stop.
    pub(super) async fn ended(&self, stream: &'static str, patience: Duration) -> ChildError {
        let mut stage = self.stage.subscribe();
        let exited = tokio::time::timeout(patience, stage.wait_for(|stage| stage.exit().is_some())).await;
        if let Ok(Ok(stage)) = &exited
            && let Some(exit) = stage.exit()
        {
            return exit.clone().into();
        }
        drop(exited);
        let program = self.program.clone();
        if self.ask_stop() {
            ChildError::Closed { program, stream, stderr: self.stderr_output() }
        } else {
            ChildError::Stopping { program }
        }
    }
}
