//! The requests of each session are distributed over all replicas.

use super::Case;
use crate::chaos::stage::SOON;
use crate::cluster::rig::{Rig, all_go_on, each, eras};
use serde_json::json;

pub(super) const ALL: &[Case] = &[Case {
    name: "anywhere",
    title: "behind nginx and HAProxy without stickiness, every session goes on at every replica; no answer is lost, doubled or foreign",
    run,
}];

/// The number of calls of each client through its balancer.
const CALLS: usize = 12;

fn run(rig: &mut Rig<'_>) -> Result<String, String> {
    rig.start(false)?;
    let balancers = rig.balancers()?;
    let doors = balancers.each_ref().map(|balancer| balancer.address);
    let clients = rig.clients(rig.stage.clients, &eras(), &doors, None)?;
    each(&clients, |client| {
        if client.names(SOON)?.is_empty() {
            return Err(format!("{} lists no tool", client.era.version));
        }
        for _ in 0..CALLS {
            client.call("up__write", json!({}), SOON).text()?;
        }
        Ok(())
    })?;
    let executed = rig.up.executions(|_| true);
    let calls = clients.len() * CALLS;
    if executed.len() != calls || executed.values().any(|times| *times != 1) {
        return Err(format!("{calls} calls were answered, and {} were executed", executed.len()));
    }
    let replicas = rig.addresses();
    all_go_on(&clients, &replicas)?;
    for client in &clients {
        client.close();
    }
    Ok(format!(
        "{} clients, {calls} calls through balancers, {} at single replicas",
        clients.len(),
        clients.len() * replicas.len()
    ))
}
