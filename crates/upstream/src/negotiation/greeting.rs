//! The handshake with a child over its pipe: tries requests until the child answers one of them, even if the answer
//! is late. This module must not know who wants to reach the child.
//!
//! A child that is slow to start reads all requests at once when it is ready. Each request has its own id, by which
//! an answer is matched to its request. If the newest request is refused, an answer to an earlier one is accepted.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use proto::era::{Lifecycle, ServerHello, initialized};
use proto::rpc::{Frame, FrameKind, FrameLimits};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;
use transport::child::{Companion, Limits as ChildLimits, SpawnError, Spec, Supervisor};
use transport::up::{LinkError, MuxCall, MuxRoom, PipeLink, UnaskedMessages, read_hello};

use super::guest::Guest;
use super::negotiator::{Candidate, Candidates, PROBE, Verdict, verdict};

/// A started child, and the messages that it sends by itself.
pub(super) type StartedChild = (PipeLink, UnaskedMessages);

/// The means to start a child.
pub struct ChildStarter<'a> {
    /// The supervisor that starts and reaps the child.
    pub supervisor: &'a Supervisor,
    /// The child's program.
    pub spec: &'a Spec,
    /// The limits of the child's output, and the grace periods for its end.
    pub limits: ChildLimits,
    /// The limits of the child's messages.
    pub frames: FrameLimits,
    /// The capacity of the child's pipe.
    pub room: MuxRoom,
    /// The tracing span under which the reader of the child's pipe logs.
    pub span: tracing::Span,
    /// The time limit from the child's start to its first answer.
    pub within: Duration,
    /// A value that is kept as long as a process of the child exists.
    pub companion: Option<Companion>,
}

impl ChildStarter<'_> {
    async fn start(&self, guest: &impl Guest) -> Result<StartedChild, LinkError> {
        let spawn = || self.supervisor.spawn_with(self.spec, self.limits, self.companion.clone());
        let mut child = spawn().await;
        if matches!(child, Err(SpawnError::TooMany { .. })) && guest.make_room().await {
            child = spawn().await;
        }
        let (handle, lines) = child?.split();
        let (pipe, reader, unasked) = PipeLink::new(handle, lines, self.frames, self.room, guest.talk());
        transport::task::spawn(reader.instrument(self.span.clone()));
        Ok((pipe, unasked))
    }
}

/// A child after its handshake.
pub(super) struct GreetedChild {
    /// The pipe.
    pub(super) piped: StartedChild,
    /// The server's introduction.
    pub(super) hello: ServerHello,
    /// The candidate that works.
    pub(super) candidate: Candidate,
}

/// Tries `candidates` until one works. A child may use the whole time limit for its first answer; until then, the child
/// is ended only if it refuses a request.
///
/// # Errors
/// Returns `None` if no candidate works; the reasons are in `candidates`.
pub(super) async fn greet(
    guest: &impl Guest,
    starter: &ChildStarter<'_>,
    candidates: &mut Candidates,
) -> Option<GreetedChild> {
    let mut child: Option<Child> = None;
    while let Some((candidate, _)) = candidates.next_candidate() {
        match attempt(guest, starter, candidates, candidate, &mut child).await {
            Ok((works, hello)) => {
                let piped = child.take()?.piped;
                return Some(GreetedChild { piped, hello, candidate: works });
            }
            Err(why) => {
                guest.hears(candidate, &why);
                candidates.failed(candidate, why);
            }
        }
    }
    if let Some(child) = child {
        child.piped.0.stop().await;
    }
    None
}

/// Sends a request to the running child, or to a new one if the child did not survive the earlier requests.
async fn attempt(
    guest: &impl Guest,
    starter: &ChildStarter<'_>,
    candidates: &mut Candidates,
    candidate: Candidate,
    kept: &mut Option<Child>,
) -> Result<(Candidate, ServerHello), LinkError> {
    let used = kept.take().filter(|child| !child.piped.0.is_closed());
    let was_used = used.is_some();
    let mut child = match used {
        Some(child) => child,
        None => Child::start(guest, starter).await?,
    };
    let mut asked = child.ask(guest, candidates, candidate).await;
    let is_confused = asked.as_ref().is_err_and(|why| {
        verdict(why, candidate) == Verdict::Refused && (child.piped.0.is_closed() || !child.is_asked())
    });
    // An earlier request may have confused the child.
    if was_used && is_confused {
        child.piped.0.stop().await;
        child = Child::start(guest, starter).await?;
        asked = child.ask(guest, candidates, candidate).await;
    }
    *kept = Some(child);
    asked
}

