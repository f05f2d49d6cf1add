//! The way into a conversation: which era a server speaks, found out by asking.
//!
//! The stateless introduction comes first, since every server that speaks such an era must answer it; whoever does not
//! understand it is asked for a handshake, over HTTP also for an event stream (MCP, versioning: "backward compatibility"
//! for clients).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use engine::config::{HttpTransport, Native};
use engine::exchange::Mirror;
use native::{Demo, NativeServer as _};
use proto::era::{
    Era, HelloFault, Lifecycle, ServerHello, Web, discover_request, initialize_request_exactly,
    newest_stateless,
};
use proto::mcp::Method;
use proto::rpc::{FrameLimits, Id};
use tokio::time::timeout;
use transport::child::{ChildError, Limits, Spec, Supervisor};
use transport::net::{Client, ClientLimits, Trust};
use transport::up::{HttpLimits, HttpLink, HttpTarget, LinkError, MuxRoom, PipeLink, SseLink};

use super::connection::{Connection, Wire};
use super::target::Target;
use super::{CAPABILITIES, CLIENT_INFO};
use crate::output::failure::Failure;
use upstream::mask::Mask;
use upstream::negotiation::greeting::{Greeted, Guest, Piped, greet};
use upstream::negotiation::ladder::{Climb, Ladder, PROBE, Reach, Rung};

/// The longest answer, line or event.
const LARGEST: usize = 256 << 20;

/// Much more than one command needs at a time.
const ROOM: MuxRoom = MuxRoom { max_calls: 16, unasked: 256, forget: Duration::from_mins(10) };

/// Opens a conversation, in `era` if one is given. A child has `start` until its first answer. What `mask` covers is never said.
///
/// # Errors
/// When the server cannot be reached or speaks no era that this client knows.
pub(crate) async fn connect(
    target: &Target,
    mask: Mask,
    era: Option<&'static Era>,
    patience: Duration,
    start: Duration,
) -> Result<Connection, Failure> {
    let opening = Opening { mask: &mask, pinned: era, patience, keys: AtomicU64::new(0) };
    let (wire, hello) = match target {
        Target::Native(Native::Demo) => {
            let spoken = native::spoken(era.unwrap_or(newest_stateless()));
            opening.refuse_other(spoken).map_err(|e| unmet("the embedded server", &e, &mask, era))?;
            (Wire::Native(Box::new(Demo)), Demo.hello(spoken))
        }
        Target::Native(other) => {
            let why = format!("this program embeds no server `{}`", other.name());
            return Err(Failure::usage(why));
        }
        Target::Http { uri, headers, transport } => {
            let frame = FrameLimits::default();
            let limits = HttpLimits { result: LARGEST, event: LARGEST, patience, body: patience, frame };
            let place = HttpTarget {
                uri: uri.clone(),
                headers: headers.clone(),
                credential: std::sync::Arc::default(),
                limits,
            };
            opening
                .over_http(Arc::new(place), *transport)
                .await
                .map_err(|e| unmet(&uri.to_string(), &e, &mask, era))?
        }
        Target::Child(spec) => {
            opening.over_pipe(spec, start).await.map_err(|e| unmet(&spec.program, &e, &mask, era))?
        }
    };
    tracing::info!("connected, protocol version {}", hello.era);
    let last = opening.next_key();
    Ok(Connection::new(wire, mask, hello, patience, last))
}

/// How a server is met.
struct Opening<'a> {
    mask: &'a Mask,
    /// The only version to speak.
    pinned: Option<&'static Era>,
    patience: Duration,
    keys: AtomicU64,
}

