//! Reads the numbers of passed and failed tests from the output of test runners.

use crate::tally::Tally;

/// The sums of all `test result:` lines of libtest.
pub(super) fn libtest(said: &str) -> Tally {
    let mut total = Tally::default();
    for line in said.lines().filter_map(|line| line.trim().strip_prefix("test result: ")) {
        total += Tally { passed: before(line, " passed"), failed: before(line, " failed") };
    }
    total
}

/// The last `Summary` line of nextest.
pub(super) fn nextest(said: &str) -> Tally {
    let plain = without_colours(said);
    let line =
        plain.lines().rev().find(|line| line.trim_start().starts_with("Summary [")).unwrap_or_default();
    Tally { passed: before(line, " passed"), failed: before(line, " failed") + before(line, " timed out") }
}

/// Reads the `Gungraun result` lines. A budget whose instructions were not counted is a failure; this happens, for
/// example, if the runner has another version.
pub(super) fn gungraun(said: &str) -> Tally {
    let mut total = Tally::default();
    for line in said.lines().filter_map(|line| line.strip_prefix("Gungraun result:")) {
        total += Tally { passed: before(line, " without regressions"), failed: before(line, " regressed") };
    }
    let counts = said.lines().filter_map(|line| line.trim_start().strip_prefix("Instructions:"));
    let counted = counts.filter(|line| line.trim_start().starts_with(|c: char| ('1'..='9').contains(&c)));
    let uncounted = (total.passed + total.failed).saturating_sub(counted.count()).min(total.passed);
    Tally { passed: total.passed - uncounted, failed: total.failed + uncounted }
}

/// The number directly before a word.
fn before(line: &str, word: &str) -> usize {
    let number = line.split(word).next().filter(|start| start.len() < line.len());
    number.and_then(|start| start.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()).unwrap_or(0)
}

fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split('\u{1b}');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        out.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Tally, gungraun, libtest, nextest};

    #[test]
    fn libtest_is_summed_up() {
        let said = "test result: ok. 20 passed; 0 failed; 0 ignored\n\ntest result: FAILED. 3 passed; 2 failed; 0 ignored";
        assert_eq!(libtest(said), Tally { passed: 23, failed: 2 });
        assert_eq!(libtest("error: could not compile"), Tally::default());
    }

    #[test]
    fn gungraun_counts_only_what_was_counted() {
        let end = "Gungraun result: Regressed. 1 without regressions; 1 regressed; 0 filtered; 2 benchmarks finished";
        let said = |counts: [&str; 2]| {
            counts.map(|count| format!("x\n  Instructions:   {count}|N/A (*)\n")).concat() + end
        };
        assert_eq!(gungraun(&said(["320", "7"])), Tally { passed: 1, failed: 1 });
        assert_eq!(gungraun(&said(["320", "0"])), Tally { passed: 0, failed: 2 });
        assert_eq!(gungraun(&said(["0", "0"])), Tally { passed: 0, failed: 2 });
    }

    #[test]
    fn nextest_says_it_at_the_end() {
        let said = "  Summary [   1.2s] 12 tests run: 9 passed (1 slow), 2 failed, 1 timed out, 0 skipped\n";
        assert_eq!(nextest(said), Tally { passed: 9, failed: 3 });
        let coloured = "\u{1b}[32m Summary\u{1b}[0m [ 1s] \u{1b}[1m1\u{1b}[0m test run: \u{1b}[1m1\u{1b}[0m \u{1b}[32mpassed\u{1b}[0m, 0 skipped";
        assert_eq!(nextest(coloured), Tally { passed: 1, failed: 0 });
    }
}
