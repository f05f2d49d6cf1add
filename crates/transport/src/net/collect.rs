//! Takes in a whole body, under a cap and before a deadline. It must not know what the bytes mean.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::Body;
use tokio::time::{Instant, sleep_until, timeout_at};

/// The reason why a body could not be taken in.
#[derive(Debug, thiserror::Error)]
pub enum CollectError<E> {
    /// It is longer than allowed; noticed from its declared length if it has one.
    #[error("the body is longer than the allowed {cap} bytes")]
    TooLarge {
        /// The cap in bytes.
        cap: usize,
    },
    /// It was not complete at the deadline.
    #[error("the body was not complete in time; {got} bytes had arrived")]
    TimedOut {
        /// Bytes that had arrived.
        got: usize,
    },
    /// It broke off.
    #[error("the body broke off: {0}")]
    Broken(E),
}

/// Collects `body`, at most `cap` bytes, until `deadline`. A body of one piece (most are) is not copied. Trailers are
/// left out. Dropping the future drops the body.
pub async fn collect<B>(body: B, cap: usize, deadline: Instant) -> Result<Bytes, CollectError<B::Error>>
where
    B: Body<Data = Bytes>,
{
    if body.size_hint().lower() > cap as u64 {
        return Err(CollectError::TooLarge { cap });
    }
    let mut body = pin!(body);
    let mut got = Gathered::default();
    let mut timer = None;
    poll_fn(|cx| {
        if let Poll::Ready(result) = got.poll(body.as_mut(), cap, cx) {
            return Poll::Ready(result);
        }
        // Only a body that is not there yet pays for a timer.
        let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        timer.as_mut().poll(cx).map(|()| Err(CollectError::TimedOut { got: got.len() }))
    })
    .await
}

/// Takes in what is left of a body and forgets it, at most `most` bytes, until `deadline`: an answer that comes while the
/// other side still writes is lost where the connection is closed on it.
pub async fn discard<B>(mut body: B, most: u64, deadline: Instant)
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut left = most;
    // What is too much anyway is not waited for.
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

#[derive(Default)]
struct Gathered {
    first: Bytes,
    /// From the second piece on, everything.
    all: BytesMut,
}

impl Gathered {
    fn len(&self) -> usize {
        self.first.len().max(self.all.len())
    }

    fn poll<B>(
        &mut self,
        mut body: Pin<&mut B>,
        cap: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Bytes, CollectError<B::Error>>>
    where
        B: Body<Data = Bytes>,
    {
        while !body.is_end_stream() {
            let piece = match body.as_mut().poll_frame(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => break,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(CollectError::Broken(error))),
                Poll::Ready(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            };
            if piece.len() > cap - self.len() {
                return Poll::Ready(Err(CollectError::TooLarge { cap }));
            }
            if self.len() == 0 {
                self.first = piece;
                continue;
            }
            if self.all.is_empty() {
                let rest = usize::try_from(body.size_hint().lower()).unwrap_or(cap);
                // A declared length is only a promise: what is set aside for it is bounded, too.
                self.all.reserve((self.first.len() + piece.len() + rest).min(cap).min(1024 * 1024));
                self.all.extend_from_slice(&std::mem::take(&mut self.first));
            }
            self.all.extend_from_slice(&piece);
        }
        Poll::Ready(Ok(if self.all.is_empty() {
            std::mem::take(&mut self.first)
        } else {
            self.all.split().freeze()
        }))
    }
}
