//! Runs the tests of children without a guardian: each child is ended by its process group.

use super::*;

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
const WHOLE_TREES: bool = false;

fn supervisor(max: usize) -> Supervisor {
    Supervisor::with_groups(max)
}

async fn start(spec: &Spec, limits: Limits) -> (Supervisor, Child) {
    let supervisor = supervisor(8);
    let child = within(supervisor.spawn(spec, limits)).await.unwrap();
    (supervisor, child)
}
