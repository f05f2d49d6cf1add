//! Complete tasks in every order of events: no question is lost, and none is asked or answered twice.

use std::collections::{BTreeMap, BTreeSet};

use dragoman_proto::bridge::tasks::{LegacyToModern, TaskStep, Watch};
use proptest::prelude::*;

use super::*;

/// The stage of a server of the extension between two answers of its client.
#[derive(Debug, Clone)]
enum Stage {
    Work(u8),
    Ask(u8),
}

fn stages() -> impl Strategy<Value = Vec<Stage>> {
    let stage = prop_oneof![(1_u8..4).prop_map(Stage::Work), (1_u8..4).prop_map(Stage::Ask)];
    proptest::collection::vec(stage, 0..6)
}

/// A server of the extension with one task.
struct Extended {
    stages: Vec<Stage>,
    ending: &'static str,
    pending: BTreeSet<String>,
    answered: BTreeMap<String, Value>,
    minted: usize,
}

impl Extended {
    fn get(&mut self) -> Value {
        if self.pending.is_empty() {
            match self.stages.first_mut() {
                Some(Stage::Work(left)) if *left > 0 => *left -= 1,
                Some(Stage::Work(_)) => {
                    self.stages.remove(0);
                }
                Some(Stage::Ask(many)) => {
                    for _ in 0..*many {
                        self.minted += 1;
                        self.pending.insert(format!("k{}", self.minted));
                    }
                    self.stages.remove(0);
                }
                None => {
                    let mut ended = task(self.ending);
                    ended["result"] = json!({"content": [], "resultType": "complete"});
                    ended["error"] = json!({"code": -32603, "message": "failed"});
                    return ended;
                }
            }
        }
        if self.pending.is_empty() {
            return task("working");
        }
        let mut asks = task("input_required");
        let entry = |key: &String| {
            let params = json!({"message": key, "requestedSchema": {"type": "object", "properties": {}}});
            (key.clone(), json!({"method": "elicitation/create", "params": params}))
        };
        asks["inputRequests"] = Value::Object(self.pending.iter().map(entry).collect());
        asks
    }

    fn update(&mut self, params: &Bytes) {
        let params: Value = serde_json::from_str(&format!("{{{}}}", text(params))).unwrap();
        for (key, answer) in params["inputResponses"].as_object().unwrap() {
            assert!(self.pending.remove(key), "{key} is not open");
            self.answered.insert(key.clone(), answer.clone());
        }
    }
}

/// The state of the machine's shell.
#[derive(Default)]
struct Shell {
    sent: Option<TaskStep>,
    waiting: bool,
    asked: Vec<(usize, String)>,
    all_asked: BTreeSet<String>,
    ended: Option<TaskStep>,
}

