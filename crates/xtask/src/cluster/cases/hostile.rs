//! Somebody else writes to the store: garbage, truncated values, values that belong to other names, and entries of
//! strangers.

use super::Case;
use super::resumed::CutCall;
use crate::chaos::client::{Client, Era, Failure};
use crate::chaos::process::until;
use crate::chaos::stage::SOON;
use crate::cluster::redis::Redis;
use crate::cluster::replica::{Replica, Told};
use crate::cluster::rig::{KNOWN, Rig, all_go_on, each, ends_at, goes_on, session_eras};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

pub(super) const ALL: &[Case] = &[Case {
    name: "hostile-store",
    title: "garbage, truncated and copied values in the store end no session, show nobody the data of others, and stop nothing",
    run,
}];

/// A time that is longer than the interval between two heartbeats.
const BEATS: Duration = Duration::from_millis(3500);

/// Cuts off the end of every value whose name matches a pattern.
const TRUNCATE: &str = "for _, name in ipairs(redis.call('KEYS', ARGV[1])) do \
    redis.call('SET', name, string.sub(redis.call('GET', name), 1, -4), 'KEEPTTL') end return 'done'";

/// Changes a byte in the middle of every chunk of a stream.
const CHANGE_ALL: &str = "for place, chunk in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do \
    local half = math.floor(#chunk / 2); local changed = string.char((string.byte(chunk, half) + 1) % 256); \
    redis.call('LSET', KEYS[1], place - 1, string.sub(chunk, 1, half - 1) .. changed .. string.sub(chunk, half + 1)) end return 'done'";

/// The names of two clients' sessions in the store: the `quiet` client has disabled log messages, and the `open`
/// client has not.
struct Names {
    quiet: String,
    open: String,
}

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.start(false)?;
    let addresses = rig.addresses();
    let quiet = rig.stage.client_at(addresses[0], Era::NEWEST_SESSION, None)?;
    let quiet_name = new_session(&rig.store, &[])?;
    let open = rig.stage.client_at(addresses[0], Era::NEWEST_SESSION, None)?;
    let names = Names { open: new_session(&rig.store, &[&quiet_name])?, quiet: quiet_name };
    let others = rig.clients(6, &session_eras(), &addresses, None)?;
    all_go_on(&others, &addresses)?;
    quiet
        .request("logging/setLevel", &json!({ "level": "emergency" }), SOON)
        .map_err(|why| format!("{why:?}"))?;
    foreign_values(rig, &quiet, &open, &names)?;
    foreign_events(rig)?;
    garbage(rig, &open, &names)?;
    strangers(rig)?;
    all_go_on(&others, &addresses)?;
    goes_on(&quiet, &addresses)?;
    goes_on(&open, &addresses)?;
    // An honest end still arrives, and an honest new session is shared.
    others[0].close();
    let took = ends_at(&others[0], &addresses, KNOWN)?;
    each(&others[1..], |client| goes_on(client, &addresses))?;
    Ok(format!("an honest end arrives after {} ms", took.as_millis()))
}

/// The name of the session that is in the store but not in `known`.
fn new_session(store: &Redis, known: &[&String]) -> Result<String, String> {
    let found = || store.names("dragoman:session:*").ok()?.into_iter().find(|name| !known.contains(&name));
    until(KNOWN, found).ok_or_else(|| "a new session is not in the store".to_owned())
}

/// Starts the last replica again after deleting its own stored state.
fn renew(rig: &mut Rig<'_>) -> Result<(), String> {
    let last = rig.replicas.last_mut().ok_or("no replica")?;
    last.end()?;
    last.forget()?;
    last.start()
}

