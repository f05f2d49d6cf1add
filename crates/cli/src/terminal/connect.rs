//! The connection to a server, with detection of its era.
//!
//! The stateless introduction is tried first, because every server of a stateless era must answer it. If a server does not
//! understand this introduction, a handshake is tried, and over HTTP also an event stream (MCP, versioning: "backward
//! compatibility" for clients). If the server may have questions for the user, the handshake comes first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use config::{HttpTransport, Native};
use native::{Demo, NativeServer as _};
use proto::era::{
    Era, HelloFault, Lifecycle, ServerHello, Web, discover_request, initialize_request_exactly,
    newest_handshake, newest_stateless,
};
use proto::rpc::{FrameLimits, Id};
use transport::child::{Limits, Spec, Supervisor};
use transport::net::{Client, ClientLimits, Trust};
use transport::up::{HttpLimits, HttpTarget, LinkError, MuxRoom};

use super::connection::Connection;
use super::target::Target;
use super::unmet::unmet;
use super::{CAPABILITIES, CLIENT_INFO};
use crate::output::failure::Failure;
use upstream::mask::Mask;
use upstream::negotiation::connector::{Connected, Connector};
use upstream::negotiation::greeting::ChildStarter;
use upstream::negotiation::guest::Guest;
use upstream::negotiation::negotiator::{Candidate, Candidates, Negotiator, TransportChoice};
use upstream::negotiation::wire::Wire;
use upstream::oauth::Grant;

/// The maximum size of an answer, a line or an event, in bytes.
const LARGEST: usize = 256 << 20;

/// Limits far above the needs of one command.
const ROOM: MuxRoom = MuxRoom { max_calls: 16, unasked: 256, forget: Duration::from_mins(10) };

/// The user's preferences for a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectOptions {
    /// The only protocol version to use; `None` if any version may be used.
    pub(crate) era: Option<&'static Era>,
    /// The maximum time without an answer or a sign of progress.
    pub(crate) patience: Duration,
    /// The maximum time until the first answer of a child process.
    pub(crate) start: Duration,
    /// True if the server may ask the user questions. Then versions with sessions are tried first: many servers that
    /// support both kinds of versions can ask only in a session.
    pub(crate) may_ask: bool,
}

/// The reason why a connection could not be opened.
pub(crate) struct Unconnected {
    /// The failure for people.
    pub(crate) failure: Failure,
    /// The challenge of a server that refused a request without suitable credentials.
    pub(crate) challenge: Option<String>,
}

impl From<Failure> for Unconnected {
    fn from(failure: Failure) -> Self {
        Self { failure, challenge: None }
    }
}

/// Connects to a server. Error messages never contain the secrets that `mask` covers.
///
/// # Errors
/// Fails if the server cannot be reached or supports no era that this client knows.
pub(crate) async fn connect(
    target: &Target,
    mask: Mask,
    wishes: ConnectOptions,
) -> Result<Connection, Failure> {
    try_to_connect(target, mask, wishes).await.map_err(|unconnected| unconnected.failure)
}

/// Connects as [`connect`] does, with an error that also contains the server's challenge.
///
/// # Errors
/// Fails in the same cases as [`connect`].
pub(crate) async fn try_to_connect(
    target: &Target,
    mask: Mask,
    wishes: ConnectOptions,
) -> Result<Connection, Unconnected> {
    let ConnectOptions { era, patience, start, may_ask } = wishes;
    let program = if let Target::Child(spec) = target { &spec.program } else { "" };
    let keys = AtomicU64::new(0);
    let guest = TerminalGuest { mask: &mask, program, pinned: era, may_ask, patience, keys };
    let client = Client::new(ClientLimits::default(), Trust::default());
    let (connected, supervisor) = match target {
        Target::Native(Native::Demo) => {
            let spoken = native::spoken(era.unwrap_or(newest_stateless()));
            guest.refuse_other(spoken).map_err(|e| unmet("the embedded server", &e, &mask, era))?;
            (embedded(spoken), None)
        }
        Target::Native(other) => {
            let why =
                format!("this command cannot connect to the embedded server `{}` directly", other.name());
            let help = "start `dragoman serve`, and use the URL of the profile that has the server";
            return Err(Failure::usage(why).help(help).into());
        }
        Target::Http { uri, headers, transport, route, grant } => {
            let credential = grant.as_ref().map(|grant| grant.credential()).unwrap_or_default();
            let limits = http_limits(patience).into();
            let (uri, headers, route) = (uri.clone(), headers.clone(), route.clone());
            let target = Arc::new(HttpTarget { uri, headers, credential, limits, route });
            let opened = guest.over_http(&client, target.clone(), *transport, grant.as_ref()).await;
            let unconnected = |e: LinkError| Unconnected {
                failure: unmet(&target.uri.to_string(), &e, &mask, era),
                challenge: challenge(&e),
            };
            (opened.map_err(unconnected)?, None)
        }
        Target::Child(spec) => {
            let supervisor = Supervisor::new(2);
            let opened = guest.over_pipe(&client, spec, &supervisor, start).await;
            (opened.map_err(|e| unmet(&spec.program, &e, &mask, era))?, Some(supervisor))
        }
    };
    tracing::info!("connected, protocol version {}", connected.hello.era);
    let last = guest.next_key();
    Ok(Connection::new(connected, client, supervisor, mask, patience, last))
}

fn challenge(error: &LinkError) -> Option<String> {
    match error.cause() {
        LinkError::Unauthorized(refusal) => Some(refusal.challenge.clone()),
        _ => None,
    }
}

