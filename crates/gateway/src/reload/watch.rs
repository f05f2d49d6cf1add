//! The task that changes the configuration. It reads the sources again on SIGHUP, and when the file has changed; if the
//! new configuration is invalid, the errors are reported and the old one stays in force. Managers' changes are stored,
//! and applied to the configuration from the file. This module must not know how a configuration is read, or what a
//! change means.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use config::Config;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::admission::audit::CallOutcome;
use crate::changes::edits::{ConfigRequest, Edit, Edited, Reloaded, UnreadConfig};
use crate::changes::{Differences, Refusal, differences};
use crate::management::audit::{ManagementAction, record};
use crate::management::changes_file::ChangesFile;
use crate::process::threads::Thread;
use crate::reload::replacement::replace;
use crate::reload::shared_changes::SharedChanges;
use crate::reload::standing::{first_standing, log_notes};
use crate::tls::TlsWatch;

/// The interval at which the file is checked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The number of managers' changes that may wait for earlier changes.
const WAITING: usize = 16;

/// A function that reads a configuration: returns the complete and checked configuration, or all of its errors as text
/// for people.
type Read = dyn Fn() -> Result<Config, UnreadConfig> + Send + Sync;

/// The source of a configuration.
pub struct Origin {
    /// Reads the configuration.
    pub read: Arc<Read>,
    /// The file that is watched for changes.
    pub file: Option<PathBuf>,
}

/// All sources of the configuration.
#[derive(Default)]
pub(crate) struct Sources {
    pub(crate) origin: Option<Origin>,
    /// The file of stored changes, if the management API is enabled.
    pub(crate) kept: Option<ChangesFile>,
    /// The files of `tls`.
    pub(crate) tls: Option<TlsWatch>,
}

/// A part of the configuration that takes effect only after a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restart {
    Tls,
    StateFolder,
    KeyRing,
    LogFormat,
    ListenSocket,
    Cluster,
}

impl Restart {
    /// Copies the parts that need a restart from `old` to `new`; returns the parts that would have changed.
    pub(crate) fn keep(old: &Config, new: &mut Config) -> Vec<Self> {
        let mut waiting = Vec::new();
        let mut note = |what, differs: bool| {
            if differs {
                waiting.push(what);
            }
        };
        note(Self::Tls, old.tls != new.tls);
        note(Self::StateFolder, old.state_folder != new.state_folder);
        note(Self::KeyRing, old.key_ring != new.key_ring);
        note(Self::LogFormat, old.log_format != new.log_format);
        note(Self::ListenSocket, old.listen_socket != new.listen_socket);
        note(Self::Cluster, old.cluster != new.cluster);
        new.cluster.clone_from(&old.cluster);
        new.listen_socket.clone_from(&old.listen_socket);
        new.tls.clone_from(&old.tls);
        new.state_folder.clone_from(&old.state_folder);
        new.key_ring.clone_from(&old.key_ring);
        new.log_format = old.log_format;
        waiting
    }
}

/// Writes the key of this part in the configuration.
impl fmt::Display for Restart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tls => "tls",
            Self::StateFolder => "stateFolder",
            Self::KeyRing => "keyRing",
            Self::LogFormat => "logFormat",
            Self::ListenSocket => "listenSocket",
            Self::Cluster => "cluster",
        })
    }
}

/// Starts a watch that lasts until the gateway stops.
pub(crate) fn start(thread: Arc<Thread>, sources: Sources) {
    // Without a handler, the signal would end the process.
    let told = signal(SignalKind::hangup());
    let (edits, asked) = mpsc::channel(WAITING);
    let gateway = &thread.now().gateway;
    let stop = gateway.process.stop.clone();
    // This is set only once: only this task changes the configuration.
    let _ = gateway.process.edits.set(edits);
    transport::task::spawn(async move {
        tokio::select! {
            () = look(&thread, sources, told.ok(), asked) => {}
            () = stop.stopped() => {}
        }
    });
}

