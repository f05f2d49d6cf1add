//! A client ends its session at one replica.

use super::Case;
use crate::cluster::rig::{KNOWN, Rig, ends_at, goes_on, session_eras};
use std::time::Duration;

pub(super) const ALL: &[Case] = &[Case {
    name: "ends",
    title: "a session that ends at one replica is unknown at every other one within 1 s, also where it is in memory, and its streams there end",
    run,
}];

/// The number of sessions of each type and version. A client makes calls at the other replicas while these are
/// being notified that the session has ended, so some of them restore a session that is just ending.
const ROUNDS: usize = 8;

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.start(false)?;
    let addresses = rig.addresses();
    let (first, others) = addresses.split_first().ok_or("no replica")?;
    let eras = session_eras();
    let mut longest = Duration::ZERO;
    let mut ended = Vec::new();
    for era in eras.iter().cycle().take(ROUNDS * eras.len()) {
        // Known only to the first replica.
        let cold = rig.stage.client_at(*first, *era, None)?;
        goes_on(&cold, &[*first])?;
        cold.close();
        longest = longest.max(ends_at(&cold, others, KNOWN)?);
        // In the memory of all replicas, with a stream at each other one.
        let warm = rig.stage.client_at(*first, *era, None)?;
        goes_on(&warm, &addresses)?;
        let streams: Vec<_> = others.iter().map(|address| warm.resumed(*address)).collect();
        for stream in &streams {
            stream.listen().map_err(|why| format!("{} cannot listen: {why:?}", era.version))?;
        }
        warm.close();
        longest = longest.max(ends_at(&warm, others, KNOWN)?);
        if !warm.hearing.ends(KNOWN) {
            return Err(format!("the stream of a session of {} that has ended goes on", era.version));
        }
        ended.extend([cold, warm]);
    }
    // A replica that starts later, without any state, learns it from the store.
    let last = rig.replicas.last_mut().ok_or("no replica")?;
    last.end()?;
    last.forget()?;
    last.start()?;
    for client in &ended {
        ends_at(client, &addresses, KNOWN)?;
    }
    Ok(format!("{} sessions, known everywhere after at most {} ms", ended.len(), longest.as_millis()))
}
