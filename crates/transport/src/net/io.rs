//! A connection's byte stream in the form that hyper needs, with progress tracking: it reports reads and blocked
//! writes, and distinguishes HTTP/2 from HTTP/1.1 by the first bytes. This module must not know requests.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::roster::ConnectionProgress;

/// The first bytes from an HTTP/2 client with prior knowledge (RFC 9113, 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The tracked stream of one connection.
#[derive(Debug)]
pub(super) struct Watched<T> {
    inner: TokioIo<T>,
    progress: Arc<ConnectionProgress>,
    /// The bytes that an earlier connection over this stream has read but not used.
    left: Bytes,
    /// The buffer for bytes that were read to detect the protocol or the end of a rest period. The first `held`
    /// bytes are in use, and `given` of them have been passed on.
    first: [u8; PREFACE.len()],
    held: u8,
    given: u8,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Watched<T> {
    pub(super) fn new(inner: T, progress: Arc<ConnectionProgress>) -> Self {
        let left = Bytes::new();
        Self { inner: TokioIo::new(inner), progress, left, first: [0; PREFACE.len()], held: 0, given: 0 }
    }

    /// Puts these bytes in front of the stream.
    pub(super) fn before(mut self, left: Bytes) -> Self {
        // Even an empty slice would keep its whole buffer.
        self.left = if left.is_empty() { Bytes::new() } else { left };
        self
    }

    /// Waits for the first bytes after a rest period; returns `false` if the peer has closed the stream instead. Bytes that
    /// have been read are not lost.
    pub(super) fn poll_begins(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if self.given < self.held || !self.left.is_empty() {
            return Poll::Ready(Ok(true));
        }
        let mut buffer = ReadBuf::new(&mut self.first);
        ready!(Pin::new(self.inner.inner_mut()).poll_read(cx, &mut buffer))?;
        // These are at most the 24 bytes of the preface.
        self.held = u8::try_from(buffer.filled().len()).unwrap_or(0);
        self.given = 0;
        if self.held > 0 {
            self.progress.has_read();
        }
        Poll::Ready(Ok(self.held > 0))
    }

    /// Reads until the protocol is certain; returns `true` for HTTP/2 with prior knowledge. Bytes that have been read
    /// are not lost.
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
            // These are at most the 24 bytes of the preface.
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
        let mut kept = false;
        if !self.left.is_empty() {
            kept = true;
            let taken = self.left.len().min(buffer.remaining());
            buffer.put_slice(&self.left.split_to(taken));
            if self.left.is_empty() {
                self.left = Bytes::new();
            }
        }
        if self.given < self.held {
            kept = true;
            let left = &self.first[usize::from(self.given)..usize::from(self.held)];
            let taken = left.len().min(buffer.remaining());
            buffer.put_slice(&left[..taken]);
            self.given += u8::try_from(taken).unwrap_or(0);
        }
        if kept && buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        // All bytes are combined into the same read, because hyper doubles its buffer for a head that arrives in two
        // pieces.
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
        // A socket has nothing to flush, but TLS may hold bytes that the peer does not accept yet.
        if polled.is_pending() { self.note(polled) } else { polled }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
