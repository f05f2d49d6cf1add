//! What an exchange needs besides when its two sides speak different eras: the request in the upstream's words, and how
//! each message is put in the other side's.

use bytes::Bytes;
use proto::bridge::input::{Parking, Rounds};
use proto::bridge::shape::{self, Own, Unaskable};
use proto::era::{Asks, Era};
use proto::json::{Span, Splice};
use proto::mcp::{Notice, meta};
use proto::rpc::{Frame, FrameLimits, Kind, RpcError};

use super::input::may_ask;
use super::{Mirror, Outbound, Start};
use crate::catalogue::UpstreamId;

/// The number of times that an upstream may ask for input in results before its request is given up.
const MAX_ROUNDS: u32 = 16;

/// How questions go.
#[derive(Debug)]
pub(super) enum Input {
    /// Both sides ask in the same way.
    Same,
    /// The upstream asks by results.
    Rounds(Rounds),
    /// The upstream asks by requests, and the client by results.
    Parking(Parking),
}

/// The other side's words.
#[derive(Debug)]
pub(super) struct Cross {
    client: &'static Era,
    server: &'static Era,
    /// The request as its upstream first got it.
    said: Frame,
    upstream: UpstreamId,
    mirror: Option<Mirror>,
    method: String,
    /// What the client can be asked, in its own words.
    pub(super) capabilities: Bytes,
    pub(super) server_info: String,
    /// The least important level of log messages that a client wants which says so in each request.
    level: Option<usize>,
    pub(super) input: Input,
}

impl Cross {
    pub(super) fn new(start: &Start<'_>, said: Frame, mirror: Option<Mirror>) -> Self {
        let (client, server) = (start.client, start.server);
        // Only some requests may be answered by a question.
        let asks_by_result = client.asks == Asks::InputRequired && !may_ask(client, &start.frame);
        let capabilities = if asks_by_result { b"{}" } else { start.capabilities };
        let capabilities = Bytes::copy_from_slice(capabilities);
        let input = match (client.asks, server.asks) {
            (Asks::Requests, Asks::InputRequired) => {
                Input::Rounds(Rounds::new(server, client, capabilities.clone(), MAX_ROUNDS))
            }
            (Asks::InputRequired, Asks::Requests) => {
                Input::Parking(Parking::new(server, client, capabilities.clone()))
            }
            _ => Input::Same,
        };
        let level =
            start.frame.meta(meta::LOG_LEVEL).ok().flatten().and_then(|span| start.frame.string(span));
        Self {
            client,
            server,
            said,
            upstream: start.route.upstream,
            mirror,
            method: start.frame.method().into_owned(),
            capabilities,
            server_info: start.server_info.to_owned(),
            level: level.and_then(|level| client.shapes.levels.iter().position(|known| *known == level)),
            input,
        }
    }

    pub(super) fn client(&self) -> &'static Era {
        self.client
    }

    pub(super) fn server(&self) -> &'static Era {
        self.server
    }

    pub(super) fn mirror(&self) -> Option<&Mirror> {
        self.mirror.as_ref()
    }

    /// A notification of the upstream in the client's words; `None` when it has no place there or is not wanted.
    pub(super) fn notification(&self, frame: &Frame) -> Option<Bytes> {
        if Notice::from_name(&frame.method()) == Some(Notice::Message) && self.client.asks != self.server.asks
        {
            let wanted = match self.client.asks {
                Asks::InputRequired => self.wants_level(frame),
                // The session's own level went with the request.
                Asks::Requests => true,
            };
            if !wanted {
                return None;
            }
        }
        shape::notification(frame, self.server, self.client)
    }

    fn wants_level(&self, message: &Frame) -> bool {
        let Some(least) = self.level else { return false };
        let level = message.param("level").ok().flatten().and_then(|span| message.string(span));
        let rank = level.and_then(|level| self.client.shapes.levels.iter().position(|known| *known == level));
        rank.is_none_or(|rank| rank >= least)
    }

    /// A question of the upstream in the words of a client that is asked by requests, too. `mint` gives an id that is
    /// new, for questions that need one.
    pub(super) fn question(
        &self,
        frame: &Frame,
        mint: &mut dyn FnMut() -> String,
    ) -> Result<Frame, Unaskable> {
        let params = frame.params().map(|params| params.members.span());
        let given = params.map_or(Bytes::from_static(b"{}"), |span| span.share(frame.text()));
        let put = shape::question(&frame.method(), &given, self.server, self.client, mint)?;
        let Some(params) = params else { return Ok(frame.clone()) };
        let mut splice = Splice::new(frame.text());
        splice.replace(params, &put);
        Frame::parse(splice.finish(), FrameLimits::default()).map_err(|e| Unaskable(e.to_string()))
    }

    /// An answer in the client's words, with the client's id; the second value is an error's code.
    pub(super) fn answer(
        &self,
        frame: &Frame,
        id: &[u8],
        request: &Frame,
    ) -> Result<(Bytes, Option<i32>), String> {
        let text = frame.text();
        let (mut put, mut code) = (Bytes::new(), None);
        if let Some(payload) = frame.payload() {
            let given = payload.share(text);
            if frame.kind() == Kind::Error {
                put = shape::error(&self.method, &given, Some(request), self.server, self.client);
                code = RpcError::of_value(&put, Span::new(0, put.len())).map(|error| error.code);
            } else {
                let own = Own { server_info: &self.server_info };
                put = shape::result(&self.method, &given, self.server, self.client, &own)?;
            }
        }
        let mut splice = Splice::new(text);
        match frame.id_span() {
            Some(span) => splice.replace(span, id),
            None => splice.set(frame.members(), b"id", id),
        };
        if let Some(payload) = frame.payload() {
            splice.replace(payload, &put);
        }
        Ok((splice.finish(), code))
    }

    /// The request once more under the id `key`, with the answers that its rounds have gathered.
    pub(super) fn again(&self, key: u64) -> Option<Outbound> {
        let Input::Rounds(rounds) = &self.input else { return None };
        let body = rounds.retry(&self.said, &super::prepare::digits(key));
        Some(Outbound { upstream: self.upstream, era: self.server, key, body, mirror: self.mirror.clone() })
    }
}
