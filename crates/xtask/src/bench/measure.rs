//! One measurement: a contestant under load for a few seconds.

use super::contestant::Contestant;
use super::options::Options;
use super::procfs::{cpu_nanos, machine_nanos};
use super::programs::Programs;
use super::service::Service;
use super::stage::Stage;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// The maximum time for opening the sessions and for the last answers.
const LOAD_WITHIN: Duration = Duration::from_secs(90);

/// The result of one measurement. Times are in µs.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) calls: f64,
    pub(crate) rate: f64,
    /// The CPU time of the gateway's processes per call; `None` without a gateway.
    pub(crate) cpu: Option<f64>,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) errors: f64,
    pub(crate) first_error: Option<String>,
    /// The number of cores that other processes kept busy during the measurement.
    pub(crate) foreign: f64,
}

/// Lets only this contestant run, and puts it under load.
pub(crate) fn sample(
    stage: &Stage,
    contestant: Contestant,
    options: &Options,
    programs: &Programs,
    folder: &Path,
) -> Result<Sample, String> {
    let gateway = stage.gateway(contestant);
    if let Some(gateway) = gateway {
        gateway.service.resume();
    }
    let found = under_load(stage, contestant, options, programs, folder);
    if let Some(gateway) = gateway {
        gateway.service.halt();
    }
    found.map_err(|why| match gateway {
        Some(gateway) => format!("{}: {why}\n{}", contestant.name(), gateway.service.fault("was in between")),
        None => format!("{}: {why}", contestant.name()),
    })
}

fn under_load(
    stage: &Stage,
    contestant: Contestant,
    options: &Options,
    programs: &Programs,
    folder: &Path,
) -> Result<Sample, String> {
    let mut command = stage.load(contestant, programs);
    command.args(["--gate", "--seconds", &options.seconds.to_string()]);
    let mut load = Service::start(&mut command, &folder.join("load"))?;
    let ready = load.line(LOAD_WITHIN)?;
    if ready != "ready" {
        return Err(load.fault(&format!("said `{ready}` instead of `ready`")));
    }
    let gateway = stage.gateway(contestant).map(super::contestant::Gateway::pids).unwrap_or_default();
    let ours = [stage.upstream_pids(contestant), vec![load.pid()]].concat();
    let times = || (cpu_nanos(&gateway), cpu_nanos(&ours), machine_nanos());
    let (before, started) = (times(), Instant::now());
    load.go_on()?;
    let line = load.line(options.length() + LOAD_WITHIN)?;
    let (after, elapsed) = (times(), started.elapsed());
    load.go_on()?;
    load.ended(LOAD_WITHIN);
    let nanos = |before: u64, after: u64| Duration::from_nanos(after.saturating_sub(before)).as_secs_f64();
    let (by_gateway, by_ours) = (nanos(before.0, after.0), nanos(before.1, after.1));
    let others = nanos(before.2, after.2) - by_gateway - by_ours;
    let mut sample = read(&line)?;
    sample.cpu = (!gateway.is_empty()).then(|| by_gateway * 1e6 / sample.calls.max(1.0));
    sample.foreign = (others / elapsed.as_secs_f64()).max(0.0);
    Ok(sample)
}

/// Reads the last line of the load's output.
fn read(line: &str) -> Result<Sample, String> {
    let report: Value = serde_json::from_str(line)
        .map_err(|error| format!("the load generator's report is not JSON: {error}: {line}"))?;
    let number = |name: &str| {
        report[name]
            .as_f64()
            .ok_or_else(|| format!("the load generator's report has no number `{name}`: {line}"))
    };
    Ok(Sample {
        calls: number("calls")?,
        rate: number("calls_per_second")?,
        cpu: None,
        p50: number("p50_us")?,
        p99: number("p99_us")?,
        errors: number("errors")?,
        first_error: report["first_error"].as_str().map(str::to_owned),
        foreign: 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn reports_are_read() {
        let line = r#"{"calls":10,"seconds":1.0,"calls_per_second":10.0,"p50_us":1.5,"p99_us":2,"max_us":3,"errors":1,"first_error":"x"}"#;
        let sample = read(line).unwrap();
        assert_eq!((sample.calls, sample.p50, sample.errors), (10.0, 1.5, 1.0));
        assert_eq!(sample.first_error.as_deref(), Some("x"));
        assert!(read("ready").unwrap_err().contains("not JSON"));
        assert!(read("{}").unwrap_err().contains("`calls`"));
    }
}
