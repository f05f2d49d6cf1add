//! The way into a conversation: which era a server speaks, found out by asking.
//!
//! The stateless introduction comes first, since every server that speaks such an era must answer it; whoever does not
//! understand it is asked for a handshake, over HTTP also for an event stream (MCP, versioning: "backward compatibility"
//! for clients).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::config::{HttpTransport, Native};
use engine::exchange::Mirror;
use native::{Demo, NativeServer as _};
use proto::era::{
    Era, HelloFault, Lifecycle, ServerHello, Web, discover_request, initialize_request_exactly, initialized,
    newest_stateless,
};
use proto::mcp::Method;
use proto::rpc::{FrameLimits, Id};
use tokio::time::timeout;
use transport::child::{Limits, Spec, Supervisor};
use transport::net::{Client, ClientLimits, Trust};
use transport::up::{HttpLimits, HttpLink, HttpTarget, LinkError, PipeLink, SseLink, Unasked, read_hello};

use super::connection::{Connection, Wire};
use super::target::Target;
use super::{CAPABILITIES, CLIENT_INFO};
use crate::cli::failure::Failure;
use crate::gateway::ladder::{Climb, Ladder, PROBE, Reach, Rung};
use crate::mask::Mask;

/// The longest answer, line or event.
const LARGEST: usize = 256 << 20;

/// How many unasked messages of a child may wait.
const UNASKED: usize = 256;

/// How many requests may be open; this client has one at a time.
const CALLS: usize = 16;

/// Opens a conversation, in `era` if one is given. What `mask` covers is never said.
///
/// # Errors
/// When the server cannot be reached or speaks no era that this client knows.
pub(crate) async fn connect(
    target: &Target,
    mask: Mask,
    era: Option<&'static Era>,
    patience: Duration,
) -> Result<Connection, Failure> {
    let opening = Opening { mask: &mask, pinned: era, patience };
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
            opening.over_pipe(spec).await.map_err(|e| unmet(&spec.program, &e, &mask, era))?
        }
    };
    tracing::info!("connected, protocol version {}", hello.era);
    Ok(Connection::new(wire, mask, hello, patience))
}

/// How a server is met.
struct Opening<'a> {
    mask: &'a Mask,
    /// The only version to speak.
    pinned: Option<&'static Era>,
    patience: Duration,
}

impl Opening<'_> {
    /// The ways to try, the newest first.
    fn climb(&self, reach: Reach) -> Climb {
        let mut rungs = Ladder::default().rungs(reach, self.pinned.unwrap_or(newest_stateless()));
        rungs.retain(|rung| self.pinned.is_none_or(|era| rung.era == era));
        Climb::new(rungs)
    }

    /// How long an introduction may take.
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
        while let Some((rung, is_again)) = climb.next() {
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
        let hello = link.introduce(client, introduction(era), KEY, mirror.as_ref()).await?;
        Ok((Wire::Http { client: client.clone(), link: Box::new(link) }, hello))
    }

    async fn event_stream(
        &self,
        client: &Client,
        target: &Arc<HttpTarget>,
        era: &'static Era,
    ) -> Result<(Wire, ServerHello), LinkError> {
        let (link, reader, unasked) = SseLink::open(client, target.clone(), CALLS, UNASKED).await?;
        tokio::spawn(reader);
        let hello = link.introduce(client, introduction(era), KEY, era).await?;
        Ok((Wire::Sse { client: client.clone(), link, unasked }, hello))
    }

    /// Over a child's pipes. A child that does not survive a question is started again for the next.
    async fn over_pipe(&self, spec: &Spec) -> Result<(Wire, ServerHello), LinkError> {
        let supervisor = Supervisor::new(2);
        let mut climb = self.climb(Reach::Pipe);
        let mut child = None;
        while let Some((rung, is_again)) = climb.next() {
            let alive = child.take().filter(|(link, _): &(PipeLink, Unasked)| !link.is_closed());
            let (link, unasked) = match alive {
                Some(child) => child,
                None => start(&supervisor, spec).await?,
            };
            let hello = introduce_child(&link, rung.era, self.time(rung, is_again)).await;
            match hello.and_then(|hello| self.refuse_other(hello.era).map(|()| hello)) {
                Ok(hello) => return Ok((Wire::Pipe { link, unasked, supervisor }, hello)),
                Err(e) => self.failed(&mut climb, rung, e),
            }
            child = Some((link, unasked));
        }
        if let Some((link, _)) = child {
            link.stop().await;
        }
        Err(climb.failure().0)
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

async fn start(supervisor: &Supervisor, spec: &Spec) -> Result<(PipeLink, Unasked), LinkError> {
    let limits = Limits { line_bytes: LARGEST, stderr_bytes: 64 << 10, ..Limits::default() };
    let (handle, lines) = supervisor.spawn(spec, limits).await?.split();
    let (link, reader, unasked) = PipeLink::new(handle, lines, FrameLimits::default(), CALLS, UNASKED);
    tokio::spawn(reader);
    Ok((link, unasked))
}

async fn introduce_child(
    link: &PipeLink,
    era: &'static Era,
    time: Duration,
) -> Result<ServerHello, LinkError> {
    let answer = async {
        let mut call = link.call(KEY, introduction(era)).await?;
        loop {
            let frame = call.next().await?;
            if frame.id().is_some() {
                return read_hello(&frame, era);
            }
        }
    };
    let hello = timeout(time, answer).await.map_err(|_| late(time))??;
    if era.lifecycle == Lifecycle::Handshake {
        link.notify(initialized()).await?;
    }
    Ok(hello)
}

/// The id of introductions; the first of a conversation is the next.
const KEY: u64 = 0;

fn introduction(era: &'static Era) -> Bytes {
    let id = Id::number(KEY);
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

/// Why no conversation came about, in words.
fn unmet(name: &str, error: &LinkError, mask: &Mask, pinned: Option<&'static Era>) -> Failure {
    let failure = told(name, error, mask);
    match error {
        LinkError::Refused { .. } | LinkError::Hello(_) if pinned.is_some() => {
            failure.mend("leave --era out to find out what it speaks")
        }
        LinkError::Child(_) => {
            failure.mend("is this the command of an MCP server that speaks over stdin and stdout?")
        }
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
