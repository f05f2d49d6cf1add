//! Stores that cannot be used: one that discards data, and one that refuses the password.

use super::Case;
use crate::chaos::client::Era;
use crate::chaos::process::until;
use crate::cluster::rig::{Rig, goes_on};
use std::time::Duration;

pub(super) const ALL: &[Case] = &[
    Case {
        name: "evicting-store",
        title: "a store that may forget ended sessions is refused at the start, with the remedy",
        run: evicting,
    },
    Case {
        name: "wrong-password",
        title: "a store that refuses the password does not keep a replica from its work, and is joined once the password is right",
        run: password,
    },
];

/// The time within which a replica joins a store that has become usable.
const JOINS: Duration = Duration::from_secs(8);

fn evicting(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.store.cli(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"])?;
    let mut replica = rig.replica("gw-1", &rig.store.url(), false)?;
    replica.launch()?;
    let (good, said) = replica.ended()?;
    if good || !said.contains("noeviction") {
        return Err(format!("success: {good}, and the output does not name the remedy: {said}"));
    }
    rig.store.cli(&["CONFIG", "SET", "maxmemory-policy", "noeviction"])?;
    replica.start()?;
    replica.says("connected to the cluster's store", 0, JOINS)?;
    replica.end()?;
    Ok("refused, and accepted after the remedy".to_owned())
}

fn password(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.store.require("another")?;
    let url = rig.store.url().replace("redis://", "redis://:secret@");
    let mut replica = rig.replica("gw-1", &url, false)?;
    replica.start()?;
    replica.says("WRONGPASS", 0, JOINS)?;
    let client = rig.stage.client_at(replica.address, Era::NEWEST_SESSION, None)?;
    goes_on(&client, &[replica.address])?;
    if replica.log().contains("secret") {
        return Err("the log contains the password".to_owned());
    }
    rig.store.require("secret")?;
    replica.says("connected to the cluster's store", 0, JOINS)?;
    let shared = || rig.store.names("dragoman:session:*").ok().filter(|names| names.len() == 1);
    until(JOINS, shared).ok_or("the session that was opened alone is not shared")?;
    goes_on(&client, &[replica.address])?;
    rig.replicas.push(replica);
    Ok("works alone, then joins and shares its session".to_owned())
}
