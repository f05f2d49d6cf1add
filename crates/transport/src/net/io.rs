//! A connection's byte stream as hyper wants it, with an eye on progress: it reports reads and blocked writes, and
//! tells HTTP/2 from HTTP/1.1 by the first bytes. It must not know requests.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::roster::Progress;

/// What an HTTP/2 client that knows its server sends first (RFC 9113, 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The watched stream of one connection.
#[derive(Debug)]
pub(super) struct Watched<T> {
    inner: TokioIo<T>,
    progress: Arc<Progress>,
    /// Bytes read to tell the protocol, `given` of `held` already passed on.
    first: [u8; PREFACE.len()],
    held: u8,
    given: u8,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Watched<T> {
    pub(super) fn new(inner: T, progress: Arc<Progress>) -> Self {
        Self { inner: TokioIo::new(inner), progress, first: [0; PREFACE.len()], held: 0, given: 0 }
    }

    /// Reads until the protocol is sure: `true` for HTTP/2 by prior knowledge. Nothing read is lost.
    pub(super) fn poll_is_http2(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            let held = usize::from(self.held);
            if self.first[..held] != PREFACE[..held] {
                return Poll::Ready(Ok(false));
            }
            if held == PREFACE.len() {
                return Poll::Ready(Ok(true));
            }
            let mut buffer = ReadBuf::new(&mut self.first[held..]);
            ready!(Pin::new(self.inner.inner_mut()).poll_read(cx, &mut buffer))?;
            let read = buffer.filled().len();
            if read == 0 {
                return Poll::Ready(Ok(false));
            }
            // At most the preface's 24.
            self.held += u8::try_from(read).unwrap_or(0);
            self.progress.has_read();
        }
    }
}

impl<T: AsyncRead + Unpin> Read for Watched<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let kept = self.given < self.held;
        if kept {
            let left = &self.first[usize::from(self.given)..usize::from(self.held)];
            let taken = left.len().min(buffer.remaining());
            buffer.put_slice(&left[..taken]);
            self.given += u8::try_from(taken).unwrap_or(0);
            if buffer.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
        }
        // In the same read, because hyper doubles its buffer for a head that comes in two.
        let polled = Pin::new(&mut self.inner).poll_read(cx, buffer);
        if polled.is_ready() {
            self.progress.has_read();
        }
        if kept && polled.is_pending() { Poll::Ready(Ok(())) } else { polled }
    }
}

impl<T: AsyncWrite + Unpin> Watched<T> {
    fn note<R>(&self, polled: Poll<R>) -> Poll<R> {
        self.progress.has_written(polled.is_pending());
        polled
    }
}

impl<T: AsyncWrite + Unpin> Write for Watched<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.note(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write_vectored(cx, pieces);
        self.note(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_flush(cx);
        // A socket has nothing to flush; TLS may hold bytes that the peer does not take.
        if polled.is_pending() { self.note(polled) } else { polled }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
