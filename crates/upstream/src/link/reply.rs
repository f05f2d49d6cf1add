//! What a request over a link is answered with: one message, a stream of them, or a long body on its way.

use std::collections::VecDeque;

use bytes::Bytes;
use proto::era::Era;
use proto::rpc::{Frame, FrameLimits, Kind};
use transport::net::client::Client;
use transport::up::{EventStream, LinkError, LongReply, MuxCall, OpenCall, StreamItem, messages};

/// What a request was answered with, at first.
pub enum Reply {
    /// The whole answer, with its HTTP status where there was HTTP.
    Whole(Frame, Option<u16>),
    /// A stream of messages.
    Source(Source),
    /// A long answer of which only the beginning has been read.
    Long(Box<LongReply>),
}

impl Reply {
    /// A body that was read to its end; an array of messages is a source of them.
    pub fn of(
        text: Bytes,
        status: Option<u16>,
        era: &'static Era,
        limits: FrameLimits,
    ) -> Result<Self, LinkError> {
        if !era.batches {
            return Ok(Self::Whole(parse(text, limits)?, status));
        }
        let mut ready = messages(text, era, limits)?;
        if ready.len() == 1
            && let Some(only) = ready.pop_front()
        {
            return Ok(Self::Whole(only, status));
        }
        Ok(Self::Source(Source::Web(Incoming { era, stream: None, ready, open: None })))
    }
}

/// Where an exchange's messages come from.
pub enum Source {
    /// Over HTTP, on a stream of the exchange's own.
    Web(Incoming),
    /// On a wire that many exchanges share.
    Pipe(MuxCall),
}

/// Messages that come over HTTP.
pub struct Incoming {
    era: &'static Era,
    /// Where more come from, if they do.
    stream: Option<Box<EventStream>>,
    /// The rest of the array that came last.
    ready: VecDeque<Frame>,
    /// The call under its key, until its answer comes.
    open: Option<(u64, OpenCall)>,
}

/// What a source brings.
pub enum Item {
    /// A message.
    Frame(Frame),
    /// The upstream closed its stream and has to be asked again; it wishes to wait so many milliseconds.
    Paused(Option<u64>),
}

impl Source {
    /// Lets it go once the answer is there.
    pub fn finish(self) {
        if let Self::Web(Incoming { stream: Some(stream), .. }) = self {
            stream.finish();
        }
    }

    /// The next of it.
    ///
    /// # Errors
    /// Why nothing more comes.
    pub async fn next(&mut self, client: &Client, limits: FrameLimits) -> Result<Item, LinkError> {
        match self {
            Self::Pipe(call) => Ok(Item::Frame(call.next().await?)),
            Self::Web(incoming) => incoming.next(client, limits).await,
        }
    }
}

impl Incoming {
    /// The messages of an event stream.
    pub(super) fn new(stream: Box<EventStream>, era: &'static Era, open: Option<(u64, OpenCall)>) -> Self {
        Self { era, stream: Some(stream), ready: VecDeque::new(), open }
    }

    async fn next(&mut self, client: &Client, limits: FrameLimits) -> Result<Item, LinkError> {
        let item = self.item(client, limits).await;
        if let (Ok(Item::Frame(frame)), Some((key, open))) = (&item, &self.open)
            && matches!(frame.kind(), Kind::Response | Kind::Error)
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
                    self.ready = messages(text, self.era, limits)?;
                }
                StreamItem::Message(text) => return Ok(Item::Frame(parse(text, limits)?)),
            }
        }
    }
}

pub(super) fn parse(text: Bytes, limits: FrameLimits) -> Result<Frame, LinkError> {
    Frame::parse(text, limits).map_err(|e| LinkError::NotAMessage(e.to_string()))
}
