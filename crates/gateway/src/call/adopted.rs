//! Calls of another gateway of the cluster that has ended while they waited for their clients. If the server can continue a call's
//! messages over another connection, this gateway continues the call: it sends the client's answers to the server, and never the
//! request itself. This module must not know how a server continues.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::{Cluster, StoreError};
use engine::Fault;
use engine::exchange::{ParkedElsewhere, ResumableRequest, Ticket, no_longer_open};
use proto::json::quote;
use proto::rpc::code;
use tokio::time::timeout;
use transport::up::LinkError;
use upstream::link::adopted;
use upstream::link::reply::ReplySource;
use upstream::link::{HeldLink, OpenLink, Wire};

use super::CallContext;
use super::call::Call;
use super::elsewhere;
use super::forwarded::{Forwarded, request};
use super::record::Refused;
use super::requester::Requester;
use super::turn::CallTurn;

/// The maximum time in which the server must continue the call's messages.
const RESUMED: Duration = Duration::from_secs(10);

/// Continues a call whose gateway has ended, with the answers in the client's retry.
///
/// # Errors
/// Returns the fault to answer with.
pub(super) async fn continued(
    context: &Arc<CallContext>,
    requester: Requester<'_>,
    (info, mut forwarded): (&str, Forwarded<'_>),
    call: ParkedElsewhere,
) -> Result<Box<Call>, Refused> {
    let server = context.view.state.upstream_of(forwarded.route.upstream, requester.caller.identity());
    let Some(cluster) = elsewhere::members(context) else { return Err(no_longer_open().into()) };
    let Some(orphan) = &call.resumable else { return Err(lost(server.name(), None).into()) };
    forwarded.server = orphan.position.era;
    forwarded.route.unchecked = true;
    forwarded.slot = None;
    let mut request = request(&requester, forwarded, info);
    request.orphan = Some(orphan);
    let mut begun = Call::begin(context, requester.caller, request)?;
    match take_over(context, cluster, &begun, (&call, orphan)).await {
        Ok((link, source)) => {
            tracing::info!(server = %begun.server_name(), "continuing a call that was waiting at a gateway that has ended");
            begun.connection.held = Some(HeldLink::new(Arc::new(link), None));
            begun.connection.source = Some(source);
            begun.turn = CallTurn::joined(&begun.upstream);
            Ok(begun)
        }
        Err(fault) => {
            begun.over = true;
            Err(Refused::new(fault, begun.client.masked.take(), begun.record.take()))
        }
    }
}

/// Continues the call's messages, and makes sure that no other gateway of the cluster does so.
async fn take_over(
    context: &Arc<CallContext>,
    cluster: &Cluster,
    begun: &Call,
    (call, orphan): (&ParkedElsewhere, &ResumableRequest),
) -> Result<(OpenLink, ReplySource), Fault> {
    let server = &begun.upstream.server;
    if !cluster.has_ended(call.process).await.map_err(|error| undecided(&error.to_string()))? {
        return Err(undecided("the gateway has not reported lately"));
    }
    let adopted = adopted::adopt(server, context.egress.client(), &orphan.position);
    let adopted = timeout(RESUMED, adopted).await.unwrap_or(Err(LinkError::Late(RESUMED.as_secs())));
    let taken = adopted.map_err(|why| lost(server.name(), Some(&server.describe(&why))))?;
    match claim(context, cluster, call.process, call.ticket).await {
        Ok(true) => Ok(taken),
        Ok(false) => Err(no_longer_open()),
        Err(error) => Err(undecided(&error.to_string())),
    }
}

/// Records that this gateway decides what happens to a call of the process with this number; returns false if another one does.
async fn claim(
    context: &CallContext,
    cluster: &Cluster,
    process: u64,
    ticket: Ticket,
) -> Result<bool, StoreError> {
    let name = format!("parked/{process:016x}-{:016x}-{}", ticket.key, ticket.round);
    cluster.use_once(&name, context.egress.snapshot().limits.request_state_lifetime).await
}

/// Returns the fault for a call that nobody can continue.
fn lost(server: &str, why: Option<&str>) -> Fault {
    let why = why.map_or_else(
        || "cannot continue it over another connection".to_owned(),
        |why| format!("does not continue it over another connection: it {why}"),
    );
    let message = format!(
        "params.requestState belongs to a request that waited at another gateway of this cluster, which has ended, and server \
         {server:?} {why}; the request may have been executed; check before you send it again without requestState and inputResponses"
    );
    Fault::client(code::INVALID_PARAMS, message).with_data(data(Some(server), false))
}

/// Returns the fault for a call of which nobody can tell now which gateway continues it.
fn undecided(why: &str) -> Fault {
    let message = format!(
        "params.requestState belongs to a request that waited at another gateway of this cluster, and it cannot be decided now which \
         gateway continues it: {why}; send the same request again in a few seconds"
    );
    let fault = Fault::gateway(message).with_status(503);
    Fault { retry: true, ..fault }.with_data(data(None, true))
}

fn data(server: Option<&str>, retry: bool) -> String {
    let server = server.map(|server| format!("\"server\":{},", quote(server))).unwrap_or_default();
    format!("{{{server}\"retry\":{retry},\"executed\":\"maybe\"}}")
}

impl Call {
    /// Leaves a call that waits for its client to the other gateways, because this one ends. If they cannot continue the call, it is
    /// cancelled at its server.
    pub(super) fn leave(mut self: Box<Self>) {
        if self.exchange.is_resumable()
            && let Some(Wire::Http(http)) = self.link().map(|link| &link.wire)
        {
            http.leave();
            self.over = true;
        }
    }

    /// Ends a call whose client has not come back. If this gateway stood still, another one may have continued the call, and a
    /// cancellation would end it there: so the call is cancelled at its server only if this gateway is the first to decide about it.
    pub(super) async fn expire(self: Box<Self>, ticket: Ticket) {
        let Some(cluster) = elsewhere::members(&self.context).filter(|_| self.exchange.is_resumable()) else {
            return;
        };
        if !matches!(claim(&self.context, cluster, cluster.id(), ticket).await, Ok(true)) {
            self.leave();
        }
    }

    /// Prepares for the time at which the exchange expires, or asks its client through a result. In a cluster, the client's state
    /// then contains the place from which another gateway can continue.
    pub(super) fn before_expiry(&mut self) {
        if !self.exchange.will_park(Instant::now()) {
            return self.note_silence();
        }
        if elsewhere::members(&self.context).is_some() {
            let link = self.connection.link();
            let position = link.and_then(|link| adopted::position(link, self.connection.source.as_ref()));
            self.exchange.note_position(position);
        }
    }
}
