//! Whole process trees end together with Dragoman, no matter how Dragoman ends.

use super::Scenario;
use crate::chaos::client::Era;
use crate::chaos::process::{marked, signal_to, until};
use crate::chaos::scenario::Play;
use crate::chaos::stage::SOON;
use rustix::process::Signal;
use serde_json::json;
use std::thread;
use std::time::Duration;

/// A command that starts a background process without any of the server's pipes.
const BACKGROUND: &str = "sleep 1000 </dev/null >/dev/null 2>&1 &";
/// A command that starts a background process in its own session, without any of the server's pipes.
const OWN_SESSION: &str = "setsid sleep 1000 </dev/null >/dev/null 2>&1 &";
/// A shell command that makes the server ignore SIGTERM. The server does not end with its stdin, either.
const DEAF: &str = "trap '' TERM;";

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "kill9-helper",
        fault: 13,
        title: "after `kill -9`, a server's background helper ends within 3 s",
        variant: BACKGROUND,
        run: killed,
    },
    Scenario {
        name: "kill9-deaf",
        fault: 13,
        title: "after `kill -9`, a server that ignores SIGTERM ends within 3 s",
        variant: DEAF,
        run: killed,
    },
    Scenario {
        name: "kill9-own-session",
        fault: 13,
        title: "after `kill -9`, a helper in a session of its own ends within 3 s",
        variant: OWN_SESSION,
        run: killed,
    },
    Scenario {
        name: "term-own-session",
        fault: 13,
        title: "after SIGTERM, a helper in a session of its own ends, too",
        variant: OWN_SESSION,
        run: terminated,
    },
    Scenario {
        name: "term-helper",
        fault: 13,
        title: "after SIGTERM, a server that ignores it and its helper end, too",
        variant: "trap '' TERM; sleep 1000 </dev/null >/dev/null 2>&1 &",
        run: terminated,
    },
];

/// The time after which all processes must be gone.
const GONE: Duration = Duration::from_secs(3);

fn started(play: &mut Play<'_>) -> Result<(), String> {
    let stage = &mut play.stage;
    let up = stage.upstream("up", &["--stay"])?;
    stage.serve(&[("up", up.by_shell(play.variant))], &json!({ "limits": { "listWait": "10s" } }))?;
    let client = stage.client(Era::NEWEST_SESSION, &json!({}))?;
    client.names(SOON)?;
    client.call("up__read", json!({}), SOON).text()?;
    if play.variant.contains("sleep") && stage.processes("sleep").is_empty() {
        return Err("the server's helper does not run".to_owned());
    }
    let servers = stage.processes("fickle --stdio");
    if servers.is_empty() {
        return Err("the server does not run".to_owned());
    }
    if play.variant.contains("trap") {
        for (pid, _) in &servers {
            signal_to(*pid, Signal::TERM);
        }
        thread::sleep(Duration::from_millis(300));
        if stage.processes("fickle --stdio") != servers {
            return Err("the server ends after SIGTERM".to_owned());
        }
    }
    Ok(())
}

fn killed(play: &mut Play<'_>) -> Result<(), String> {
    started(play)?;
    if let Some(mut gateway) = play.stage.gateway.take() {
        gateway.kill();
    }
    let mark = &play.stage.mark;
    match until(GONE, || Some(marked(mark)).filter(Vec::is_empty)) {
        Some(_) => Ok(()),
        None => Err(format!("left behind: {:?}", marked(mark))),
    }
}

/// Lets the stage end Dragoman with SIGTERM, as at the end of every scenario; no process may be left afterwards.
fn terminated(play: &mut Play<'_>) -> Result<(), String> {
    started(play)
}
