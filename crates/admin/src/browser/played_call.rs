//! Calls that operators make by hand: each runs as a client without a session, answers its server's questions with what the operator
//! enters, and keeps its messages for the page. This module must not know how a page looks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::access::{Principal, Scheme};
use parking_lot::Mutex;
use proto::era::newest_stateless;
use proto::mcp::meta;
use proto::rpc::{Frame, FrameLimits};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};
use transport::net::Stop;

use gateway::admission::identity::Identity;
use gateway::call::call::Call;
use gateway::call::capture::{CapturedMessage, SharedMessages};
use gateway::call::decide::{Decision, decide};
use gateway::call::drive::{CallEnd, ClientSink, drive};
use gateway::call::requester::Requester;
use gateway::call::stateless::view_of;
use gateway::process::Shard;

/// The time that an operator has to answer a question.
const PATIENCE: Duration = Duration::from_mins(10);

/// The maximum number of rounds of questions.
const ROUNDS: usize = 32;

/// The maximum number of kept reports of progress.
const REPORTS: usize = 500;

/// The longest answer that is kept, in bytes.
const LONGEST: usize = 256 << 10;

/// The state of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlayState {
    Running,
    Asking,
    Done,
    Failed,
    Cancelled,
}

/// A question of the server.
#[derive(Debug, Clone)]
pub(super) struct PlayedQuestion {
    pub(super) id: String,
    /// The params of `elicitation/create`.
    pub(super) params: Value,
}

/// A report of progress.
#[derive(Debug, Clone)]
pub(super) struct PlayedProgress {
    pub(super) after: Duration,
    pub(super) params: Value,
}

/// The current state of a call, with its messages so far.
#[derive(Debug, Clone)]
pub(super) struct PlayedFacts {
    pub(super) state: PlayState,
    pub(super) ended: Option<Duration>,
    pub(super) progress: Vec<PlayedProgress>,
    pub(super) question: Option<PlayedQuestion>,
    /// The result or the error; `None` until the call ends.
    pub(super) answer: Option<Value>,
}

/// An operator's answer to a question.
#[derive(Debug)]
pub(super) struct PlayedAnswer {
    pub(super) question: String,
    /// The result of `elicitation/create`.
    pub(super) result: Value,
}

/// The tool to call, with its arguments.
pub(super) struct PlayedRequest {
    pub(super) profile: usize,
    pub(super) slug: String,
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// A call.
pub(super) struct PlayedCall {
    pub(super) id: String,
    /// The token of the session that began the call; no other session may see it.
    pub(super) owner: Arc<str>,
    pub(super) slug: String,
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) started: Instant,
    facts: Mutex<PlayedFacts>,
    messages: Mutex<SharedMessages>,
    changed: watch::Sender<()>,
    answers: mpsc::Sender<PlayedAnswer>,
    cancelled: Stop,
}

impl PlayedCall {
    /// Begins a call for an operator with this name.
    pub(super) fn begin(
        shard: &Arc<Shard>,
        (id, owner, operator): (String, Arc<str>, &str),
        request: PlayedRequest,
    ) -> Arc<Self> {
        let (answers, answered) = mpsc::channel(1);
        let played = Arc::new(Self {
            id,
            owner,
            slug: request.slug.clone(),
            tool: request.tool.clone(),
            arguments: request.arguments.clone(),
            started: Instant::now(),
            facts: Mutex::new(PlayedFacts {
                state: PlayState::Running,
                ended: None,
                progress: Vec::new(),
                question: None,
                answer: None,
            }),
            messages: Mutex::default(),
            changed: watch::channel(()).0,
            answers,
            cancelled: Stop::new(),
        });
        let (own, shard) = (played.clone(), shard.clone());
        let principal = Arc::new(Principal::new(operator, Scheme::Anyone));
        let stop = shard.gateway.process.stop.clone();
        // The task ends with the call, when it is cancelled, or when the gateway stops.
        transport::task::spawn(async move {
            let following = shard.call.state.capture.follow(&principal);
            *own.messages.lock() = following.messages.clone();
            let running = run(&shard, &own, (principal, request), answered);
            let end = tokio::select! {
                biased;
                end = running => Some(end),
                () = own.cancelled.stopped() => None,
                () = stop.stopped() => None,
            };
            own.end(end);
        });
        played
    }

    pub(super) fn facts(&self) -> PlayedFacts {
        self.facts.lock().clone()
    }

    pub(super) fn messages(&self) -> Vec<CapturedMessage> {
        let shared = self.messages.lock().clone();
        let messages = shared.lock();
        messages.clone()
    }

    pub(super) fn is_over(&self) -> bool {
        self.facts.lock().ended.is_some()
    }

    pub(super) fn cancel(&self) {
        self.cancelled.stop();
    }

    /// Passes on an operator's answer; returns true if the answer belongs to the open question.
    pub(super) fn answer(&self, answer: PlayedAnswer) -> bool {
        let is_open = self.facts.lock().question.as_ref().is_some_and(|open| open.id == answer.question);
        is_open && self.answers.try_send(answer).is_ok()
    }

