//! The scenarios, a small file for each fault.

mod announced;
mod burst;
mod chatter;
mod crash;
mod folders;
mod gated;
mod hanging;
mod isolation;
mod keepalive;
mod malformed;
mod memory;
mod processes;
mod real;
mod record;
mod refresh;
mod restart;
mod returns;
mod sessions;
mod status;
mod storm;
mod streams;
mod survival;
mod ten;
mod trees;

use super::scenario::Scenario;

/// All scenarios: the long ones first, so that the short ones fill the gaps.
pub(super) fn all() -> Vec<Scenario> {
    [
        storm::ALL,
        real::ALL,
        restart::ALL,
        processes::ALL,
        folders::ALL,
        keepalive::ALL,
        returns::ALL,
        announced::ALL,
        status::ALL,
        burst::ALL,
        gated::ALL,
        &sessions::all(),
        chatter::ALL,
        malformed::ALL,
        hanging::ALL,
        survival::ALL,
        trees::ALL,
        memory::ALL,
        record::ALL,
        refresh::ALL,
        isolation::ALL,
        crash::ALL,
        streams::ALL,
        ten::ALL,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::all;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_every_fault_has_a_scenario() {
        let (names, faults): (BTreeSet<_>, BTreeSet<_>) =
            all().iter().map(|scenario| (scenario.name, scenario.fault)).unzip();
        assert_eq!(names.len(), all().len());
        assert_eq!(faults, (0..=17).collect());
    }
}
