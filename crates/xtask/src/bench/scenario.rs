//! The scenarios, as a table.

use super::addition::Addition;

/// The upstreams behind the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// This many upstreams over HTTP.
    Http(usize),
    /// One upstream over stdio.
    Stdio,
}

/// The maximum cost of the gateway.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// A multiple of nginx's cost or, for an addition, of Dragoman's cost without the addition.
    Times(f64),
    /// A number of microseconds of CPU time per call.
    Micros(f64),
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) behind: Behind,
    /// Flags of `bench_upstream`.
    pub(crate) upstream: &'static [&'static str],
    /// The tool that is called.
    pub(crate) tool: &'static str,
    /// Flags of `bench_load`.
    pub(crate) load: &'static [&'static str],
    pub(crate) limit: Option<Limit>,
    /// The addition, if the scenario compares Dragoman with and without one.
    pub(crate) added: Option<Addition>,
}

const PLAIN: Scenario = Scenario {
    name: "",
    title: "",
    behind: Behind::Http(1),
    upstream: &["--era", "legacy"],
    tool: "echo",
    load: &[],
    limit: None,
    added: None,
};

/// All scenarios, in the order in which they run.
pub(crate) const ALL: &[Scenario] = &[
    Scenario {
        name: "echo-1",
        title: "echo, 1 session",
        load: &["--scenario", "echo", "--sessions", "1"],
        ..PLAIN
    },
    Scenario {
        name: "echo-16",
        title: "echo, 16 sessions",
        load: &["--scenario", "echo", "--sessions", "16"],
        limit: Some(Limit::Times(1.7)),
        ..PLAIN
    },
    Scenario {
        name: "echo-128",
        title: "echo, 128 sessions",
        load: &["--scenario", "echo", "--sessions", "128"],
        limit: Some(Limit::Times(1.7)),
        ..PLAIN
    },
    Scenario {
        name: "modern-16",
        title: "echo, 2026-07-28 (no sessions), 16",
        upstream: &["--era", "modern"],
        load: &["--scenario", "modern-echo", "--sessions", "16"],
        limit: Some(Limit::Times(1.7)),
        ..PLAIN
    },
    Scenario {
        name: "events-16",
        title: "echo, event-stream upstream, 16",
        upstream: &["--era", "legacy", "--sse"],
        load: &["--scenario", "echo", "--sessions", "16"],
        limit: Some(Limit::Times(1.9)),
        ..PLAIN
    },
    Scenario {
        name: "payload-100k",
        title: "100 KB answer, 16",
        tool: "payload",
        load: &["--scenario", "payload", "--bytes", "100000", "--sessions", "16"],
        limit: Some(Limit::Times(0.8)),
        ..PLAIN
    },
    Scenario {
        name: "payload-1m",
        title: "1 MB answer, 4",
        tool: "payload",
        load: &["--scenario", "payload", "--bytes", "1000000", "--sessions", "4"],
        limit: Some(Limit::Times(0.8)),
        ..PLAIN
    },
    Scenario {
        name: "list-1000",
        title: "tools/list of 1000 tools (300 KB), 16",
        upstream: &["--era", "legacy", "--tools", "1000"],
        load: &["--scenario", "list", "--expect-tools", "1000", "--sessions", "16"],
        limit: Some(Limit::Times(0.65)),
        ..PLAIN
    },
    Scenario {
        name: "session-16",
        title: "session of 4 requests (initialize, initialized, echo, DELETE), 16",
        load: &["--scenario", "session", "--sessions", "16"],
        limit: Some(Limit::Times(2.2)),
        ..PLAIN
    },
    Scenario {
        name: "stdio-16",
        title: "echo, stdio upstream, 16",
        behind: Behind::Stdio,
        load: &["--scenario", "echo", "--sessions", "16"],
        limit: Some(Limit::Micros(45.0)),
        ..PLAIN
    },
    Scenario {
        name: "mux-16",
        title: "echo, 4 upstreams behind one endpoint, 16",
        behind: Behind::Http(4),
        load: &["--scenario", "mux-echo", "--sessions", "16"],
        limit: Some(Limit::Micros(45.0)),
        ..PLAIN
    },
    Scenario {
        name: "dual-16",
        title: "echo, 2025-06-18 to an upstream of both lifecycles, 16",
        upstream: &["--era", "both"],
        load: &["--scenario", "echo", "--version", "2025-06-18", "--sessions", "16"],
        ..PLAIN
    },
    Scenario {
        name: "stdio-older-16",
        title: "echo, 2025-06-18 to a stdio upstream of every version, 16",
        behind: Behind::Stdio,
        load: &["--scenario", "echo", "--version", "2025-06-18", "--sessions", "16"],
        ..PLAIN
    },
    Scenario {
        name: "stdio-fixed-16",
        title: "echo, 2025-06-18 to a stdio upstream of 2025-11-25 alone, 16",
        behind: Behind::Stdio,
        upstream: &["--era", "legacy", "--handshake", "2025-11-25"],
        load: &["--scenario", "echo", "--version", "2025-06-18", "--sessions", "16"],
        ..PLAIN
    },
    Scenario {
        name: "askable-16",
        title: "echo, 16 sessions that can be asked",
        load: &["--scenario", "echo", "--askable", "--sessions", "16"],
        ..PLAIN
    },
    Scenario {
        name: "askable-stdio-4",
        title: "echo, 4 sessions that can be asked, stdio upstream",
        behind: Behind::Stdio,
        // As many as the children that a gateway may dedicate permanently: with more sessions, the waiting time would be
        // measured, too.
        load: &["--scenario", "echo", "--askable", "--sessions", "4"],
        ..PLAIN
    },
    Scenario {
        name: "guarded-16",
        title: "echo, 16 sessions, guarded",
        load: &["--scenario", "echo", "--sessions", "16"],
        limit: Some(Limit::Times(1.15)),
        added: Some(Addition::Guards),
        ..PLAIN
    },
    Scenario {
        name: "watched-16",
        title: "echo, 16 sessions, live page open",
        load: &["--scenario", "echo", "--sessions", "16"],
        limit: Some(Limit::Times(1.05)),
        added: Some(Addition::LivePage),
        ..PLAIN
    },
    Scenario {
        name: "metered-16",
        title: "echo, 16 sessions, with /metrics",
        load: &["--scenario", "echo", "--sessions", "16"],
        added: Some(Addition::Metrics),
        ..PLAIN
    },
    Scenario {
        name: "traced-16",
        title: "echo, 16 sessions, every call traced",
        load: &["--scenario", "echo", "--sessions", "16"],
        added: Some(Addition::Traces),
        ..PLAIN
    },
];

/// The scenarios for comparing two runtimes.
pub(crate) const RUNTIMES: [&str; 4] = ["echo-1", "echo-16", "echo-128", "stdio-16"];

/// Start time and memory. This is not a row of `ALL`, but can be selected like one.
pub(crate) const FOOTPRINT: &str = "footprint";

#[cfg(test)]
mod tests {
    use super::{ALL, RUNTIMES};
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_known() {
        let names: BTreeSet<_> = ALL.iter().map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(RUNTIMES.iter().all(|name| names.contains(name)));
    }
}
