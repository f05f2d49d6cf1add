//! The set-up of one scenario: upstreams and gateways, and the control of which of them may run.

use super::contestant::{Backend, Contestant, Gateway};
use super::procfs::with_children;
use super::programs::Programs;
use super::scenario::{Behind, Scenario};
use super::service::Service;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Upstreams with the gateways in front of them. Gateways are stopped until it is their turn.
#[derive(Debug)]
pub(crate) struct Stage {
    scenario: Scenario,
    backend: Backend,
    upstreams: Vec<Service>,
    gateways: Vec<Gateway>,
}

impl Stage {
    /// Starts everything that the scenario needs, and all `contestants` that can take part.
    pub(crate) fn set(
        scenario: &Scenario,
        contestants: &[Contestant],
        programs: &Programs,
        folder: &Path,
    ) -> Result<Self, String> {
        let (upstreams, backend) = upstreams(scenario, programs, folder)?;
        let mut stage = Self { scenario: *scenario, backend, upstreams, gateways: Vec::new() };
        for contestant in contestants {
            if *contestant != Contestant::Direct && takes_part(*contestant, scenario) {
                let gateway = Gateway::start(*contestant, &stage.backend, programs, folder)?;
                gateway.service.halt();
                stage.gateways.push(gateway);
            }
        }
        Ok(stage)
    }

    /// The contestant's gateway; `None` if the contestant has none.
    pub(crate) fn gateway(&self, contestant: Contestant) -> Option<&Gateway> {
        self.gateways.iter().find(|gateway| gateway.contestant == contestant)
    }

    /// The load generator's command for a contestant.
    pub(crate) fn load(&self, contestant: Contestant, programs: &Programs) -> Command {
        let url = match (self.gateway(contestant), &self.backend) {
            (Some(gateway), _) => gateway.url.clone(),
            (None, Backend::Http(addresses)) => format!("http://{}/mcp", addresses[0]),
            (None, Backend::Stdio(_)) => String::new(),
        };
        let tools: Vec<_> =
            self.backend.names().iter().map(|name| contestant.tool(name, self.scenario.tool)).collect();
        let mut command = Command::new(&programs.load);
        command.arg(url).args(self.scenario.load).args(["--tool", &tools.join(",")]);
        if let Some(key) = self.gateway(contestant).and_then(|gateway| gateway.beside.key()) {
            command.args(["--bearer", key.text()]);
        }
        command
    }

    /// The processes of the upstreams behind a contestant; over stdio, they are its children.
    pub(crate) fn upstream_pids(&self, contestant: Contestant) -> Vec<u32> {
        match (&self.backend, self.gateway(contestant)) {
            (Backend::Stdio(_), Some(gateway)) => with_children(gateway.service.pid()).split_off(1),
            _ => self.upstreams.iter().map(Service::pid).collect(),
        }
    }
}

/// Returns true if a contestant takes part. With an upstream over stdio, or with several upstreams, only MCP
/// gateways can take part. An addition is compared only with the same gateway without the addition.
pub(crate) fn takes_part(contestant: Contestant, scenario: &Scenario) -> bool {
    if scenario.added.is_some() || contestant.addition().is_some() {
        let is_without = contestant == Contestant::Dragoman && scenario.added.is_some();
        return is_without || (scenario.added == contestant.addition());
    }
    contestant.runtime().is_some() || scenario.behind == Behind::Http(1)
}

fn upstreams(
    scenario: &Scenario,
    programs: &Programs,
    folder: &Path,
) -> Result<(Vec<Service>, Backend), String> {
    let flags = scenario.upstream.iter().map(|flag| (*flag).to_owned());
    let Behind::Http(count) = scenario.behind else {
        return Ok((Vec::new(), Backend::Stdio(flags.chain(["--stdio".to_owned()]).collect())));
    };
    let (mut running, mut addresses) = (Vec::new(), Vec::new());
    for number in 0..count {
        let mut command = Command::new(&programs.upstream);
        command.args(scenario.upstream).arg("--until-stdin-closes");
        let service = Service::start(&mut command, &folder.join(format!("upstream-{number}")))?;
        let line = service.line(Duration::from_secs(10))?;
        let address = line.strip_prefix("listening http://").and_then(|rest| rest.strip_suffix("/mcp"));
        addresses.push(address.ok_or_else(|| service.fault("did not say where it listens"))?.to_owned());
        running.push(service);
    }
    Ok((running, Backend::Http(addresses)))
}
