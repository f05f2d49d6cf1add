//! The upstreams behind Dragoman in server mode.

use super::USAGE;
use crate::root::Programs;
use crate::run::Log;
use crate::stage::{Fixture, Gateway, HttpUpstream, Naming, Reach};
use serde_json::json;
use std::str::FromStr;

/// A fixture, with its name on the command line, in the steps and in the files of expected failures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Upstream {
    pub(super) name: &'static str,
    fixture: Fixture,
    /// True if the suite calls the fixture directly, without a gateway, which distinguishes the fixture's faults
    /// from ours.
    direct: bool,
    /// True if the fixture supports every version of the sweeps. In that case, the requirement sets cover nothing
    /// beyond the sweeps.
    pub(super) any_era: bool,
}

const fn through(name: &'static str, reach: Reach) -> Upstream {
    Upstream { name, fixture: Fixture::new(reach, &[]), direct: false, any_era: true }
}

const fn narrow(name: &'static str, reach: Reach, options: &'static [&'static str]) -> Upstream {
    Upstream { name, fixture: Fixture::new(reach, options), direct: false, any_era: false }
}

const LEGACY: &[&str] = &["--eras", "legacy"];
const MODERN: &[&str] = &["--eras", "modern"];

impl Upstream {
    /// All upstreams: the fixture with every version, and fixtures of one era for clients of both.
    pub(crate) const ALL: [Self; 8] = [
        through("http", Reach::Http),
        through("stdio", Reach::Stdio),
        narrow("legacy-http", Reach::Http, LEGACY),
        narrow("legacy-stdio", Reach::Stdio, LEGACY),
        narrow("modern-http", Reach::Http, MODERN),
        narrow("modern-stdio", Reach::Stdio, MODERN),
        narrow("sse", Reach::Sse, LEGACY),
        Self { direct: true, ..through("direct", Reach::Http) },
    ];
}

impl FromStr for Upstream {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|upstream| upstream.name == name).ok_or_else(|| {
            let names = Self::ALL.map(|upstream| upstream.name);
            format!("no upstream `{name}`; there are {}\n\n{USAGE}", names.join(", "))
        })
    }
}

/// The running programs for one upstream, which end on drop.
pub(super) struct Running {
    /// The URL that the suite calls.
    pub(super) url: String,
    gateway: Option<Gateway>,
    upstream: Option<HttpUpstream>,
}

impl Running {
    pub(super) fn start(programs: &Programs, upstream: Upstream, log: &Log) -> Result<Self, String> {
        let (server, running) = upstream.fixture.start(programs, log)?;
        if upstream.direct {
            let url = running.as_ref().map(|running| running.url.clone());
            let url = url.ok_or("the suite itself speaks HTTP only")?;
            return Ok(Self { url, gateway: None, upstream: running });
        }
        let name = format!("conformance-{}", upstream.name);
        let gateway = Gateway::start(programs, &name, &json!({ "fixture": server }), Naming::Plain, log)?;
        Ok(Self { url: gateway.url.clone(), gateway: Some(gateway), upstream: running })
    }

    /// Writes the output of the programs into a log.
    pub(super) fn tell(&self, log: &Log) {
        self.gateway.iter().for_each(|gateway| gateway.tell(log));
        self.upstream.iter().for_each(|upstream| upstream.tell(log));
    }
}
