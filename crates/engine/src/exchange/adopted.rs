//! A request that waits for its client, and that another process continues because the process with its connection has ended.

use std::time::Instant;

use proto::bridge::input::Parking;
use proto::rpc::code;
use smallvec::SmallVec;

use super::clock::ExchangeClock;
use super::era_translation::{EraTranslation, Input};
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
        let mut cross = EraTranslation::new(&start, None, None);
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
            |cross: &EraTranslation| matches!(&cross.input, Input::Parking(parking) if !parking.is_empty());
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

    /// Returns true if another process can continue the request, which waits for its client.
    pub fn is_resumable(&self) -> bool {
        let position = self.rounds.shared.as_ref().and_then(|shared| shared.position.as_ref());
        position.is_some() && self.rounds.missed.as_ref().is_some_and(|missed| !missed.is_over)
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use proto::era::{V2025_11_25, V2026_07_28};
    use proto::rpc::Frame;
    use serde_json::{Value, json};

    use super::super::tests::{Plain, TIMEOUTS, binding, frame, start, view};
    use super::*;
    use crate::exchange::{Dispatch, Event, ParkedRequest, Sealer, Step, dispatch, parked};
    use crate::tasks::TaskIds;

    /// The sealer of another process, under the same key.
    struct Other;

    impl Sealer for Other {
        fn seal(&self, plain: &[u8], bound: &[u8]) -> String {
            Plain.seal(plain, bound)
        }

        fn open(&self, sealed: &str, bound: &[u8]) -> Option<Vec<u8>> {
            Plain.open(sealed, bound)
        }

        fn fresh_key(&self) -> u64 {
            5
        }

        fn epoch(&self) -> u64 {
            2
        }
    }

    fn request(more: &Value) -> Frame {
        let mut message = json!({ "jsonrpc": "2.0", "id": "r", "method": "tools/call", "params": { "name": "t", "arguments": {},
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } });
        for (key, value) in more.as_object().unwrap() {
            message["params"][key] = value.clone();
        }
        frame(&message.to_string())
    }

    /// Calls `with` with the input of an exchange.
    fn started<T>(frame: &Frame, key: u64, sealer: &dyn Sealer, with: impl FnOnce(Start<'_>) -> T) -> T {
        let view = view(&V2026_07_28);
        let ids = TaskIds::new(&Plain, "ann", &V2026_07_28);
        let Dispatch::Forward(route) = dispatch(frame, &view, "{}", ids).unwrap() else {
            panic!("not forwarded")
        };
        with(Start {
            frame: frame.clone(),
            client: &V2026_07_28,
            server: &V2025_11_25,
            capabilities: br#"{"elicitation":{}}"#,
            capabilities_upstream: br#"{"elicitation":{}}"#,
            level: None,
            client_info: b"{}",
            route,
            key,
            binding: binding("ann", 0),
            sealer,
            headers: None,
            timeouts: TIMEOUTS,
            server_info: "{}",
            trace: None,
            now: start(),
        })
    }

    /// Lets a request ask its client a question; returns the state for the client.
    fn asked() -> Value {
        let (now, later) = (start(), start() + Duration::from_secs(1));
        let mut exchange = started(&request(&json!({})), 77, &Plain, Exchange::begin).unwrap();
        assert!(matches!(exchange.poll(), Some(Step::Send(_))));
        let question = r#"{"jsonrpc":"2.0","id":"x","method":"elicitation/create","params":{"message":"sure?",
            "requestedSchema":{"type":"object","properties":{}}}}"#;
        assert!(!exchange.will_park(later));
        exchange.feed(Event::Frame(frame(question), None), &Plain, binding("ann", 0), now);
        assert!(exchange.will_park(later));
        exchange.note_position(Some(StreamPosition {
            era: &V2025_11_25,
            address: [1; 8],
            session: Some(Bytes::from_static(b"s")),
            event: Bytes::from_static(b"e"),
        }));
        exchange.feed(Event::Expired, &Plain, binding("ann", 0), later);
        let Some(Step::Park(_, answer)) = exchange.poll() else { panic!("the client is not asked") };
        assert!(exchange.is_resumable());
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        answer["result"]["requestState"].clone()
    }

    /// Continues the request in another process.
    fn adopted(retry: &Frame) -> Result<Exchange, Fault> {
        let found = parked(retry, &V2026_07_28, &Other, binding("ann", 0)).unwrap();
        let Some(ParkedRequest::Elsewhere(call)) = found else { panic!("{found:?}") };
        let resumable = call.resumable.expect("another process can continue it");
        assert_eq!((call.process, resumable.key, resumable.position.event.as_ref()), (1, 77, &b"e"[..]));
        started(retry, 5, &Other, |start| Exchange::adopt(start, &resumable))
    }

    #[test]
    fn another_process_sends_the_answers_and_not_the_request() {
        let state = asked();
        let answers = json!({ "q1": { "action": "accept", "content": {} } });
        let retry = request(&json!({ "requestState": state, "inputResponses": answers }));
        let mut exchange = adopted(&retry).unwrap();
        let Some(Step::Tell(answer)) = exchange.poll() else { panic!("no answer is sent") };
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!((&answer["id"], &answer["result"]["action"]), (&json!("x"), &json!("accept")));
        assert!(exchange.poll().is_none());
        let now = start();
        // The server repeats its question, because it does not know which events have arrived.
        let again =
            r#"{"jsonrpc":"2.0","id":"x","method":"elicitation/create","params":{"message":"sure?"}}"#;
        exchange.feed(Event::Frame(frame(again), None), &Other, binding("ann", 0), now);
        assert!(!exchange.will_park(now + Duration::from_secs(1)) && exchange.poll().is_none());
        let result = r#"{"jsonrpc":"2.0","id":77,"result":{"content":[]}}"#;
        exchange.feed(Event::Frame(frame(result), Some(200)), &Other, binding("ann", 0), now);
        assert!(matches!(exchange.poll(), Some(Step::Answer(answer)) if answer.ok));
        let fresh = exchange.ticket();
        assert_eq!((fresh.key, fresh.round), (5, 1), "the id of another process is no ticket of this one");
    }

    #[test]
    fn a_retry_without_all_answers_is_refused_and_can_be_repeated() {
        let state = asked();
        for answers in [json!({}), json!({ "q2": { "action": "accept" } })] {
            let retry = request(&json!({ "requestState": state, "inputResponses": answers }));
            assert!(adopted(&retry).unwrap_err().message.contains("an answer to each question"));
        }
        let retry = request(&json!({ "requestState": state }));
        let other = parked(&retry, &V2026_07_28, &Other, binding("bob", 0));
        assert!(other.is_err(), "another caller");
    }
}
