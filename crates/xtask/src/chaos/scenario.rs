//! A scenario, its run and its outcome.

use super::known;
use super::stage::Stage;
use crate::root::Programs;
use crate::run::Log;
use crate::tools::Node;
use std::time::{Duration, Instant};

/// One fault, and the condition that must hold despite it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// The number of the fault in docs/reliability.md; 0 for conditions that must hold for every fault.
    pub(super) fault: u8,
    /// The condition that must hold, as a sentence without a full stop.
    pub(super) title: &'static str,
    /// The variant, if several scenarios use the same function.
    pub(super) variant: &'static str,
    pub(super) run: fn(&mut Play<'_>) -> Result<(), String>,
}

/// The resources of a running scenario.
pub(super) struct Play<'a> {
    pub(super) stage: Stage<'a>,
    pub(super) variant: &'static str,
    pub(super) node: &'a Node,
    /// The length of the scenario in minutes; `None` for the short form.
    pub(super) minutes: Option<u64>,
}

/// The verdict on a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed(String),
    /// The scenario failed, as expected.
    Known(String),
    /// The scenario passed, although it is listed as failing.
    NoLongerKnown,
}

/// A scenario that has ended.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) name: &'static str,
    pub(super) fault: u8,
    pub(super) title: &'static str,
    pub(super) verdict: Verdict,
    pub(super) took: Duration,
}

impl Scenario {
    /// Runs the scenario.
    pub(super) fn outcome(
        &self,
        programs: &Programs,
        node: &Node,
        clients: usize,
        minutes: Option<u64>,
        log: &Log,
    ) -> Outcome {
        let started = Instant::now();
        let found = Stage::new(self.name, programs, clients, log).and_then(|stage| {
            let mut play = Play { stage, variant: self.variant, node, minutes };
            let found = (self.run)(&mut play);
            let end = play.stage.finish();
            found.and(end)
        });
        let verdict = known::judged(self.name, found);
        let Self { name, fault, title, .. } = *self;
        Outcome { name, fault, title, verdict, took: started.elapsed() }
    }
}

impl Outcome {
    /// Returns true unless the outcome makes the run fail.
    pub(super) fn is_good(&self) -> bool {
        matches!(self.verdict, Verdict::Passed | Verdict::Known(_))
    }

    /// The outcome in one line, which starts like those of other commands.
    pub(super) fn line(&self) -> String {
        let (word, why) = match &self.verdict {
            Verdict::Passed => ("ok", ""),
            Verdict::Failed(why) => ("not ok", why.as_str()),
            Verdict::Known(why) => ("known", why.as_str()),
            Verdict::NoLongerKnown => ("not ok", "passes: remove it from the list in chaos/known.rs"),
        };
        let separator = if why.is_empty() { "" } else { ": " };
        format!("{word} {} ({:.1} s){separator}{why}", self.name, self.took.as_secs_f64())
    }
}
