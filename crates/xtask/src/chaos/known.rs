//! The scenarios that currently fail. The list can only shrink: if a listed scenario passes, the run fails.

use super::scenario::Verdict;

/// The regularity with which a listed scenario fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(dead_code, reason = "no scenario is known to fail today")]
enum Fails {
    /// The scenario fails every time.
    Always,
    /// The scenario fails only sometimes, so a successful run proves nothing.
    Sometimes,
}

/// The scenarios, each with the missing behavior.
const KNOWN: &[(&str, Fails, &str)] = &[];

/// The verdict on a scenario with this outcome.
pub(super) fn judged(name: &str, found: Result<(), String>) -> Verdict {
    let known = KNOWN.iter().find(|(its, ..)| *its == name);
    match (found, known) {
        (Ok(()), Some((_, Fails::Always, _))) => Verdict::NoLongerKnown,
        (Ok(()), _) => Verdict::Passed,
        (Err(why), Some((.., missing))) => Verdict::Known(format!("{missing} ({why})")),
        (Err(why), None) => Verdict::Failed(why),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fails, KNOWN, Verdict, judged};
    use crate::chaos::scenarios;

    #[test]
    fn the_list_names_scenarios_and_refuses_those_that_pass() {
        for (name, fails, _) in KNOWN {
            assert!(scenarios::all().iter().any(|scenario| scenario.name == *name), "{name}");
            let passed = if *fails == Fails::Always { Verdict::NoLongerKnown } else { Verdict::Passed };
            assert_eq!(judged(name, Ok(())), passed, "{name}");
        }
        assert_eq!(judged("none", Ok(())), Verdict::Passed);
        assert_eq!(judged("none", Err("x".into())), Verdict::Failed("x".into()));
    }
}
