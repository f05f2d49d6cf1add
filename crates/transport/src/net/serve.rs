//! One accepted connection from its first byte to its end: protocol, requests, orders. This module must not know what
//! is requested.

use std::any::Any;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{Request, Response, StatusCode};
use http_body::{Frame, SizeHint};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use super::body::{Body, BodyError};
use super::delayed_waker::{Incoming, delayed_waker};
use super::goodbye::end;
use super::handler::Handler;
use super::handshake::Handshakes;
use super::head_limits::LEAST_HEADER;
use super::io::Watched;
use super::roster::{ConnectionPhase, ConnectionProgress, Order, RosterPlace};
use super::runtime::message;
use super::server_limits::ServerLimits;
use super::supervised::Supervised;
use super::tls::ServerTls;
use super::unread::UnreadBody;

/// The interval between pings to HTTP/2 clients, and the time within which each ping must be answered: without pings,
/// a vanished client would go unnoticed.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// The number of protocol errors that are answered before an HTTP/2 connection is closed.
const ERROR_RESETS: usize = 128;

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// The number of unsent or unparsed bytes that hyper may buffer per connection (HTTP/1.1) or per stream (HTTP/2).
const BUFFER: usize = 128 * 1024;

/// The number of header lines that hyper accepts by default.
const HYPERS_MOST_HEADERS: usize = 100;

/// hyper's settings, created once per shard.
pub(super) struct Protocols {
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
    tls: Option<Secured>,
}

/// The settings for TLS.
struct Secured {
    tls: ServerTls,
    handshakes: Handshakes,
}

impl Protocols {
    pub(super) fn new(limits: &ServerLimits) -> Self {
        let mut http1 = http1::Builder::new();
        // The roster enforces the time for reading heads: hyper's own timer would also count idle time.
        http1
            .header_read_timeout(None)
            .max_header_size(limits.max_header_bytes.max(LEAST_HEADER))
            .max_buf_size(BUFFER.max(limits.max_header_bytes))
            .keep_alive(true)
            .half_close(false);
        // If this is set explicitly, hyper zeroes the space for this number of lines with each request.
        if limits.max_headers != HYPERS_MOST_HEADERS {
            http1.max_headers(limits.max_headers);
        }
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_TIMEOUT)
            .max_concurrent_streams(limits.max_streams)
            .max_header_list_size(u32::try_from(limits.max_header_bytes).unwrap_or(u32::MAX))
            .max_pending_accept_reset_streams(limits.max_resets)
            .max_local_error_reset_streams(limits.max_resets.max(ERROR_RESETS))
            .max_send_buf_size(BUFFER);
        let tls = limits.tls.clone().map(|tls| Secured { tls, handshakes: Handshakes::default() });
        Self { http1, http2, tls }
    }

    pub(super) fn has_tls(&self) -> bool {
        self.tls.is_some()
    }
}

/// Serves one connection until it ends or is ordered to end. Errors concern only this peer, and are logged at the
/// debug level.
pub(super) async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    handler: Arc<dyn Handler>,
    protocols: Arc<Protocols>,
    place: RosterPlace,
) {
    let served = match &protocols.tls {
        None => plain(stream, peer, handler, &protocols, &place.progress).await,
        // Boxed, so that connections without TLS are not as large as those with TLS.
        Some(tls) => Box::pin(secured(tls, stream, peer, handler, &protocols, &place.progress)).await,
    };
    if let Err(error) = served {
        tracing::debug!(%peer, %error, "connection ended");
    }
}

/// The address that handlers receive for a connection from a process of this machine, because such a connection has
/// no address.
const NO_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Serves one connection from a process of this machine.
pub(super) async fn local_connection(
    stream: UnixStream,
    handler: Arc<dyn Handler>,
    protocols: Arc<Protocols>,
    place: RosterPlace,
) {
    if let Err(error) = plain(stream, NO_ADDRESS, handler, &protocols, &place.progress).await {
        tracing::debug!(%error, "local connection ended");
    }
}

async fn plain<T>(
    stream: T,
    peer: SocketAddr,
    handler: Arc<dyn Handler>,
    protocols: &Protocols,
    progress: &Arc<ConnectionProgress>,
) -> Result<(), EndError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut stream = Watched::new(stream, progress.clone());
    let http2 = obeying(progress, |cx| stream.poll_is_http2(cx)).await??;
    watched(stream, http2, peer, handler, protocols, progress).await
}

/// The first byte of a TLS connection: the type of a handshake record (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;

const NO_TLS: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: 62\r\n\
     x-content-type-options: nosniff\r\nconnection: close\r\n\r\n\
     This port speaks TLS only; write https:// instead of http://.\n";

async fn secured(
    secured: &Secured,
    stream: TcpStream,
    peer: SocketAddr,
    handler: Arc<dyn Handler>,
    protocols: &Protocols,
    progress: &Arc<ConnectionProgress>,
) -> Result<(), EndError> {
    let mut first = [0];
    let mut first = ReadBuf::new(&mut first);
    obeying(progress, |cx| stream.poll_peek(cx, &mut first)).await??;
    match first.filled() {
        [HANDSHAKE] => {}
        // This is the first letter of a method, or of HTTP/2 without TLS.
        [b'A'..=b'Z'] => {
            end(stream, NO_TLS).await;
            return Ok(());
        }
        _ => return Ok(()),
    }
    // Only clients that have sent a byte count. Otherwise, clients that do nothing could lock out others.
    let mut permit = std::pin::pin!(secured.handshakes.permit(peer.ip()));
    let permit = obeying(progress, |cx| permit.as_mut().poll(cx)).await?;
    let mut handshake = secured.tls.acceptor().accept(stream);
    let stream = obeying(progress, |cx| Pin::new(&mut handshake).poll(cx)).await??;
    drop(permit);
    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    watched(Watched::new(stream, progress.clone()), http2, peer, handler, protocols, progress).await
}

