//! The environment variables of OpenTelemetry that concern traces. This module must not know where variables come from.

use super::sampler::{Root, Sampler};
use crate::telemetry::export::{ExporterSettings, Signal, Variables};

/// Traces, as a telemetry signal.
const TRACES: Signal =
    Signal { name: "TRACES", path: "/v1/traces", batches: "BSP", delay: 5000, is_on: true, items: "spans" };

/// The settings of traces.
#[derive(Debug, Clone)]
pub(crate) struct TraceSettings {
    pub(crate) exporter: ExporterSettings,
    pub(super) sampler: Sampler,
}

impl TraceSettings {
    /// Reads the variables; `None` if no request is traced. The second value lists unusable variables.
    pub(crate) fn read(lookup: &dyn Fn(&str) -> Option<String>) -> (Option<Self>, Vec<String>) {
        let mut variables = Variables::new(lookup);
        let exporter = ExporterSettings::read(&mut variables, &TRACES);
        let settings = exporter.map(|exporter| Self { exporter, sampler: sampler(&mut variables) });
        (settings, variables.complaints)
    }
}

fn sampler(variables: &mut Variables<'_>) -> Sampler {
    let usual = Sampler { follows_parent: true, root: Root::All };
    let Some(name) = variables.text("OTEL_TRACES_SAMPLER") else { return usual };
    let (follows_parent, root) = match name.strip_prefix("parentbased_") {
        Some(root) => (true, root),
        None => (false, name.as_str()),
    };
    let root = match root {
        "always_on" => Root::All,
        "always_off" => Root::None,
        "traceidratio" => {
            let text = variables.text("OTEL_TRACES_SAMPLER_ARG").unwrap_or_else(|| "1".to_owned());
            match text.parse::<f64>() {
                Ok(ratio) if (0.0..=1.0).contains(&ratio) => Root::ratio(ratio),
                _ => {
                    variables.complain("OTEL_TRACES_SAMPLER_ARG", &text, "write a number from 0 to 1");
                    Root::All
                }
            }
        }
        _ => {
            let help = "write always_on, always_off or traceidratio, optionally with parentbased_ in front";
            variables.complain("OTEL_TRACES_SAMPLER", &name, help);
            return usual;
        }
    };
    Sampler { follows_parent, root }
}