fn embedded(spoken: &'static Era) -> Connected {
    let candidate = Candidate { era: spoken, web: Web::Streamable };
    Connected { wire: Wire::Native(Arc::new(Demo)), unasked: None, hello: Demo.hello(spoken), candidate }
}

/// Limits far above the needs of one command.
fn http_limits(patience: Duration) -> HttpLimits {
    let frame = FrameLimits::default();
    HttpLimits { result: LARGEST, event: LARGEST, patience, body: patience, frame }
}

/// This client's side of a handshake.
struct TerminalGuest<'a> {
    mask: &'a Mask,
    /// The name of a child's program.
    program: &'a str,
    /// The only protocol version to use; `None` if any version may be used.
    pinned: Option<&'static Era>,
    /// True if versions with sessions are tried first.
    may_ask: bool,
    patience: Duration,
    keys: AtomicU64,
}

impl TerminalGuest<'_> {
    /// Returns the versions and transports to try, the preferred one first.
    fn candidates(&self, transports: TransportChoice) -> Candidates {
        let preferred = if self.may_ask { newest_handshake() } else { newest_stateless() };
        let mut candidates = Negotiator::new(transports).candidates(self.pinned.unwrap_or(preferred));
        candidates.retain(|candidate| self.pinned.is_none_or(|era| candidate.era == era));
        Candidates::new(candidates)
    }

    fn connector<'c>(&'c self, client: &'c Client) -> Connector<'c, Self> {
        Connector { guest: self, client, room: ROOM, span: tracing::Span::none() }
    }

    async fn over_http(
        &self,
        client: &Client,
        target: Arc<HttpTarget>,
        transport: HttpTransport,
        grant: Option<&Arc<Grant>>,
    ) -> Result<Connected, LinkError> {
        let refused = match self.once_over_http(client, &target, transport).await {
            Err(refused) => refused,
            opened => return opened,
        };
        let (Some(grant), LinkError::Unauthorized(refusal)) = (grant, refused.cause()) else {
            return Err(refused);
        };
        if grant.answer(refusal).await {
            return self.once_over_http(client, &target, transport).await;
        }
        let body = grant.describe(refusal, &refusal.body);
        Err(LinkError::Status { status: refusal.status, body })
    }

    async fn once_over_http(
        &self,
        client: &Client,
        target: &Arc<HttpTarget>,
        transport: HttpTransport,
    ) -> Result<Connected, LinkError> {
        if let Some(era) = self.pinned.filter(|era| transport == HttpTransport::Sse && !era.has_sessions()) {
            return Err(LinkError::EventStream(format!(
                "this transport does not support protocol version {era}"
            )));
        }
        let mut candidates = self.candidates(TransportChoice::of(transport));
        let connected = self.connector(client).over_http(target, &mut candidates).await;
        connected.ok_or_else(|| candidates.failure().0)
    }

    async fn over_pipe(
        &self,
        client: &Client,
        spec: &Spec,
        supervisor: &Supervisor,
        within: Duration,
    ) -> Result<Connected, LinkError> {
        let limits = Limits { line_bytes: LARGEST, stderr_bytes: 64 << 10, ..Limits::default() };
        let (frames, span) = (FrameLimits::default(), tracing::Span::none());
        let child =
            ChildStarter { supervisor, spec, limits, frames, room: ROOM, span, within, companion: None };
        let mut candidates = self.candidates(TransportChoice::Pipe);
        let connected = self.connector(client).over_pipe(child, &mut candidates).await;
        connected.ok_or_else(|| candidates.failure().0)
    }

    /// Returns the next id; each request of a connection has its own.
    fn next_key(&self) -> u64 {
        self.keys.fetch_add(1, Ordering::Relaxed)
    }

    fn refuse_other(&self, speaks: &'static Era) -> Result<(), LinkError> {
        match self.pinned {
            Some(asked) if asked != speaks => {
                Err(HelloFault::Other { asked: asked.version, speaks: speaks.version }.into())
            }
            _ => Ok(()),
        }
    }
}

impl Guest for TerminalGuest<'_> {
    fn introduction(&self, era: &'static Era) -> (u64, Bytes) {
        let key = self.next_key();
        (key, introduction(key, era))
    }

    fn is_sure_of(&self, _: Candidate) -> bool {
        self.pinned.is_some()
    }

    fn patience(&self, _: Candidate) -> Duration {
        self.patience
    }

    fn accepts(&self, hello: &ServerHello) -> Result<(), LinkError> {
        self.refuse_other(hello.era)
    }

    fn hears(&self, candidate: Candidate, why: &LinkError) {
        tracing::debug!("{candidate}: the server {}", self.mask.show(why));
    }

    fn talk(&self) -> impl FnOnce(&str) + Send + 'static {
        let (program, mask) = (self.program.to_owned(), self.mask.clone());
        move |line: &str| {
            let line = mask.show(&line);
            tracing::warn!(
                "{program} printed lines on stdout that are not messages; they are ignored. The first is \
                 {line:?}"
            );
        }
    }
}

fn introduction(key: u64, era: &'static Era) -> Bytes {
    let id = Id::number(key);
    match era.lifecycle {
        Lifecycle::Stateless => discover_request(&id, era, CLIENT_INFO),
        Lifecycle::Handshake => {
            let params = format!("{{\"capabilities\":{CAPABILITIES},\"clientInfo\":{CLIENT_INFO}}}");
            initialize_request_exactly(&id, era, &Bytes::from(params))
        }
    }
}