/// Stores values that members of the cluster have written, but under the names of other values.
fn foreign_values(
    rig: &mut Rig<'_>,
    quiet: &Arc<Client>,
    open: &Arc<Client>,
    names: &Names,
) -> Result<(), String> {
    let addresses = rig.addresses();
    let doomed = rig.stage.client_at(addresses[0], Era::NEWEST_SESSION, None)?;
    goes_on(&doomed, &addresses)?;
    doomed.close();
    ends_at(&doomed, &addresses, KNOWN)?;
    let ended = rig.store.names("dragoman:ended:*")?.pop().ok_or("no end is in the store")?;
    let end_of_open = names.open.replace(":session:", ":ended:");
    for (from, to) in [(&names.quiet, &names.open), (&ended, &end_of_open)] {
        if rig.store.cli(&["COPY", from, to, "REPLACE"])? != "1" {
            return Err(format!("{from} could not be copied to {to}"));
        }
    }
    renew(rig)?;
    let last = addresses[addresses.len() - 1];
    // With the settings of the other client, this one would get no log messages.
    let before = open.hearing.count("notifications/message");
    open.resumed(last).call("up__talk", json!({ "notes": 3 }), SOON).text()?;
    let heard = open.hearing.count("notifications/message") - before;
    quiet.resumed(last).call("up__talk", json!({ "notes": 3 }), SOON).text()?;
    let not_heard = quiet.hearing.count("notifications/message");
    if (heard, not_heard) != (3, 0) {
        return Err(format!(
            "3 log messages were expected where {heard} came, and none where {not_heard} came"
        ));
    }
    goes_on(open, &addresses)
}

/// Copies the events of one session's stream to the name of another session's stream, and changes, deletes and hides events.
fn foreign_events(rig: &Rig<'_>) -> Result<(), String> {
    let (addresses, store) = (rig.addresses(), &rig.store);
    let (here, there) = (addresses[0], addresses[1]);
    let begun = || CutCall::begin(rig.stage.client_at(here, Era::NEWEST_SESSION, None)?);
    let (victim, other) = (begun()?, begun()?);
    let name = |call: &CutCall| -> Result<String, String> {
        let id: Vec<_> = call.last.split('-').collect();
        let pattern = format!("dragoman:events:*:{}-{}", id[2], id[0]);
        until(KNOWN, || store.names(&pattern).ok()?.pop()).ok_or(format!("there is no {pattern}"))
    };
    let (victims, others) = (name(&victim)?, name(&other)?);
    // Each stream can be read at another replica by its own session, as soon as all of its events are in the store.
    let is_copied = |call: &CutCall| until(KNOWN, || call.ends_at(there).ok()).ok_or("events are not copied");
    is_copied(&victim)?;
    is_copied(&other)?;
    let refused = |what: &str| match victim.resumed(there) {
        Err(Failure::Refused(why)) if why.starts_with("400") && why.contains("the answer was lost") => Ok(()),
        found => Err(format!("a stream whose events are {what}: {found:?}")),
    };
    // Another session does not get them, even if it names them.
    let stranger = other.client.resumed(there).stream_after(Some(&victim.last), SOON);
    if !matches!(&stranger, Err(Failure::Refused(why)) if why.starts_with("400")) {
        return Err(format!("a session got the events of another one: {stranger:?}"));
    }
    // While the store does not answer, nobody knows whether there are events.
    store.cli(&["CLIENT", "PAUSE", "1200", "ALL"])?;
    match victim.resumed(there) {
        Err(Failure::Refused(why)) if why.starts_with("503") && why.contains("cannot be read now") => {}
        found => return Err(format!("a stream while the store does not answer: {found:?}")),
    }
    until(SOON, || victim.ends_at(there).ok())
        .ok_or("a stream cannot be resumed after the store was slow")?;
    store.cli(&["LPUSH", &victims, "garbage"])?;
    victim.ends_at(there)?;
    store.cli(&["RENAME", &victims, "kept"])?;
    refused("missing")?;
    store.cli(&["COPY", &others, &victims])?;
    refused("those of another session")?;
    store.cli(&["SET", &victims, "garbage"])?;
    if !matches!(victim.resumed(there), Err(Failure::Refused(why)) if why.starts_with("503")) {
        return Err("a stream whose name has another value was resumed".to_owned());
    }
    store.cli(&["RENAME", "kept", &victims])?;
    victim.ends_at(there)?;
    store.cli(&["EVAL", CHANGE_ALL, "1", &victims])?;
    refused("changed")
}

