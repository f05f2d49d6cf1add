//! The gateway's loop for calls, and for clients that return.

use dragoman_engine::exchange::{
    Event, Exchange, ExchangeAnswer, ParkedRequest, Step, Ticket, no_longer_open, parked,
};
use proto::bridge::input::MAX_QUESTIONS;
use serde_json::{Value, json};

use super::super::world::{LIFETIME, number, parsed, reply};
use super::{CAP, CLIENT, Call, How, PEOPLE, Place, State, World, Wrong};

impl World {
    pub(super) fn feed(&mut self, at: usize, event: Event) {
        let call = &mut self.calls[at];
        let binding = self.clock.binding(PEOPLE[call.who]);
        match &mut call.place {
            Place::Running(exchange) => exchange.feed(event, &self.sealer, binding, self.clock.now()),
            Place::Parked(ticket) => {
                let (_, exchange, _) = self.parked.get_mut(ticket).expect("it waits");
                exchange.feed(event, &self.sealer, binding, self.clock.now());
                // No client is left that could receive it.
                while let Some(step) = exchange.poll() {
                    let Step::Refuse(asked, _) = step else { panic!("{step:?}") };
                    respond(call, asked.id().expect("an id").json(), None);
                }
                return;
            }
            Place::Over => return,
        }
        self.work(at);
    }

    /// Performs the steps that the exchange of a running call requests.
    pub(super) fn work(&mut self, at: usize) {
        loop {
            let Place::Running(exchange) = &mut self.calls[at].place else { return };
            let Some(step) = exchange.poll() else { return };
            match step {
                Step::Send(outbound) => {
                    assert!(
                        self.calls.iter().all(|call| call.served.key != outbound.key),
                        "a key is used twice"
                    );
                    self.calls[at].served.key = outbound.key;
                }
                Step::Relay(text) => {
                    let call = &mut self.calls[at];
                    let request = &self.requests[call.request];
                    assert!(request.answers == 0 && !request.left, "a notice behind the answer");
                    let params = &parsed(&text)["params"];
                    assert_eq!(params["progressToken"], format!("token {}", call.request));
                    let progress = params["progress"].as_u64().expect("a number");
                    assert!(progress > call.heard, "progress goes back");
                    call.heard = progress;
                }
                Step::Tell(text) => self.told(at, &text),
                Step::Refuse(asked, _) => {
                    respond(&mut self.calls[at], asked.id().expect("an id").json(), None);
                }
                Step::Park(ticket, answer) => return self.park(at, ticket, &answer),
                Step::Cancel(text) => self.cancelled(at, &text),
                Step::Answer(answer) => {
                    self.calls[at].place = Place::Over;
                    self.answered(at, &answer);
                }
                Step::End => self.calls[at].place = Place::Over,
                other => panic!("{other:?}"),
            }
        }
    }

    pub(super) fn told(&mut self, at: usize, text: &[u8]) {
        let message = parsed(text);
        let id = message["id"].to_string();
        respond(&mut self.calls[at], id.as_bytes(), message.get("result"));
    }

    pub(super) fn cancelled(&mut self, at: usize, text: &[u8]) {
        let served = &mut self.calls[at].served;
        assert_eq!(parsed(text)["params"]["requestId"], served.key);
        assert!(!served.over, "an answered request is cancelled");
        served.cancelled += 1;
    }

    pub(super) fn park(&mut self, at: usize, ticket: Ticket, answer: &ExchangeAnswer) {
        let Place::Running(exchange) = std::mem::replace(&mut self.calls[at].place, Place::Over) else {
            panic!()
        };
        if self.parked.len() >= CAP {
            let request = self.calls[at].request;
            self.requests[request].answers += 1;
            return self.give_up(at, exchange);
        }
        self.calls[at].place = Place::Parked(ticket);
        let before = self.parked.insert(ticket, (at, exchange, self.clock.passed + LIFETIME));
        assert!(before.is_none(), "a ticket is given twice");
        let call = &self.calls[at];
        let request = &mut self.requests[call.request];
        assert_eq!((request.answers, request.left), (0, false));
        request.answers += 1;
        let body = parsed(&answer.body);
        assert_eq!(body["id"], format!("r{}", call.request));
        let result = &body["result"];
        assert_eq!(result["resultType"], "input_required");
        let shown = result["inputRequests"].as_object().expect("an object");
        assert!((1..=MAX_QUESTIONS).contains(&shown.len()), "{} questions", shown.len());
        let mut keys = Vec::new();
        for (key, entry) in shown {
            let number = number(&entry["params"]);
            let asked = call.served.asked.iter().find(|asked| asked.number == number);
            let asked = asked.expect("asked by the server of this call");
            assert!(!asked.withdrawn && asked.responses == 0, "it is not open");
            assert_eq!(entry["method"], asked.method);
            keys.push((key.clone(), number, asked.method.to_owned()));
        }
        let text = result["requestState"].as_str().expect("a state").to_owned();
        let (generation, sealed) = (self.generation, self.clock.passed);
        self.states.push(State { text, call: at, generation, sealed, keys });
    }