/// A child, and the requests that were sent to it.
struct Child {
    piped: StartedChild,
    within: Duration,
    until: Instant,
    /// The unanswered requests, the newest last.
    asked: Vec<(Candidate, MuxCall)>,
    /// An answer that arrived after another request had been sent.
    early: Option<(Candidate, ServerHello)>,
}

impl Child {
    async fn start(guest: &impl Guest, starter: &ChildStarter<'_>) -> Result<Self, LinkError> {
        let until = Instant::now() + starter.within;
        let piped = starter.start(guest).await?;
        Ok(Self { piped, within: starter.within, until, asked: Vec::new(), early: None })
    }

    /// Returns true if a request before the newest one was answered, or may still be answered.
    fn is_asked(&self) -> bool {
        !self.asked.is_empty() || self.early.is_some()
    }

    /// Sends a request, unless this request was sent before, and waits for an answer to any of the requests.
    async fn ask(
        &mut self,
        guest: &impl Guest,
        candidates: &mut Candidates,
        candidate: Candidate,
    ) -> Result<(Candidate, ServerHello), LinkError> {
        if let Some(early) = self.early.take_if(|early| early.0 == candidate) {
            candidates.answered(candidate);
            return Ok(early);
        }
        let is_probe = !candidates.is_last()
            && candidate.era.lifecycle == Lifecycle::Stateless
            && !guest.is_sure_of(candidate);
        if !self.asked.iter().any(|(other, _)| *other == candidate) {
            let (key, request) = guest.introduction(candidate.era);
            self.asked.push((candidate, self.piped.0.own_call(key, request).await?));
        }
        let mut until = if is_probe { self.until.min(Instant::now() + PROBE) } else { self.until };
        loop {
            let Ok((index, answer)) = timeout_at(until, next(&mut self.asked)).await else {
                return self.silent(candidates, until);
            };
            let (of, _) = self.asked.remove(index);
            match answer.and_then(|frame| read_hello(&frame, of.era)) {
                Ok(hello) if of == candidate => {
                    guest.accepts(&hello)?;
                    if of.era.lifecycle == Lifecycle::Handshake {
                        self.piped.0.notify(initialized()).await?;
                    }
                    if let Some((early, _)) = self.early.take() {
                        candidates.answered(early);
                    }
                    return Ok((of, hello));
                }
                Ok(hello) => {
                    guest.accepts(&hello)?;
                    // The child is reading its input now, so it answers the newer request soon or never.
                    self.early = Some((of, hello));
                    until = until.min(Instant::now() + PROBE);
                }
                Err(why) if of == candidate => return Err(why),
                Err(why) => guest.hears(of, &why),
            }
        }
    }

    /// Handles a child that did not answer in time.
    fn silent(
        &mut self,
        candidates: &mut Candidates,
        until: Instant,
    ) -> Result<(Candidate, ServerHello), LinkError> {
        if let Some(early) = self.early.take() {
            candidates.answered(early.0);
            return Ok(early);
        }
        if until < self.until {
            return Err(LinkError::Late(PROBE.as_secs()));
        }
        Err(LinkError::NotStarted { within: self.within, first_line: self.piped.0.first_talk() })
    }
}

/// Returns the next answer to any of the requests, and the index of the request that it answers.
async fn next(asked: &mut [(Candidate, MuxCall)]) -> (usize, Result<Frame, LinkError>) {
    std::future::poll_fn(|context| {
        for (index, (_, call)) in asked.iter_mut().enumerate() {
            loop {
                match pin!(call.next()).poll(context) {
                    Poll::Pending => break,
                    // Messages of other kinds are not answers.
                    Poll::Ready(Ok(frame))
                        if !matches!(frame.kind(), FrameKind::Response | FrameKind::Error) => {}
                    Poll::Ready(one) => return Poll::Ready((index, one)),
                }
            }
        }
        Poll::Pending
    })
    .await
}
