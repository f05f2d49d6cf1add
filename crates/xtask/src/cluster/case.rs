//! A case, its run and its outcome.

use super::rig::Rig;
use crate::root::Programs;
use crate::run::Log;
use std::time::{Duration, Instant};

/// One event in a cluster, and the condition that must hold despite it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// The condition that must hold, as a sentence without a full stop.
    pub(super) title: &'static str,
    /// Runs the case; returns figures for the table.
    pub(super) run: fn(&mut Rig<'_>) -> Result<String, String>,
}

/// A case that has ended.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// The figures, or a description of the condition that does not hold.
    pub(super) found: Result<String, String>,
    pub(super) took: Duration,
}

impl Case {
    /// Runs the case.
    pub(super) fn outcome(&self, programs: &Programs, clients: usize, log: &Log) -> Outcome {
        let started = Instant::now();
        let found = Rig::new(self.name, programs, clients, log).and_then(|mut rig| {
            let found = (self.run)(&mut rig);
            if found.is_err() {
                rig.tell();
            }
            let end = rig.finish();
            found.and_then(|figures| end.map(|()| figures))
        });
        Outcome { name: self.name, title: self.title, found, took: started.elapsed() }
    }
}

impl Outcome {
    pub(super) fn is_good(&self) -> bool {
        self.found.is_ok()
    }

    /// The outcome in one line, which starts like those of other commands.
    pub(super) fn line(&self) -> String {
        let (word, text) = match &self.found {
            Ok(figures) => ("ok", figures),
            Err(why) => ("not ok", why),
        };
        format!("{word} {} ({:.1} s): {text}", self.name, self.took.as_secs_f64())
    }
}

/// The outcome of a run as a table.
pub(super) fn rendered(outcomes: &[Outcome]) -> String {
    let mut out = String::from("case              outcome  seconds  what must hold\n");
    for Outcome { name, title, found, took } in outcomes {
        let word = if found.is_ok() { "passed" } else { "FAILED" };
        let (Ok(text) | Err(text)) = found;
        out.extend([
            format!("{name:<16}  {word:<7} {:>8.1}  {title}\n", took.as_secs_f64()),
            format!("{:<36}{text}\n", ""),
        ]);
    }
    let failed = outcomes.iter().filter(|outcome| !outcome.is_good()).count();
    out.extend([format!("\n{} passed, {failed} failed\n", outcomes.len() - failed)]);
    out
}

#[cfg(test)]
mod tests {
    use super::{Outcome, rendered};
    use std::time::Duration;

    #[test]
    fn the_table_contains_figures_and_reasons() {
        let one = |name, found| Outcome { name, title: "x", found, took: Duration::ZERO };
        let outcomes = [one("a", Ok("7 calls".to_owned())), one("b", Err("lost".to_owned()))];
        let text = rendered(&outcomes);
        assert!(
            text.contains("7 calls") && text.contains("lost") && text.ends_with("1 passed, 1 failed\n"),
            "{text}"
        );
        assert_eq!(outcomes[1].line(), "not ok b (0.0 s): lost");
    }
}
