//! The introduction to a child, over its pipe: which of the questions that were put to it is answered, also when the answer
//! comes late. It must not know who wants to speak to the child, or how it is started.
//!
//! A child that is slow to start reads all questions at once when it is ready. Each has an id of its own, so that its answer
//! is known for what it is; an answer to an earlier question counts when the newer one is refused.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use proto::era::{Era, Lifecycle, ServerHello, initialized};
use proto::rpc::{Frame, Kind as FrameKind};
use tokio::time::{Instant, timeout_at};
use transport::up::{LinkError, MuxCall, PipeLink, Unasked, read_hello};

use super::ladder::{Climb, PROBE, Rung, Verdict, verdict};

/// A started child, and what it says unasked.
pub type Piped = (PipeLink, Unasked);

/// The side that introduces itself to a child.
pub trait Guest: Sync {
    /// Starts a child.
    fn start(&self) -> impl Future<Output = Result<Piped, LinkError>> + Send;

    /// The request of an introduction, with the id that it has, which no other request on the pipe may have.
    fn introduction(&self, era: &'static Era) -> (u64, Bytes);

    /// Returns true where this way is known to work, so that it needs no short deadline.
    fn is_sure_of(&self, rung: Rung) -> bool;

    /// Refuses a server that speaks another era than the only one that is wanted.
    fn accepts(&self, hello: &ServerHello) -> Result<(), LinkError>;

    /// Is told why a way does not work.
    fn hears(&self, rung: Rung, why: &LinkError);
}

/// A child that has been introduced to.
pub struct Greeted {
    /// The pipe.
    pub piped: Piped,
    /// What the server said of itself.
    pub hello: ServerHello,
    /// The way that works.
    pub rung: Rung,
}

/// Goes the ways of `climb` until one works. A child has `within` from its start to its first answer; it is not ended
/// before, unless it is refused.
///
/// # Errors
/// Nothing but the end of all ways; why is in `climb`.
pub async fn greet(guest: &impl Guest, climb: &mut Climb, within: Duration) -> Option<Greeted> {
    let mut child: Option<Child> = None;
    while let Some((rung, _)) = climb.next_rung() {
        match attempt(guest, climb, rung, within, &mut child).await {
            Ok((works, hello)) => {
                let piped = child.take()?.piped;
                return Some(Greeted { piped, hello, rung: works });
            }
            Err(why) => {
                guest.hears(rung, &why);
                climb.failed(rung, why);
            }
        }
    }
    if let Some(child) = child {
        child.piped.0.stop().await;
    }
    None
}

/// Asks the child that is there, or another one where that did not survive what it was asked before.
async fn attempt(
    guest: &impl Guest,
    climb: &mut Climb,
    rung: Rung,
    within: Duration,
    kept: &mut Option<Child>,
) -> Result<(Rung, ServerHello), LinkError> {
    let used = kept.take().filter(|child| !child.piped.0.is_closed());
    let was_used = used.is_some();
    let mut child = match used {
        Some(child) => child,
        None => Child::start(guest, within).await?,
    };
    let mut asked = child.ask(guest, climb, rung).await;
    let is_confused = asked.as_ref().is_err_and(|why| {
        verdict(why, rung) == Verdict::Refused && (child.piped.0.is_closed() || !child.is_asked())
    });
    // What was asked before may have confused it.
    if was_used && is_confused {
        child.piped.0.stop().await;
        child = Child::start(guest, within).await?;
        asked = child.ask(guest, climb, rung).await;
    }
    *kept = Some(child);
    asked
}

/// A child, and what it has been asked.
struct Child {
    piped: Piped,
    within: Duration,
    until: Instant,
    /// The questions that are not answered yet, the newest last.
    asked: Vec<(Rung, MuxCall)>,
    /// An answer that came when another question had been put already.
    early: Option<(Rung, ServerHello)>,
}

impl Child {
    async fn start(guest: &impl Guest, within: Duration) -> Result<Self, LinkError> {
        let until = Instant::now() + within;
        let piped = guest.start().await?;
        Ok(Self { piped, within, until, asked: Vec::new(), early: None })
    }

    /// Returns true while an answer may come, or has come, to another question than the newest.
    fn is_asked(&self) -> bool {
        !self.asked.is_empty() || self.early.is_some()
    }

    /// Puts a question, unless it was put before, and waits for an answer to any.
    async fn ask(
        &mut self,
        guest: &impl Guest,
        climb: &mut Climb,
        rung: Rung,
    ) -> Result<(Rung, ServerHello), LinkError> {
        if let Some(early) = self.early.take_if(|early| early.0 == rung) {
            climb.answered(rung);
            return Ok(early);
        }
        let is_probe =
            !climb.is_last() && rung.era.lifecycle == Lifecycle::Stateless && !guest.is_sure_of(rung);
        if !self.asked.iter().any(|(other, _)| *other == rung) {
            let (key, request) = guest.introduction(rung.era);
            self.asked.push((rung, self.piped.0.own_call(key, request).await?));
        }
        let mut until = if is_probe { self.until.min(Instant::now() + PROBE) } else { self.until };
        loop {
            let Ok((index, answer)) = timeout_at(until, next(&mut self.asked)).await else {
                return self.silent(climb, until);
            };
            let (of, _) = self.asked.remove(index);
            match answer.and_then(|frame| read_hello(&frame, of.era)) {
                Ok(hello) if of == rung => {
                    guest.accepts(&hello)?;
                    if of.era.lifecycle == Lifecycle::Handshake {
                        self.piped.0.notify(initialized()).await?;
                    }
                    if let Some((early, _)) = self.early.take() {
                        climb.answered(early);
                    }
                    return Ok((of, hello));
                }
                Ok(hello) => {
                    guest.accepts(&hello)?;
                    // It reads now, and answers the newer question soon or never.
                    self.early = Some((of, hello));
                    until = until.min(Instant::now() + PROBE);
                }
                Err(why) if of == rung => return Err(why),
                Err(why) => guest.hears(of, &why),
            }
        }
    }

    /// Nothing came in time.
    fn silent(&mut self, climb: &mut Climb, until: Instant) -> Result<(Rung, ServerHello), LinkError> {
        if let Some(early) = self.early.take() {
            climb.answered(early.0);
            return Ok(early);
        }
        if until < self.until {
            return Err(LinkError::Late(PROBE.as_secs()));
        }
        Err(LinkError::NotStarted { within: self.within, first_line: self.piped.0.first_talk() })
    }
}

/// The next answer to any of the questions, and to which.
async fn next(asked: &mut [(Rung, MuxCall)]) -> (usize, Result<Frame, LinkError>) {
    std::future::poll_fn(|context| {
        for (index, (_, call)) in asked.iter_mut().enumerate() {
            loop {
                match pin!(call.next()).poll(context) {
                    Poll::Pending => break,
                    // What it says meanwhile is no answer.
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
