//! The metrics of the process in the text formats of Prometheus: gathered and written for each scrape. This module must not know
//! HTTP, or who may read the metrics.
//!
//! | file | is for |
//! |---|---|
//! | `families` | families of series, with the cap on their number |
//! | `calls` | operations, tools, the time that the gateway itself takes, rate limits |
//! | `servers` | servers: states, running and waiting calls, links, lists |
//! | `holdings` | sessions, waiting calls, buffers, limits |
//! | `process` | memory, files, threads and processor time of the process |

mod calls;
mod families;
mod holdings;
mod process;
mod servers;

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, prometheus_text, text};
use prometheus_client::registry::Registry;

use families::Families;
use gateway::process::Gateway;

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpositionFormat {
    /// The format that every scraper reads.
    Prometheus,
    /// `OpenMetrics` 1.0, for scrapers that ask for it.
    OpenMetrics,
}

impl ExpositionFormat {
    /// Returns the media type of the format.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// All metrics, gathered anew for each scrape.
struct AllFigures(Arc<Gateway>);

impl fmt::Debug for AllFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AllFigures")
    }
}

impl Collector for AllFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let gateway = &*self.0;
        let series = gateway.standing.config().metrics.as_ref().map_or(0, |metrics| metrics.series);
        let mut families = Families::new(&mut encoder, series);
        calls::write(&mut families, gateway)?;
        servers::write(&mut families, gateway)?;
        holdings::write(&mut families, gateway)?;
        process::write(&mut families, gateway.process.call.figures.started())?;
        families.write_overflow(calls::overflow(gateway))
    }
}

/// Writes all metrics. This blocks, because it reads files of `/proc`.
pub(crate) fn text(gateway: &Arc<Gateway>, format: ExpositionFormat) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(AllFigures(gateway.clone())));
    let mut text = String::new();
    let written = match format {
        ExpositionFormat::Prometheus => prometheus_text::encode(&mut text, &registry),
        ExpositionFormat::OpenMetrics => text::encode(&mut text, &registry),
    };
    if written.is_err() {
        tracing::error!("the metrics could not be written completely");
    }
    text
}
