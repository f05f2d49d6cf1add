//! Serves the one client over stdin and stdout, for a profile with a dialect: one message per line, answered in
//! order. Later lines are read while a line is processed, so the client can cancel the request or close the pipe. A
//! message that requires the standard protocol, and all later messages, are served by the standard protocol.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::Condition;
use engine::dialect::{DialectFault, DialectReply, NoId};
use proto::mcp::Notice;
use proto::rpc::{Frame, FrameKind, Id};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::account::Account;
use super::front::Front;
use super::serve::{MessageOutcome, refuse, take, take_refused};
use super::telemetry::LoggedRequest;
use crate::admission::identity::Identity;
use crate::dialect_session::sessions::Session;
use crate::front::lines::stdin::{Stdin, StdinLine};
use crate::process::Shard;

/// The number of lines that are read ahead of the current one.
const AHEAD: usize = 16;

/// The time for which a cancelled request may continue, so that the cancellation reaches its server.
const FAREWELL: Duration = Duration::from_secs(1);

/// A time that is longer than any stream lasts.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// Serves until stdin ends, or until a line requires the standard protocol. In the latter case, returns that line
/// and the lines read after it.
pub(crate) async fn serve(
    shard: &Arc<Shard>,
    front: &Front,
    stdin: &mut Stdin,
    out: &mpsc::Sender<Bytes>,
) -> std::io::Result<Option<VecDeque<StdinLine>>> {
    let account = Account::of(shard, front.profile);
    let session = Arc::new(Session::new(Identity::anyone(None), front.profile, None, None));
    let mut ahead = LinesAhead { stdin, lines: VecDeque::new(), until: None };
    while let Some(line) = ahead.next().await? {
        let text = match line {
            Ok(text) => text,
            Err(e) => {
                LoggedRequest::unread(&Bytes::new()).refused();
                say(out, refuse(&front.row, &DialectFault::new(Condition::InvalidRequest, e))).await;
                continue;
            }
        };
        let taking = async {
            match who(shard, account.as_ref()).await {
                Ok(identity) => take(shard, front, &identity, Some(&session), None, &text).await,
                Err(fault) => take_refused(shard, front, &text, &fault).await,
            }
        };
        match ahead.beside(shard, front, (&text, &session), taking).await? {
            ConcurrentOutcome::Done(MessageOutcome::Reply(reply, _)) => say(out, reply).await,
            ConcurrentOutcome::Done(MessageOutcome::Standard(_)) => {
                ahead.lines.push_front(Ok(text));
                return Ok(Some(ahead.lines));
            }
            ConcurrentOutcome::GivenUp => {}
            ConcurrentOutcome::TooLate => break,
        }
    }
    Ok(None)
}

/// Returns the caller. The user who started this process is not checked, unless the site has to identify the
/// account in use.
async fn who(shard: &Arc<Shard>, account: Option<&Account>) -> Result<Identity, DialectFault> {
    match account {
        Some(account) => account.identify(shard).await,
        None => Ok(Identity::anyone(None)),
    }
}

async fn say(out: &mpsc::Sender<Bytes>, reply: DialectReply) {
    if !reply.body.is_empty() {
        let _ = out.send(reply.body).await;
    }
}

/// The outcome of a line that is processed while further lines are read.
enum ConcurrentOutcome {
    Done(MessageOutcome),
    /// The client cancelled the request.
    GivenUp,
    /// Stdin ended some time ago, and the time for the remaining requests is over.
    TooLate,
}

/// The lines after the current one.
struct LinesAhead<'a> {
    stdin: &'a mut Stdin,
    lines: VecDeque<StdinLine>,
    /// The deadline for the remaining requests, once stdin has ended.
    until: Option<Instant>,
}

impl LinesAhead<'_> {
    async fn next(&mut self) -> std::io::Result<Option<StdinLine>> {
        match self.lines.pop_front() {
            Some(line) => Ok(Some(line)),
            None if self.until.is_some() => Ok(None),
            None => self.stdin.next().await,
        }
    }

    /// Processes the line `text` while reading further lines.
    async fn beside(
        &mut self,
        shard: &Arc<Shard>,
        front: &Front,
        (text, session): (&Bytes, &Session),
        taking: impl Future<Output = MessageOutcome>,
    ) -> std::io::Result<ConcurrentOutcome> {
        tokio::pin!(taking);
        loop {
            let until = self.until.unwrap_or_else(|| Instant::now() + FOREVER);
            tokio::select! {
                biased;
                taken = &mut taking => return Ok(ConcurrentOutcome::Done(taken)),
                () = sleep_until(until) => return Ok(ConcurrentOutcome::TooLate),
                line = self.stdin.next(), if self.until.is_none() && self.lines.len() < AHEAD => {
                    let Some(line) = line? else {
                        self.until = Some(Instant::now() + shard.gateway.snapshot.limits.drain_timeout);
                        continue;
                    };
                    let cancelled = line.as_ref().ok().and_then(|line| cancelled(shard, front, line));
                    // The line is answered in order, if the dialect answers it.
                    self.lines.push_back(line);
                    let Some((id, notice)) = cancelled else { continue };
                    if id_of(shard, text).as_ref() == Some(&id) {
                        session.requests.cancel(notice);
                        let _ = timeout(FAREWELL, taking).await;
                        return Ok(ConcurrentOutcome::GivenUp);
                    }
                    let is_it = |line: &StdinLine| line.as_ref().is_ok_and(|line| id_of(shard, line).as_ref() == Some(&id));
                    self.lines.retain(|line| !is_it(line));
                }
            }
        }
    }
}

/// Returns the id of a request; `None` for any other text.
fn id_of(shard: &Arc<Shard>, text: &Bytes) -> Option<Id> {
    let frame = Frame::parse(text.clone(), shard.gateway.frame_limits()).ok()?;
    frame.id().filter(|_| frame.kind() == FrameKind::Request).cloned()
}

/// Returns the id of the request that a notification cancels, and the notification; `None` if the dialect has no
/// notifications.
fn cancelled(shard: &Arc<Shard>, front: &Front, text: &Bytes) -> Option<(Id, Frame)> {
    if front.row.reading.no_id == NoId::Refuse {
        return None;
    }
    let frame = Frame::parse(text.clone(), shard.gateway.frame_limits()).ok()?;
    let is_it = frame.kind() == FrameKind::Notification && frame.method() == Notice::Cancelled.name();
    let id = frame.param("requestId").ok().flatten().filter(|_| is_it)?;
    Some((Id::from_json(id.share(frame.text())).ok()?, frame))
}
