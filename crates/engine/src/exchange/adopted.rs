//! A request that waits for its client, and that another process continues because the process with its connection has ended.

use std::time::Instant;

use proto::bridge::input::Parking;
use proto::rpc::code;
use smallvec::SmallVec;

use super::clock::ExchangeClock;
use super::cross::{Cross, Input};
use super::kept::MissedMessages;
use super::outbound::check_mirrored;
use super::progress::RequestProgress;
use super::run::{ClientRequest, InputRounds, ReplyState, SharedRounds};
use super::{Exchange, ResumableRequest, Start, StreamPosition, Ticket};
use crate::fault::Fault;

impl Exchange {
    /// Continues a request that waits in another process, which has ended. `start` contains the client's retry with the answers to
    /// all questions. The request is not sent again; the first steps send the answers to the server.
    ///
    /// # Errors
    /// Returns the fault to answer with; the request waits as before.
    pub fn adopt(mut start: Start<'_>, parked: &ResumableRequest) -> Result<Self, Fault> {
        check_mirrored(&start.frame, start.route.tool, (start.client, start.headers))?;
        let retry = start.frame.clone();
        let id = retry.id().cloned().ok_or_else(|| Fault::gateway("only requests are forwarded"))?;
        let mut cross = Cross::new(&start, None, None);
        cross.input = match cross.input {
            Input::Parking(parking) => Input::Parking(parking.with_open(&parked.questions)),
            Input::Same | Input::Rounds(_) => return Err(super::no_longer_open()),
        };
        let shared = SharedRounds { position: None, ticket: Some(start.key) };
        let mut exchange = Self {
            clock: ExchangeClock::new(start.timeouts, start.now),
            client: ClientRequest { request: retry.clone(), era: start.client, id, token: None },
            cross: Some(Box::new(cross)),
            renaming: start.renaming(),
            uris: start.route.uris.take(),
            bridge: None,
            key: parked.key,
            progress: RequestProgress::default(),
            reply: ReplyState::default(),
            rounds: InputRounds {
                number: parked.round,
                missed: Some(MissedMessages::default()),
                shared: Some(Box::new(shared)),
            },
            steps: SmallVec::new(),
            open: true,
        };
        exchange.resume(retry, start.sealer, start.binding, start.now)?;
        if exchange.clock.wake.is_some() {
            return Err(Fault::client(
                code::INVALID_PARAMS,
                "params.inputResponses must contain an answer to each question, because the gateway that asked them has ended",
            ));
        }
        Ok(exchange)
    }

    /// Returns true if the client is about to be asked through a result.
    pub fn will_park(&self, now: Instant) -> bool {
        let has_questions =
            |cross: &Cross| matches!(&cross.input, Input::Parking(parking) if !parking.is_empty());
        self.clock.is_awake(now) && self.bridge.is_none() && self.cross.as_deref().is_some_and(has_questions)
    }

    /// Records the place from which another process can continue to receive the upstream's messages.
    pub fn note_position(&mut self, position: Option<StreamPosition>) {
        match &mut self.rounds.shared {
            Some(shared) => shared.position = position,
            None if position.is_some() => {
                self.rounds.shared = Some(Box::new(SharedRounds { position, ticket: None }));
            }
            None => {}
        }
    }

    /// Returns the ticket under which the client's answers to the questions of this round are awaited.
    pub(super) fn ticket(&self) -> Ticket {
        let own = self.rounds.shared.as_ref().and_then(|shared| shared.ticket);
        Ticket { key: own.unwrap_or(self.key), round: self.rounds.number }
    }

    /// Returns the request in the form in which another process can continue it.
    pub(super) fn resumable(&self, parking: &Parking) -> Option<ResumableRequest> {
        let position = self.rounds.shared.as_ref()?.position.clone()?;
        let (key, round) = (self.key, self.rounds.number);
        Some(ResumableRequest { key, round, position, questions: parking.questions() })
    }
}
