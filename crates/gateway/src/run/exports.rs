//! The export of telemetry to collectors: settings from the environment, the tasks of the first thread, and the
//! last items when the process ends. This module must not know what a span or a log record contains.

use std::sync::Arc;

use tokio::task::JoinHandle;
use transport::net::Client;
use transport::net::runtime::Shard;

use crate::telemetry::call_log::{CallLog, LogBatch};
use crate::telemetry::export::{Collector, ExportBatch, ExportQueue, ExporterSettings, send_until_stopped};
use crate::telemetry::trace::{SpanBatch, TraceSettings, Tracer};

/// The exports of this process.
#[derive(Clone, Default)]
pub(super) struct Exports {
    traces: Option<(ExporterSettings, Arc<Tracer>)>,
    calls: Option<(ExporterSettings, Arc<CallLog>)>,
}

/// The tasks that send items to the collectors.
pub(super) struct ExportTasks {
    traces: Option<SendingItems<SpanBatch>>,
    calls: Option<SendingItems<LogBatch>>,
}

/// A task that sends items until the gateway stops. It then returns the collector, to which the last items are
/// sent.
struct SendingItems<B> {
    task: JoinHandle<Collector>,
    queue: Arc<ExportQueue<B>>,
}

impl Exports {
    /// Reads the variables of OpenTelemetry, and logs the unusable ones.
    pub(super) fn from_environment() -> Self {
        let lookup = |name: &str| std::env::var(name).ok();
        let (trace_settings, mut complaints) = TraceSettings::read(&lookup);
        let (calls, of_calls) = CallLog::settings(&lookup);
        // Both read the common variables.
        complaints.extend(of_calls);
        complaints.dedup();
        for complaint in complaints {
            tracing::warn!("{complaint}");
        }
        Self {
            traces: trace_settings.map(|settings| {
                let tracer = Arc::new(Tracer::new(&settings));
                (settings.exporter, tracer)
            }),
            calls: calls.map(|settings| {
                let log = Arc::new(CallLog::new(&settings));
                (settings, log)
            }),
        }
    }

    /// Returns the tracer; `None` if no request is traced.
    pub(super) fn tracer(&self) -> Option<Arc<Tracer>> {
        self.traces.as_ref().map(|(_, tracer)| tracer.clone())
    }

    /// Returns the export of the record; `None` if it is not exported.
    pub(super) fn call_log(&self) -> Option<Arc<CallLog>> {
        self.calls.as_ref().map(|(_, log)| log.clone())
    }

    /// Starts to send, on the first thread.
    pub(super) fn start(&self, shard: &Shard, client: impl Fn() -> Client) -> ExportTasks {
        let is_first = shard.index == 0;
        let traces = self.traces.as_ref().filter(|_| is_first);
        let calls = self.calls.as_ref().filter(|_| is_first);
        ExportTasks {
            traces: traces.map(|(settings, tracer)| {
                SendingItems::start(Collector::new(settings.clone(), client()), &tracer.queue, shard)
            }),
            calls: calls.map(|(settings, log)| {
                SendingItems::start(Collector::new(settings.clone(), client()), &log.queue, shard)
            }),
        }
    }
}

impl ExportTasks {
    /// Sends the last items, after the last request has ended.
    pub(super) async fn finish(self) {
        let traces = async {
            if let Some(sending) = self.traces {
                sending.finish().await;
            }
        };
        let calls = async {
            if let Some(sending) = self.calls {
                sending.finish().await;
            }
        };
        tokio::join!(traces, calls);
    }
}

impl<B: ExportBatch> SendingItems<B> {
    fn start(collector: Collector, queue: &Arc<ExportQueue<B>>, shard: &Shard) -> Self {
        let task = transport::task::spawn(send_until_stopped(collector, queue.clone(), shard.stop.clone()));
        Self { task, queue: queue.clone() }
    }

    async fn finish(self) {
        if let Ok(mut collector) = self.task.await {
            collector.send_rest(&self.queue).await;
        }
    }
}
