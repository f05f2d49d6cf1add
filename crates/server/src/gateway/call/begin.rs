//! How a call begins: what is checked before anything is sent, and how it goes on when its client comes back.

use std::sync::Arc;
use std::time::Instant;

use engine::Fault;
use engine::exchange::{Answer, Exchange, Start};
use proto::rpc::Frame;

use super::call::Call;
use super::caller::{Caller, Request};
use crate::gateway::call::CallContext;
use crate::gateway::call::in_flight;
use crate::gateway::call::lease::lease;
use crate::gateway::call::mail::Mail;
use crate::gateway::call::record::{Record, Refused};
use crate::gateway::call::said::{Said, said};
use upstream::CLIENT_INFO;
use upstream::Upstream;

impl Call {
    /// Checks a request and makes it ready to go.
    ///
    /// # Errors
    /// The fault to answer with.
    pub(crate) fn begin(
        context: &Arc<CallContext>,
        caller: Caller,
        mut request: Request<'_>,
    ) -> Result<Box<Self>, Refused> {
        let veil = request.route.veil.take();
        let upstream = context.view.state.upstream_of(request.route.upstream, caller.identity());
        let place =
            if request.counted { Some(in_flight::place(context, &caller, &request.frame)?) } else { None };
        let (era, cancelled) = (caller.era(), in_flight::register(context, &caller, &request.frame)?);
        let tool = request.route.tool;
        let record = caller.view().and_then(|view| {
            let to = (upstream.name(), tool);
            Record::forwarded(context, caller.identity(), view.profile, &request.frame, to)
        });
        let (id, carried) = (request.frame.id().cloned(), request.carried.clone());
        let is_cross = era != request.server;
        let said = if is_cross { said(&caller, &request) } else { Said::default() };
        let lease = lease(&context.egress, &caller, &upstream, &request, &said);
        let exchange = exchange(context, &caller, &upstream, request, &said);
        context.state.unchecked.note(upstream.name(), tool);
        let exchange = match exchange {
            Ok(exchange) => exchange,
            Err(fault) => {
                if let (Caller::Session(session), Some(id)) = (&caller, &id) {
                    session.requests.end(id);
                }
                return Err(Refused::new(fault, veil, record));
            }
        };
        let mail = (is_cross || lease.is_some()).then(|| Box::new(Mail::open(context.egress.next_key())));
        // The box first: what is made in it need not be copied there.
        Ok(Box::write(
            Box::new_uninit(),
            Self {
                context: context.clone(),
                exchange,
                upstream,
                owner: caller.attribution(),
                caller,
                link: None,
                source: None,
                cancelled,
                over: false,
                takes_long: false,
                attended_until: None,
                carried,
                place,
                record,
                veil,
                relisted: false,
                progress: None,
                lease,
                mail,
            },
        ))
    }

    /// Returns true if the server that it goes to lives in the binary.
    pub(crate) fn is_embedded(&self) -> bool {
        self.upstream.server.is_native()
    }

    /// The server that it goes to.
    pub(crate) fn server_name(&self) -> &Arc<str> {
        self.upstream.name()
    }

    /// The answer to a client that waits on a stream of its own, when a long answer broke off.
    pub(crate) fn broken(&self) -> Answer {
        let name = self.upstream.name();
        let message = format!("server {name:?} began an answer that broke off or was too long");
        Answer::fault(200, Fault::upstream(name, false, message), self.exchange.id())
    }

    /// Until when the next thing has to happen.
    pub(crate) fn deadline(&self) -> Instant {
        self.exchange.deadline()
    }

    /// Goes on with the answers that its client has brought.
    ///
    /// # Errors
    /// The fault to answer with; the call then waits as before.
    pub(crate) fn resume(&mut self, retry: Frame) -> Result<(), Refused> {
        let place = in_flight::place(&self.context, &self.caller, &retry)?;
        let context = self.context.clone();
        let binding = context.binding(self.caller.owner(), self.upstream.name(), self.caller.era());
        self.exchange.resume(retry, context.sealer(), binding, Instant::now())?;
        self.place = Some(place);
        Ok(())
    }
}

/// The exchange that a request becomes.
fn exchange(
    context: &Arc<CallContext>,
    caller: &Caller,
    upstream: &Upstream,
    request: Request<'_>,
    said: &Said,
) -> Result<Exchange, Fault> {
    let era = caller.era();
    Exchange::begin(Start {
        frame: request.frame,
        client: era,
        server: request.server,
        capabilities: &said.capabilities,
        capabilities_upstream: &said.upstream,
        level: said.level.as_deref(),
        client_info: said.info.as_deref().unwrap_or(CLIENT_INFO.as_bytes()),
        route: request.route,
        key: context.egress.next_key(),
        binding: context.binding(caller.owner(), &upstream.server.spec.name, era),
        sealer: context.sealer(),
        headers: request.headers,
        timeouts: upstream.server.spec.timeouts,
        server_info: request.server_info,
        now: Instant::now(),
    })
}

impl Call {
    /// Begins the exchange anew, as `request` says it now; `false` when its headers would be the same, so that they cannot
    /// have been the reason for an error: the request may have been acted on.
    ///
    /// # Errors
    /// The fault; the exchange is as it was.
    pub(crate) fn begin_again(&mut self, request: Request<'_>) -> Result<bool, Fault> {
        let era = self.caller.era();
        let said = if era == request.server { Said::default() } else { said(&self.caller, &request) };
        let exchange = exchange(&self.context, &self.caller, &self.upstream, request, &said)?;
        if exchange.mirror() == self.exchange.mirror() {
            return Ok(false);
        }
        self.exchange = exchange;
        self.over = false;
        Ok(true)
    }
}
