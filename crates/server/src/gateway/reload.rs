//! The one who changes what is configured. Where the configuration comes from is looked at again: when the process is told to
//! (SIGHUP), and when the file has changed; a faulty one is reported, and the old one stays in force. What managers change is
//! kept, and laid over it. It must not know how a configuration is read, nor what a change means.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use engine::config::Config;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::deeds::{Deed, record};
use super::edits::{Asked, Edit, Edited};
use super::manage::Kept;
use super::run;
use super::takeover::take_over;
use super::threads::Thread;
use crate::audit::Outcome;
use crate::manage::{Differences, Refusal, differences};
use crate::tls::TlsWatch;

/// The interval at which the file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The number of changes that may wait until those before them are made.
const WAITING: usize = 16;

/// Reads a configuration: complete and checked, or all that is wrong with it, for people to read.
type Read = dyn Fn() -> Result<Config, String> + Send + Sync;

/// Where a configuration comes from.
pub(crate) struct Origin {
    /// Reads it.
    pub(crate) read: Arc<Read>,
    /// The file whose change says that there is something new to read.
    pub(crate) file: Option<PathBuf>,
}

/// All that the configuration comes from.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) origin: Option<Origin>,
    /// Where changes are kept, where anybody may manage.
    pub(super) kept: Option<Kept>,
    /// The files of `tls`.
    pub(super) tls: Option<TlsWatch>,
}

/// A part of the configuration that counts only from a restart on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restart {
    Listen,
    Tls,
    Limits,
    StateFolder,
    Audit,
    Management,
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
        note(Self::Tls, old.tls != new.tls);
        note(Self::Limits, old.limits != new.limits);
        note(Self::StateFolder, old.state_folder != new.state_folder);
        note(Self::Audit, old.audit != new.audit);
        note(Self::Management, old.management != new.management);
        new.management.clone_from(&old.management);
        new.listen.clone_from(&old.listen);
        new.tls.clone_from(&old.tls);
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
            Self::Tls => "tls",
            Self::Limits => "limits",
            Self::StateFolder => "stateFolder",
            Self::Audit => "audit",
            Self::Management => "management",
        })
    }
}

/// Begins to look and to listen, until the gateway stops.
pub(super) fn start(thread: Arc<Thread>, sources: Sources) {
    // Without a handler the signal would end the process.
    let told = signal(SignalKind::hangup());
    let (edits, asked) = mpsc::channel(WAITING);
    let gateway = &thread.now().gateway;
    let stop = gateway.stop.clone();
    if sources.kept.is_some() {
        // It is set once: there is one who changes things.
        let _ = gateway.edits.set(edits);
    }
    tokio::spawn(async move {
        tokio::select! {
            () = look(&thread, sources, told.ok(), asked) => {}
            () = stop.stopped() => {}
        }
    });
}