/// Serves a stream whose protocol is known. Between requests that are far apart, only the stream is kept, without
/// hyper's connection and its buffers.
async fn watched<T>(
    mut stream: Watched<T>,
    http2: bool,
    peer: SocketAddr,
    handler: Arc<dyn Handler>,
    protocols: &Protocols,
    progress: &Arc<ConnectionProgress>,
) -> Result<(), EndError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    loop {
        match http(stream, http2, peer, handler.clone(), protocols, progress)?.await? {
            None => return Ok(()),
            Some(rested) => stream = rested,
        }
        progress.enter(ConnectionPhase::Resting);
        handler.rested();
        if !obeying(progress, |cx| stream.poll_begins(cx)).await?? {
            return Ok(());
        }
    }
}

/// The reason why a connection ended abnormally.
#[derive(Debug, thiserror::Error)]
pub(super) enum EndError {
    #[error("Dragoman closed the connection: it was too slow or idle for too long, or Dragoman is stopping")]
    Ordered,
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Http(#[from] hyper::Error),
}

/// Polls until `poll` is done or an order ends it.
async fn obeying<R>(
    progress: &ConnectionProgress,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>,
) -> Result<R, EndError> {
    let mut known = false;
    poll_fn(|cx| {
        if !std::mem::replace(&mut known, true) {
            progress.wake_by(cx.waker());
        }
        match progress.order() {
            Order::Serve => poll(cx).map(Ok),
            // Clients that have already sent something are still admitted.
            Order::Drain => Poll::Ready(match poll(cx) {
                Poll::Ready(ready) => Ok(ready),
                Poll::Pending => Err(EndError::Ordered),
            }),
            Order::Close => Poll::Ready(Err(EndError::Ordered)),
        }
    })
    .await
}

/// The future of a connection: it completes when the connection ends, or when only the stream is kept.
type Driven<T> = Pin<Box<dyn Future<Output = Result<Option<Watched<T>>, EndError>> + Send>>;

fn http<T>(
    stream: Watched<T>,
    http2: bool,
    peer: SocketAddr,
    handler: Arc<dyn Handler>,
    protocols: &Protocols,
    progress: &Arc<ConnectionProgress>,
) -> Result<Driven<T>, EndError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    if progress.order() == Order::Close {
        return Err(EndError::Ordered);
    }
    let counted = progress.clone();
    let service = service_fn(move |request: Request<hyper::body::Incoming>| {
        let running = Running::new(&counted);
        let handler = handler.clone();
        // Boxed before it is passed on, so that only a pointer is moved from future to future.
        let request = Box::new(request.map(Incoming::new));
        async move {
            let answer = contained(&*handler, request, peer, http2).await;
            Ok::<_, Infallible>(running.answer(answer))
        }
    });
    let progress = progress.clone();
    Ok(if http2 {
        progress.enter(ConnectionPhase::Http2);
        let connection = protocols.http2.serve_connection(stream, service);
        Box::pin(Supervised::new(connection, progress, Waker::clone))
    } else {
        progress.enter(ConnectionPhase::Http1);
        let connection = protocols.http1.serve_connection(stream, service);
        Box::pin(Supervised::new(connection, progress, delayed_waker))
    })
}

/// Returns the handler's answer, or 500 if the handler panics: the other requests on the connection continue.
async fn contained(
    handler: &dyn Handler,
    request: Box<Request<Incoming>>,
    peer: SocketAddr,
    http2: bool,
) -> Response<Body> {
    let mut unread = UnreadBody::of(request.headers());
    let mut answer = handler.handle(request, peer);
    let mut answer = poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx)));
        unread.collect();
        polled.unwrap_or_else(|panic| Poll::Ready(failed(peer, panic.as_ref())))
    })
    .await;
    // On HTTP/2, only the stream ends. This future is boxed, because nearly all handlers read the body.
    if !http2 && unread.is_left() {
        Box::pin(unread.settle(answer.headers_mut())).await;
    }
    answer
}

/// Returns the answer to a request whose handler panicked.
fn failed(peer: SocketAddr, panic: &(dyn Any + Send)) -> Response<Body> {
    tracing::error!(%peer, panic = message(panic), "a request's handler panicked");
    let mut response = Response::new(Body::from("Dragoman failed to handle this request; see its log.\n"));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}

/// A running request; it ends when the body of its answer has been handed over or dropped.
struct Running(Arc<ConnectionProgress>);

impl Running {
    fn new(progress: &Arc<ConnectionProgress>) -> Self {
        progress.request_begins();
        Self(progress.clone())
    }

    /// Adds a header to the answer that makes browsers respect the declared type of its body.
    fn answer(self, mut response: Response<Body>) -> Response<AnswerBody> {
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        response.map(|body| AnswerBody { body, _running: self })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.request_ends();
    }
}

/// The body of an answer; while it exists, the request counts as running.
pub(super) struct AnswerBody {
    body: Body,
    _running: Running,
}

impl http_body::Body for AnswerBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
