//! The results as JSON, with every sample of every round, for further analysis.

use super::footprint::{Course, Footprint};
use super::measure::Sample;
use super::options::Options;
use super::results::{Results, Row};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Writes the file that `--json` names.
pub(crate) fn write(path: &Path, options: &Options, results: &Results) -> Result<(), String> {
    let text = format!("{:#}\n", value(options, results));
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn value(options: &Options, results: &Results) -> Value {
    json!({
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "rounds": options.rounds,
        "seconds": options.seconds,
        "scenarios": results.rows.iter().map(row).collect::<Vec<_>>(),
        "footprints": results.footprints.iter().map(footprint).collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Value {
    let contestants = row.samples.iter().map(|(contestant, samples)| {
        let figures = json!({
            "cpu_us": row.cpu(*contestant),
            "calls_per_second": row.median(*contestant, |sample| Some(sample.rate)),
            "p50_us": row.median(*contestant, |sample| Some(sample.p50)),
            "p99_us": row.median(*contestant, |sample| Some(sample.p99)),
            "rounds": samples.iter().map(sample).collect::<Vec<_>>(),
        });
        (contestant.name().to_owned(), figures)
    });
    json!({
        "name": row.scenario.name,
        "title": row.scenario.title,
        "within_limit": row.within_limit(),
        "contestants": contestants.collect::<serde_json::Map<_, _>>(),
    })
}

fn sample(sample: &Sample) -> Value {
    json!({
        "calls": sample.calls,
        "calls_per_second": sample.rate,
        "cpu_us": sample.cpu,
        "p50_us": sample.p50,
        "p99_us": sample.p99,
        "errors": sample.errors,
        "first_error": sample.first_error,
        "foreign_cores": sample.foreign,
    })
}

fn footprint(footprint: &Footprint) -> Value {
    let Footprint { contestant, ready_ms, sessions, plain, streams } = footprint;
    let course = |course: &Course| {
        json!({
            "idle_rss_kib": course.idle.rss,
            "idle_pss_kib": course.idle.pss,
            "open_pss_kib": course.open.pss,
            "closed_pss_kib": course.closed.pss,
            "kib_per_session": course.each(*sessions),
        })
    };
    json!({
        "contestant": contestant.name(),
        "ready_ms": ready_ms,
        "sessions": sessions,
        "plain": course(plain),
        "streams": course(streams),
    })
}

#[cfg(test)]
mod tests {
    use super::super::options::Options;
    use super::super::results::tests::results;
    use super::value;

    #[test]
    fn every_round_is_there() {
        let options = Options::read(&[]).unwrap().unwrap();
        let value = value(&options, &results());
        let dragoman = &value["scenarios"][0]["contestants"]["dragoman"];
        assert_eq!(dragoman["cpu_us"], 30.0);
        assert_eq!(dragoman["rounds"].as_array().unwrap().len(), 3);
        assert_eq!(value["scenarios"][0]["within_limit"], true);
    }
}