async fn look(thread: &Thread, sources: Sources, mut told: Option<Signal>, mut asked: mpsc::Receiver<Asked>) {
    let Sources { origin, kept, mut tls } = sources;
    let file = origin.as_ref().and_then(|origin| origin.file.clone());
    let mut seen = stamp(file.as_deref()).await;
    // What was last seen to differ: it is read when it stays so, as whoever writes it may not be done yet.
    let mut differs = None;
    loop {
        let is_told = tokio::select! {
            () = hear(&mut told) => true,
            Some(asked) = asked.recv() => {
                // Whoever asked may have left.
                let _ = asked.reply.send(change(thread, kept.as_ref(), asked.edit).await);
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
            again(thread, origin.as_ref()).await;
        } else {
            differs = is_new.then_some(now);
        }
    }
}

/// Makes a change that a manager asks for: it is kept, then in force.
async fn change(thread: &Thread, kept: Option<&Kept>, edit: Edit) -> Result<Edited, Refusal> {
    let before = thread.now().gateway.standing.clone();
    let old = before.clone();
    // It may read files, and lays much over much.
    let made = tokio::task::spawn_blocking(move || edit(&old)).await;
    let (id, standing) = made.map_err(|e| Refusal::internal(e.to_string()))??;
    if let Some(kept) = kept {
        kept.keep(standing.changes().text()?).await?;
    }
    if let Err(why) = take_over(thread, standing).await {
        if let Some(kept) = kept {
            kept.keep(before.changes().text()?).await?;
        }
        return Err(Refusal::new(400, "INVALID_CONFIG", why));
    }
    let standing = thread.now().gateway.standing.clone();
    let what = differences(before.config(), standing.config());
    Ok(Edited { id, standing, what })
}

/// Reads the configuration again, and puts it in force under what was changed.
async fn again(thread: &Thread, origin: Option<&Origin>) {
    let Some(origin) = origin else {
        tracing::info!("told to read the configuration again, but it comes from no file");
        return;
    };
    let read = origin.read.clone();
    // Files may be slow, and a big one is much to read.
    let read = tokio::task::spawn_blocking(move || read()).await;
    let outcome = match read {
        Ok(Ok(config)) => put_in_force(thread, config).await,
        Ok(Err(why)) => Err(why),
        Err(e) => Err(e.to_string()),
    };
    match outcome {
        Ok((waiting, what)) => {
            tracing::info!(%what, "the configuration was read again and is in force");
            record(&thread.now(), &Deed::reread(Outcome::Ok, Some(&what)));
            if !waiting.is_empty() {
                let keys: Vec<String> = waiting.iter().map(ToString::to_string).collect();
                tracing::warn!("what changed in {} counts only after a restart", keys.join(", "));
            }
        }
        Err(why) => {
            tracing::error!("the configuration was read again, but the old one stays in force: {why}");
            record(&thread.now(), &Deed::reread(Outcome::Error, None));
        }
    }
}

/// What of a configuration counts only after a restart is as it was.
async fn put_in_force(thread: &Thread, mut config: Config) -> Result<(Vec<Restart>, Differences), String> {
    let now = thread.now();
    let before = now.gateway.standing.clone();
    let waiting = Restart::keep(before.base(), &mut config);
    if !now.gateway.loopback && opens(before.base(), &config) {
        return Err(OPENS.to_owned());
    }
    if config.is_managed_by_every_login() {
        return Err(EVERY_LOGIN.to_owned());
    }
    let standing = before.over(config).map_err(|refusal| refusal.message)?;
    run::warn(&standing);
    let what = differences(before.config(), standing.config());
    take_over(thread, standing).await?;
    Ok((waiting, what))
}

/// Would nobody be asked any more where everybody is asked now? The addresses stay as they are, whatever the file says of
/// them by now.
fn opens(old: &Config, new: &Config) -> bool {
    old.asks_everybody() && !new.asks_everybody()
}

const EVERY_LOGIN: &str = "everybody who can log in could manage; what `management` says counts after a restart, so restart to do that";

const OPENS: &str = "other machines reach this address, and callers would no longer be asked who they are; restart to do that";

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

#[cfg(test)]
mod tests {
    use engine::config::{Lookup, load};

    use super::*;

    fn config(text: &str) -> Config {
        let nothing = Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
        load(text, "test", &nothing).unwrap_or_else(|faults| panic!("{faults}")).config
    }

    #[test]
    fn what_cannot_change_stays_as_it_was_and_is_named() {
        let old = config("listen: 127.0.0.1:1\nmcpServers: {}\n");
        let text = "listen: 127.0.0.1:2\ntls: { cert: /c, key: /k }\nlimits: { batch: 7 }\naudit: true\nstateFolder: /x\nmanagement: true\n\
                    mcpServers: { a: { native: demo } }\n";
        let mut new = config(text);
        let waiting = Restart::keep(&old, &mut new);
        let names: Vec<String> = waiting.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["listen", "tls", "limits", "stateFolder", "audit", "management"]);
        assert_eq!(Restart::keep(&old, &mut new), []);
        assert!(new.mcp_servers.contains_key("a"));
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
