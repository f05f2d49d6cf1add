//! The metrics of one request. The clock is read only if requests are counted. This module must not know anything
//! about a request except its method.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::meters::{OperationOutcome, ServerMeters, ToolCounters, ToolMeter};
use proto::mcp::Method;

use super::ProcessFigures;

/// The counters of the tool that a request calls.
enum MeteredTool {
    /// The request calls no tool.
    None,
    /// The tool's own counters.
    Own(Arc<ToolCounters>),
    /// The common counters of all tools above the cap.
    Rest,
}

/// The times of a request that was sent to its server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentTimes {
    /// The time at which the request was first sent.
    first: Instant,
    /// The time of the last message about the request.
    heard: Option<Instant>,
    /// The time for which the call waited for its client.
    parked: Duration,
    /// True if some of the time between the request and its answer belongs to neither the gateway nor the server.
    is_interrupted: bool,
}

impl SentTimes {
    /// Records that a request is sent for the first time.
    pub(crate) fn new(first: Instant) -> Self {
        Self { first, heard: None, parked: Duration::ZERO, is_interrupted: false }
    }

    /// Records a message of the server about the request.
    pub(crate) fn hear(&mut self, now: Instant) {
        self.heard = Some(now);
    }

    /// Records that the request is sent again.
    pub(crate) fn interrupt(&mut self) {
        self.is_interrupted = true;
    }

    /// Records that the client has returned with answers after the time `parked`, and that the server is working
    /// again.
    pub(crate) fn resume(&mut self, parked: Duration) {
        self.parked = self.parked.saturating_add(parked);
        (self.heard, self.is_interrupted) = (None, true);
    }

    /// Returns the time at which the request was sent, and the time of the last message about it. If there was no
    /// message, the second time is the end of the request.
    pub(crate) fn at_server(&self, ended: Instant) -> (Instant, Instant) {
        (self.first, self.heard.unwrap_or(ended))
    }
}

/// A request, and the meters that count it.
pub(crate) struct RequestMeter {
    method: Option<Method>,
    server: Arc<ServerMeters>,
    tool: MeteredTool,
}

/// The end of a request.
#[derive(Clone, Copy)]
pub(crate) struct MeteredEnd {
    /// The outcome.
    pub(crate) outcome: OperationOutcome,
    /// The time at which the whole request had arrived.
    pub(crate) started: Instant,
    /// The time at which the answer was handed to the transport.
    pub(crate) ended: Instant,
    /// The time for which the request waited before it was sent.
    pub(crate) waited: Duration,
    /// The times of sending and of the server's messages, if the request was sent.
    pub(crate) sent: Option<SentTimes>,
}

impl RequestMeter {
    /// Begins to measure a request that concerns no server yet; `method` is `None` if the gateway does not support
    /// the method.
    pub(crate) fn new(figures: &ProcessFigures, method: Option<Method>) -> Self {
        Self { method, server: figures.unassigned.clone(), tool: MeteredTool::None }
    }

    /// Records the server that the request concerns.
    pub(crate) fn set_server(&mut self, server: &Arc<ServerMeters>) {
        self.server = server.clone();
    }

    /// Records the tool that the request calls; `name` returns the tool's name at its server.
    pub(crate) fn set_tool(
        &mut self,
        figures: &ProcessFigures,
        tool: &ToolMeter,
        name: impl FnOnce() -> String,
    ) {
        let own = tool.counters(&self.server.tools, &figures.allowances.tools, name);
        self.tool = own.map_or(MeteredTool::Rest, MeteredTool::Own);
    }

    /// Adds the request to the metrics.
    pub(crate) fn finish(self, figures: &ProcessFigures, end: MeteredEnd) {
        let MeteredEnd { outcome, started, ended, waited, sent } = end;
        let (allowances, key) = (&figures.allowances, (self.method, outcome));
        let parked = sent.map_or(Duration::ZERO, |sent| sent.parked);
        let whole = ended.saturating_duration_since(started).saturating_sub(parked);
        if !self.server.requested.observe(key, whole, &allowances.requested) {
            figures.rest.requested.observe_rest(key, whole);
        }
        let is_ok = outcome == OperationOutcome::Ok;
        match &self.tool {
            MeteredTool::None => {}
            MeteredTool::Own(counters) => counters.count(is_ok, whole),
            MeteredTool::Rest => figures.rest.tools.count(is_ok, whole),
        }
        let Some(sent) = sent else { return };
        let (first, heard) = sent.at_server(ended);
        let at_server = heard.saturating_duration_since(first).saturating_sub(parked);
        if !self.server.sent.observe(key, at_server, &allowances.sent) {
            figures.rest.sent.observe_rest(key, at_server);
        }
        if sent.heard.is_some() && !sent.is_interrupted {
            figures.overhead.observe(whole.saturating_sub(at_server).saturating_sub(waited));
        }
    }
}