    /// Returns a receiver that is notified of every change.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn change(&self, how: impl FnOnce(&mut PlayedFacts)) {
        how(&mut self.facts.lock());
        self.changed.send_replace(());
    }

    /// Records the end: the answer, or `None` if the call was cancelled.
    fn end(&self, end: Option<Value>) {
        self.change(|facts| {
            facts.ended = Some(self.started.elapsed());
            facts.question = None;
            let is_failed =
                |answer: &Value| answer.get("error").is_some() || answer["result"]["isError"] == true;
            facts.state = match &end {
                None => PlayState::Cancelled,
                Some(answer) if is_failed(answer) => PlayState::Failed,
                Some(_) => PlayState::Done,
            };
            facts.answer = end;
        });
    }

    /// Records a message that came before the answer.
    fn relayed(&self, text: &[u8]) {
        let Ok(mut message) = serde_json::from_slice::<Value>(text) else { return };
        let is_progress = message["method"] == "notifications/progress";
        self.change(|facts| {
            if is_progress && facts.progress.len() < REPORTS {
                let params = message["params"].take();
                facts.progress.push(PlayedProgress { after: self.started.elapsed(), params });
            }
        });
    }
}

fn error(message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32603, "message": message } })
}

/// Runs a call with all rounds of questions; returns its answer.
async fn run(
    shard: &Arc<Shard>,
    played: &Arc<PlayedCall>,
    (principal, request): (Arc<Principal>, PlayedRequest),
    mut answered: mpsc::Receiver<PlayedAnswer>,
) -> Value {
    let identity = Identity { client_label: Some("playground".into()), ..Identity::of(principal, None) };
    let mut round = Map::new();
    for _ in 0..ROUNDS {
        let answer = round_trip(shard, played, &identity, (&request, &round)).await;
        let result = &answer["result"];
        if result["resultType"] != "input_required" {
            return answer;
        }
        let mut responses = Map::new();
        for (key, question) in result["inputRequests"].as_object().into_iter().flatten() {
            match asked(played, key, question, &mut answered).await {
                Some(response) => drop(responses.insert(key.clone(), response)),
                None => return error("nobody answered the server's question in time"),
            }
        }
        round = Map::new();
        round.insert("inputResponses".to_owned(), Value::Object(responses));
        if let Some(state) = result.get("requestState") {
            round.insert("requestState".to_owned(), state.clone());
        }
    }
    error("the server asked for input too many times")
}

/// Shows a question, and waits for its answer.
async fn asked(
    played: &Arc<PlayedCall>,
    key: &str,
    question: &Value,
    answered: &mut mpsc::Receiver<PlayedAnswer>,
) -> Option<Value> {
    // Only questions that were declared arrive.
    if question["method"] != "elicitation/create" {
        return Some(json!({ "action": "cancel" }));
    }
    played.change(|facts| {
        facts.state = PlayState::Asking;
        facts.question = Some(PlayedQuestion { id: key.to_owned(), params: question["params"].clone() });
    });
    let answer = tokio::time::timeout(PATIENCE, answered.recv()).await.ok().flatten()?;
    played.change(|facts| (facts.state, facts.question) = (PlayState::Running, None));
    Some(answer.result)
}

/// Sends the request once; returns the answer.
async fn round_trip(
    shard: &Arc<Shard>,
    played: &Arc<PlayedCall>,
    identity: &Identity,
    (request, round): (&PlayedRequest, &Map<String, Value>),
) -> Value {
    let era = newest_stateless();
    let mut params = json!({
        "name": request.tool,
        "arguments": request.arguments,
        "_meta": {
            meta::PROTOCOL_VERSION: era.version,
            meta::CLIENT_INFO: { "name": "playground", "version": gateway::process::VERSION },
            meta::CLIENT_CAPABILITIES: { "elicitation": { "form": {}, "url": {} } },
            "progressToken": played.id,
        },
    });
    for (key, value) in round {
        params[key] = value.clone();
    }
    let text = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let Ok(frame) = Frame::parse(text.into(), FrameLimits::default()) else {
        return error("the arguments are nested too deeply");
    };
    let cell = view_of(&shard.call, request.profile, era, (identity, &frame)).await;
    let requester = Requester::stateless(cell, identity, None);
    let answer = match decide(&shard.call, &shard.gateway.process.parked, requester, frame).await {
        Decision::Done(_, text) => Some(text),
        Decision::Long(pieces) => Some(Bytes::from(pieces.concat())),
        Decision::Wait(id, subscribing) => Some(subscribing.answer(&id).await.1),
        Decision::Call(begun, _) => {
            let mut sink = PlayedSink { played, answer: None };
            drive(begun.run(), &shard.gateway.process.parked, &mut sink).await;
            sink.answer
        }
        Decision::Listen(..) | Decision::Cancelled | Decision::Elsewhere(_) => None,
    };
    let Some(answer) = answer else { return error("the server gave no answer") };
    if answer.len() > LONGEST {
        return json!({ "result": { "note": format!("the answer has {} bytes, which is too long to be shown here", answer.len()) } });
    }
    serde_json::from_slice(&answer).unwrap_or_else(|_| error("the answer is not valid JSON"))
}

/// The receiver of a call's messages.
struct PlayedSink<'p> {
    played: &'p Arc<PlayedCall>,
    answer: Option<Bytes>,
}

impl ClientSink for PlayedSink<'_> {
    async fn relay(&mut self, _: &Call, text: Bytes) -> bool {
        self.played.relayed(&text);
        true
    }

    async fn end(&mut self, end: CallEnd) {
        match end {
            CallEnd::Answer(answer, _) => self.answer = Some(answer.body),
            // A long answer is passed on only to clients that accept this.
            CallEnd::Long(..) | CallEnd::Unheard(_) | CallEnd::Silent => {}
        }
    }
}
