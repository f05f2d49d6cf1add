//! The store is killed, stays away for a while, and comes back empty.

use super::Case;
use crate::chaos::client::Client;
use crate::chaos::process::until;
use crate::cluster::load::{judged, under_load};
use crate::cluster::rig::{KNOWN, Rig, all_go_on, ends_at, eras, key_becomes, session_eras};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "lost-store",
    title: "the store is away for seconds and comes back empty: no call fails, what has ended or was revoked stays so, and new sessions are shared within 5 s",
    run,
}];

/// The time for which the store is away: longer than several attempts to connect.
const AWAY: Duration = Duration::from_secs(4);

/// The time after which everything must be shared again.
const SHARED: Duration = Duration::from_secs(5);

/// The time within which every call must have an end.
const ENDS: Duration = Duration::from_secs(2);

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.start(true)?;
    let addresses = rig.addresses();
    let key = rig.replicas[0].new_key("clients")?;
    key_becomes(&key, 200, &addresses, KNOWN)?;
    let revoked = rig.replicas[1].new_key("revoked")?;
    key_becomes(&revoked, 200, &addresses, KNOWN)?;
    rig.replicas[2].command(&["key", "revoke", "revoked"])?;
    key_becomes(&revoked, 401, &addresses, KNOWN)?;
    let clients = rig.clients(rig.stage.clients, &eras(), &addresses, Some(&key))?;
    all_go_on(&clients, &addresses)?;
    let sessions = session_eras();
    let doomed = rig.clients(2 * sessions.len(), &sessions, &addresses, Some(&key))?;
    let (before, during) = doomed.split_at(sessions.len());
    all_go_on(&doomed, &addresses)?;
    for client in before {
        client.close();
        ends_at(client, &addresses, KNOWN)?;
    }
    let (found, made) = under_load(&clients, || lose(rig, during, &key))?;
    let back = found.back;
    let within = || SHARED.saturating_sub(back.elapsed());
    for client in during {
        ends_at(client, &addresses, within())?;
    }
    key_becomes(&found.late_key, 200, &addresses, within())?;
    let opened = clients.iter().filter(|client| sessions.contains(&client.era)).count() + found.fresh.len();
    let count = || open_sessions(rig).unwrap_or(0);
    until(within(), || (count() == opened).then_some(()))
        .ok_or_else(|| format!("{} of {opened} sessions are in the store after {SHARED:?}", count()))?;
    let shared = back.elapsed().as_millis();
    key_becomes(&revoked, 401, &addresses, KNOWN)?;
    // A replica without any state knows everything from the store, although the store had lost it.
    rig.replicas[2].end()?;
    rig.replicas[2].forget()?;
    rig.replicas[2].start()?;
    for client in &doomed {
        ends_at(client, &addresses, KNOWN)?;
    }
    key_becomes(&revoked, 401, &addresses, KNOWN)?;
    all_go_on(&clients, &addresses)?;
    all_go_on(&found.fresh, &addresses)?;
    let figures = judged(rig, &made, None, ENDS)?;
    Ok(format!("{figures}; everything shared {shared} ms after the return"))
}

/// The number of sessions in the store that have not ended. A replica that receives the notification of an end late
/// may have stored the session again; such a session counts as ended.
fn open_sessions(rig: &Rig<'_>) -> Result<usize, String> {
    let (open, ended) = (rig.store.names("dragoman:session:*")?, rig.store.names("dragoman:ended:*")?);
    let has_ended = |name: &String| ended.contains(&name.replace(":session:", ":ended:"));
    Ok(open.iter().filter(|name| !has_ended(name)).count())
}

/// The sessions and the key that were created while the store was away.
struct Meanwhile {
    /// The clients that opened sessions.
    fresh: Vec<Arc<Client>>,
    /// The API key that was created.
    late_key: String,
    /// The time of the store's return.
    back: Instant,
}

/// Kills the store, opens and ends sessions while the store is away, and starts it again, empty.
fn lose(rig: &mut Rig<'_>, ending: &[Arc<Client>], key: &str) -> Result<Meanwhile, String> {
    thread::sleep(Duration::from_millis(500));
    rig.store.kill();
    let lost = Instant::now();
    thread::sleep(Duration::from_millis(500));
    for client in ending {
        client.close();
    }
    let (addresses, sessions) = (rig.addresses(), session_eras());
    let fresh = rig.clients(sessions.len(), &sessions, &addresses, Some(key))?;
    all_go_on(&fresh, &addresses)?;
    let late_key = rig.replicas[1].new_key("created-while-away")?;
    thread::sleep(AWAY.saturating_sub(lost.elapsed()));
    rig.store.start_again()?;
    Ok(Meanwhile { fresh, late_key, back: Instant::now() })
}
