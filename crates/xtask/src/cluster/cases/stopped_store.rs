//! The store stops answering, and a replica starts meanwhile.

use super::Case;
use crate::cluster::load::{judged, under_load};
use crate::cluster::rig::{KNOWN, Rig, all_go_on, ends_at, eras, session_eras};
use rustix::process::Signal;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ALL: &[Case] = &[Case {
    name: "stopped-store",
    title: "the store stops answering: calls wait for nothing, a replica can start, and learns within 5 s of the return which of its sessions have ended",
    run,
}];

/// The time within which all sessions of other replicas must continue at the new one, on a busy machine.
const RESTORED: Duration = Duration::from_secs(2);

/// The time within which the new replica must know which sessions have ended.
const SHARED: Duration = Duration::from_secs(5);

/// The time within which every call must have an end.
const ENDS: Duration = Duration::from_secs(2);

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.start(false)?;
    let addresses = rig.addresses();
    let (old, new) = addresses.split_at(2);
    let clients = rig.clients(rig.stage.clients, &eras(), old, None)?;
    all_go_on(&clients, old)?;
    let sessions = session_eras();
    let doomed = rig.clients(sessions.len(), &sessions, old, None)?;
    all_go_on(&doomed, &addresses)?;
    let late = &mut rig.replicas[2];
    late.end()?;
    late.forget()?;
    for client in &doomed {
        client.close();
        ends_at(client, old, KNOWN)?;
    }
    let store = &rig.store;
    let (restored, made) = under_load(&clients, || {
        store.signal(Signal::STOP);
        let found = late.start().and_then(|()| {
            // It cannot know yet that these have ended.
            all_go_on(&doomed, new)?;
            let begun = Instant::now();
            all_go_on(&clients, new)?;
            Ok(begun.elapsed())
        });
        store.signal(Signal::CONT);
        let restored = found?;
        if restored > RESTORED {
            return Err(format!("sessions waited {restored:?} for a store that does not answer"));
        }
        Ok(restored)
    })?;
    let begun = Instant::now();
    for client in &doomed {
        ends_at(client, new, SHARED.saturating_sub(begun.elapsed()))?;
    }
    let known = begun.elapsed().as_millis();
    thread::sleep(KNOWN);
    all_go_on(&clients, &addresses)?;
    let figures = judged(rig, &made, None, ENDS)?;
    let restored = restored.as_millis();
    Ok(format!(
        "{figures}; sessions restored in {restored} ms without the store, ends known after {known} ms"
    ))
}
