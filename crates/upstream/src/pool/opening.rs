//! Opens a link: introduces the gateway to a server, and remembers which combination of version and transport worked.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use proto::bridge::handshake::client_capabilities;
use proto::era::{Era, Lifecycle, ServerHello, Web, discover_request, initialize_request};
use proto::json::{Members, Splice};
use proto::rpc::Id;
use transport::child::{Companion, Limits as ChildLimits, Spec};
use transport::up::{LinkError, MuxRoom};

use config::Limits;
use native::NativeServer;

use crate::destination::Destination;
use crate::egress::Egress;
use crate::link::{OpenLink, Wire};
use crate::link_key::LinkKey;
use crate::negotiation::connector::Connector;
use crate::negotiation::greeting::ChildStarter;
use crate::negotiation::guest::Guest;
use crate::negotiation::negotiator::{Candidate, Candidates};
use crate::server::Server;

/// The maximum number of unsolicited messages that wait for their reader.
const UNASKED: usize = 256;

/// The link to open, and the clients for which it is opened.
pub(super) struct LinkOpening<'a> {
    pub(super) egress: &'a Egress,
    pub(super) server: &'a Arc<Server>,
    pub(super) kind: &'a LinkKey,
    /// The params of `initialize`, in the form of the clients' version.
    pub(super) params: &'a Bytes,
    /// True if the link serves one client or one call at a time.
    pub(super) own: bool,
    /// The link's permit, which counts as long as a process of the link exists.
    pub(super) companion: Option<Companion>,
}

impl LinkOpening<'_> {
    /// Opens the link.
    ///
    /// # Errors
    /// Returns the reason why no candidate works: the upstream's own message, if the upstream sent one.
    pub(super) async fn run(&self) -> Result<OpenLink, LinkError> {
        let negotiator = &self.server.negotiator;
        let mut candidates = Candidates::new(negotiator.candidates(self.server.link_era(self.kind.era)));
        let room = mux_room(&self.egress.snapshot().limits);
        let span = tracing::error_span!("event stream", server = %self.server.name());
        let connector = Connector { guest: self, client: self.egress.client(), room, span };
        let connected = match &self.server.destination {
            Destination::Native(native) => return Ok(self.native(native)),
            Destination::Child(spec) => connector.over_pipe(self.starter(spec, room), &mut candidates).await,
            Destination::Http(target, _) => connector.over_http(target, &mut candidates).await,
        };
        if let Some(connected) = connected {
            negotiator.settle(connected.candidate, candidates.refused());
            let link = OpenLink::new(self.server.clone(), connected.wire, connected.hello, self.own);
            if let Some(unasked) = connected.unasked {
                link.recipients.keep_unasked(unasked);
            }
            return Ok(link);
        }
        let refused = candidates.refused().to_vec();
        let (failure, all) = candidates.failure();
        if matches!(failure, LinkError::NotStarted { .. }) {
            negotiator.was_silent(&refused);
        } else if all {
            negotiator.forget();
        }
        Err(failure)
    }

    fn native(&self, server: &Arc<dyn NativeServer>) -> OpenLink {
        let hello = server.hello(native::spoken(self.kind.era));
        OpenLink::new(self.server.clone(), Wire::Native(server.clone()), hello, self.own)
    }

    fn starter<'s>(&'s self, spec: &'s Spec, room: MuxRoom) -> ChildStarter<'s> {
        let limits = &self.egress.snapshot().limits;
        ChildStarter {
            supervisor: self.egress.supervisor(),
            spec,
            limits: ChildLimits {
                line_bytes: limits.result,
                stderr_bytes: limits.stderr_ring,
                stdin_grace: limits.child_stop_timeout,
                term_grace: limits.child_stop_timeout,
                ..ChildLimits::default()
            },
            frames: self.egress.frame_limits(),
            room,
            span: tracing::error_span!("child", server = %self.server.name()),
            within: self.egress.snapshot().start_timeout(&self.server.spec),
            companion: self.companion.clone(),
        }
    }

    /// Returns the params, with the capabilities in the form of another version.
    fn params_for(&self, era: &'static Era) -> Bytes {
        let asked = self.kind.era;
        if asked == era {
            return self.params.clone();
        }
        let Ok(members) = Members::of_document(self.params, proto::json::MAX_DEPTH) else {
            return self.params.clone();
        };
        let Some(span) = members.get(self.params, "capabilities") else { return self.params.clone() };
        let said = client_capabilities(span.of(self.params), asked, era);
        let mut splice = Splice::new(self.params);
        splice.replace(span, &said);
        splice.finish()
    }
}

/// Returns the capacity of a stream that many exchanges share.
fn mux_room(limits: &Limits) -> MuxRoom {
    MuxRoom { max_calls: limits.calls_per_session * 64, unasked: UNASKED, forget: limits.call_timeout }
}

impl Guest for LinkOpening<'_> {
    /// Closes a spare dedicated link of any server. For the first link of a server, any idle link may be closed;
    /// for a further link, only a link without an owner.
    async fn make_room(&self) -> bool {
        self.egress.make_room(!self.own).await
    }

    fn introduction(&self, era: &'static Era) -> (u64, Bytes) {
        let key = self.egress.next_key();
        let id = Id::number(key);
        let request = match era.lifecycle {
            Lifecycle::Handshake => initialize_request(&id, era, &self.params_for(era)),
            Lifecycle::Stateless => discover_request(&id, era, crate::CLIENT_INFO),
        };
        (key, request)
    }

    fn is_sure_of(&self, candidate: Candidate) -> bool {
        self.server.negotiator.takes(candidate)
    }

    fn patience(&self, candidate: Candidate) -> Duration {
        match candidate.web {
            Web::Streamable => self.egress.snapshot().limits.connect_timeout * 3,
            Web::EventStream => self.egress.snapshot().opening_time(),
        }
    }

    fn accepts(&self, _: &ServerHello) -> Result<(), LinkError> {
        Ok(())
    }

    fn hears(&self, candidate: Candidate, why: &LinkError) {
        tracing::debug!(server = %self.server.name(), "{candidate}: the server {}", self.server.describe(why));
    }

    fn talk(&self) -> impl FnOnce(&str) + Send + 'static {
        let server = Arc::clone(self.server);
        move |line: &str| server.note_talk(line)
    }
}