/// Stores values that no member of the cluster has written.
fn garbage(rig: &mut Rig<'_>, open: &Arc<Client>, names: &Names) -> Result<(), String> {
    let store = &rig.store;
    store.cli(&["SET", &names.open, "garbage"])?;
    store.cli(&["SET", &names.open.replace(":session:", ":ended:"), "true"])?;
    store.cli(&["EVAL", TRUNCATE, "0", "dragoman:session:*"])?;
    store.cli(&["EVAL", TRUNCATE, "0", "dragoman:replica:*"])?;
    store.cli(&[
        "ZADD",
        "dragoman:replicas",
        "9999999999999",
        "../../x",
        "9999999999999",
        "00000000deadbeef",
    ])?;
    store.cli(&["SET", "dragoman:replica:00000000deadbeef", "{}"])?;
    store.cli(&["HSET", "dragoman:keys", "digest", "garbage"])?;
    store.cli(&["XADD", "dragoman:log", "*", "other", "field"])?;
    store.cli(&["XADD", "dragoman:log", "*", "notice", "garbage"])?;
    store.cli(&["XADD", "dragoman:log", "*", "notice", "a", "more", "b"])?;
    store.cli(&["PUBLISH", "dragoman:log", "garbage"])?;
    let addresses = rig.addresses();
    renew(rig)?;
    goes_on(open, &addresses)?;
    // Values of another type, and another epoch of the store, until the next heartbeat.
    rig.store.cli(&["DEL", "dragoman:replicas", "dragoman:keys", &names.open])?;
    rig.store.cli(&["SET", "dragoman:replicas", "garbage"])?;
    rig.store.cli(&["LPUSH", &names.open, "garbage"])?;
    rig.store.cli(&["SET", "dragoman:epoch", "another"])?;
    // No later notice gets a lower id than this one, until the stream is deleted.
    rig.store.cli(&["XADD", "dragoman:log", "99999999999999-1", "other", "field"])?;
    renew(rig)?;
    goes_on(open, &addresses)?;
    let attempts = reports(rig)?;
    until(BEATS + BEATS, || (reports(rig).ok()? >= attempts + 2 * rig.replicas.len() as u64).then_some(()))
        .ok_or("replicas do not report any more")?;
    rig.store.cli(&["DEL", "dragoman:replicas", "dragoman:log"])?;
    let all = rig.replicas.len().to_string();
    until(BEATS + BEATS, || (rig.store.cli(&["ZCARD", "dragoman:replicas"]).ok()? == all).then_some(()))
        .ok_or("replicas do not report after their list was garbage")?;
    goes_on(open, &addresses)
}

/// The number of times that replicas have tried to report that they are alive.
fn reports(rig: &Rig<'_>) -> Result<u64, String> {
    Ok(rig.store.commands()?.into_iter().find(|(name, _)| name == "zadd").map_or(0, |(_, count)| count))
}

/// Starts a gateway with another key ring that uses the same store and the same names.
fn strangers(rig: &Rig<'_>) -> Result<(), String> {
    let (store, key_ring) = (rig.store.url(), rig.stage.folder.join("other-keyring"));
    let servers = json!({ "up": rig.up.over_http() });
    let told = Told {
        name: "stranger",
        store: &store,
        key_ring: &key_ring,
        servers: &servers,
        keys: false,
        passes_on: false,
        more: &serde_json::Value::Null,
    };
    let mut stranger = Replica::new(&rig.stage.folder, rig.stage.programs, &rig.stage.mark, &told)?;
    stranger.start()?;
    let client = rig.stage.client_at(stranger.address, Era::NEWEST_SESSION, None)?;
    goes_on(&client, &[stranger.address])?;
    // Nobody else knows its sessions.
    ends_at(&client, &rig.addresses(), KNOWN)?;
    client.close();
    ends_at(&client, &[stranger.address], KNOWN)?;
    for replica in &rig.replicas {
        replica.says("skipped an entry of the cluster's store", 0, BEATS)?;
    }
    stranger.end()
}
