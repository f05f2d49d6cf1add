//! Calls that wait until their clients have answered the questions in a result.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::peers::Peer;
use engine::exchange::{ParkedElsewhere, ParkedRequest, Ticket, no_longer_open, parked};
use engine::session::QuestionText;
use parking_lot::Mutex;
use proto::era::Era;
use proto::rpc::Frame;
use tokio::sync::oneshot;

use super::elsewhere;
use crate::admission::Identity;
use crate::admission::audit::ReasonKind;
use crate::call::CallContext;
use crate::call::call::Call;
use crate::call::record::Refused;
use upstream::pool::dormant::{Dormant, DormantWork};
use upstream::quota::{Permit, Quota, QuotaError};

/// The time within which all parked calls are left to other gateways.
const LEAVING: Duration = Duration::from_secs(1);

/// All parked calls, by their tickets.
pub struct Parked {
    quota: Arc<Quota>,
    lifetime: Mutex<Duration>,
    waiting: Mutex<HashMap<Ticket, ParkedCall>>,
}

/// The channel through which a parked call is fetched. If the channel is dropped, the call is given up.
type HandoverSender = oneshot::Sender<oneshot::Sender<Box<Call>>>;

struct ParkedCall {
    wanted: HandoverSender,
    server: Arc<str>,
    principal: Arc<str>,
    tool: Option<Arc<str>>,
    since: Instant,
    until: Instant,
    questions: Arc<[QuestionText]>,
    _permit: Permit,
}

/// The facts about a parked call that operators see.
#[derive(Debug, Clone)]
pub struct ParkedFacts {
    pub principal: Arc<str>,
    /// The tool by the name that the client used, if the call is recorded.
    pub tool: Option<Arc<str>>,
    pub server: Arc<str>,
    pub since: Instant,
    pub until: Instant,
    /// The questions that the client has to answer.
    pub questions: Arc<[QuestionText]>,
}

/// The outcome of a request that may be the retry of a parked call.
pub(super) enum Resumed {
    /// The request is no retry.
    No,
    /// The parked call, with the answers in the retry.
    Call(Box<Call>),
    /// The call is parked at another gateway of the cluster.
    Elsewhere(Peer),
    /// The call was parked at another gateway of the cluster, which has ended.
    Orphan(Box<ParkedElsewhere>),
}

impl Parked {
    pub(crate) fn new(max: usize, lifetime: Duration) -> Self {
        Self { quota: Quota::new(max), lifetime: Mutex::new(lifetime), waiting: Mutex::default() }
    }

    /// Changes the maximum number of parked calls, and the time for which calls stay parked. Calls that are already
    /// parked are not affected.
    pub(crate) fn follow(&self, max: usize, lifetime: Duration) {
        self.quota.resize(max);
        *self.lifetime.lock() = lifetime;
    }

    /// Returns the number of parked calls.
    pub fn count(&self) -> usize {
        self.quota.held()
    }

    /// Parks a call until its client returns. Meanwhile, the call receives its upstream's messages. If too many
    /// calls are parked, this call is dropped, which cancels it at its upstream.
    pub(crate) fn keep(
        &self,
        ticket: Ticket,
        mut call: Box<Call>,
        questions: Arc<[QuestionText]>,
    ) -> Result<(), QuotaError> {
        let permit = self.quota.take(call.caller.identity().holder());
        if let Some(record) = &mut call.record {
            match &permit {
                Ok(_) => record.parks(),
                // The limit refuses the request.
                Err(full) => record.denied(None, ReasonKind::TooManyCalls, &full.to_string()),
            }
        }
        let permit = permit?;
        let (wanted, asked_for) = oneshot::channel();
        let since = Instant::now();
        let parked = ParkedCall {
            wanted,
            server: call.server_name().clone(),
            principal: call.caller.identity().principal.id.clone(),
            tool: call.record.as_ref().and_then(|record| record.tool()),
            since,
            until: since + *self.lifetime.lock(),
            questions,
            _permit: permit,
        };
        self.waiting.lock().insert(ticket, parked);
        let dormant = call.sleep(DormantWork::Call);
        transport::task::spawn(wait((ticket, call), asked_for, dormant));
        Ok(())
    }