async fn look(
    thread: &Thread,
    sources: Sources,
    mut told: Option<Signal>,
    mut asked: mpsc::Receiver<ConfigRequest>,
) {
    let Sources { origin, mut kept, mut tls } = sources;
    let mut shared = SharedChanges::of(thread);
    let file = origin.as_ref().and_then(|origin| origin.file.clone());
    let mut seen = stamp(file.as_deref()).await;
    // The file's metadata when it was last found to have changed. The file is read once the metadata stays the same, because
    // before that, another program may still be writing the file.
    let mut differs = None;
    loop {
        let mut reply = None;
        let is_told = tokio::select! {
            () = hear(&mut told) => true,
            Some(asked) = asked.recv() => match asked {
                ConfigRequest::Edit(asked) => {
                    // The requester may be gone by now.
                    let _ = asked.reply.send(change(thread, kept.as_ref(), &mut shared, asked.edit).await);
                    continue;
                }
                ConfigRequest::Reload(asked) => {
                    reply = Some(asked);
                    true
                }
            },
            () = shared.news() => {
                Box::pin(shared.look(thread, kept.as_ref())).await;
                continue;
            }
            () = tokio::time::sleep(LOOK_EVERY), if file.is_some() || tls.is_some() => false,
        };
        if let Some(tls) = &mut tls {
            tls.look(is_told).await;
        }
        let now = stamp(file.as_deref()).await;
        let is_new = now != seen && now.is_some();
        if is_told || (is_new && differs == Some(now)) {
            (seen, differs) = (now, None);
            let reloaded = Box::pin(again(thread, &mut kept, origin.as_ref())).await;
            shared.file_changed();
            if let Some((reply, reloaded)) = reply.zip(reloaded) {
                // The requester may be gone by now.
                let _ = reply.send(reloaded);
            }
        } else {
            differs = is_new.then_some(now);
        }
    }
}

const NOT_STORED: &str = "changes to servers and profiles are stored only with `management` or `admin` in the configuration; set \
                          `management: true`, or edit the configuration file";

/// Applies a manager's change: stores it, puts it into force, and passes it on to the other gateways of the cluster.
async fn change(
    thread: &Thread,
    kept: Option<&ChangesFile>,
    shared: &mut SharedChanges,
    edit: Edit,
) -> Result<Edited, Refusal> {
    if !thread.now().gateway.standing.config().keeps_changes() {
        return Err(Refusal::new(409, "NOT_STORED", NOT_STORED));
    }
    Box::pin(shared.before_edit(thread, kept)).await?;
    let before = thread.now().gateway.standing.clone();
    let old = before.clone();
    // The edit may read files, and it takes time to merge the changes.
    let made = transport::task::spawn_blocking(move || edit(&old)).await;
    let (id, edited) = made.map_err(|e| Refusal::internal(e.to_string()))??;
    Box::pin(shared.make(thread, kept, (before.clone(), edited))).await?;
    let standing = thread.now().gateway.standing.clone();
    let what = differences(before.config(), standing.config());
    Ok(Edited { id, standing, what })
}

/// Reads the configuration again, and puts it into force with the stored changes. Returns `None` if there is no source.
async fn again(thread: &Thread, kept: &mut Option<ChangesFile>, origin: Option<&Origin>) -> Option<Reloaded> {
    let Some(origin) = origin else {
        tracing::info!("cannot reload the configuration, because it does not come from a file");
        return None;
    };
    let read = origin.read.clone();
    // Reading may be slow, and a large file takes time to parse.
    let read = move || {
        let config = read()?;
        for warning in upstream::route::warnings(&config) {
            tracing::warn!("{warning}");
        }
        Ok(config)
    };
    let read = transport::task::spawn_blocking(read).await;
    let outcome = match read {
        Ok(Ok(config)) => Box::pin(put_in_force(thread, kept, config)).await.map_err(UnreadConfig::from),
        Ok(Err(why)) => Err(why),
        Err(e) => Err(e.to_string().into()),
    };
    let mut needs_restart = Vec::new();
    let outcome = match outcome {
        Ok((waiting, what)) => {
            tracing::info!(%what, "reloaded the configuration");
            record(&thread.now(), &ManagementAction::reread(CallOutcome::Ok, Some(&what)));
            needs_restart.extend(waiting.iter().map(ToString::to_string));
            if !needs_restart.is_empty() {
                tracing::warn!("changes to {} take effect after a restart", needs_restart.join(", "));
            }
            Ok(what)
        }
        Err(why) => {
            tracing::error!("cannot reload the configuration; the old one stays in force: {}", why.message);
            record(&thread.now(), &ManagementAction::reread(CallOutcome::Error, None));
            Err(why)
        }
    };
    let reloaded = Reloaded { at: SystemTime::now(), outcome, needs_restart };
    *thread.now().gateway.process.last_reload.lock() = Some(reloaded.clone());
    Some(reloaded)
}

