//! Clients of a handshake era, and servers that ask through results: each result becomes questions, whose answers go
//! into another attempt.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use std::time::Duration;

use dragoman_engine::catalogue::View;
use dragoman_engine::exchange::{Event, Exchange, ExchangeAnswer, Execution, LinkFailure, Outbound, Step};
use dragoman_engine::session::Asks;
use proptest::prelude::*;
use proto::bridge::input::Question;
use proto::era::{Era, V2025_11_25, V2026_07_28};
use proto::rpc::{Frame, FrameLimits};
use serde_json::{Value, json};

use super::world::{Clock, LIFETIME, METHODS, Toy, begin, frame, parsed, question, reply, start, view};

const CLIENT: &Era = &V2025_11_25;
const SERVER: &Era = &V2026_07_28;
static VIEW: LazyLock<View> = LazyLock::new(|| view(CLIENT, SERVER));
const ME: &str = "dora";

/// The maximum number of rounds that are played.
const MAX_ROUNDS: usize = 16;

#[derive(Debug, Clone, Copy)]
enum How {
    Answer,
    /// With an error.
    Refuse,
    /// With a result that is not an object.
    Garbage,
    /// Twice.
    Twice,
}

#[derive(Debug, Clone)]
enum Op {
    Begin,
    Round { call: usize, count: usize, elicit: bool, state: bool },
    Finish { call: usize },
    Die { call: usize },
    Progress { call: usize },
    Reply { open: usize, how: How },
    Cancel { call: usize },
    Pass { millis: u64 },
}

fn op() -> impl Strategy<Value = Op> {
    let how = prop_oneof![12 => Just(How::Answer), 1 => Just(How::Refuse), 1 => Just(How::Garbage), 2 => Just(How::Twice)];
    prop_oneof![
        3 => Just(Op::Begin),
        10 => (any::<usize>(), 0..=3_usize, prop::bool::weighted(0.7), any::<bool>())
            .prop_map(|(call, count, elicit, state)| Op::Round { call, count, elicit, state }),
        2 => any::<usize>().prop_map(|call| Op::Finish { call }),
        1 => any::<usize>().prop_map(|call| Op::Die { call }),
        1 => any::<usize>().prop_map(|call| Op::Progress { call }),
        14 => (any::<usize>(), how).prop_map(|(open, how)| Op::Reply { open, how }),
        1 => any::<usize>().prop_map(|call| Op::Cancel { call }),
        6 => (0..300_u64).prop_map(|millis| Op::Pass { millis }),
    ]
}

/// The source of a question: the call, and the index of the question in its round.
#[derive(Debug, Clone)]
struct Asker(usize, usize);

impl PartialEq for Asker {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// The questions in a server's last result.
#[derive(Default)]
struct Round {
    /// The key and the form of each question, and the expected answer in the retry once the client has
    /// answered.
    entries: Vec<(String, u64, &'static str, Option<Value>)>,
    state: Option<String>,
}

struct Call {
    exchange: Box<Exchange>,
    over: bool,
    cancelled: bool,
    answers: usize,
    /// The key of the request that its server works on.
    at_server: Option<u64>,
    rounds: usize,
    round: Round,
    /// True if an answer to a question makes it impossible to ask the server again.
    refused: bool,
}

struct World {
    clock: Clock,
    sealer: Toy,
    asks: Asks<Asker>,
    calls: Vec<Call>,
    keys: HashSet<u64>,
    ids: HashSet<u64>,
    /// The client's open questions, by the client's id for them.
    open: HashMap<u64, (usize, &'static str, u64)>,
    numbers: u64,
}

impl World {
    fn new() -> Self {
        Self {
            clock: Clock { start: start(), passed: Duration::ZERO },
            sealer: Toy::new(1),
            asks: Asks::new(64, LIFETIME * 9, 0),
            calls: Vec::new(),
            keys: HashSet::new(),
            ids: HashSet::new(),
            open: HashMap::new(),
            numbers: 0,
        }
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Begin => {
                let params = json!({
                    "name": "up__t", "arguments": {"n": self.calls.len()},
                    "_meta": {"progressToken": format!("token {}", self.calls.len())},
                });
                let request = json!({"jsonrpc": "2.0", "id": self.calls.len(), "method": "tools/call", "params": params});
                let exchange = begin(frame(&request), &VIEW, SERVER, &self.sealer, self.clock, ME);
                self.calls.push(Call {
                    exchange: Box::new(exchange),
                    over: false,
                    cancelled: false,
                    answers: 0,
                    at_server: None,
                    rounds: 0,
                    round: Round::default(),
                    refused: false,
                });
                self.work(self.calls.len() - 1);
            }
            Op::Reply { open, how } => {
                let mut ids: Vec<u64> = self.open.keys().copied().collect();
                ids.sort_unstable();
                if !ids.is_empty() {
                    self.reply(ids[open % ids.len()], how);
                }
            }
            Op::Pass { millis } => self.pass(Duration::from_millis(millis)),
            Op::Cancel { call } => {
                let live: Vec<usize> = (0..self.calls.len()).filter(|at| !self.calls[*at].over).collect();
                if !live.is_empty() {
                    let at = live[call % live.len()];
                    self.calls[at].cancelled = true;
                    self.feed(at, Event::Cancelled(None));
                    assert!(self.calls[at].over, "a cancelled call goes on");
                }
            }
            Op::Round { call, .. } | Op::Finish { call } | Op::Die { call } | Op::Progress { call } => {
                let working = |at: &usize| !self.calls[*at].over && self.calls[*at].at_server.is_some();
                let working: Vec<usize> = (0..self.calls.len()).filter(working).collect();
                if !working.is_empty() {
                    self.serve(working[call % working.len()], op);
                }
            }
        }
    }

