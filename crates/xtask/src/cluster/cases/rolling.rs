//! All replicas are replaced under load, one after the other: each is asked to end and starts again. With a program of another
//! version, this is an update, and then the way back.

use super::Case;
use crate::cluster::balancer::Balancer;
use crate::cluster::load::{judged, under_load};
use crate::cluster::rig::{KNOWN, Rig, all_go_on, ends_at, eras, goes_on, key_becomes, session_eras};
use std::env;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "rolling",
    title: "all replicas are replaced under load, one after the other, twice: no call fails, all sessions go on, and ends and keys are known to both versions",
    run,
}];

/// The variable with the path of another version's program.
pub(crate) const OTHER: &str = "DRAGOMAN_OTHER_BUILD";

/// The time that docs/cluster.md recommends between two replacements.
const PAUSE: Duration = Duration::from_secs(1);

/// The time within which every call must have an end.
const ENDS: Duration = Duration::from_secs(2);

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    let other = env::var_os(OTHER).map(PathBuf::from);
    let (own, first) =
        (rig.stage.programs.dragoman(), other.clone().unwrap_or(rig.stage.programs.dragoman()));
    rig.start_unbalanced_by(&first)?;
    let addresses = rig.addresses();
    let key = rig.replicas[0].new_key("clients")?;
    key_becomes(&key, 200, &addresses, KNOWN)?;
    let balancers = [
        Balancer::documented_nginx(&rig.stage, "nginx", &addresses)?,
        Balancer::documented_haproxy(&rig.stage, "haproxy", &addresses)?,
    ];
    let doors = balancers.each_ref().map(|balancer| balancer.address);
    let clients = rig.clients(rig.stage.clients, &eras(), &doors, Some(&key))?;
    all_go_on(&clients, &doors)?;
    let (mut count, mut longest) = (0, Duration::ZERO);
    let ((), made) = under_load(&clients, || {
        for program in [&own, &first] {
            for number in 0..addresses.len() {
                let begun = Instant::now();
                rig.replicas[number].end()?;
                rig.replicas[number].becomes(program);
                rig.replicas[number].start()?;
                longest = longest.max(begun.elapsed());
                known_to_both(rig, number, &key)?;
                thread::sleep(PAUSE);
                count += 1;
            }
        }
        Ok(())
    })?;
    let figures = judged(rig, &made, None, ENDS)?;
    all_go_on(&clients, &addresses)?;
    let told = if other.is_some() { "another version" } else { "this version" };
    Ok(format!("{count} replacements by {told}, each within {} ms; {figures}", longest.as_millis()))
}

/// Creates a key and ends a session at the replica that has just started, and revokes the key at another one: all must know.
fn known_to_both(rig: &Rig<'_>, number: usize, key: &str) -> Result<(), String> {
    let (addresses, name) = (rig.addresses(), format!("key-{number}"));
    let before = (number + addresses.len() - 1) % addresses.len();
    let text = rig.replicas[number].new_key(&name)?;
    key_becomes(&text, 200, &addresses, KNOWN)?;
    rig.replicas[before].command(&["key", "revoke", &name])?;
    key_becomes(&text, 401, &addresses, KNOWN)?;
    let eras = session_eras();
    let client = rig.stage.client_at(addresses[number], eras[number % eras.len()], Some(key))?;
    goes_on(&client, &addresses)?;
    client.close();
    ends_at(&client, &addresses, KNOWN).map(drop)
}
