//! The connection to a server, with detection of its era.
//!
//! The stateless introduction is tried first, because every server of a stateless era must answer it. If a server does not
//! understand this introduction, a handshake is tried, and over HTTP also an event stream (MCP, versioning: "backward
//! compatibility" for clients).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use engine::config::{HttpTransport, Native};
use native::{Demo, NativeServer as _};
use proto::era::{
    Era, HelloFault, Lifecycle, ServerHello, Web, discover_request, initialize_request_exactly,
    newest_stateless,
};
use proto::rpc::{FrameLimits, Id};
use transport::child::{ChildError, Limits, Spec, Supervisor};
use transport::net::{Client, ClientLimits, Trust};
use transport::up::{HttpLimits, HttpTarget, LinkError, MuxRoom};

use super::connection::Connection;
use super::target::Target;
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

/// Connects to a server, using `era` if it is given. A child process must send its first answer within `start`. Error messages
/// never contain the secrets that `mask` covers.
///
/// # Errors
/// Fails if the server cannot be reached or supports no era that this client knows.
pub(crate) async fn connect(
    target: &Target,
    mask: Mask,
    era: Option<&'static Era>,
    patience: Duration,
    start: Duration,
) -> Result<Connection, Failure> {
    let program = if let Target::Child(spec) = target { &spec.program } else { "" };
    let guest = TerminalGuest { mask: &mask, program, pinned: era, patience, keys: AtomicU64::new(0) };
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
            return Err(Failure::usage(why).help(help));
        }
        Target::Http { uri, headers, transport, route, grant } => {
            let credential = grant.as_ref().map(|grant| grant.credential()).unwrap_or_default();
            let limits = http_limits(patience).into();
            let (uri, headers, route) = (uri.clone(), headers.clone(), route.clone());
            let target = Arc::new(HttpTarget { uri, headers, credential, limits, route });
            let opened = guest.over_http(&client, target.clone(), *transport, grant.as_ref()).await;
            (opened.map_err(|e| unmet(&target.uri.to_string(), &e, &mask, era))?, None)
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
    patience: Duration,
    keys: AtomicU64,
}

impl TerminalGuest<'_> {
    /// Returns the versions and transports to try, the newest first.
    fn candidates(&self, transports: TransportChoice) -> Candidates {
        let mut candidates =
            Negotiator::new(transports).candidates(self.pinned.unwrap_or(newest_stateless()));
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
        let child = ChildStarter { supervisor, spec, limits, frames, room: ROOM, span, within };
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

/// The hint for a program that does not speak MCP.
const NOT_STDIO: &str = "check that this command starts an MCP server on stdin and stdout; reach a server \
                         that listens for HTTP by its URL";

/// Returns the failure for a connection that could not be opened.
fn unmet(name: &str, error: &LinkError, mask: &Mask, pinned: Option<&'static Era>) -> Failure {
    let failure = link_failure(name, error, mask);
    match error.cause() {
        LinkError::Refused { .. } | LinkError::Hello(_) if pinned.is_some() => {
            failure.help("omit --era to detect its version")
        }
        LinkError::NotStarted { first_line: Some(_), .. } => failure.help(NOT_STDIO),
        LinkError::NotStarted { .. } => failure.help(
            "allow more time with --timeout SECONDS (startTimeout for a configured server), or watch the connection with -vv",
        ),
        // The server's own message is more specific.
        LinkError::Child(ChildError::Exited(exit)) if exit.stderr.trim().is_empty() => {
            failure.help(NOT_STDIO)
        }
        _ => failure,
    }
}

/// Returns the failure for a link error, with a suggested fix.
pub(super) fn link_failure(name: &str, error: &LinkError, mask: &Mask) -> Failure {
    let message = match error.cause() {
        // These errors already name the host, the program and the fix.
        LinkError::Http(e) => return Failure::new(mask.show(e)),
        LinkError::Spawn(e) => return Failure::new(mask.show(e)),
        LinkError::Child(e) => return Failure::new(mask.show(e)),
        other => format!("{name} {other}"),
    };
    let failure = Failure::new(mask.show(&message));
    match error.cause() {
        LinkError::Status { status: 401 | 403, .. } => failure
            .help("send credentials: --header 'Authorization: Bearer …', or `headers` in the configuration"),
        LinkError::Status { status: 300..=399, .. } => {
            failure.help("redirects are not followed: use the URL that the server redirects to")
        }
        LinkError::Status { status: 404 | 405, .. } => {
            failure.help("check the path: an MCP endpoint often ends in /mcp")
        }
        LinkError::NotAMessage(_) | LinkError::BrokeOff(_) => {
            failure.help("check that this is the URL or the command of an MCP server")
        }
        LinkError::Late(_) => {
            failure.help("allow more time with --timeout SECONDS, or watch the connection with -vv")
        }
        LinkError::OtherEra { .. } => failure.help("omit --era, or give the server's version"),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_come_with_help() {
        for (status, says) in [(401, "--header"), (302, "redirects"), (404, "/mcp")] {
            let failure = link_failure(
                "http://h/",
                &LinkError::Status { status, body: "no".to_owned() },
                &Mask::default(),
            );
            let Failure::Explained { message, help: Some(help), .. } = failure else { panic!("no help") };
            assert!(message.contains("http://h/ answered HTTP") && help.contains(says), "{message} {help}");
        }
    }
}
