//! A call's beginning and end: who calls, what is checked before anything is sent, how it waits for a client that was asked
//! by its answer, and what its upstream is told when the client goes.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use engine::Fault;
use engine::exchange::{Answer, Event, Exchange, Headers, Route, Start, Step, Ticket};
use proto::era::Era;
use proto::mcp::meta;
use proto::rpc::Frame;
use transport::up::Owner;

use crate::gateway::admission::identity::Identity;
use crate::gateway::call::CallContext;
use crate::gateway::call::call::Call;
use crate::gateway::call::in_flight;
use crate::gateway::call::lease::lease;
use crate::gateway::call::mail::Mail;
use crate::gateway::call::record::{Record, Refused};
use crate::gateway::call::said::{Said, said};
use crate::gateway::call::tasks;
use crate::gateway::session::Session;
use crate::gateway::session::asker::Asker;
use crate::gateway::view::view_cell::ViewCell;
use upstream::CLIENT_INFO;
use upstream::embedded::Carried;
use upstream::link::requests::{is_log, passes};
use upstream::link::wire::Wire;
use upstream::quota::QuotaError;
use upstream::{Kind, Upstream};

/// Who calls.
pub(crate) enum Caller {
    /// A client of a handshake era, in its session.
    Session(Arc<Session>),
    /// A client without a session, that sees this.
    Stateless(Arc<ViewCell>, Identity),
}

impl Caller {
    pub(crate) fn era(&self) -> &'static Era {
        match self {
            Self::Session(session) => session.kind.era,
            Self::Stateless(view, _) => view.kind.era,
        }
    }

    /// What it sees.
    pub(crate) fn view(&self) -> Option<Arc<ViewCell>> {
        match self {
            Self::Session(session) => session.view(),
            Self::Stateless(view, _) => Some(view.clone()),
        }
    }

    /// What clients like it have in common.
    pub(crate) fn kind(&self) -> &Kind {
        match self {
            Self::Session(session) => &session.kind,
            Self::Stateless(view, _) => &view.kind,
        }
    }

    /// Whose states and tasks those of its requests are: the session's, or else everybody's who is the same principal.
    pub(crate) fn owner(&self) -> &str {
        match self {
            Self::Session(session) => session.owner(),
            Self::Stateless(..) => self.identity().id(),
        }
    }

    /// Whose what is said during its next call is.
    fn attribution(&self) -> Owner {
        match self {
            Self::Session(session) => session.attribution,
            Self::Stateless(..) => Owner::unique(),
        }
    }

    /// Who it is.
    pub(crate) fn identity(&self) -> &Identity {
        match self {
            Self::Session(session) => &session.identity,
            Self::Stateless(_, identity) => identity,
        }
    }
}

/// What a call begins with.
pub(crate) struct Request<'a> {
    pub(crate) frame: Frame,
    pub(crate) route: Route<'a>,
    /// The era that the upstream speaks.
    pub(crate) server: &'static Era,
    pub(crate) headers: Option<&'a dyn Headers>,
    pub(crate) server_info: &'a str,
    /// What it carries for the site behind an embedded server.
    pub(crate) carried: Option<Arc<Carried>>,
    /// Whether it counts among its caller's: not where it counts among a session's.
    pub(crate) counted: bool,
}