impl Opening<'_> {
    /// The ways to try, the newest first.
    fn climb(&self, reach: Reach) -> Climb {
        let mut rungs = Ladder::default().rungs(reach, self.pinned.unwrap_or(newest_stateless()));
        rungs.retain(|rung| self.pinned.is_none_or(|era| rung.era == era));
        Climb::new(rungs)
    }

    /// The time that an introduction may take.
    fn time(&self, rung: Rung, is_again: bool) -> Duration {
        match rung.era.lifecycle {
            Lifecycle::Stateless if self.pinned.is_none() && !is_again => PROBE.min(self.patience),
            _ => self.patience,
        }
    }

    fn failed(&self, climb: &mut Climb, rung: Rung, why: LinkError) {
        tracing::debug!("{rung}: {}", self.mask.show(&why));
        climb.failed(rung, why);
    }

    async fn over_http(
        &self,
        target: Arc<HttpTarget>,
        transport: HttpTransport,
    ) -> Result<(Wire, ServerHello), LinkError> {
        let client = Client::new(ClientLimits::default(), Trust::default());
        if let Some(era) = self.pinned.filter(|era| transport == HttpTransport::Sse && !era.has_sessions()) {
            return Err(LinkError::EventStream(format!("there is no protocol version {era} over it")));
        }
        let mut climb = self.climb(Reach::of(transport));
        while let Some((rung, is_again)) = climb.next_rung() {
            let time = self.time(rung, is_again);
            let opened = async {
                match rung.web {
                    Web::Streamable => self.streamable(&client, &target, rung.era).await,
                    Web::EventStream => self.event_stream(&client, &target, rung.era).await,
                }
            };
            match timeout(time, opened).await.unwrap_or_else(|_| Err(late(time))) {
                Ok((wire, hello)) => match self.refuse_other(hello.era) {
                    Ok(()) => return Ok((wire, hello)),
                    Err(e) => {
                        wire.close().await;
                        return Err(e);
                    }
                },
                Err(e) => self.failed(&mut climb, rung, e),
            }
        }
        Err(climb.failure().0)
    }

    async fn streamable(
        &self,
        client: &Client,
        target: &Arc<HttpTarget>,
        era: &'static Era,
    ) -> Result<(Wire, ServerHello), LinkError> {
        let mut link = HttpLink::new(target.clone(), era);
        let mirror = era.mirrored_headers.then(|| Mirror::of_method(Method::Discover));
        let key = self.next_key();
        let hello = link.introduce(client, introduction(key, era), key, mirror.as_ref()).await?;
        Ok((Wire::Http { client: client.clone(), link: Box::new(link) }, hello))
    }

    async fn event_stream(
        &self,
        client: &Client,
        target: &Arc<HttpTarget>,
        era: &'static Era,
    ) -> Result<(Wire, ServerHello), LinkError> {
        let (link, reader, unasked) = SseLink::open(client, target.clone(), ROOM).await?;
        tokio::spawn(reader);
        let key = self.next_key();
        let hello = link.introduce(client, introduction(key, era), key, era).await?;
        Ok((Wire::Sse { client: client.clone(), link, unasked }, hello))
    }

    /// Over a child's pipes, see [`greet`].
    async fn over_pipe(&self, spec: &Spec, within: Duration) -> Result<(Wire, ServerHello), LinkError> {
        let supervisor = Supervisor::new(2);
        let mut climb = self.climb(Reach::Pipe);
        let guest = TerminalGuest { opening: self, supervisor: &supervisor, spec };
        match greet(&guest, &mut climb, within).await {
            Some(Greeted { piped: (link, unasked), hello, .. }) => {
                Ok((Wire::Pipe { link, unasked, supervisor }, hello))
            }
            None => Err(climb.failure().0),
        }
    }

    /// The next id; no two requests of a conversation have the same.
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

/// This client, as it introduces itself to a child.
struct TerminalGuest<'a> {
    opening: &'a Opening<'a>,
    supervisor: &'a Supervisor,
    spec: &'a Spec,
}

