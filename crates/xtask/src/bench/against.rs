//! The comparison of two builds of Dragoman, row by row. This module must not know how measurements are made.

use super::contestant::Contestant;
use super::results::{Results, Row, median};
use super::scenario::Scenario;
use super::table::{figure, footprints, ratio as shown, section};

/// The maximum number of batches of rounds. A row over the limit is measured again, so that other load on the
/// machine does not make a build fail.
pub(crate) const BATCHES: usize = 3;

const COLUMNS: [&str; 9] = [
    "scenario",
    "old, CPU µs per call",
    "new",
    "new ÷ old",
    "rounds from",
    "to",
    "at most",
    "old, calls a second",
    "new",
];

/// The older and the newer build in a scenario.
pub(crate) fn pair(scenario: &Scenario) -> (Contestant, Contestant) {
    match scenario.added {
        Some(addition) => (Contestant::OldWith(addition), Contestant::With(addition)),
        None => (Contestant::Old, Contestant::Dragoman),
    }
}

/// The newer build's CPU per call as a multiple of the older one's in each round, in ascending order.
fn ratios(row: &Row) -> Vec<f64> {
    let (old, new) = pair(&row.scenario);
    let samples = |wanted| row.samples.iter().filter(move |(its, _)| *its == wanted).flat_map(|(_, all)| all);
    let pairs = samples(new).zip(samples(old));
    let mut ratios: Vec<f64> = pairs.filter_map(|(new, old)| Some(new.cpu? / old.cpu?)).collect();
    ratios.sort_by(f64::total_cmp);
    ratios
}

/// The median of [`ratios`]. In each round, both builds run under the same load from other processes.
pub(crate) fn ratio(row: &Row) -> Option<f64> {
    let mut ratios = ratios(row);
    (!ratios.is_empty()).then(|| median(&mut ratios))
}

/// The rows in which the newer build costs more than allowed, each as an error.
pub(crate) fn over(results: &Results, at_most: f64) -> Vec<String> {
    let judged = results.rows.iter().map(|row| (row.scenario.name, ratio(row)));
    judged
        .filter_map(|(name, ratio)| match ratio {
            Some(ratio) if ratio <= at_most => None,
            Some(ratio) => {
                Some(format!("{name}: {ratio:.3} times the older build's CPU per call; at most {at_most}"))
            }
            None => Some(format!("{name}: the two builds cannot be compared")),
        })
        .collect()
}

/// The table of ratios, with the figures of both builds.
pub(crate) fn markdown(results: &Results, at_most: f64) -> String {
    let lines = results.rows.iter().map(|row| line(row, at_most));
    let first = COLUMNS.map(str::to_owned).to_vec();
    let mut out = section("New against old", &std::iter::once(first).chain(lines).collect::<Vec<_>>());
    out.extend([format!(
        "\nOthers kept at most {:.1} cores busy during a measurement.\n",
        results.foreign()
    )]);
    if !results.footprints.is_empty() {
        out += &section("Start and memory", &footprints(&results.footprints));
    }
    out
}

fn line(row: &Row, at_most: f64) -> Vec<String> {
    let (old, new) = pair(&row.scenario);
    let rate = |contestant| figure(row.median(contestant, |sample| Some(sample.rate)));
    let (all, found) = (ratios(row), ratio(row));
    let verdict = match found {
        Some(ratio) if ratio <= at_most => format!("{at_most} kept"),
        _ => format!("{at_most} **over**"),
    };
    vec![
        row.scenario.title.to_owned(),
        figure(row.cpu(old)),
        figure(row.cpu(new)),
        found.map_or("–".to_owned(), |ratio| format!("{ratio:.3}")),
        shown(all.first().copied()),
        shown(all.last().copied()),
        verdict,
        rate(old),
        rate(new),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::sample;
    use super::super::scenario::ALL;
    use super::{Contestant, Results, Row, markdown, over, ratio};

    /// Results of two builds with this CPU time per call in each round.
    fn results(old: [f64; 3], new: [f64; 3]) -> Results {
        let of = |cpu: [f64; 3]| cpu.map(|cpu| sample(100.0, Some(cpu))).to_vec();
        let samples = vec![(Contestant::Dragoman, of(new)), (Contestant::Old, of(old))];
        let mut results = Results::new(&Contestant::VERSIONS);
        results.rows.push(Row { scenario: ALL[1], samples });
        results
    }

    #[test]
    fn rounds_are_paired() {
        // Other processes made the second round expensive for both builds.
        let results = results([20.0, 40.0, 20.0], [20.4, 40.0, 22.0]);
        assert!((ratio(&results.rows[0]).unwrap() - 1.02).abs() < 1e-9);
        assert_eq!(over(&results, 1.03), Vec::<String>::new());
        let text = markdown(&results, 1.03);
        assert!(
            text.contains("| echo, 16 sessions | 20.0 | 22.0 | 1.020 | 1.00 | 1.10 | 1.03 kept |"),
            "{text}"
        );
    }

    #[test]
    fn a_dearer_row_is_an_error() {
        let dearer = results([20.0; 3], [22.0; 3]);
        assert_eq!(
            over(&dearer, 1.03),
            ["echo-16: 1.100 times the older build's CPU per call; at most 1.03"]
        );
        assert_eq!(over(&dearer, 1.2), Vec::<String>::new());
        assert!(markdown(&dearer, 1.03).contains("1.03 **over**"));
    }

    #[test]
    fn a_row_that_was_not_measured_is_an_error() {
        let mut none = results([20.0; 3], [20.0; 3]);
        none.rows[0].samples.pop();
        assert!(over(&none, 1.03)[0].contains("cannot be compared"));
    }
}