    /// Removes the call with this ticket from the table, and returns it with its questions. Each ticket works only once.
    async fn take(&self, ticket: Ticket) -> Option<(Box<Call>, Arc<[QuestionText]>)> {
        let found = self.waiting.lock().remove(&ticket)?;
        if found.until <= Instant::now() {
            return None;
        }
        let (taker, call) = oneshot::channel();
        found.wanted.send(taker).ok()?;
        Some((call.await.ok()?, found.questions))
    }

    /// If a request is the retry of a parked call, resumes this call with the answers in the retry. `moves` is true if the request
    /// can be passed on to the gateway of the cluster where the call is parked.
    ///
    /// # Errors
    /// Returns the fault to answer with; the call then waits as before.
    pub(super) async fn resumed(
        &self,
        context: &CallContext,
        identity: &Identity,
        (frame, era, moves): (&Frame, &'static Era, bool),
        server: &str,
    ) -> Result<Resumed, Refused> {
        let binding = context.binding(identity.id(), server, era);
        let ticket = match parked(frame, era, context.sealer(), binding)? {
            None => return Ok(Resumed::No),
            Some(ParkedRequest::Here(ticket)) => ticket,
            Some(ParkedRequest::Elsewhere(_)) if !moves => return Err(no_longer_open().into()),
            Some(ParkedRequest::Elsewhere(call)) => {
                let peer = elsewhere::process(context, call.process).await;
                return Ok(peer.map_or_else(|| Resumed::Orphan(Box::new(call)), Resumed::Elsewhere));
            }
        };
        let (mut call, questions) = self.take(ticket).await.ok_or_else(no_longer_open)?;
        match call.resume(frame.clone()) {
            Ok(()) => Ok(Resumed::Call(call)),
            Err(refused) => {
                // The call waits again as before. There is room for the call, because it has just been removed.
                let _ = self.keep(ticket, call, questions);
                Err(refused)
            }
        }
    }

    /// Leaves all parked calls to the other gateways of the cluster, because this gateway ends.
    pub(crate) async fn leave(&self) {
        let tickets: Vec<Ticket> = self.waiting.lock().keys().copied().collect();
        let left = async {
            for ticket in tickets {
                if let Some((call, _)) = self.take(ticket).await {
                    call.leave();
                }
            }
        };
        let _ = tokio::time::timeout(LEAVING, left).await;
    }

    /// Returns the facts about each parked call that operators see.
    pub fn listed(&self) -> Vec<ParkedFacts> {
        let waiting = self.waiting.lock();
        let facts = |call: &ParkedCall| ParkedFacts {
            principal: call.principal.clone(),
            tool: call.tool.clone(),
            server: call.server.clone(),
            since: call.since,
            until: call.until,
            questions: call.questions.clone(),
        };
        waiting.values().filter(|call| !call.wanted.is_closed()).map(facts).collect()
    }

    /// Abandons calls whose clients did not return, and removes the entries of calls that had to give up their
    /// connection.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        let late: Vec<ParkedCall> = {
            let mut waiting = self.waiting.lock();
            waiting.retain(|_, waiting| !waiting.wanted.is_closed());
            waiting.extract_if(|_, waiting| waiting.until <= now).map(|(_, waiting)| waiting).collect()
        };
        for ParkedCall { server, .. } in late {
            tracing::info!(%server, "abandoned a call: its client did not answer within {:?}", *self.lifetime.lock());
        }
    }
}

/// Holds a call until it is taken or given up, or until its link is needed for another call. Dropping a call cancels
/// it at its upstream.
async fn wait(
    (ticket, mut call): (Ticket, Box<Call>),
    mut wanted: oneshot::Receiver<oneshot::Sender<Box<Call>>>,
    dormant: Option<Dormant>,
) {
    let makes_way = async {
        match &dormant {
            Some(dormant) => dormant.asked_to_leave().await,
            None => std::future::pending().await,
        }
    };
    let taker = tokio::select! {
        biased;
        taker = &mut wanted => taker,
        () = makes_way => {
            let server = call.server_name();
            tracing::info!(
                %server,
                "abandoned a call that was waiting for its client, because another call needs the connection that it held"
            );
            return call.expire(ticket).await;
        }
        never = call.attend() => match never {},
    };
    drop(dormant);
    if let Ok(taker) = taker {
        // The client that came back may be gone again.
        let _ = taker.send(call);
    } else {
        call.expire(ticket).await;
    }
}
