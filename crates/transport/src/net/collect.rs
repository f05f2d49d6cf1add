//! Reads a whole body: under a cap, within the process's memory budget, and before a deadline. This module must not
//! know what the bytes mean.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::budget::{self, FREE, OutOfMemory, Part};

/// The reason why a body could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CollectError<E> {
    /// The body is longer than allowed. This is detected from the declared length if there is one.
    #[error("the body is longer than the allowed {cap} bytes")]
    TooLarge {
        /// The cap, in bytes.
        cap: usize,
    },
    /// The body was not complete at the deadline.
    #[error("the body was not complete in time; {got} bytes had arrived")]
    TimedOut {
        /// The number of bytes that had arrived.
        got: usize,
    },
    /// No memory became free for the body in time.
    #[error("{0}; {1} bytes of the body had arrived")]
    OutOfMemory(OutOfMemory, usize),
    /// The body broke off.
    #[error("the body ended early: {0}")]
    Broken(E),
}

/// Reads `body`, at most `cap` bytes, until `deadline`. A body of one piece (the usual case) is not copied. Trailers
/// are left out. Dropping the future drops the body. A large body counts towards its part of the budget as long as any
/// slice of it exists. While the budget is used up, the body is not read.
pub async fn collect<B>(
    body: B,
    part: Part,
    cap: usize,
    deadline: Instant,
) -> Result<Bytes, CollectError<B::Error>>
where
    B: Body<Data = Bytes>,
{
    gathered(Bytes::new(), body, (part, cap), || deadline).await
}

/// Reads `body` like [`collect`], within a period from now on. If the whole body has arrived, the clock is not read.
pub async fn collect_within<B>(
    body: B,
    part: Part,
    cap: usize,
    period: Duration,
) -> Result<Bytes, CollectError<B::Error>>
where
    B: Body<Data = Bytes>,
{
    gathered(Bytes::new(), body, (part, cap), || Instant::now() + period).await
}

/// Reads the rest of a body whose beginning is `head`, and returns the whole body.
pub async fn collect_after<B>(
    head: Bytes,
    body: B,
    part: Part,
    cap: usize,
    deadline: Instant,
) -> Result<Bytes, CollectError<B::Error>>
where
    B: Body<Data = Bytes>,
{
    gathered(head, body, (part, cap), || deadline).await
}

async fn gathered<B>(
    head: Bytes,
    body: B,
    (part, cap): (Part, usize),
    deadline: impl FnOnce() -> Instant,
) -> Result<Bytes, CollectError<B::Error>>
where
    B: Body<Data = Bytes>,
{
    if body.size_hint().lower() > cap.saturating_sub(head.len()) as u64 {
        return Err(CollectError::TooLarge { cap });
    }
    let mut body = pin!(body);
    let mut got = Gathered { first: head, all: BytesMut::new() };
    // Nearly always, the whole body has arrived and is too small to be counted; then nothing else has to be set up.
    match poll_fn(|cx| Poll::Ready(got.poll(body.as_mut(), cap, FREE, cx))).await {
        Poll::Ready(Ok(Progress::Whole(bytes))) => Ok(bytes),
        Poll::Ready(Err(error)) => Err(error),
        Poll::Ready(Ok(Progress::Needs(_))) | Poll::Pending => {
            Box::pin(collect_slowly(got, body, part, cap, deadline())).await
        }
    }
}

/// Reads the rest of a body that has not arrived completely, or that is large enough to be counted.
async fn collect_slowly<B>(
    mut got: Gathered,
    mut body: Pin<&mut B>,
    part: Part,
    cap: usize,
    deadline: Instant,
) -> Result<Bytes, CollectError<B::Error>>
where
    B: Body<Data = Bytes>,
{
    let mut reservation = budget::of_process().reservation(part);
    let patience =
        if part == Part::Requests { deadline.min(Instant::now() + REQUEST_PATIENCE) } else { deadline };
    let mut timer = pin!(sleep_until(deadline));
    loop {
        let grown = poll_fn(|cx| {
            if let Poll::Ready(result) = got.poll(body.as_mut(), cap, reservation.covered(), cx) {
                return Poll::Ready(result);
            }
            timer.as_mut().poll(cx).map(|()| Err(CollectError::TimedOut { got: got.len() }))
        });
        match grown.await? {
            Progress::Whole(bytes) => return Ok(reservation.keep(bytes)),
            Progress::Needs(bytes) => {
                let grown = reservation.grow(bytes, patience).await;
                grown.map_err(|e| CollectError::OutOfMemory(e, got.len()))?;
            }
        }
    }
}

/// Reads and discards the rest of a body, at most `most` bytes, until `deadline`. If the connection were closed while
/// the other side is still writing, the answer would be lost.
pub async fn discard<B>(mut body: B, most: u64, deadline: Instant)
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut left = most;
    // If the body is too long anyway, it is not read.
    if body.size_hint().lower() > left {
        return;
    }
    let rest = async {
        while !body.is_end_stream() {
            let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await else { return };
            let piece = frame.data_ref().map_or(0, Bytes::len) as u64;
            match left.checked_sub(piece) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    let _ = timeout_at(deadline, rest).await;
}

/// The maximum time for which a request waits for memory.
const REQUEST_PATIENCE: Duration = Duration::from_secs(2);

/// The outcome of one step of reading.
enum Progress {
    Whole(Bytes),
    /// This number of bytes has been read, so more memory must be reserved.
    Needs(usize),
}

struct Gathered {
    first: Bytes,
    /// All bytes of the body, once a second piece has arrived.
    all: BytesMut,
}

impl Gathered {
    fn len(&self) -> usize {
        self.first.len().max(self.all.len())
    }

    /// Reads the available bytes, until more than `covered` bytes have been read.
    fn poll<B>(
        &mut self,
        mut body: Pin<&mut B>,
        cap: usize,
        covered: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Progress, CollectError<B::Error>>>
    where
        B: Body<Data = Bytes>,
    {
        while !body.is_end_stream() {
            if self.len() > covered {
                return Poll::Ready(Ok(Progress::Needs(self.len())));
            }
            let piece = match body.as_mut().poll_frame(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => break,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(CollectError::Broken(error))),
                Poll::Ready(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            };
            if piece.len() > cap.saturating_sub(self.len()) {
                return Poll::Ready(Err(CollectError::TooLarge { cap }));
            }
            if self.len() == 0 {
                self.first = piece;
                continue;
            }
            if self.all.is_empty() {
                let rest = usize::try_from(body.size_hint().lower()).unwrap_or(cap);
                // A declared length is only a promise, so the capacity that is reserved for it is limited as well.
                self.all.reserve((self.first.len() + piece.len() + rest).min(cap).min(1024 * 1024));
                self.all.extend_from_slice(&std::mem::take(&mut self.first));
            }
            self.all.extend_from_slice(&piece);
        }
        Poll::Ready(Ok(Progress::Whole(if self.all.is_empty() {
            std::mem::take(&mut self.first)
        } else {
            self.all.split().freeze()
        })))
    }
}
