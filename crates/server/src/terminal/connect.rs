//! The way into a conversation: which era a server speaks, found out by asking.
//!
//! The stateless introduction comes first, since every server that speaks such an era must answer it; whoever does not
//! understand it is asked for a handshake (MCP, versioning: "backward compatibility" for clients).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::config::Native;
use engine::exchange::Mirror;
use native::{Demo, NativeServer as _};
use proto::era::{
    Era, HelloFault, Lifecycle, ServerHello, discover_request, initialize_request_exactly, initialized,
    newest_handshake, newest_stateless,
};
use proto::mcp::Method;
use proto::rpc::{FrameLimits, Id, code};
use tokio::time::timeout;
use transport::child::{Limits, Spec, Supervisor};
use transport::net::{Client, ClientLimits, Trust};
use transport::up::{HttpLimits, HttpLink, HttpTarget, LinkError, PipeLink, Unasked, read_hello};

use super::connection::{Connection, Wire};
use super::target::Target;
use super::{CAPABILITIES, CLIENT_INFO};
use crate::cli::failure::Failure;
use crate::mask::Mask;

/// How long a child may keep silent on an introduction that it may not know.
const PROBE: Duration = Duration::from_secs(5);

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
    let (wire, hello) = match target {
        Target::Native(Native::Demo) => {
            (Wire::Native(Box::new(Demo)), Demo.hello(era.unwrap_or(newest_stateless())))
        }
        Target::Http { uri, headers } => {
            let frame = FrameLimits::default();
            let limits = HttpLimits { result: LARGEST, event: LARGEST, patience, body: patience, frame };
            let place = HttpTarget { uri: uri.clone(), headers: headers.clone(), limits };
            over_http(Arc::new(place), &mask, era, patience)
                .await
                .map_err(|e| unmet(&uri.to_string(), &e, &mask, era))?
        }
        Target::Child(spec) => {
            over_pipe(spec, &mask, era, patience).await.map_err(|e| unmet(&spec.program, &e, &mask, era))?
        }
    };
    tracing::info!("connected, protocol version {}", hello.era);
    Ok(Connection::new(wire, mask, hello, patience))
}

/// The ladder over HTTP.
async fn over_http(
    target: Arc<HttpTarget>,
    mask: &Mask,
    pinned: Option<&'static Era>,
    patience: Duration,
) -> Result<(Wire, ServerHello), LinkError> {
    let client = Client::new(ClientLimits::default(), Trust::default());
    let ask = |era| introduce(&client, &target, era, patience);
    let (mut link, mut hello) = match ask(pinned.unwrap_or(newest_stateless())).await {
        Err(e) if pinned.is_none() && may_want_a_handshake(&e) => {
            tracing::debug!("it does not take the stateless introduction: {}", mask.show(&e));
            ask(newest_handshake()).await?
        }
        other => other?,
    };
    if hello.era != link.era() {
        link.close(&client).await;
        refuse_other(pinned, hello.era)?;
        // Every request names the version, so the session has to be opened in the one that was agreed on.
        (link, hello) = ask(hello.era).await?;
        refuse_other(Some(link.era()), hello.era)?;
    }
    Ok((Wire::Http { client, link: Box::new(link) }, hello))
}

async fn introduce(
    client: &Client,
    target: &Arc<HttpTarget>,
    era: &'static Era,
    patience: Duration,
) -> Result<(HttpLink, ServerHello), LinkError> {
    let link = HttpLink::new(target.clone(), era);
    let mirror = era.mirrored_headers.then(|| Mirror::of_method(Method::Discover));
    let asked = link.answered(client, introduction(era), KEY, mirror.as_ref());
    let frame = timeout(patience, asked).await.map_err(|_| late(patience))??;
    let hello = read_hello(&frame, era)?;
    if era.lifecycle == Lifecycle::Handshake && hello.era == era {
        timeout(patience, link.notify(client, initialized())).await.map_err(|_| late(patience))??;
    }
    Ok((link, hello))
}

/// The ladder over a child's pipes. A child that does not survive the first question is started again.
async fn over_pipe(
    spec: &Spec,
    mask: &Mask,
    pinned: Option<&'static Era>,
    patience: Duration,
) -> Result<(Wire, ServerHello), LinkError> {
    let supervisor = Supervisor::new(2);
    let (mut link, mut unasked) = start(&supervisor, spec).await?;
    let first = pinned.unwrap_or(newest_stateless());
    let time = if pinned.is_some() { patience } else { PROBE.min(patience) };
    let mut hello = introduce_child(&link, first, time).await;
    if let Err(e) = &hello
        && pinned.is_none()
        && (may_want_a_handshake(e) || matches!(e, LinkError::Child(_)))
    {
        tracing::debug!("it does not take the stateless introduction: {}", mask.show(e));
        if link.is_closed() {
            (link, unasked) = start(&supervisor, spec).await?;
        }
        hello = introduce_child(&link, newest_handshake(), patience).await;
    }
    let agreed = hello.and_then(|hello| refuse_other(pinned, hello.era).map(|()| hello));
    match agreed {
        Ok(hello) => Ok((Wire::Pipe { link, unasked, supervisor }, hello)),
        Err(e) => {
            link.stop().await;
            Err(e)
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

/// Whether a failed stateless introduction leaves open that the server wants a handshake. Errors that only a stateless
/// server sends, a missing credential and what says nothing about the server do not.
fn may_want_a_handshake(error: &LinkError) -> bool {
    match error {
        LinkError::Refused { code, .. } => {
            !matches!(*code, code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION)
        }
        LinkError::Status { status, .. } => (400..500).contains(status) && !matches!(status, 401 | 407 | 429),
        LinkError::Hello(_) | LinkError::NotAMessage(_) | LinkError::Late(_) | LinkError::Closed => true,
        _ => false,
    }
}

fn refuse_other(asked: Option<&'static Era>, speaks: &'static Era) -> Result<(), LinkError> {
    match asked {
        Some(asked) if asked != speaks => {
            Err(HelloFault::Other { asked: asked.version, speaks: speaks.version }.into())
        }
        _ => Ok(()),
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
    fn only_what_says_something_about_the_era_leads_to_a_handshake() {
        let refused = |code| LinkError::Refused { code, message: String::new() };
        let status = |status| LinkError::Status { status, body: String::new() };
        for (error, want) in [
            (refused(code::METHOD_NOT_FOUND), true),
            (refused(code::REFUSED), true),
            (refused(code::UNSUPPORTED_VERSION), false),
            (refused(code::HEADER_MISMATCH), false),
            (status(400), true),
            (status(404), true),
            (status(401), false),
            (status(301), false),
            (status(503), false),
            (LinkError::Late(5), true),
            (LinkError::EventStream("no".to_owned()), false),
        ] {
            assert_eq!(may_want_a_handshake(&error), want, "{error}");
        }
    }

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