    fn serve(&mut self, at: usize, op: &Op) {
        let key = self.calls[at].at_server.expect("it works on one");
        let event = match *op {
            Op::Round { count, elicit, state, .. } => {
                let result = self.ask(at, count, elicit, state || count == 0);
                json!({"jsonrpc": "2.0", "id": key, "result": result})
            }
            Op::Progress { .. } => {
                let params = json!({"progressToken": key, "progress": 1});
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            }
            Op::Finish { .. } => {
                self.calls[at].at_server = None;
                let content = json!([{"type": "text", "text": format!("answer {at}")}]);
                json!({"jsonrpc": "2.0", "id": key, "result": {"resultType": "complete", "content": content}})
            }
            _ => {
                self.calls[at].at_server = None;
                let failure = LinkFailure {
                    message: "is gone".to_owned(),
                    execution: Execution::Unknown,
                    retry: false,
                };
                return self.feed(at, Event::Failed(failure));
            }
        };
        self.feed(at, Event::Frame(frame(&event), None));
        // The client may answer again, but the question with that id is already answered.
        if event.get("result").is_some() {
            self.feed(at, Event::Frame(frame(&event), None));
        }
    }

    /// The result with which the server of a call asks for input.
    fn ask(&mut self, at: usize, count: usize, elicit: bool, state: bool) -> Value {
        let call = &mut self.calls[at];
        call.at_server = None;
        call.rounds += 1;
        call.round = Round::default();
        let mut requests = serde_json::Map::new();
        for nth in 0..count {
            self.numbers += 1;
            let method = if elicit { METHODS[0] } else { METHODS[(self.numbers % 3) as usize] };
            // Keys of different rounds and calls can be equal.
            let key = format!("é\"{nth}");
            requests.insert(key.clone(), json!({"method": method, "params": question(method, self.numbers)}));
            call.round.entries.push((key, self.numbers, method, None));
        }
        let mut result = json!({"resultType": "input_required"});
        if count > 0 {
            result["inputRequests"] = Value::Object(requests);
        }
        if state {
            let state = format!("state {at} {}", call.rounds);
            result["requestState"] = json!(state);
            call.round.state = Some(state);
        }
        result
    }

    fn feed(&mut self, at: usize, event: Event) {
        let binding = self.clock.binding(ME);
        self.calls[at].exchange.feed(event, &self.sealer, binding, self.clock.now());
        self.work(at);
    }

    fn work(&mut self, at: usize) {
        while let Some(step) = self.calls[at].exchange.poll() {
            assert!(!self.calls[at].over, "a call that is over goes on: {step:?}");
            match step {
                Step::Send(outbound) => self.sent(at, &outbound),
                Step::Put(question) => self.put(at, &question),
                Step::Relay(text) => {
                    assert_eq!(parsed(&text)["params"]["progressToken"], format!("token {at}"));
                }
                Step::Cancel(text) => {
                    let key = self.calls[at].at_server.take().expect("a server that works on it");
                    assert_eq!(parsed(&text)["params"]["requestId"], key);
                }
                Step::Answer(answer) => self.answered(at, &answer),
                Step::End => self.finish(at),
                other => panic!("{other:?}"),
            }
        }
    }

    fn sent(&mut self, at: usize, outbound: &Outbound) {
        assert!(self.keys.insert(outbound.key), "a key is used twice");
        let call = &mut self.calls[at];
        assert!(call.at_server.replace(outbound.key).is_none(), "two requests of one call at once");
        let body = parsed(&outbound.body);
        let params = &body["params"];
        assert_eq!(
            (&body["id"], &params["_meta"]["progressToken"]),
            (&json!(outbound.key), &json!(outbound.key))
        );
        assert_eq!(params["arguments"], json!({"n": at}));
        let Round { entries, state } = std::mem::take(&mut call.round);
        assert_eq!(params.get("requestState").and_then(Value::as_str), state.as_deref());
        let expected: serde_json::Map<String, Value> = entries
            .into_iter()
            .map(|(key, _, _, answer)| (key, answer.expect("all are answered before it is sent again")))
            .collect();
        let expected = (!expected.is_empty()).then_some(Value::Object(expected));
        assert_eq!(params.get("inputResponses"), expected.as_ref());
    }