impl Shell {
    fn heed(&mut self, todo: &mut Vec<TaskStep>) -> Result<(), TestCaseError> {
        for next in todo.drain(..) {
            match next {
                TaskStep::Send(..) => {
                    prop_assert!(self.sent.is_none(), "one request at a time");
                    self.waiting = false;
                    self.sent = Some(next);
                }
                TaskStep::Wait(ms) => {
                    prop_assert!((1..=10_000).contains(&ms) && self.sent.is_none());
                    self.waiting = true;
                }
                TaskStep::Ask(question) => {
                    let params = parsed(&question.params);
                    let key = params["message"].as_str().unwrap().to_owned();
                    prop_assert_eq!(&params["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], "T");
                    prop_assert!(self.all_asked.insert(key.clone()), "asked twice");
                    self.asked.push((question.index, key));
                }
                TaskStep::Questions => prop_assert!(false, "there is no watch here"),
                TaskStep::Result(_) | TaskStep::Error(_) => {
                    prop_assert!(self.ended.replace(next).is_none(), "ended twice");
                }
            }
        }
        Ok(())
    }
}

/// The questions that a task's watch shows in answer to a request for its state. The server waits for these
/// answers.
fn shown(open: &BTreeMap<String, usize>, watch: &mut Option<Watch>, watches: &mut u64) -> Value {
    let status = if open.is_empty() { "completed" } else { "input_required" };
    let mut machine = get(TaskMethod::Get);
    let mut next = machine.answer(&result(&legacy_task(status))).unwrap();
    if let TaskStep::Send(TaskMethod::Result, _) = next {
        next = machine.answer(&result(&json!({"content": []}))).unwrap();
    }
    if next == TaskStep::Questions {
        let watch = watch.get_or_insert_with(|| {
            *watches += 1;
            let mut new = Watch::new(&V2025_11_25, *watches);
            for number in open.values() {
                new.ask(&question(*number)).unwrap();
            }
            new
        });
        next = machine.questions(&watch.shown(&V2026_07_28, CAN)).unwrap();
    }
    let TaskStep::Result(shown) = next else { panic!("{next:?}") };
    parsed(&shown)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// In every order of answers, replies and pauses, a legacy client gets the outcome once and each question once, and
    /// each of its answers reaches the right question once.
    #[test]
    fn no_question_of_an_extended_task_is_lost_or_doubled(
        stages in stages(),
        ending in prop_oneof![Just("completed"), Just("failed"), Just("cancelled")],
        order in proptest::collection::vec(0_usize..100, 1..400),
    ) {
        let mut server = Extended { stages, ending, pending: BTreeSet::new(), answered: BTreeMap::new(), minted: 0 };
        let (mut machine, first) = LegacyToModern::begin(legacy_client(), TaskMethod::Result, id()).unwrap();
        let mut todo = vec![first];
        let mut world = Shell::default();
        let mut order = order.into_iter().chain(std::iter::repeat(0));
        for _ in 0..2000 {
            world.heed(&mut todo)?;
            if world.ended.is_some() {
                break;
            }
            prop_assert!(world.sent.is_some() || world.waiting, "stuck");
            let choice = order.next().unwrap_or(0);
            let replies = !world.asked.is_empty() && (choice % 2 == 1 || (choice == 0 && world.sent.is_none()));
            todo.extend(if replies {
                let (index, key) = world.asked.remove(choice / 2 % world.asked.len());
                machine.reply(index, &result(&json!({"action": "accept", "content": {"key": key}})))
            } else if let Some(TaskStep::Send(method, params)) = world.sent.take() {
                let answer = match method {
                    TaskMethod::Get => server.get(),
                    TaskMethod::Update => {
                        server.update(&params);
                        json!({"resultType": "complete"})
                    }
                    other => panic!("{other:?}"),
                };
                machine.answer(&result(&answer))
            } else {
                world.waiting = false;
                machine.waited()
            });
        }
        prop_assert_eq!(matches!(&world.ended, Some(TaskStep::Result(_))), ending == "completed");
        prop_assert!(world.ended.is_some());
        prop_assert_eq!(server.answered.len(), server.minted);
        for (key, answer) in &server.answered {
            prop_assert_eq!(&answer["content"]["key"], &json!(key));
        }
        prop_assert!(machine.waited().is_empty() && machine.answer(&result(&task("working"))).is_empty());
    }

    /// In every order of actions, a modern client sees each open question until it has answered it, and the server gets
    /// each answer once. In the end the outcome is available, however often the client requests it.
    #[test]
    fn no_question_of_an_experimental_task_is_lost_or_doubled(
        rounds in proptest::collection::vec(1_usize..4, 0..4),
        acts in proptest::collection::vec((0_u8..6, 0_usize..8), 0..60),
    ) {
        let mut rounds = rounds.into_iter();
        // The answers that the server waits for, by the id of the question.
        let mut open: BTreeMap<String, usize> = BTreeMap::new();
        let mut minted = 0;
        let mut watch: Option<Watch> = None;
        let mut watches = 0;
        let mut keys = BTreeMap::new();
        let mut ask = |open: &mut BTreeMap<String, usize>| {
            for _ in 0..rounds.next().unwrap_or(0) {
                minted += 1;
                open.insert(format!("s{minted}"), minted);
            }
        };
        ask(&mut open);
        let all = (0..200).map(|n| (0_u8, n));
        for (act, pick) in acts.into_iter().chain(all) {
            let shown = shown(&open, &mut watch, &mut watches);
            let Some(requests) = shown["inputRequests"].as_object() else {
                prop_assert_eq!(&shown["status"], "completed");
                prop_assert!(open.is_empty() && shown["result"].is_object());
                if act == 0 {
                    break;
                }
                continue;
            };
            prop_assert_eq!(requests.len(), open.len());
            for (key, request) in requests {
                let earlier = keys.insert(key.clone(), request.clone());
                prop_assert!(earlier.is_none_or(|earlier| earlier == *request), "a key is used again");
            }
            if act == 5 {
                // The connection is lost together with the stored questions. The server asks them again on
                // the next connection.
                watch = None;
                continue;
            }
            let (key, request) = requests.iter().nth(pick % requests.len()).unwrap();
            let message = request["params"]["message"].as_str().unwrap();
            let answer = json!({"action": "accept", "content": {"m": message}});
            let given = Bytes::from(json!({key: answer, "odd": {}, "t0-0": 7}).to_string());
            let responses = Members::of_document(&given, 64).unwrap();
            let told = watch.as_mut().unwrap().answer(&given, &responses, &V2026_07_28);
            prop_assert_eq!(told.len(), 1);
            let told = parsed(&told[0]);
            let number = open.remove(told["id"].as_str().unwrap());
            prop_assert_eq!(number.map(|n| format!("m{n}")), Some(message.to_owned()));
            prop_assert_eq!(&told["result"]["content"]["m"], message);
            prop_assert!(watch.as_mut().unwrap().answer(&given, &responses, &V2026_07_28).is_empty(), "once");
            if open.is_empty() {
                ask(&mut open);
                watch = None;
            }
        }
        prop_assert!(open.is_empty(), "lost");
    }
}