    pub(super) fn answered(&mut self, at: usize, answer: &ExchangeAnswer) {
        let call = &self.calls[at];
        let request = &mut self.requests[call.request];
        assert_eq!((request.answers, request.left), (0, false), "one answer for a request");
        assert_eq!(request.who, call.who);
        request.answers += 1;
        let body = parsed(&answer.body);
        assert_eq!(body["id"], format!("r{}", call.request));
        match body.get("result") {
            Some(result) => assert_eq!(result["content"][0]["text"], format!("answer {at}")),
            None => {
                assert!(body["error"]["message"].as_str().is_some_and(|why| why.contains("up")), "{body}");
            }
        }
    }

    /// Ends an exchange on behalf of a client that is gone.
    pub(super) fn give_up(&mut self, at: usize, mut exchange: Box<Exchange>) {
        let binding = self.clock.binding(PEOPLE[self.calls[at].who]);
        exchange.feed(Event::Cancelled(None), &self.sealer, binding, self.clock.now());
        while let Some(step) = exchange.poll() {
            match step {
                Step::Tell(text) => self.told(at, &text),
                Step::Cancel(text) => self.cancelled(at, &text),
                Step::End => {}
                other => panic!("{other:?}"),
            }
        }
        self.calls[at].place = Place::Over;
    }

    pub(super) fn drop_running(&mut self, at: usize) {
        if let Place::Running(exchange) = std::mem::replace(&mut self.calls[at].place, Place::Over) {
            self.give_up(at, exchange);
        }
    }

    /// Returns true if a call waits under this state.
    pub(super) fn waits(&self, state: &State) -> bool {
        let newest = self.states.iter().rev().find(|other| other.call == state.call);
        matches!(self.calls[state.call].place, Place::Parked(_))
            && newest.is_some_and(|newest| newest.text == state.text)
    }

    pub(super) fn retry(&mut self, state: &State, how: How, wrong: Wrong) {
        let call = &self.calls[state.call];
        let who = (call.who + usize::from(wrong == Wrong::Person)) % PEOPLE.len();
        let what = call.what + usize::from(wrong == Wrong::Arguments) * 7;
        let mut text = state.text.clone();
        if wrong == Wrong::Letter {
            let at = self.requests.len() % text.len();
            let other = if &text[at..=at] == "0" { "1" } else { "0" };
            text.replace_range(at..=at, other);
        }
        let more = json!({"requestState": text, "inputResponses": responses(state, how, PEOPLE[who])});
        let (request, retry) = self.request(who, what, &more);
        let ticket = parked(&retry, CLIENT, &self.sealer, self.clock.binding(PEOPLE[who]));
        let ticket = ticket.and_then(|parked| match parked {
            Some(ParkedRequest::Here(ticket)) => Ok(ticket),
            Some(ParkedRequest::Elsewhere(_)) => Err(no_longer_open()),
            None => panic!("a parked call's state"),
        });
        let valid = wrong == Wrong::Nothing
            && how != How::Unreadable
            && state.generation == self.generation
            && self.clock.passed < state.sealed + LIFETIME;
        assert_eq!(ticket.is_ok(), valid, "{ticket:?}");
        let found = match ticket {
            Ok(ticket) => {
                let found = self.parked.remove(&ticket).ok_or_else(no_longer_open);
                let waits = matches!(self.calls[state.call].place, Place::Parked(held) if held == ticket);
                assert_eq!(found.is_ok(), waits, "a ticket is good for one retry");
                found
            }
            Err(fault) => Err(fault),
        };
        match found {
            Err(fault) => {
                assert_eq!(fault.code, -32602);
                assert!(fault.message.contains("requestState") || how == How::Unreadable, "{fault}");
                self.requests[request].answers += 1;
            }
            Ok((at, mut exchange, _)) => {
                assert_eq!((at, who), (state.call, self.calls[at].who), "somebody else's call");
                let binding = self.clock.binding(PEOPLE[who]);
                exchange.resume(retry, &self.sealer, binding, self.clock.now()).expect("it was checked");
                (self.calls[at].request, self.calls[at].place) = (request, Place::Running(exchange));
                self.work(at);
            }
        }
    }
}

/// Delivers a response to a server's question, and checks the client's answer in it, if there is one.
fn respond(call: &mut Call, id: &[u8], result: Option<&Value>) {
    let id: Value = serde_json::from_slice(id).expect("JSON");
    let who = PEOPLE[call.who];
    let asked = call.served.asked.iter_mut().find(|asked| asked.id == id).expect("a question of this server");
    asked.responses += 1;
    assert_eq!(asked.responses, 1, "a question is answered twice");
    let closed = json!({"action": "cancel"});
    if let Some(result) = result.filter(|result| **result != closed) {
        assert_eq!(*result, reply(asked.method, asked.number, who), "somebody else's answer");
    }
}

fn responses(state: &State, how: How, by: &str) -> Value {
    let mut all: serde_json::Map<String, Value> = serde_json::Map::new();
    for (at, (key, number, method)) in state.keys.iter().enumerate() {
        let answer = match how {
            How::Nothing => continue,
            How::Some if at % 2 == 1 => continue,
            How::Wrong => json!(["accept"]),
            _ => reply(method, *number, by),
        };
        all.insert(key.clone(), answer);
    }
    match how {
        How::Unreadable => json!("accept"),
        How::Extra => {
            all.insert("q0".to_owned(), reply("roots/list", 0, by));
            all.insert("q999".to_owned(), json!({"action": "accept"}));
            Value::Object(all)
        }
        _ => Value::Object(all),
    }
}
