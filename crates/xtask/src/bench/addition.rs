//! Features whose cost is measured by comparing Dragoman with and without them, and everything that such a feature
//! needs besides the gateway: a key, an open page, a collector. This module must not know how costs are measured.

use super::collector::Collector;
use super::guards::{self, Key};
use super::service::Service;
use super::watcher::Watcher;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;

/// A feature whose cost is measured by comparing Dragoman with and without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addition {
    /// Callers are authenticated; calls are checked against rules and a limit, and are recorded in the audit log.
    Guards,
    /// The admin pages are served, and an operator watches the live traffic.
    LivePage,
    /// Everything is counted for `/metrics`.
    Metrics,
    /// Every call is traced, and its spans are sent to a collector.
    Traces,
}

impl Addition {
    /// The name of the gateway that has the addition.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Guards => "guarded",
            Self::LivePage => "watched",
            Self::Metrics => "metered",
            Self::Traces => "traced",
        }
    }
}

/// Everything that an addition needs besides the gateway; dropped together with the gateway.
#[derive(Debug)]
pub(crate) enum Beside {
    /// Nothing.
    Nothing,
    /// The credentials for requests.
    Key(Key),
    /// The operator, once the gateway runs.
    Operator(Option<Watcher>),
    /// Nothing, but `/metrics` is served.
    Metrics,
    /// The collector of spans.
    Collector(Collector),
}

impl Beside {
    /// Creates everything that must exist before the gateway starts.
    pub(crate) fn prepare(addition: Option<Addition>, program: &Path, folder: &Path) -> Result<Self, String> {
        Ok(match addition {
            None => Self::Nothing,
            Some(Addition::Guards) => Self::Key(Key::make(program, folder)?),
            Some(Addition::LivePage) => Self::Operator(None),
            Some(Addition::Metrics) => Self::Metrics,
            Some(Addition::Traces) => Self::Collector(Collector::start()?),
        })
    }

    /// Adds the settings that the addition needs to the gateway's configuration.
    pub(crate) fn add(&self, config: &mut Value, folder: &Path) {
        match self {
            Self::Nothing => {}
            Self::Collector(_) => config["stateFolder"] = json!(folder.join("state")),
            Self::Key(_) => guards::add(config, folder),
            Self::Operator(_) => {
                config["stateFolder"] = json!(folder.join("state"));
                config["admin"] = json!(true);
            }
            Self::Metrics => config["metrics"] = json!(true),
        }
    }

    /// The environment variables of the gateway.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Collector(collector) => collector.variables(),
            _ => Vec::new(),
        }
    }

    /// Starts everything that needs the running gateway, and checks that the addition is in force. If it were not,
    /// the run would measure nothing.
    pub(crate) fn begin(&mut self, address: SocketAddr, service: &mut Service) -> Result<(), String> {
        match self {
            Self::Nothing | Self::Metrics => Ok(()),
            Self::Key(key) => key.is_asked_for(address),
            Self::Operator(watcher) => {
                *watcher = Some(Watcher::open(address, service)?);
                Ok(())
            }
            Self::Collector(collector) => collector.receives_a_call(address),
        }
    }

    /// The credentials for requests, if the gateway requires any.
    pub(crate) fn key(&self) -> Option<&Key> {
        if let Self::Key(key) = self { Some(key) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::{Addition, Beside};
    use serde_json::json;
    use std::path::Path;

    #[test]
    fn an_addition_is_in_the_configuration() {
        for (addition, key) in [(Addition::LivePage, "admin"), (Addition::Metrics, "metrics")] {
            let mut config = json!({});
            let beside =
                Beside::prepare(Some(addition), Path::new("dragoman"), Path::new("/folder")).unwrap();
            beside.add(&mut config, Path::new("/folder"));
            assert_eq!(config[key], json!(true));
        }
        let traces = Beside::prepare(Some(Addition::Traces), Path::new(""), Path::new("")).unwrap();
        assert!(traces.variables().iter().any(|(name, _)| *name == "OTEL_EXPORTER_OTLP_ENDPOINT"));
    }
}