impl Guest for TerminalGuest<'_> {
    async fn start(&self) -> Result<Piped, LinkError> {
        let limits = Limits { line_bytes: LARGEST, stderr_bytes: 64 << 10, ..Limits::default() };
        let (handle, lines) = self.supervisor.spawn(self.spec, limits).await?.split();
        let (program, mask) = (self.spec.program.clone(), self.opening.mask.clone());
        let talk = move |line: &str| {
            let line = mask.show(&line);
            tracing::warn!(
                "{program} prints lines on stdout that are no messages; they are left out, the first is {line:?}"
            );
        };
        let (link, reader, unasked) = PipeLink::new(handle, lines, FrameLimits::default(), ROOM, talk);
        tokio::spawn(reader);
        Ok((link, unasked))
    }

    fn introduction(&self, era: &'static Era) -> (u64, Bytes) {
        let key = self.opening.next_key();
        (key, introduction(key, era))
    }

    fn is_sure_of(&self, _: Rung) -> bool {
        self.opening.pinned.is_some()
    }

    fn accepts(&self, hello: &ServerHello) -> Result<(), LinkError> {
        self.opening.refuse_other(hello.era)
    }

    fn hears(&self, rung: Rung, why: &LinkError) {
        tracing::debug!("{rung}: {}", self.opening.mask.show(why));
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

fn late(time: Duration) -> LinkError {
    LinkError::Late(time.as_secs())
}

/// What is amiss with a program that speaks no MCP.
const NOT_STDIO: &str = "is this the command of an MCP server that speaks over stdin and stdout? \
    A server that listens for HTTP is reached by its URL";

/// The reason why no conversation came about, in words.
fn unmet(name: &str, error: &LinkError, mask: &Mask, pinned: Option<&'static Era>) -> Failure {
    let failure = told(name, error, mask);
    match error {
        LinkError::Refused { .. } | LinkError::Hello(_) if pinned.is_some() => {
            failure.mend("leave --era out to find out what it speaks")
        }
        LinkError::NotStarted { first_line: Some(_), .. } => failure.mend(NOT_STDIO),
        LinkError::NotStarted { .. } => failure
            .mend("give it more time with --timeout SECONDS, or see what it does with -vv; a server of the configuration: startTimeout"),
        // What it said itself is more to the point.
        LinkError::Child(ChildError::Exited(exit)) if exit.stderr.trim().is_empty() => failure.mend(NOT_STDIO),
        _ => failure,
    }
}

/// A failure of the link in words, with what to do about it.
pub(super) fn told(name: &str, error: &LinkError, mask: &Mask) -> Failure {
    let message = match error {
        // These name the host, the program and the mend themselves.
        LinkError::Http(e) => return Failure::new(mask.show(e)),
        LinkError::Spawn(e) => return Failure::new(mask.show(e)),
        LinkError::Child(e) => return Failure::new(mask.show(e)),
        other => format!("{name} {other}"),
    };
    let failure = Failure::new(mask.show(&message));
    match error {
        LinkError::Status { status: 401 | 403, .. } => failure
            .mend("send credentials: --header 'Authorization: Bearer …', or `headers` in the configuration"),
        LinkError::Status { status: 300..=399, .. } => {
            failure.mend("redirects are not followed: use the URL that it redirects to")
        }
        LinkError::Status { status: 404 | 405, .. } => {
            failure.mend("is the path right? An MCP endpoint often ends in /mcp")
        }
        LinkError::NotAMessage(_) => failure.mend("is this the URL or the command of an MCP server?"),
        LinkError::Late(_) => {
            failure.mend("give it more time with --timeout SECONDS, or see what it does with -vv")
        }
        LinkError::OtherEra { .. } => failure.mend("leave --era out, or name the version that it speaks"),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_come_with_a_mend() {
        for (status, says) in [(401, "--header"), (302, "redirects"), (404, "/mcp")] {
            let failure =
                told("http://h/", &LinkError::Status { status, body: "no".to_owned() }, &Mask::default());
            let Failure::Told { message, mend: Some(mend), .. } = failure else { panic!("no mend") };
            assert!(message.contains("http://h/ answered HTTP") && mend.contains(says), "{message} {mend}");
        }
    }
}
