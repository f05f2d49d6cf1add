//! The additional state of an exchange between different eras: the request in the upstream's form, and the
//! translation of each message.

use bytes::Bytes;
use proto::bridge::input::{Parking, Rounds};
use proto::bridge::shape::{self, GatewayIdentity, ResultChanges, UnaskableQuestion};
use proto::era::{Asks, Era};
use proto::json::{Span, Splice};
use proto::mcp::{Notice, meta};
use proto::rpc::{Frame, FrameKind, FrameLimits, RpcError};

use super::input::may_ask;
use super::{Mirror, Outbound, Start};
use crate::catalogue::UpstreamId;

/// The maximum number of results that may ask for input before the request is abandoned.
const MAX_ROUNDS: u32 = 16;

/// The ways in which the two sides ask questions.
#[derive(Debug)]
pub(super) enum Input {
    /// Both sides ask in the same way.
    Same,
    /// The upstream asks through results.
    Rounds(Rounds),
    /// The upstream asks through requests, and the client is asked through results.
    Parking(Parking),
}

/// The state for translating between the two eras.
#[derive(Debug)]
pub(super) struct EraTranslation {
    client: &'static Era,
    server: &'static Era,
    /// The request as first sent to its upstream, if it may have to be sent again with answers.
    said: Option<Frame>,
    upstream: UpstreamId,
    mirror: Option<Mirror>,
    /// The client's declared capabilities, as the client wrote them.
    pub(super) capabilities: Bytes,
    /// The gateway's own name and version, for clients of versions that state both in results; otherwise empty.
    pub(super) server_info: String,
    /// The minimum severity of log messages for the client, if the client declares it in each request.
    level: Option<usize>,
    pub(super) input: Input,
}

impl EraTranslation {
    pub(super) fn new(start: &Start<'_>, said: Option<Frame>, mirror: Option<Mirror>) -> Self {
        let (client, server) = (start.client, start.server);
        // Only some requests may be answered with a question.
        let asks_by_result = client.asks == Asks::InputRequired && !may_ask(client, &start.frame);
        let capabilities = match start.capabilities {
            b"{}" => Bytes::from_static(b"{}"),
            _ if asks_by_result => Bytes::from_static(b"{}"),
            declared => Bytes::copy_from_slice(declared),
        };
        // Only versions without a handshake state the server's name and version in results.
        let server_info = if client.typed_results { start.server_info.to_owned() } else { String::new() };
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
            capabilities,
            server_info,
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

    /// A notification from the upstream in the client's form; `None` if the client's era does not define it, or if
    /// the client did not ask for it.
    pub(super) fn notification(&self, frame: &Frame) -> Option<Bytes> {
        if Notice::from_name(&frame.method()) == Some(Notice::Message) && self.client.asks != self.server.asks
        {
            let wanted = match self.client.asks {
                Asks::InputRequired => self.wants_level(frame),
                // The request already told the upstream which log level the session wants.
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

    /// A question from the upstream in the form of a client that is also asked through requests. `fresh_id` returns
    /// an unused id, for questions that need one.
    pub(super) fn question(
        &self,
        frame: &Frame,
        fresh_id: &mut dyn FnMut() -> String,
    ) -> Result<Frame, UnaskableQuestion> {
        let params = frame.params().map(|params| params.members.span());
        let given = params.map_or(Bytes::from_static(b"{}"), |span| span.share(frame.text()));
        let put = shape::question(&frame.method(), &given, self.server, self.client, fresh_id)?;
        let Some(params) = params else { return Ok(frame.clone()) };
        let mut splice = Splice::new(frame.text());
        splice.replace(params, &put);
        Frame::parse(splice.finish(), FrameLimits::default()).map_err(|e| UnaskableQuestion(e.to_string()))
    }

    /// An answer in the client's form, with the client's id. If the answer is an error, the second value is its
    /// code.
    pub(super) fn answer(
        &self,
        frame: &Frame,
        id: &[u8],
        request: &Frame,
    ) -> Result<(Bytes, Option<i32>), String> {
        let (text, method) = (frame.text(), request.method());
        let (mut changes, mut error, mut code) = (None, None, None);
        match frame.payload() {
            Some(payload) if frame.kind() == FrameKind::Error => {
                let given = payload.share(text);
                let put = shape::error(&method, &given, Some(request), self.server, self.client);
                code = RpcError::of_value(&put, Span::new(0, put.len())).map(|error| error.code);
                error = Some((payload, put));
            }
            Some(payload) => {
                let own = GatewayIdentity { server_info: &self.server_info };
                changes = Some(ResultChanges::of(&method, (text, payload), self.server, self.client, &own)?);
            }
            None => {}
        }
        let mut splice = Splice::new(text);
        match frame.id_span() {
            Some(span) => splice.replace(span, id),
            None => splice.set(frame.members(), b"id", id),
        };
        if let Some((payload, put)) = &error {
            splice.replace(*payload, put);
        }
        // A large answer should be copied only once.
        if let Some(changes) = &changes {
            changes.apply(&mut splice);
        }
        Ok((splice.finish(), code))
    }

    /// The request under the new id `key`, with the answers collected in its rounds.
    pub(super) fn again(&self, key: u64) -> Option<Outbound> {
        let Input::Rounds(rounds) = &self.input else { return None };
        let body = rounds.retry(self.said.as_ref()?, &super::prepare::digits(key));
        Some(Outbound {
            upstream: self.upstream,
            era: self.server,
            key,
            body,
            mirror: self.mirror.clone(),
            traceparent: None,
        })
    }
}
