//! The byte stream of a connection: TCP, TLS over TCP, or TLS inside a TLS connection to a proxy. This module must
//! not know what the bytes mean.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// The byte stream of a connection.
#[derive(Debug)]
pub(super) enum WireStream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    /// TLS to an origin, inside TLS to a proxy.
    Nested(Box<TlsStream<TlsStream<TcpStream>>>),
}

/// Calls a method of the inner stream, whichever variant it is.
macro_rules! inner {
    ($wire:expr, $stream:ident => $call:expr) => {
        match $wire {
            WireStream::Plain($stream) => $call,
            WireStream::Tls($stream) => $call,
            WireStream::Nested($stream) => $call,
        }
    };
}

impl AsyncRead for WireStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        inner!(&mut *self, stream => Pin::new(stream).poll_read(cx, buffer))
    }
}

impl AsyncWrite for WireStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        inner!(&mut *self, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        inner!(&mut *self, stream => Pin::new(stream).poll_write_vectored(cx, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        inner!(self, stream => stream.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        inner!(&mut *self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        inner!(&mut *self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}
