//! The actions of clients, servers and the clock.

use std::time::Duration;

use dragoman_engine::exchange::{Event, Execution, LinkFailure};
use proto::rpc::Frame;
use serde_json::{Value, json};

use super::super::world::{LIFETIME, METHODS, Toy, all_questions, begin, frame, question};
use super::{Asked, CLIENT, Call, Op, PEOPLE, Place, Request, SERVER, Served, VIEW, World, pick};

impl World {
    pub(super) fn request(&mut self, who: usize, what: usize, more: &Value) -> (usize, Frame) {
        let id = self.requests.len();
        self.requests.push(Request { who, answers: 0, left: false });
        let mut params = json!({
            "name": "up__t", "arguments": {"what": what},
            "_meta": {
                "progressToken": format!("token {id}"),
                "io.modelcontextprotocol/protocolVersion": CLIENT.version,
                "io.modelcontextprotocol/clientCapabilities": all_questions(),
            },
        });
        for (key, value) in more.as_object().expect("an object") {
            params[key] = value.clone();
        }
        (
            id,
            frame(
                &json!({"jsonrpc": "2.0", "id": format!("r{id}"), "method": "tools/call", "params": params}),
            ),
        )
    }

    pub(super) fn begin(&mut self, who: usize, what: usize) {
        let (request, text) = self.request(who, what, &json!({}));
        let exchange = begin(text, &VIEW, SERVER, &self.sealer, self.clock, PEOPLE[who]);
        let served = Served { key: 0, over: false, cancelled: 0, asked: Vec::new(), progress: 0 };
        let place = Place::Running(Box::new(exchange));
        self.calls.push(Call { who, what, request, place, served, heard: 0 });
        self.work(self.calls.len() - 1);
    }

    /// Lets the server of a call act.
    pub(super) fn serve(&mut self, at: usize, op: &Op) {
        let served = &mut self.calls[at].served;
        let mut events = Vec::new();
        let ask = |asked: &Asked| json!({"jsonrpc": "2.0", "id": asked.id, "method": asked.method, "params": question(asked.method, asked.number)});
        match *op {
            Op::Ask { count, .. } => {
                for _ in 0..count {
                    self.numbers += 1;
                    let (number, method) = (self.numbers, METHODS[(self.numbers % 3) as usize]);
                    // Each server counts on its own, so ids of different calls can be equal.
                    let nth = served.asked.len();
                    let id = if nth.is_multiple_of(2) { json!(nth) } else { json!(format!("é{nth}")) };
                    let asked = Asked { id, number, method, withdrawn: false, responses: 0 };
                    events.push(ask(&asked));
                    served.asked.push(asked);
                }
            }
            Op::AskAgain { .. } => {
                let open = |asked: &&Asked| !asked.withdrawn && asked.responses == 0;
                events.extend(served.asked.iter().find(open).map(ask));
            }
            Op::Withdraw { which, .. } => {
                let open = |asked: &&mut Asked| !asked.withdrawn && asked.responses == 0;
                let mut open: Vec<&mut Asked> = served.asked.iter_mut().filter(open).collect();
                if let Some(which) = pick(&open, which) {
                    open[which].withdrawn = true;
                    let params = json!({"requestId": open[which].id});
                    events.push(
                        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
                    );
                }
            }
            Op::Finish { .. } => {
                served.over = true;
                for text in [format!("answer {at}"), "another".to_owned()] {
                    let result = json!({"content": [{"type": "text", "text": text}]});
                    events.push(json!({"jsonrpc": "2.0", "id": served.key, "result": result}));
                }
            }
            Op::Progress { .. } => {
                served.progress += 1;
                let params = json!({"progressToken": served.key, "progress": served.progress});
                events.push(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
            }
            _ => {
                served.over = true;
                let failure = LinkFailure {
                    message: "is gone".to_owned(),
                    execution: Execution::Unknown,
                    retry: false,
                };
                return self.feed(at, Event::Failed(failure));
            }
        }
        for event in events {
            self.feed(at, Event::Frame(frame(&event), None));
        }
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.clock.passed += time;
        for at in 0..self.calls.len() {
            for _ in 0..9 {
                match &self.calls[at].place {
                    Place::Running(exchange) if exchange.deadline() <= self.clock.now() => {
                        self.feed(at, Event::Expired);
                    }
                    _ => break,
                }
            }
            if let Place::Running(exchange) = &self.calls[at].place {
                assert!(exchange.deadline() > self.clock.now(), "a deadline that stays");
            }
        }
        let passed = self.clock.passed;
        let late: Vec<_> = self.parked.extract_if(|_, (_, _, until)| *until <= passed).collect();
        for (_, (at, exchange, _)) in late {
            self.give_up(at, exchange);
        }
    }

    /// Kills the gateway and starts it again; all links are lost.
    pub(super) fn restart(&mut self) {
        self.generation += 1;
        self.sealer = Toy::new(self.generation);
        self.parked.clear();
        for call in &mut self.calls {
            if let Place::Running(_) = call.place {
                self.requests[call.request].left = true;
            }
            if !matches!(call.place, Place::Over) {
                (call.place, call.served.over) = (Place::Over, true);
            }
        }
    }

    /// Lets all clients leave, and time pass.
    pub(super) fn end(mut self) {
        self.pass(Duration::from_millis(50));
        self.pass(Duration::from_secs(3));
        self.pass(LIFETIME);
        assert!(self.parked.is_empty(), "something is kept");
        for call in &self.calls {
            assert!(matches!(call.place, Place::Over), "a call is not over");
            let served = &call.served;
            assert!(served.over || served.cancelled == 1, "a server was not told that nobody waits");
            for asked in served.asked.iter().filter(|asked| !served.over && !asked.withdrawn) {
                assert_eq!(asked.responses, 1, "a server was left without a response");
            }
        }
        for (id, request) in self.requests.iter().enumerate() {
            assert!(request.left || request.answers == 1, "request {id}: {request:?}");
        }
    }
}