    fn put(&mut self, at: usize, asked: &Question) {
        let text = self.asks.put(Asker(at, asked.index), asked, FrameLimits::default(), self.clock.now());
        let message = parsed(&text.expect("room for a question"));
        let id = message["id"].as_u64().expect("a number");
        assert!(self.ids.insert(id), "a question's id is used twice");
        let (_, number, method, _) = self.calls[at].round.entries[asked.index];
        assert_eq!((&message["method"], super::world::number(&message["params"])), (&json!(method), number));
        assert_eq!(super::world::number(&parsed(&asked.params)), number);
        self.open.insert(id, (at, method, number));
    }

    /// Lets the client answer one of its questions.
    fn reply(&mut self, id: u64, how: How) {
        let (at, method, number) = self.open.remove(&id).expect("open");
        let good = reply(method, number, ME);
        let closed = json!({"action": "cancel"});
        let entries = &mut self.calls[at].round.entries;
        let expected = &mut entries.iter_mut().find(|(_, n, ..)| *n == number).expect("of this round").3;
        let message = match how {
            How::Answer | How::Twice => {
                *expected = Some(good.clone());
                json!({"jsonrpc": "2.0", "id": id, "result": good})
            }
            How::Refuse | How::Garbage => {
                *expected = Some(closed);
                self.calls[at].refused |= method != METHODS[0];
                match how {
                    How::Refuse => {
                        json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "no"}})
                    }
                    _ => json!({"jsonrpc": "2.0", "id": id, "result": 7}),
                }
            }
        };
        let message = frame(&message);
        self.deliver(at, &message);
        assert!(!self.calls[at].refused || self.calls[at].over, "a refused call goes on");
        if matches!(how, How::Twice) {
            assert!(self.asks.answer(&message).is_none(), "a second answer to one question");
        }
    }

    /// Delivers an answer as a session does.
    fn deliver(&mut self, at: usize, message: &Frame) {
        let asked = self.asks.answer(message).expect("it is open");
        assert_eq!(asked.link.0, at, "somebody else's answer");
        let text = Frame::parse(asked.text, FrameLimits::default()).expect("a message");
        self.feed(at, Event::Replied(asked.link.1, text));
    }

    fn answered(&mut self, at: usize, answer: &ExchangeAnswer) {
        let call = &mut self.calls[at];
        call.answers += 1;
        assert!(!call.cancelled && call.answers == 1, "one answer, unless it was cancelled");
        let body = parsed(&answer.body);
        assert_eq!(body["id"], at);
        match body.get("result") {
            Some(result) => assert_eq!(result["content"][0]["text"], format!("answer {at}")),
            None => {
                assert!(
                    body["error"]["message"].as_str().is_some_and(|why| why.contains("\"up\"")),
                    "{body}"
                );
            }
        }
        self.finish(at);
    }

    fn finish(&mut self, at: usize) {
        self.calls[at].over = true;
        let mut forgotten = self.asks.forget(&Asker(at, 0));
        forgotten.sort_unstable();
        let mut open: Vec<u64> =
            self.open.extract_if(|_, (call, ..)| *call == at).map(|(id, _)| id).collect();
        open.sort_unstable();
        assert_eq!(forgotten, open, "the client is told of all that nobody waits for any more");
    }

    fn pass(&mut self, time: Duration) {
        self.clock.passed += time;
        for at in 0..self.calls.len() {
            let mut times = 0;
            while !self.calls[at].over && self.calls[at].exchange.deadline() <= self.clock.now() {
                self.feed(at, Event::Expired);
                times += 1;
                assert!(times < 9, "a deadline that stays");
            }
        }
    }

    fn end(mut self) {
        self.pass(Duration::from_secs(9));
        self.pass(Duration::from_secs(9));
        assert!(self.asks.is_empty() && self.open.is_empty(), "a question is kept");
        for call in &self.calls {
            assert!(call.over && call.answers == usize::from(!call.cancelled), "a call without its answer");
            assert!(call.at_server.is_none(), "a server was not told that nobody waits");
            assert!(call.rounds <= MAX_ROUNDS + 1, "{} rounds", call.rounds);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn every_round_is_answered_or_the_call_ends(ops in prop::collection::vec(op(), 1..120)) {
        let mut world = World::new();
        for op in &ops {
            world.apply(op);
        }
        world.end();
    }
}
