//! Start time and memory of a gateway: when idle, with many open sessions, and after they were closed.

use super::contestant::{Contestant, Gateway, settle};
use super::options::Options;
use super::procfs::{Memory, memory};
use super::programs::Programs;
use super::scenario::Scenario;
use super::service::Service;
use super::stage::Stage;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The number of sessions that are open at once.
const SESSIONS: u32 = 1000;
const SESSIONS_QUICK: u32 = 100;
/// The number of starts, whose median is reported.
const STARTS: usize = 7;
/// The delay after an event before memory is read. Memory that a gateway returns to the system during this time is
/// not counted as the cost of a session.
const SETTLED: Duration = Duration::from_secs(6);
const WITHIN: Duration = Duration::from_secs(90);

/// The resources of a gateway. Memory is in KiB.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    pub(crate) contestant: Contestant,
    /// The median time from start to ready, in ms.
    pub(crate) ready_ms: f64,
    /// The number of sessions that were opened.
    pub(crate) sessions: u32,
    /// The memory for sessions that each have one open connection.
    pub(crate) plain: Course,
    /// The memory for sessions that each have one open connection and an open GET stream.
    pub(crate) streams: Course,
}

/// The memory of one fresh process over the course of its sessions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Course {
    pub(crate) idle: Memory,
    pub(crate) open: Memory,
    pub(crate) closed: Memory,
}

impl Footprint {
    /// Measures one gateway while no other runs.
    pub(crate) fn of(
        contestant: Contestant,
        scenario: &Scenario,
        options: &Options,
        programs: &Programs,
        folder: &Path,
    ) -> Result<Self, String> {
        let mut ready = Vec::new();
        for _ in 0..if options.quick { 1 } else { STARTS } {
            let stage = Stage::set(scenario, &[contestant], programs, folder)?;
            ready.extend(stage.gateway(contestant).map(|gateway| gateway.ready.as_secs_f64() * 1e3));
        }
        let sessions = if options.quick { SESSIONS_QUICK } else { SESSIONS };
        let course = |flags: &[&str]| {
            let stage = Stage::set(scenario, &[contestant], programs, folder)?;
            let gateway = stage.gateway(contestant).ok_or("direct connections have no footprint")?;
            gateway.service.resume();
            let settled = if options.quick { SETTLED / 4 } else { SETTLED };
            Course::run(gateway, sessions, flags, settled, programs, folder)
        };
        Ok(Self {
            contestant,
            ready_ms: super::results::median(&mut ready),
            sessions,
            plain: course(&[])?,
            streams: course(&["--stream"])?,
        })
    }
}

impl Course {
    fn run(
        gateway: &Gateway,
        sessions: u32,
        flags: &[&str],
        settled: Duration,
        programs: &Programs,
        folder: &Path,
    ) -> Result<Self, String> {
        let now = || {
            settle(settled);
            memory(&gateway.pids())
        };
        let idle = now();
        let mut command = Command::new(&programs.load);
        command
            .args([&gateway.url, "--scenario", "idle-sessions", "--sessions", &sessions.to_string()])
            .args(flags);
        let mut load = Service::start(&mut command, &folder.join("load"))?;
        all_good(&load.line(WITHIN)?, "open", sessions)?;
        let open = now();
        load.go_on()?;
        all_good(&load.line(WITHIN)?, "closed", sessions)?;
        load.ended(WITHIN);
        Ok(Self { idle, open, closed: now() })
    }

    /// PSS per session, in KiB.
    pub(crate) fn each(&self, sessions: u32) -> f64 {
        (kib(self.open.pss) - kib(self.idle.pss)) / f64::from(sessions)
    }

    /// The PSS that remains after the sessions were closed, in MiB.
    pub(crate) fn left_mib(&self) -> f64 {
        (kib(self.closed.pss) - kib(self.idle.pss)) / 1024.0
    }
}

/// Converts a number of KiB; such numbers are always below 2^52 here.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn kib(value: u64) -> f64 {
    value as f64
}

/// Checks that the load generator has opened or closed all sessions.
fn all_good(line: &str, what: &str, sessions: u32) -> Result<(), String> {
    let report: Value = serde_json::from_str(line).unwrap_or_default();
    if report[what] == sessions && report["errors"] == 0 {
        return Ok(());
    }
    Err(format!("idle sessions: not all {sessions} were {what}: {line}"))
}

#[cfg(test)]
mod tests {
    use super::{Course, Memory, all_good};

    #[test]
    fn memory_is_counted_per_session() {
        let memory = |pss| Memory { rss: 0, pss };
        let course = Course { idle: memory(10_240), open: memory(30_240), closed: memory(11_264) };
        assert!((course.each(1000) - 20.0).abs() < 1e-9);
        assert!((course.left_mib() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_lost_session_is_no_good() {
        assert_eq!(all_good(r#"{"open":3,"errors":0,"first_error":null}"#, "open", 3), Ok(()));
        for line in [r#"{"open":2,"errors":1}"#, r#"{"closed":3,"errors":0}"#, "x"] {
            assert!(all_good(line, "open", 3).is_err(), "{line}");
        }
    }
}
