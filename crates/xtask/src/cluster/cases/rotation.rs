//! The key ring gets a new key under load.

use super::Case;
use crate::chaos::process::until;
use crate::cluster::load::{judged, under_load};
use crate::cluster::rig::{KNOWN, Rig, all_go_on, ends_at, eras, key_becomes, session_eras};
use std::thread;
use std::time::Duration;

pub(super) const ALL: &[Case] = &[Case {
    name: "rotation",
    title: "the key ring is rotated under load: no call fails, old and new sessions go on everywhere, and API keys are sealed again",
    run,
}];

/// The time within which every call must have an end.
const ENDS: Duration = Duration::from_secs(2);

/// The time after which all replicas seal with the new key.
const SEALS: Duration = Duration::from_secs(6);

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.start(true)?;
    let addresses = rig.addresses();
    let key = rig.replicas[0].new_key("clients")?;
    key_becomes(&key, 200, &addresses, KNOWN)?;
    let balancers = rig.balancers()?;
    let doors = balancers.each_ref().map(|balancer| balancer.address);
    let clients = rig.clients(rig.stage.clients, &eras(), &doors, Some(&key))?;
    all_go_on(&clients, &addresses)?;
    let keys = || rig.store.cli(&["HVALS", "dragoman:keys"]);
    let before = keys()?;
    let (fresh, made) = under_load(&clients, || {
        thread::sleep(Duration::from_millis(500));
        rig.replicas[0].command(&["keyring", "rotate"])?;
        until(SEALS, || keys().ok().filter(|sealed| *sealed != before))
            .ok_or("the API keys are not sealed again under the new key")?;
        thread::sleep(KNOWN);
        rig.clients(6, &session_eras(), &addresses, Some(&key))
    })?;
    let figures = judged(rig, &made, None, ENDS)?;
    all_go_on(&clients, &addresses)?;
    all_go_on(&fresh, &addresses)?;
    // A replica without any state reads what was sealed under either key.
    rig.replicas[2].end()?;
    rig.replicas[2].forget()?;
    rig.replicas[2].start()?;
    key_becomes(&key, 200, &addresses, KNOWN)?;
    all_go_on(&fresh, &addresses)?;
    fresh[0].close();
    ends_at(&fresh[0], &addresses, KNOWN)?;
    Ok(figures)
}
