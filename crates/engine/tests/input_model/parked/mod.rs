//! Stateless clients, and servers that ask through requests: calls wait while their clients are asked through
//! results.

mod gateway;
mod peers;

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use dragoman_engine::catalogue::View;
use dragoman_engine::exchange::{Exchange, Ticket};
use proptest::prelude::*;
use proto::era::{Era, V2025_11_25, V2026_07_28};
use serde_json::Value;

use super::world::{Clock, Toy, start, view};

const CLIENT: &Era = &V2026_07_28;
const SERVER: &Era = &V2025_11_25;
static VIEW: LazyLock<View> = LazyLock::new(|| view(CLIENT, SERVER));
const PEOPLE: [&str; 3] = ["anna", "bert", "cleo"];

/// The maximum number of parked calls.
const CAP: usize = 2;

/// The way in which a client returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    All,
    Some,
    Nothing,
    /// With additional answers to questions that were not asked.
    Extra,
    /// With values that are not answers.
    Wrong,
    /// With something that is not an object.
    Unreadable,
}

/// The fault of a returned state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Nothing,
    Person,
    Arguments,
    Letter,
}

#[derive(Debug, Clone)]
enum Op {
    Begin {
        who: usize,
        what: usize,
    },
    Ask {
        call: usize,
        count: usize,
    },
    AskAgain {
        call: usize,
    },
    Withdraw {
        call: usize,
        which: usize,
    },
    Finish {
        call: usize,
    },
    Die {
        call: usize,
    },
    Progress {
        call: usize,
    },
    /// With one of the waiting states if `waits` is true, otherwise with any earlier state.
    Retry {
        state: usize,
        waits: bool,
        how: How,
        wrong: Wrong,
    },
    Leave {
        request: usize,
    },
    Pass {
        millis: u64,
    },
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    let how = prop_oneof![
        6 => Just(How::All),
        3 => Just(How::Some),
        1 => Just(How::Nothing),
        1 => Just(How::Extra),
        1 => Just(How::Wrong),
        1 => Just(How::Unreadable),
    ];
    let wrong = prop_oneof![
        12 => Just(Wrong::Nothing),
        1 => Just(Wrong::Person),
        1 => Just(Wrong::Arguments),
        1 => Just(Wrong::Letter),
    ];
    prop_oneof![
        4 => (0..3_usize, 0..2_usize).prop_map(|(who, what)| Op::Begin { who, what }),
        8 => (any::<usize>(), 1..=3_usize).prop_map(|(call, count)| Op::Ask { call, count }),
        1 => any::<usize>().prop_map(|call| Op::AskAgain { call }),
        2 => (any::<usize>(), any::<usize>()).prop_map(|(call, which)| Op::Withdraw { call, which }),
        3 => any::<usize>().prop_map(|call| Op::Finish { call }),
        1 => any::<usize>().prop_map(|call| Op::Die { call }),
        2 => any::<usize>().prop_map(|call| Op::Progress { call }),
        8 => (any::<usize>(), prop::bool::weighted(0.8), how, wrong)
            .prop_map(|(state, waits, how, wrong)| Op::Retry { state, waits, how, wrong }),
        1 => any::<usize>().prop_map(|request| Op::Leave { request }),
        9 => (5..40_u64).prop_map(|millis| Op::Pass { millis }),
        1 => (0..1200_u64).prop_map(|millis| Op::Pass { millis }),
        1 => Just(Op::Restart),
    ]
}

/// A question of a server.
struct Asked {
    id: Value,
    number: u64,
    method: &'static str,
    withdrawn: bool,
    responses: usize,
}

/// One call from the point of view of its server.
struct Served {
    key: u64,
    /// True if the server has answered, or is gone.
    over: bool,
    cancelled: usize,
    asked: Vec<Asked>,
    progress: u64,
}

enum Place {
    Running(Box<Exchange>),
    Parked(Ticket),
    Over,
}

struct Call {
    who: usize,
    what: usize,
    request: usize,
    place: Place,
    served: Served,
    /// The progress when the client last received a notice.
    heard: u64,
}

/// A request from a client.
#[derive(Debug)]
struct Request {
    who: usize,
    answers: usize,
    /// True if nobody waits for its answer anymore.
    left: bool,
}

/// A state that a client was given.
#[derive(Clone)]
struct State {
    text: String,
    call: usize,
    generation: u64,
    sealed: Duration,
    keys: Vec<(String, u64, String)>,
}

struct World {
    clock: Clock,
    generation: u64,
    sealer: Toy,
    parked: HashMap<Ticket, (usize, Box<Exchange>, Duration)>,
    calls: Vec<Call>,
    requests: Vec<Request>,
    states: Vec<State>,
    numbers: u64,
}

impl World {
    fn new() -> Self {
        Self {
            clock: Clock { start: start(), passed: Duration::ZERO },
            generation: 1,
            sealer: Toy::new(1),
            parked: HashMap::new(),
            calls: Vec::new(),
            requests: Vec::new(),
            states: Vec::new(),
            numbers: 0,
        }
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Begin { who, what } => self.begin(who, what),
            Op::Retry { state, waits, how, wrong } => {
                let good = |state: &&State| !waits || self.waits(state);
                let states: Vec<&State> = self.states.iter().filter(good).collect();
                if let Some(at) = pick(&states, state) {
                    let state = states[at].clone();
                    self.retry(&state, how, wrong);
                }
            }
            Op::Leave { request } => {
                let open =
                    |call: &Call| matches!(call.place, Place::Running(_)) && request % 3 == call.request % 3;
                if let Some(call) = self.calls.iter().position(open) {
                    self.requests[self.calls[call].request].left = true;
                    self.drop_running(call);
                }
            }
            Op::Pass { millis } => self.pass(Duration::from_millis(millis)),
            Op::Restart => self.restart(),
            Op::Ask { call, .. }
            | Op::AskAgain { call }
            | Op::Withdraw { call, .. }
            | Op::Finish { call }
            | Op::Die { call }
            | Op::Progress { call } => {
                let live: Vec<usize> = (0..self.calls.len())
                    .filter(|at| {
                        !matches!(self.calls[*at].place, Place::Over) && !self.calls[*at].served.over
                    })
                    .collect();
                if let Some(at) = pick(&live, call) {
                    self.serve(live[at], op);
                }
            }
        }
        assert!(self.parked.len() <= CAP, "more are parked than may be");
    }
}

fn pick<T>(from: &[T], at: usize) -> Option<usize> {
    (!from.is_empty()).then(|| at % from.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn no_call_is_lost_and_no_answer_goes_astray(ops in prop::collection::vec(op(), 1..80)) {
        let mut world = World::new();
        for op in &ops {
            world.apply(op);
        }
        world.end();
    }
}
