//! The context for making calls. This module must not know transports.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use config::Limits;
use engine::exchange::Binding;
use engine::tasks::{HeldLimits, HeldOutcomes};
use parking_lot::Mutex;
use proto::era::{Asks, Era};
use upstream::Egress;
use upstream::quota::Quota;

use super::at_once::RunningByTool;
use super::limited_tasks::LimitedTasks;
use super::result_store::ResultStore;
use super::task_homes::Homes;
use super::unchecked::UncheckedTools;
use crate::admission::audit::AuditSink;
use crate::call::capture::Capture;
use crate::call::in_progress::CallsInProgress;
use crate::session::SessionContext;
use crate::session::sealer::StateSealer;
use crate::telemetry::ProcessFigures;
use crate::telemetry::trace::Tracer;
use crate::view::ViewContext;

/// The limits for kept outcomes of tasks: the maximum number of outcomes, and their maximum total size in bytes.
const HELD: (usize, usize) = (1024, 32 << 20);

/// The state that all threads share.
pub struct CallState {
    /// Tasks that need the link on which they were started.
    pub(crate) homes: Homes,
    /// Outcomes that are kept for tasks.
    pub(crate) held: Mutex<HeldOutcomes>,
    /// The tools of tasks whose outcomes are limited.
    pub(crate) limited_tasks: LimitedTasks,
    /// The quota of notification streams.
    pub listens: Arc<Quota>,
    /// The tools with unvalidated arguments that have already been logged.
    pub(crate) unchecked: UncheckedTools,
    /// The running calls of tools that have a limit on concurrent calls.
    pub(crate) running_by_tool: RunningByTool,
    /// Results that are kept for later requests.
    pub(crate) results: ResultStore,
    /// The record of calls.
    pub audit: AuditSink,
    /// The figures of the process.
    pub figures: ProcessFigures,
    /// The traces of requests; `None` if no request is traced.
    pub tracer: Option<Arc<Tracer>>,
    /// The capture of messages.
    pub capture: Capture,
    /// The calls that run or wait now.
    pub in_progress: Arc<CallsInProgress>,
}

impl CallState {
    /// Creates the state with no calls.
    pub(crate) fn new(
        limits: &Limits,
        audit: AuditSink,
        figures: ProcessFigures,
        tracer: Option<Arc<Tracer>>,
    ) -> Self {
        Self {
            homes: Homes::new(limits.parked_calls, limits.request_state_lifetime),
            held: Mutex::new(HeldOutcomes::new(HeldLimits {
                count: HELD.0,
                bytes: HELD.1,
                lifetime: limits.request_state_lifetime,
            })),
            limited_tasks: LimitedTasks::default(),
            listens: Quota::new(limits.listen_streams),
            unchecked: UncheckedTools::default(),
            running_by_tool: RunningByTool::default(),
            results: ResultStore::new(limits),
            audit,
            figures,
            tracer,
            capture: Capture::default(),
            in_progress: Arc::default(),
        }
    }

    /// Returns true if requests are observed: in the record of calls, in figures, in a trace, or in captured
    /// messages.
    pub(crate) fn observes(&self) -> bool {
        self.audit.is_on() || self.figures.is_on() || self.tracer.is_some() || self.capture.is_on()
    }
}

impl CallState {
    /// Applies new limits. Anything that already exceeds them is kept.
    pub(crate) fn follow(&self, limits: &Limits) {
        self.homes.follow(limits.parked_calls, limits.request_state_lifetime);
        self.held.lock().set_lifetime(limits.request_state_lifetime);
        self.listens.resize(limits.listen_streams);
        self.results.follow(limits);
    }
}

/// A thread's context for making calls.
pub struct CallContext {
    /// The thread's access to servers.
    pub(crate) egress: Egress,
    /// The context for making views.
    pub(crate) view: Arc<ViewContext>,
    /// The context for making sessions.
    pub(crate) session: Arc<SessionContext>,
    /// The state that all threads share.
    pub state: Arc<CallState>,
}

impl CallContext {
    /// The sealer of states that pass through clients.
    pub(crate) fn sealer(&self) -> &StateSealer {
        &self.session.state.sealer
    }

    /// Returns the values to which states of `era` are bound. The clock is read only if `era` has states.
    pub(crate) fn binding<'a>(&self, principal: &'a str, server: &'a str, era: &Era) -> Binding<'a> {
        let lifetime = self.egress.snapshot().limits.request_state_lifetime;
        let now = match era.asks {
            Asks::InputRequired => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            Asks::Requests => Duration::ZERO,
        };
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Binding { principal, server, now_ms: millis(now), lifetime_ms: millis(lifetime) }
    }
}