impl<'a> Request<'a> {
    /// One without headers, of a client whose session counts it.
    pub(crate) fn in_session(
        frame: Frame,
        (route, server): (Route<'a>, &'static Era),
        server_info: &'a str,
        carried: Option<Arc<Carried>>,
    ) -> Self {
        Self { frame, route, server, headers: None, server_info, carried, counted: false }
    }
}

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

    /// Whether the server that it goes to lives in the binary.
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

    /// Ends with an answer; the one that its client gets.
    pub(crate) fn end(&mut self, answer: Answer) -> Answer {
        self.over = true;
        let veil = self.veil.take().filter(|_| !answer.ok);
        let (era, id) = (self.caller.era(), self.exchange.id());
        let answer = veil.map_or(answer, |veil| Answer::fault(veil.http_status(era), *veil, id));
        if let Some(record) = &mut self.record {
            record.answered(&answer);
        }
        if let Some(source) = self.source.take() {
            source.finish();
        }
        match self.exchange.made() {
            Some(made) => tasks::keep(self, made, answer),
            None => answer,
        }
    }

    /// Keeps the call until its client comes back with what it was asked for; the answer that asks it.
    pub(crate) fn park(mut self: Box<Self>, ticket: Ticket, answer: Answer) -> Answer {
        // The request is answered, so its id is free again, and its place.
        (self.cancelled, self.place) = (None, None);
        let (context, id) = (self.context.clone(), self.exchange.id().clone());
        match context.state.parked.keep(ticket, self) {
            Ok(()) => answer,
            Err(full) => {
                let message =
                    format!("{full} calls wait for answers of their clients; answer some, or try again soon");
                Answer::fault(200, Fault::gateway(message), &id)
            }
        }
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

impl Call {
    /// Waits for its client on the link that it has for itself, if it has one.
    pub(crate) fn wait_with_lease(&mut self) -> Result<(), QuotaError> {
        let Self { lease, caller, .. } = self;
        lease.as_mut().map_or(Ok(()), |(lease, _)| lease.wait(caller.identity().holder()))
    }

    /// Whether a message for the client is a log message below its level, from a link whose level others may have set.
    pub(crate) fn is_unwanted(&self, text: &Bytes) -> bool {
        let Some(link) = &self.link else { return false };
        let frame = || Frame::parse(text.clone(), self.context.egress.frame_limits());
        match &self.caller {
            Caller::Session(session) => {
                !link.own && session.level().is_some() && frame().is_ok_and(|frame| !session.wants(&frame))
            }
            // Between different eras the level was seen to already; over HTTP the message came in answer to the request.
            Caller::Stateless(..) if link.era == self.caller.era() && matches!(link.wire, Wire::Pipe(_)) => {
                let request = self.exchange.request();
                let level =
                    request.meta(meta::LOG_LEVEL).ok().flatten().and_then(|span| request.string(span));
                frame()
                    .is_ok_and(|frame| is_log(&frame) && !level.is_some_and(|level| passes(&frame, &level)))
            }
            Caller::Stateless(..) => false,
        }
    }

    /// Notes on a link of the call's own whether another may have it: a server that was told to stop may have asked
    /// something just before, or goes on all the same, and its question would reach somebody else's client.
    pub(crate) fn leave_lease(&mut self) {
        if let Some((lease, _)) = &mut self.lease
            && !self.exchange.is_answered()
        {
            lease.spoil();
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // First, because the other end would else wake this very task for nothing.
        self.cancelled = None;
        if let Caller::Session(session) = &self.caller {
            session.requests.end(self.exchange.id());
            if let Some(mail) = &self.mail {
                session.forget_questions(&Asker::Call(mail.number, 0, mail.sender.clone()));
            }
        }
        self.leave_lease();
        let Some(link) = self.link.take() else { return };
        if let Some(key) = self.progress {
            link.forget_progress(key);
        }
        // The client is gone. Where that means that it wants no answer, its upstream is told.
        if self.over || matches!(&self.caller, Caller::Session(s) if !s.kind.era.disconnect_cancels) {
            return;
        }
        self.source = None;
        self.feed(Event::Cancelled(None));
        let hears = link.hears_cancellation();
        let notices: Vec<Bytes> = std::iter::from_fn(|| self.exchange.poll())
            .filter_map(|step| match step {
                Step::Cancel(notice) if hears => Some(notice),
                Step::Tell(answer) => Some(answer),
                _ => None,
            })
            .collect();
        let (context, lease, key) = (self.context.clone(), self.lease.take(), self.exchange.key());
        if let Ok(runtime) = tokio::runtime::Handle::try_current()
            && !notices.is_empty()
        {
            runtime.spawn(async move {
                link.said().await;
                for notice in notices {
                    let _ = link.notify(&context.egress.client, notice).await;
                }
                // Only now may another call have the link.
                drop(lease);
                link.forget_cancelled(&context.egress, key).await;
            });
        }
    }
}
