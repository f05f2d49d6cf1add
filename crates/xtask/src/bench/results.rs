//! All measurements, and the figures derived from them.

use super::contestant::Contestant;
use super::footprint::Footprint;
use super::measure::Sample;
use super::scenario::{Limit, Scenario};

/// The outcome of a whole run.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) contestants: Vec<Contestant>,
    pub(crate) rows: Vec<Row>,
    pub(crate) footprints: Vec<Footprint>,
    /// The failed measurements, with their reasons.
    pub(crate) failures: Vec<String>,
}

/// The samples of one scenario: for each contestant that took part, one per round.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) scenario: Scenario,
    pub(crate) samples: Vec<(Contestant, Vec<Sample>)>,
}

impl Results {
    /// Creates empty results.
    pub(crate) fn new(contestants: &[Contestant]) -> Self {
        let contestants = contestants.to_vec();
        Self { contestants, rows: Vec::new(), footprints: Vec::new(), failures: Vec::new() }
    }

    /// The contestants between client and upstream.
    pub(crate) fn gateways(&self) -> Vec<Contestant> {
        self.contestants.iter().copied().filter(|contestant| *contestant != Contestant::Direct).collect()
    }

    /// The reference gateway, and the gateways that are compared with it.
    pub(crate) fn compared(&self) -> Option<(Contestant, Vec<Contestant>)> {
        let gateways = self.gateways();
        gateways.split_first().map(|(base, others)| (*base, others.to_vec()))
    }

    /// Failed measurements, and wrong or missing answers, each with its scenario and contestant.
    pub(crate) fn errors(&self) -> Vec<String> {
        let mut found = self.failures.clone();
        for row in &self.rows {
            for (contestant, samples) in &row.samples {
                let errors: f64 = samples.iter().map(|sample| sample.errors).sum();
                let first = samples.iter().find_map(|sample| sample.first_error.clone());
                if let Some(first) = first {
                    found.push(format!(
                        "{}, {}: {errors} errors; {first}",
                        row.scenario.name,
                        contestant.name()
                    ));
                }
            }
        }
        found
    }

    /// The maximum number of cores that other processes kept busy during a sample.
    pub(crate) fn foreign(&self) -> f64 {
        let samples = self.rows.iter().flat_map(|row| &row.samples).flat_map(|(_, samples)| samples);
        samples.map(|sample| sample.foreign).fold(0.0, f64::max)
    }
}

impl Row {
    fn samples(&self, contestant: Contestant) -> &[Sample] {
        self.samples.iter().find(|(its, _)| *its == contestant).map_or(&[], |(_, samples)| samples)
    }

    /// The median of one figure; `None` if the contestant has none.
    pub(crate) fn median(
        &self,
        contestant: Contestant,
        figure: impl Fn(&Sample) -> Option<f64>,
    ) -> Option<f64> {
        let mut values: Vec<f64> = self.samples(contestant).iter().filter_map(figure).collect();
        (!values.is_empty()).then(|| median(&mut values))
    }

    /// CPU time per call, in µs.
    pub(crate) fn cpu(&self, contestant: Contestant) -> Option<f64> {
        self.median(contestant, |sample| sample.cpu)
    }

    /// The ratio of `one`'s CPU time to `other`'s.
    pub(crate) fn cpu_ratio(&self, one: Contestant, other: Contestant) -> Option<f64> {
        Some(self.cpu(one)? / self.cpu(other)?)
    }

    /// The ratio to which the limit applies: to nginx, or to Dragoman without the addition.
    fn judged_ratio(&self) -> Option<f64> {
        match self.scenario.added {
            Some(addition) => self.cpu_ratio(Contestant::With(addition), Contestant::Dragoman),
            None => self.cpu_ratio(Contestant::Dragoman, Contestant::Nginx),
        }
    }

    /// The ratio of `one`'s calls per second to `other`'s: the median of the ratios in each round, because the
    /// measurements of a round have similar noise.
    pub(crate) fn rate_ratio(&self, one: Contestant, other: Contestant) -> Option<f64> {
        let pairs = self.samples(one).iter().zip(self.samples(other));
        let mut ratios: Vec<f64> = pairs.map(|(one, other)| one.rate / other.rate).collect();
        (!ratios.is_empty()).then(|| median(&mut ratios))
    }

    /// Returns true if Dragoman is within the scenario's limit; `None` if there is no limit or no verdict.
    pub(crate) fn within_limit(&self) -> Option<bool> {
        match self.scenario.limit? {
            Limit::Times(most) => Some(self.judged_ratio()? <= most),
            Limit::Micros(most) => Some(self.cpu(Contestant::Dragoman)? <= most),
        }
    }
}

/// The middle value, or the mean of the two middle values; NaN if there are none.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Contestant, Results, Row, Sample, median};
    use crate::bench::addition::Addition;
    use crate::bench::scenario::ALL;

    pub(crate) fn sample(rate: f64, cpu: Option<f64>) -> Sample {
        let (p50, p99, errors, first_error) = (100.0, 2000.0, 0.0, None);
        Sample { calls: rate, rate, cpu, p50, p99, errors, first_error, foreign: 0.25 }
    }

    /// Sample results: an echo with 16 sessions, in which Dragoman takes 1.5 times nginx's CPU time.
    pub(crate) fn results() -> Results {
        let of = |rates: [f64; 3], cpu: Option<f64>| rates.map(|rate| sample(rate, cpu)).to_vec();
        let samples = vec![
            (Contestant::Direct, of([100.0, 50.0, 80.0], None)),
            (Contestant::Nginx, of([50.0, 20.0, 40.0], Some(20.0))),
            (Contestant::Dragoman, of([40.0, 18.0, 32.0], Some(30.0))),
        ];
        let mut results = Results::new(&Contestant::BESIDE_NGINX);
        results.rows.push(Row { scenario: ALL[1], samples });
        results
    }

    /// Sample results in which guards take 10 % more.
    pub(crate) fn guarded() -> Row {
        let of = |cpu: f64| vec![sample(100.0, Some(cpu))];
        let with = Contestant::With(Addition::Guards);
        let samples = vec![(Contestant::Dragoman, of(20.0)), (with, of(22.0))];
        Row { scenario: *ALL.iter().find(|scenario| scenario.added.is_some()).unwrap(), samples }
    }

    #[test]
    fn medians() {
        assert!((median(&mut [3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(&mut [4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!(median(&mut []).is_nan());
    }

    #[test]
    fn ratios_pair_the_rounds() {
        let results = results();
        let row = &results.rows[0];
        assert_eq!(row.cpu_ratio(Contestant::Dragoman, Contestant::Nginx), Some(1.5));
        assert_eq!(row.rate_ratio(Contestant::Dragoman, Contestant::Nginx), Some(0.8));
        assert_eq!(row.cpu(Contestant::Direct), None);
        assert_eq!(row.within_limit(), Some(true));
        assert_eq!(row.rate_ratio(Contestant::Dragoman, Contestant::PerCore), None);
    }

    #[test]
    fn guards_are_held_against_dragoman_without_them() {
        let row = guarded();
        assert_eq!(row.cpu_ratio(Contestant::With(Addition::Guards), Contestant::Dragoman), Some(1.1));
        assert_eq!(row.within_limit(), Some(true));
    }

    #[test]
    fn errors_are_gathered() {
        let mut results = results();
        assert_eq!(results.errors(), Vec::<String>::new());
        results.rows[0].samples[2].1[1].errors = 2.0;
        results.rows[0].samples[2].1[1].first_error = Some("why".into());
        assert_eq!(results.errors(), ["echo-16, dragoman: 2 errors; why"]);
    }
}
