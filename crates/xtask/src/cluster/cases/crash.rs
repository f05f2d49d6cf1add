//! A replica ends under load: it is killed, or it is asked to end.

use super::Case;
use crate::cluster::load::{judged, under_load};
use crate::cluster::rig::{Rig, all_go_on, eras};
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[
    Case {
        name: "killed-replica",
        title: "a replica is killed under load: only calls in progress there may fail, each within 2 s; none runs twice; all sessions go on",
        run: killed,
    },
    Case {
        name: "drained-replica",
        title: "a replica is asked to end under load: no call fails, and all sessions go on",
        run: drained,
    },
];

/// The time within which every call must have an end.
const ENDS: Duration = Duration::from_secs(2);

/// The time under load before and after each event.
const CALM: Duration = Duration::from_millis(800);

fn killed(rig: &mut Rig<'_>) -> Result<String, String> {
    away(rig, true)
}

fn drained(rig: &mut Rig<'_>) -> Result<String, String> {
    away(rig, false)
}

fn away(rig: &mut Rig<'_>, killed: bool) -> Result<String, String> {
    rig.start(false)?;
    let balancers = rig.balancers()?;
    let doors = balancers.each_ref().map(|balancer| balancer.address);
    let clients = rig.clients(rig.stage.clients, &eras(), &doors, None)?;
    all_go_on(&clients, &doors)?;
    let replicas = &mut rig.replicas;
    let (cut, made) = under_load(&clients, || {
        thread::sleep(CALM);
        let (replica, begun) = (&mut replicas[1], Instant::now());
        if killed {
            replica.kill();
        } else {
            replica.end()?;
        }
        let cut = (begun, Instant::now());
        thread::sleep(CALM);
        replica.start()?;
        thread::sleep(CALM);
        Ok(cut)
    })?;
    let figures = judged(rig, &made, killed.then_some(cut), ENDS)?;
    all_go_on(&clients, &rig.addresses())?;
    Ok(figures)
}
