//! A user of the store that has only the rights that docs/cluster.md lists.

use super::Case;
use crate::chaos::client::Era;
use crate::cluster::rig::{KNOWN, Rig, ends_at, goes_on, key_becomes};

pub(super) const ALL: &[Case] = &[Case {
    name: "store-user",
    title: "the documented rights of the store's user are enough, and none is missing in the store's log of refusals",
    run,
}];

/// The user, its password, and its rights.
const USER: &[&str] = &[
    "ACL",
    "SETUSER",
    "dragoman",
    "on",
    ">secret",
    "~dragoman:*",
    "&dragoman:*",
    "+@read",
    "+@write",
    "+@connection",
    "+info",
    "+time",
    "+publish",
    "+subscribe",
    "+eval",
];

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.store.cli(USER)?;
    let url = rig.store.url().replace("redis://", "redis://dragoman:secret@");
    rig.start_with(&url, true)?;
    let addresses = rig.addresses();
    let key = rig.replicas[0].new_key("ann")?;
    key_becomes(&key, 200, &addresses, KNOWN)?;
    let client = rig.stage.client_at(addresses[0], Era::NEWEST_SESSION, Some(&key))?;
    goes_on(&client, &addresses)?;
    client.close();
    ends_at(&client, &addresses, KNOWN)?;
    rig.replicas[2].end()?;
    rig.replicas[2].forget()?;
    rig.replicas[2].start()?;
    key_becomes(&key, 200, &addresses, KNOWN)?;
    ends_at(&client, &addresses, KNOWN)?;
    let refused = rig.store.cli(&["ACL", "LOG"])?;
    if refused.is_empty() {
        Ok("no refusal".to_owned())
    } else {
        Err(format!("the store refused: {refused}"))
    }
}
