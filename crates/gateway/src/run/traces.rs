//! The sending of traces: settings from the environment, the task of the first thread, and the last spans when the process
//! ends. This module must not know what a trace says.

use std::sync::Arc;

use tokio::task::JoinHandle;
use transport::net::Client;
use transport::net::runtime::Shard;

use crate::telemetry::trace::{Collector, TraceSettings, Tracer, send_until_stopped};

/// The traces of this process.
#[derive(Clone)]
pub(super) struct Traces(Option<(TraceSettings, Arc<Tracer>)>);

/// The task that sends, until the gateway stops; it then returns the collector for the last spans.
type Sending = Option<(JoinHandle<Collector>, Arc<Tracer>)>;

impl Traces {
    /// Reads the variables of OpenTelemetry, and logs which of them are not usable.
    pub(super) fn from_environment() -> Self {
        let (settings, complaints) = TraceSettings::read(&|name| std::env::var(name).ok());
        for complaint in complaints {
            tracing::warn!("{complaint}");
        }
        Self(settings.map(|settings| {
            let tracer = Arc::new(Tracer::new(&settings));
            (settings, tracer)
        }))
    }

    /// Returns the queue for requests; `None` if no request is traced.
    pub(super) fn tracer(&self) -> Option<Arc<Tracer>> {
        self.0.as_ref().map(|(_, tracer)| tracer.clone())
    }

    /// Starts to send, on the first thread.
    pub(super) fn start(&self, shard: &Shard, client: impl FnOnce() -> Client) -> Sending {
        let (settings, tracer) = self.0.clone().filter(|_| shard.index == 0)?;
        let collector = Collector::new(settings, client());
        Some((tokio::spawn(send_until_stopped(collector, tracer.clone(), shard.stop.clone())), tracer))
    }

    /// Sends the last spans, after the last request has ended.
    pub(super) async fn finish(sending: Sending) {
        let Some((task, tracer)) = sending else { return };
        if let Ok(mut collector) = task.await {
            collector.send_rest(&tracer).await;
        }
    }
}
