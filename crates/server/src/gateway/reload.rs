//! Where the configuration comes from is looked at again: when the process is told to (SIGHUP), and when the file has
//! changed. A faulty one is reported, and the old one stays in force. It must not know how a configuration is read.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use engine::config::Config;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::takeover::take_over;
use super::threads::Thread;

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Reads a configuration: complete and checked, or all that is wrong with it, for people to read.
type Read = dyn Fn() -> Result<Config, String> + Send + Sync;

/// Where a configuration comes from.
pub(crate) struct Origin {
    /// Reads it.
    pub(crate) read: Arc<Read>,
    /// The file whose change says that there is something new to read.
    pub(crate) file: Option<PathBuf>,
}

/// A part of the configuration that counts only from a restart on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restart {
    Listen,
    Limits,
    StateFolder,
    Audit,
}

impl Restart {
    /// Keeps in `new` what cannot change meanwhile; what of it would have.
    pub(super) fn keep(old: &Config, new: &mut Config) -> Vec<Self> {
        let mut waiting = Vec::new();
        let mut note = |what, differs: bool| {
            if differs {
                waiting.push(what);
            }
        };
        note(Self::Listen, old.listen != new.listen);
        note(Self::Limits, old.limits != new.limits);
        note(Self::StateFolder, old.state_folder != new.state_folder);
        note(Self::Audit, old.audit != new.audit);
        new.listen.clone_from(&old.listen);
        new.limits.clone_from(&old.limits);
        new.state_folder.clone_from(&old.state_folder);
        new.audit.clone_from(&old.audit);
        waiting
    }
}

/// The key in the configuration.
impl fmt::Display for Restart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Listen => "listen",
            Self::Limits => "limits",
            Self::StateFolder => "stateFolder",
            Self::Audit => "audit",
        })
    }
}

/// Begins to look, until the gateway stops.
pub(super) fn start(thread: Arc<Thread>, origin: Option<Origin>) {
    // Without a handler the signal would end the process.
    let told = signal(SignalKind::hangup());
    tokio::spawn(async move {
        let stop = thread.now().gateway.stop.clone();
        tokio::select! {
            () = look(&thread, origin, told.ok()) => {}
            () = stop.stopped() => {}
        }
    });
}

async fn look(thread: &Thread, origin: Option<Origin>, mut told: Option<Signal>) {
    let file = origin.as_ref().and_then(|origin| origin.file.clone());
    let mut seen = stamp(file.as_deref()).await;
    // What was last seen to differ: it is read when it stays so, as whoever writes it may not be done yet.
    let mut differs = None;
    loop {
        let is_told = tokio::select! {
            () = hear(&mut told) => true,
            () = tokio::time::sleep(LOOK_EVERY), if file.is_some() => false,
        };
        let now = stamp(file.as_deref()).await;
        let is_new = now != seen && now.is_some();
        if is_told || (is_new && differs == Some(now)) {
            (seen, differs) = (now, None);
            again(thread, origin.as_ref()).await;
        } else {
            differs = is_new.then_some(now);
        }
    }
}

/// Reads the configuration again, and puts it in force.
async fn again(thread: &Thread, origin: Option<&Origin>) {
    let Some(origin) = origin else {
        tracing::info!("told to read the configuration again, but it comes from no file");
        return;
    };
    let read = origin.read.clone();
    // Files may be slow, and a big one is much to read.
    let read = tokio::task::spawn_blocking(move || read()).await;
    let outcome = match read {
        Ok(read) => read.and_then(|config| take_over(thread, config)),
        Err(e) => Err(e.to_string()),
    };
    match outcome {
        Ok(waiting) => {
            tracing::info!("the configuration was read again and is in force");
            if !waiting.is_empty() {
                let keys: Vec<String> = waiting.iter().map(ToString::to_string).collect();
                tracing::warn!("what changed in {} counts only after a restart", keys.join(", "));
            }
        }
        Err(why) => {
            tracing::error!("the configuration was read again, but the old one stays in force: {why}");
        }
    }
}

async fn hear(told: &mut Option<Signal>) {
    match told {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// By what a file's contents are told apart without reading them; `None` when it is not there.
async fn stamp(file: Option<&Path>) -> Option<(SystemTime, u64)> {
    let file = file?.to_path_buf();
    let looked = tokio::task::spawn_blocking(move || {
        let found = std::fs::metadata(file).ok()?;
        Some((found.modified().ok()?, found.len()))
    });
    looked.await.ok().flatten()
}
