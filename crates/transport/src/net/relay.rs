//! A body from another peer, passed on as it arrives; its bytes may be edited on the way. This module must not know
//! what the bytes mean.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use super::body::{BodyError, Failing};
use super::client::ResponseBody;

/// An edit of bytes that are passed on.
pub trait Rewrite: Send + Sync {
    /// Takes the next piece, and appends to `out` the bytes that can be passed on.
    ///
    /// # Errors
    /// Returns the reason why the body must be cut short.
    fn piece(&mut self, piece: Bytes, out: &mut VecDeque<Bytes>) -> Result<(), String>;

    /// Handles the end of the body.
    ///
    /// # Errors
    /// Returns the reason why the body is incomplete.
    fn end(&mut self) -> Result<(), String>;
}

/// A body from another peer, passed on as it arrives. The body is cut short if no byte arrives for the time
/// `stall`, not counting the time during which the reader takes no bytes.
pub struct Relay {
    source: ResponseBody,
    stall: Duration,
    /// The timer for `stall`. It is created when the source has no data for the first time: most bodies are available
    /// immediately.
    timer: Option<Pin<Box<Sleep>>>,
    failed: Failing,
    rewrite: Option<Box<dyn Rewrite>>,
    ready: VecDeque<Bytes>,
    /// The number of remaining bytes, if it is known.
    left: Option<u64>,
    ended: bool,
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").field("stall", &self.stall).field("left", &self.left).finish_non_exhaustive()
    }
}

impl Relay {
    /// Creates a relay that passes `source` on unchanged.
    pub fn new(source: ResponseBody, stall: Duration) -> Self {
        let left = source.size_hint().exact();
        let (ready, failed) = (VecDeque::new(), Failing::default());
        Self { source, stall, timer: None, failed, rewrite: None, ready, left, ended: false }
    }

    /// Creates a relay that passes `head`, which was read before, and then `source` through `rewrite`. `length` is the
    /// length of the result, if it is known.
    ///
    /// # Errors
    /// Returns the reason why the head is already rejected.
    pub fn rewritten(
        head: Bytes,
        source: ResponseBody,
        stall: Duration,
        length: Option<u64>,
        mut rewrite: Box<dyn Rewrite>,
    ) -> Result<Self, String> {
        let mut ready = VecDeque::new();
        rewrite.piece(head, &mut ready)?;
        Ok(Self { left: length, rewrite: Some(rewrite), ready, ..Self::new(source, stall) })
    }

    pub(super) fn is_end(&self) -> bool {
        match &self.rewrite {
            None => self.source.is_end_stream(),
            Some(_) => self.ended && self.ready.is_empty(),
        }
    }

    pub(super) fn size(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }

    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.failed.0.is_some() {
            return self.failed.poll();
        }
        loop {
            while let Some(piece) = self.ready.pop_front() {
                if !piece.is_empty() {
                    self.left = self.left.map(|left| left.saturating_sub(piece.len() as u64));
                    return Poll::Ready(Some(Ok(Frame::data(piece))));
                }
            }
            if self.ended {
                return Poll::Ready(None);
            }
            let Poll::Ready(next) = Pin::new(&mut self.source).poll_frame(cx) else { return self.wait(cx) };
            // The next timeout begins with the next wait, not now: the source must not be blamed for a slow reader.
            self.timer = None;
            match next {
                Some(Err(error)) => return self.failed.keep(error.into(), cx),
                Some(Ok(frame)) => {
                    let Ok(piece) = frame.into_data() else { continue };
                    if let Err(why) = self.take(piece) {
                        return self.failed.keep(BodyError::Refused(why), cx);
                    }
                }
                None => {
                    self.ended = true;
                    if let Some(rewrite) = &mut self.rewrite
                        && let Err(why) = rewrite.end()
                    {
                        return self.failed.keep(BodyError::Refused(why), cx);
                    }
                }
            }
        }
    }

    fn take(&mut self, piece: Bytes) -> Result<(), String> {
        let Some(rewrite) = &mut self.rewrite else {
            self.ready.push_back(piece);
            return Ok(());
        };
        rewrite.piece(piece, &mut self.ready)
    }

    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let stall = self.stall;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(stall)));
        timer.as_mut().poll(cx).map(|()| Some(Err(BodyError::Stalled(stall))))
    }
}
