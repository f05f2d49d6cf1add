//! The outcome of a run as a table, by fault.

use super::scenario::{Outcome, Verdict};

/// One line for each scenario, and one for each fault.
pub(super) fn rendered(outcomes: &[Outcome]) -> String {
    let mut out = String::from("fault  scenario                outcome  seconds  what must hold\n");
    for Outcome { name, fault, title, verdict, took } in outcomes {
        let word = word(verdict);
        let fault = if *fault == 0 { "–".to_owned() } else { fault.to_string() };
        out.extend([format!("{fault:>5}  {name:<22}  {word:<7} {:>8.1}  {title}\n", took.as_secs_f64())]);
        if let Verdict::Failed(why) = verdict {
            out.extend(["       ", why.as_str(), "\n"]);
        }
    }
    let count = |wanted: &str| outcomes.iter().filter(|one| word(&one.verdict) == wanted).count();
    let (passed, known) = (count("passed"), count("known"));
    let mut faults: Vec<u8> = outcomes.iter().map(|one| one.fault).filter(|fault| *fault > 0).collect();
    faults.sort_unstable();
    faults.dedup();
    let open =
        |fault: &&u8| outcomes.iter().any(|one| one.fault == **fault && one.verdict != Verdict::Passed);
    let open: Vec<String> = faults.iter().filter(open).map(ToString::to_string).collect();
    out.extend([format!("\nfaults that hold: {} of {}", faults.len() - open.len(), faults.len())]);
    if !open.is_empty() {
        out.extend(["; open: ", &open.join(", ")]);
    }
    let failed = outcomes.len() - passed - known;
    out.extend([format!("\n{passed} passed, {known} known to fail, {failed} failed\n")]);
    out
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed(_) => "FAILED",
        Verdict::Known(_) => "known",
        Verdict::NoLongerKnown => "PASSES",
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Verdict, rendered};
    use std::time::Duration;

    #[test]
    fn faults_are_summed_up() {
        let one = |name, fault, verdict| Outcome { name, fault, title: "x", verdict, took: Duration::ZERO };
        let text = rendered(&[
            one("a", 7, Verdict::Passed),
            one("b", 7, Verdict::Known("why".into())),
            one("c", 9, Verdict::Passed),
            one("d", 0, Verdict::Failed("wherefore".into())),
        ]);
        assert!(
            text.contains("faults that hold: 1 of 2; open: 7\n2 passed, 1 known to fail, 1 failed"),
            "{text}"
        );
        assert!(text.contains("wherefore"));
    }
}
