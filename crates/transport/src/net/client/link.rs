//! One HTTP/1.1 connection to an upstream, driven by the request that waits for its answer. The request's own future
//! reads and writes the socket, so no other task has to be woken or handed the data. A waiting connection holds no
//! buffer: data is read and written through a buffer that all connections of the thread share. This module must not
//! know the pool.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use super::error::WireError;
use super::http1::{
    AbsoluteForm, AnswerContext, AnswerHead, AnswerReader, ChunkWriter, HeadLimits, NextPiece, READ,
    TemplatedRequest,
};
use super::request_body::{RequestBody, StreamedBody};
use super::stream::WireStream;

/// The maximum size, in bytes, of a body that is copied into the same buffer after its head. For a small body, this is
/// cheaper than a list of two pieces.
const SMALL: usize = 4 * 1024;

thread_local! {
    static READ_ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static WRITE_ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A connection to an upstream.
#[derive(Debug)]
pub(super) struct Link {
    wire: WireStream,
    answer: AnswerReader,
    /// True if a byte of the last request was sent.
    sent: bool,
    /// The unsent rest of the request: the rest of its head, and the rest of its body.
    unsent: [Bytes; 2],
    /// The body to stream after `unsent`.
    streamed: Option<Streaming>,
    unflushed: bool,
    /// The error that interrupted the sending of the request.
    failed: Option<WireError>,
    /// The buffer for a long body.
    long: BytesMut,
}

/// A body that is being streamed.
#[derive(Debug)]
struct Streaming {
    body: StreamedBody,
    /// The framing, if the length of the body is unknown.
    chunks: Option<ChunkWriter>,
}

/// A request that got no answer.
#[derive(Debug)]
pub(super) struct UnansweredRequest {
    pub(super) error: WireError,
    /// True if any byte of the request was sent.
    pub(super) sent: bool,
}

impl Link {
    pub(super) fn new(wire: WireStream, limits: HeadLimits) -> Box<Self> {
        Box::new(Self {
            wire,
            answer: AnswerReader::new(limits),
            sent: false,
            unsent: [Bytes::new(), Bytes::new()],
            streamed: None,
            unflushed: false,
            failed: None,
            long: BytesMut::new(),
        })
    }

    /// Sends a request, and waits for the answer's head. The link is returned with the head, because the body needs
    /// the link. Dropping the future closes the connection, which cancels the request.
    pub(super) async fn ask(
        mut self: Box<Self>,
        ask: &TemplatedRequest<'_>,
        proxy: Option<&AbsoluteForm>,
    ) -> Result<(AnswerHead, Box<Self>), UnansweredRequest> {
        let mut begun = false;
        let answered = poll_fn(|cx| {
            if !std::mem::replace(&mut begun, true) {
                self.begin(ask, proxy, cx);
            }
            self.poll_answer(ask.template.asked(), cx)
        });
        match answered.await {
            Ok(head) => Ok((head, self)),
            Err(error) => Err(UnansweredRequest { error, sent: self.sent }),
        }
    }

    /// Sends as much as the socket accepts now, which is almost always everything.
    fn begin(&mut self, ask: &TemplatedRequest<'_>, proxy: Option<&AbsoluteForm>, cx: &mut Context<'_>) {
        (self.sent, self.unflushed) = (false, true);
        self.answer.begin(ask.template.closes, proxy.is_some());
        let mut room = WRITE_ROOM.take();
        room.clear();
        ask.write_for(proxy, &mut room);
        let mut body = Bytes::new();
        match &ask.body {
            RequestBody::Whole(bytes) if bytes.len() <= SMALL => room.extend_from_slice(bytes),
            RequestBody::Whole(bytes) => body = bytes.clone(),
            RequestBody::Streamed(body) => {
                let chunks = body.length().is_none().then(ChunkWriter::default);
                self.streamed = Some(Streaming { body: body.clone(), chunks });
            }
        }
        let written = match self.poll_write([&room, &body], cx) {
            Poll::Ready(Ok(written)) => written,
            Poll::Ready(Err(error)) => {
                self.failed = Some(error.into());
                0
            }
            Poll::Pending => 0,
        };
        advance(&mut body, written.saturating_sub(room.len()));
        self.unsent = [Bytes::copy_from_slice(&room[written.min(room.len())..]), body];
        WRITE_ROOM.set(room);
    }

    fn poll_write(&mut self, pieces: [&[u8]; 2], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let wire = Pin::new(&mut self.wire);
        let written = ready!(match pieces {
            [one, []] | [[], one] => wire.poll_write(cx, one),
            [first, second] => wire.poll_write_vectored(cx, &[IoSlice::new(first), IoSlice::new(second)]),
        })?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        self.sent = true;
        Poll::Ready(Ok(written))
    }

    /// Continues to send the request.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), WireError>> {
        loop {
            while self.unsent.iter().any(|piece| !piece.is_empty()) {
                let [head, body] = self.unsent.clone();
                let written = ready!(self.poll_write([&head, &body], cx))?;
                let of_head = written.min(head.len());
                self.unsent[0].advance(of_head);
                advance(&mut self.unsent[1], written - of_head);
            }
            if !ready!(self.poll_refill(cx))? {
                break;
            }
        }
        ready!(Pin::new(&mut self.wire).poll_flush(cx))?;
        self.unflushed = false;
        Poll::Ready(Ok(()))
    }

    /// Takes the next piece of a streamed body, together with its framing; returns false if no body is being streamed.
    fn poll_refill(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, WireError>> {
        let Some(streaming) = &mut self.streamed else { return Poll::Ready(Ok(false)) };
        let Poll::Ready(next) = streaming.body.poll_piece(cx) else {
            // The bytes that were written must not wait for the next piece.
            ready!(Pin::new(&mut self.wire).poll_flush(cx))?;
            return Poll::Pending;
        };
        let next = next.transpose().map_err(WireError::Body)?;
        let framing = match (&mut streaming.chunks, &next) {
            (Some(chunks), Some(piece)) => chunks.before(piece.len()),
            (Some(chunks), None) => chunks.last(),
            (None, _) => Bytes::new(),
        };
        if next.is_none() {
            self.streamed = None;
        }
        self.unsent = [framing, next.unwrap_or_default()];
        Poll::Ready(Ok(true))
    }

    /// Continues to send. An error is kept for later: an upstream that rejects a request may close the connection
    /// before it has read everything, and the upstream's answer is more informative than the error.
    fn go_on_sending(&mut self, cx: &mut Context<'_>) {
        if self.unflushed
            && self.failed.is_none()
            && let Poll::Ready(Err(error)) = self.poll_send(cx)
        {
            self.failed = Some(error);
        }
    }

    fn poll_answer(
        &mut self,
        asked: AnswerContext<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<AnswerHead, WireError>> {
        self.go_on_sending(cx);
        let polled = self.poll_head(asked, cx);
        match self.failed.take_if(|_| polled.is_pending()) {
            Some(error) => Poll::Ready(Err(error)),
            None => polled,
        }
    }

    fn poll_head(
        &mut self,
        asked: AnswerContext<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<AnswerHead, WireError>> {
        loop {
            let mut room = read_room();
            let found = match self.poll_read(&mut room, cx) {
                Poll::Ready(Ok(length)) => {
                    Poll::Ready(self.answer.head(&room[..length], asked).map_err(WireError::from))
                }
                Poll::Ready(Err(error)) => Poll::Ready(Err(error.into())),
                Poll::Pending => Poll::Pending,
            };
            READ_ROOM.set(room);
            if let Some(head) = ready!(found)? {
                return Poll::Ready(Ok(head));
            }
        }
    }

    fn poll_read(&mut self, room: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(room);
        ready!(Pin::new(&mut self.wire).poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }

    /// Returns the next piece of the answer's body; `None` at its end.
    pub(super) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, WireError>>> {
        self.go_on_sending(cx);
        loop {
            match self.answer.piece() {
                Ok(NextPiece::Piece(piece)) => return Poll::Ready(Some(Ok(piece))),
                Ok(NextPiece::End) => return Poll::Ready(None),
                Ok(NextPiece::Nothing) => {}
                Err(error) => return Poll::Ready(Some(Err(error.into()))),
            }
            let read = match ready!(self.poll_more(cx)) {
                Ok(read) => self.answer.feed(read).map_err(WireError::from),
                Err(error) => Err(error.into()),
            };
            if let Err(error) = read {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }

    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        if let Some(most) = self.answer.room() {
            self.long.reserve(most);
            let mut room = (&mut self.long).limit(most);
            ready!(pin!(self.wire.read_buf(&mut room)).poll(cx))?;
            return Poll::Ready(Ok(self.long.split().freeze()));
        }
        let mut room = read_room();
        let polled = self.poll_read(&mut room, cx);
        let polled = polled.map_ok(|length| Bytes::copy_from_slice(&room[..length]));
        READ_ROOM.set(room);
        polled
    }

    /// Returns the number of remaining bytes of the body, if it is known.
    pub(super) fn left(&self) -> Option<u64> {
        self.answer.left()
    }

    /// Returns true once the body has been read to its end.
    pub(super) fn is_over(&self) -> bool {
        self.answer.is_over()
    }

    /// Prepares the link for its next request; returns false if the link cannot have one.
    pub(super) fn rest(&mut self) -> bool {
        self.long = BytesMut::new();
        let sent = !self.unflushed && self.failed.is_none();
        sent && self.answer.may_serve_again()
    }

    /// Returns true if, since the link became idle, the upstream has sent nothing and has kept the connection open.
    /// Also removes the waker of the task that last waited for the link.
    pub(super) fn is_quiet(&mut self) -> bool {
        self.poll_read(&mut [0], &mut Context::from_waker(Waker::noop())).is_pending()
    }
}

/// Removes bytes that have been sent. Nothing is left of a body that has been sent completely, because even an empty rest
/// would keep the whole body in memory while the link is idle.
fn advance(rest: &mut Bytes, sent: usize) {
    if sent > 0 && sent == rest.len() {
        *rest = Bytes::new();
    } else {
        rest.advance(sent);
    }
}

fn read_room() -> Vec<u8> {
    let mut room = READ_ROOM.take();
    room.resize(READ, 0);
    room
}
