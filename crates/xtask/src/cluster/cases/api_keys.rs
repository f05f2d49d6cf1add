//! API keys that are created and revoked at single replicas.

use super::Case;
use crate::chaos::client::Era;
use crate::cluster::rig::{KNOWN, Rig, goes_on, key_becomes};
use rustix::process::Signal;
use std::thread;
use std::time::Duration;

pub(super) const ALL: &[Case] = &[Case {
    name: "api-keys",
    title: "a key that is created or revoked at one replica is accepted or refused everywhere within 1 s, also after a replica stood still",
    run,
}];

/// The number of keys that are created and revoked one after the other.
const KEYS: usize = 5;

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.start(true)?;
    let addresses = rig.addresses();
    let (mut created, mut revoked) = (Duration::ZERO, Duration::ZERO);
    for number in 0..KEYS {
        let (name, count) = (format!("key-{number}"), rig.replicas.len());
        let key = rig.replicas[number % count].new_key(&name)?;
        created = created.max(key_becomes(&key, 200, &addresses, KNOWN)?);
        let client = rig.stage.client_at(addresses[0], Era::NEWEST_SESSION, Some(&key))?;
        goes_on(&client, &addresses)?;
        rig.replicas[(number + 1) % count].command(&["key", "revoke", &name])?;
        revoked = revoked.max(key_becomes(&key, 401, &addresses, KNOWN)?);
        if goes_on(&client, &addresses[..1]).is_ok() {
            return Err("a session goes on with a revoked key".to_owned());
        }
    }
    same_name(rig)?;
    stood_still(rig)?;
    // A replica that starts without any state learns all of it.
    let key = rig.replicas[0].new_key("last")?;
    key_becomes(&key, 200, &addresses, KNOWN)?;
    rig.replicas[2].end()?;
    rig.replicas[2].forget()?;
    rig.replicas[2].start()?;
    key_becomes(&key, 200, &addresses, KNOWN)?;
    Ok(format!("created after at most {} ms, revoked after {} ms", created.as_millis(), revoked.as_millis()))
}

/// Creates two keys with the same name at the same time.
fn same_name(rig: &Rig<'_>) -> Result<(), String> {
    let addresses = rig.addresses();
    let twins = thread::scope(|scope| {
        let both: Vec<_> = rig.replicas[..2].iter().map(|at| scope.spawn(|| at.new_key("twin"))).collect();
        both.into_iter()
            .map(|one| one.join().map_err(|_| "a thread panicked")?)
            .collect::<Result<Vec<_>, String>>()
    });
    let twins = match twins {
        Err(why) if why.contains("twin") => return Ok(()),
        twins => twins?,
    };
    for twin in &twins {
        key_becomes(twin, 200, &addresses, KNOWN)?;
    }
    for replica in &rig.replicas {
        let list = replica.command(&["key", "list", "--json"])?;
        let named = list.matches("\"name\":\"twin").count();
        if named != 2 || list.matches("\"name\":\"twin\"").count() != 1 {
            return Err(format!("the two keys are not told apart at {}: {list}", replica.name));
        }
    }
    // Each is revoked by its prefix, because names may differ between replicas.
    rig.replicas[2].command(&["key", "revoke", &twins[0][..12]])?;
    key_becomes(&twins[0], 401, &addresses, KNOWN)?;
    key_becomes(&twins[1], 200, &addresses, KNOWN).map(drop)
}

/// Revokes a key while a replica is suspended.
fn stood_still(rig: &Rig<'_>) -> Result<(), String> {
    let addresses = rig.addresses();
    let key = rig.replicas[0].new_key("forgotten")?;
    key_becomes(&key, 200, &addresses, KNOWN)?;
    rig.replicas[2].signal(Signal::STOP);
    let done = rig.replicas[0].command(&["key", "revoke", "forgotten"]).and_then(|_| {
        let known = key_becomes(&key, 401, &addresses[..2], KNOWN);
        // Longer than a replica may be silent.
        thread::sleep(Duration::from_secs(11));
        known
    });
    rig.replicas[2].signal(Signal::CONT);
    done?;
    key_becomes(&key, 401, &addresses, KNOWN)?;
    thread::sleep(KNOWN);
    key_becomes(&key, 401, &addresses, Duration::ZERO).map(drop)
}