/// Puts a configuration into force. Keys that take effect only after a restart keep their old values.
async fn put_in_force(
    thread: &Thread,
    kept: &mut Option<ChangesFile>,
    mut config: Config,
) -> Result<(Vec<Restart>, Differences), String> {
    let now = thread.now();
    let before = now.gateway.standing.clone();
    let waiting = Restart::keep(before.base(), &mut config);
    if !now.gateway.loopback && opens(before.base(), &config) {
        return Err(OPENS.to_owned());
    }
    let process = &now.gateway.process;
    let (standing, file) = match kept.clone().filter(|_| config.keeps_changes()) {
        Some(file) => (before.over(config).map_err(|refusal| refusal.message)?, Some(file)),
        // A gateway over a pipe has no management.
        None if process.view.lets_all_in => (before.over(config).map_err(|refusal| refusal.message)?, None),
        None => {
            let folder = process.folder.clone();
            let opened = transport::task::spawn_blocking(move || first_standing(config, folder.as_deref()));
            opened.await.map_err(|e| e.to_string())??
        }
    };
    log_notes(&standing);
    let what = differences(before.config(), standing.config());
    replace(thread, standing).await?;
    *kept = file;
    Ok((waiting, what))
}

/// Returns true if the new configuration switches authentication off while connections from other machines may
/// still be open.
fn opens(old: &Config, new: &Config) -> bool {
    old.asks_everybody() && !new.asks_everybody()
}

const OPENS: &str = "other machines can reach this address, and callers would no longer be authenticated; \
                     restart to apply this";

async fn hear(told: &mut Option<Signal>) {
    match told {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Returns a file's metadata, which changes with its content; `None` if the file does not exist.
async fn stamp(file: Option<&Path>) -> Option<(SystemTime, u64)> {
    let file = file?.to_path_buf();
    let looked = transport::task::spawn_blocking(move || {
        let found = std::fs::metadata(file).ok()?;
        Some((found.modified().ok()?, found.len()))
    });
    looked.await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use config::{Lookup, load};

    use super::*;

    fn config(text: &str) -> Config {
        let nothing = Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
        load(text, "test", &nothing).unwrap_or_else(|faults| panic!("{faults}")).config
    }

    #[test]
    fn what_cannot_change_stays_as_it_was_and_is_named() {
        let old = config("listen: 127.0.0.1:1\nmcpServers: {}\n");
        let text = "listen: 127.0.0.1:2\ntls: { cert: /c, key: /k }\nlimits: { batch: 7 }\nstateFolder: /x\nkeyRing: /k\nlogFormat: json\nlistenSocket: /s\ncluster: { store: redis://h, keyRing: /k }\n\
                    mcpServers: { a: { native: demo } }\n";
        let mut new = config(text);
        let waiting = Restart::keep(&old, &mut new);
        let names: Vec<String> = waiting.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["tls", "stateFolder", "keyRing", "logFormat", "listenSocket", "cluster"]);
        assert_eq!(Restart::keep(&old, &mut new), []);
        assert!(new.mcp_servers.contains_key("a") && new.limits.batch == 7 && new.listen != old.listen);
    }

    #[test]
    fn whoever_asks_goes_on_asking() {
        let (asks, not) = (config("auth: { keys: true }\nmcpServers: {}\n"), config("mcpServers: {}\n"));
        let partly =
            config("auth: { keys: true }\nmcpServers: {}\nendpoints: [ { path: /x, auth: none } ]\n");
        assert!(opens(&asks, &not) && opens(&asks, &partly));
        assert!(!opens(&not, &asks) && !opens(&not, &not) && !opens(&partly, &not) && !opens(&asks, &asks));
    }
}
