//! The reply to a request over a link: one message, a stream of messages, or a long body that is still arriving.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use proto::era::Era;
use proto::rpc::{Frame, FrameKind, FrameLimits};
use transport::net::client::Client;

use super::native_reply::NativeReply;
use transport::up::{EventStream, LinkError, LongReply, MuxCall, OpenCall, OpenCalls, StreamItem, messages};

/// The beginning of an answer to a request.
pub enum Reply {
    /// The whole answer, with its HTTP status if there is one.
    Whole(Frame, Option<u16>),
    /// A stream of messages.
    Source(ReplySource),
    /// A long answer of which only the beginning has been read.
    Long(Box<LongReply>),
}

impl Reply {
    /// Reads a complete body; an array of messages becomes a source.
    pub fn of(
        text: Bytes,
        status: Option<u16>,
        era: &'static Era,
        limits: FrameLimits,
        calls: &Arc<OpenCalls>,
    ) -> Result<Self, LinkError> {
        if !era.batches {
            let only = parse(text, limits)?;
            calls.note_arrival(&only);
            return Ok(Self::Whole(only, status));
        }
        let mut ready = messages(text, era.batches, limits)?;
        if ready.len() == 1
            && let Some(only) = ready.pop_front()
        {
            calls.note_arrival(&only);
            return Ok(Self::Whole(only, status));
        }
        let calls = calls.clone();
        Ok(Self::Source(ReplySource::Web(Incoming { era, stream: None, ready, open: None, calls })))
    }
}

/// The source of an exchange's messages.
pub enum ReplySource {
    /// An HTTP stream that belongs to the exchange alone.
    Web(Incoming),
    /// A connection that many exchanges share.
    Pipe(MuxCall),
    /// An embedded server that is passing on a file.
    Native(NativeReply),
}

/// Messages over HTTP.
pub struct Incoming {
    era: &'static Era,
    /// The stream of further messages, if there is one.
    stream: Option<Box<EventStream>>,
    /// The messages of the last array that have not been returned yet.
    ready: VecDeque<Frame>,
    /// The open call and its key, until the call is answered.
    open: Option<(u64, OpenCall)>,
    /// The calls of the link.
    calls: Arc<OpenCalls>,
}

/// One item from a source of messages.
pub enum Item {
    /// A message from the upstream.
    Frame(Frame),
    /// The upstream closed its stream, which has to be resumed. The value is the delay in milliseconds, if the
    /// upstream stated one.
    Paused(Option<u64>),
}

impl ReplySource {
    /// Releases the source once the answer has arrived.
    pub fn finish(self) {
        if let Self::Web(Incoming { stream: Some(stream), .. }) = self {
            stream.finish();
        }
    }

    /// Returns the next item.
    ///
    /// # Errors
    /// Returns the reason why there are no more items.
    pub async fn next(&mut self, client: &Client, limits: FrameLimits) -> Result<Item, LinkError> {
        match self {
            Self::Pipe(call) => Ok(Item::Frame(call.next().await?)),
            Self::Web(incoming) => incoming.next(client, limits).await,
            Self::Native(reply) => reply.next(limits).await,
        }
    }
}

impl Incoming {
    /// Creates the source for the messages of an event stream.
    pub(super) fn new(
        stream: Box<EventStream>,
        era: &'static Era,
        open: Option<(u64, OpenCall)>,
        calls: &Arc<OpenCalls>,
    ) -> Self {
        Self { era, stream: Some(stream), ready: VecDeque::new(), open, calls: calls.clone() }
    }

    /// Returns the id of the stream's last event, if the stream can be resumed after it, and no message waits.
    pub(super) fn position(&self) -> Option<&Bytes> {
        self.stream.as_ref().filter(|_| self.ready.is_empty())?.position()
    }

    async fn next(&mut self, client: &Client, limits: FrameLimits) -> Result<Item, LinkError> {
        let item = self.item(client, limits).await;
        if let Ok(Item::Frame(frame)) = &item {
            self.calls.note_arrival(frame);
        }
        if let (Ok(Item::Frame(frame)), Some((key, open))) = (&item, &self.open)
            && matches!(frame.kind(), FrameKind::Response | FrameKind::Error)
            && frame.id().is_none_or(|id| id.as_number() == Some(*key))
        {
            open.over();
            self.open = None;
        }
        item
    }

    async fn item(&mut self, client: &Client, limits: FrameLimits) -> Result<Item, LinkError> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Ok(Item::Frame(frame));
            }
            let stream = self.stream.as_mut().ok_or(LinkError::Closed)?;
            match stream.next(client).await? {
                StreamItem::Paused { retry } => return Ok(Item::Paused(retry)),
                StreamItem::Message(text) if self.era.batches => {
                    self.ready = messages(text, self.era.batches, limits)?;
                }
                StreamItem::Message(text) => return Ok(Item::Frame(parse(text, limits)?)),
            }
        }
    }
}

pub(super) fn parse(text: Bytes, limits: FrameLimits) -> Result<Frame, LinkError> {
    Frame::parse(text, limits).map_err(|e| LinkError::NotAMessage(e.to_string()))
}
