//! What stands behind Dragoman while the suite calls it.

use super::USAGE;
use crate::root::Programs;
use crate::run::Log;
use crate::stage::{Fixture, Gateway, HttpUpstream, Naming, Reach};
use serde_json::json;
use std::str::FromStr;

/// A fixture, by the name that the command line, the steps and the files of expected failures have for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Upstream {
    pub(super) name: &'static str,
    fixture: Fixture,
    /// Nothing stands between: the suite calls the fixture itself, to tell its faults from ours.
    direct: bool,
    /// Whether it speaks what each sweep speaks. The sets of requirements tell nothing then that the sweeps of a
    /// narrower one do not.
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
    /// All of them: the fixture with everything, and such that speak one era and are asked by clients of both.
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

/// Everything that runs for one upstream; ended when dropped.
pub(super) struct Running {
    /// What the suite calls.
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

    /// Writes what the programs have said into a log.
    pub(super) fn tell(&self, log: &Log) {
        self.gateway.iter().for_each(|gateway| gateway.tell(log));
        self.upstream.iter().for_each(|upstream| upstream.tell(log));
    }
}
