//! Runs the tests of children under a guardian: each child has a holder, which ends the child's whole tree.

use super::*;

#[path = "caps.rs"]
mod caps;
#[path = "ending.rs"]
mod ending;
#[path = "flow.rs"]
mod flow;
#[path = "lines.rs"]
mod lines;
#[path = "odd.rs"]
mod odd;
#[path = "runtimes.rs"]
mod runtimes;
#[path = "starting.rs"]
mod starting;

/// True if descendants that have left the group end, too.
const WHOLE_TREES: bool = true;

fn supervisor(max: usize) -> Supervisor {
    Supervisor::new(max)
}

async fn start(spec: &Spec, limits: Limits) -> (Supervisor, Child) {
    let supervisor = supervisor(8);
    let child = within(supervisor.spawn(spec, limits)).await.unwrap();
    (supervisor, child)
}
