//! One pair over one transport: a client, a gateway, an upstream, and the features, tried one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::client::Answer;

use crate::cells;
use crate::normal::Names;
use crate::order::{one_round, questions_sorted};
use crate::place::Upstream;
use crate::record::{Crossed, Record};
use crate::section::{Line, Side, Topics, render};
use crate::support::{Alone, Over, Start};
use crate::version::Pair;

/// The deadline of a feature: on a working machine, no feature takes longer.
const DEADLINE: Duration = Duration::from_secs(40);

/// Messages between the gateway and an upstream for their own purposes; sections do not show them.
const UPKEEP: &[&str] = &[
    "server/discover",
    "initialize",
    "notifications/initialized",
    "ping",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "subscriptions/listen",
    "notifications/subscriptions/acknowledged",
    "logging/setLevel",
    "notifications/cancelled",
    "notifications/tasks",
    "notifications/tasks/status",
];

/// A feature: its scenario, and the upstream's messages that its section shows.
pub(crate) struct Feature {
    /// Its heading in transcripts.
    pub(crate) name: &'static str,
    /// Its heading in the documentation.
    pub(crate) title: &'static str,
    pub(crate) topics: Topics,
    pub(crate) run: for<'a> fn(&'a mut Stage) -> Running<'a>,
}

/// A running scenario.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Everything that a scenario works with.
pub(crate) struct Stage {
    pub(crate) pair: Pair,
    pub(crate) client: Alone,
    upstream: Upstream,
    /// The number of messages that had crossed when the current feature began.
    began: usize,
    notes: Vec<Line>,
    feature: &'static str,
    /// The number of the next unrecorded request.
    quiet: u64,
}

/// A feature's lines, except for those of the upstream, which are only known at the end.
struct Played {
    feature: &'static Feature,
    client: Vec<Line>,
    from: usize,
    to: usize,
    notes: Vec<Line>,
}

impl Stage {
    /// Plays all features of a pair; returns the transcript and the failures.
    pub(crate) async fn play(pair: Pair, way: Over) -> (String, Vec<String>) {
        let upstream = Upstream::start(pair.upstream, way).await;
        let config = upstream.config();
        let start = Start { config: &config, env: &[("DRAGOMAN_LOG", "debug")], ..Start::default() };
        let (version, capabilities) = (pair.client.on_the_wire(), pair.client.capabilities());
        let client = Alone::start(way, &start, &version, &capabilities).await;
        let mut stage = Self { pair, client, upstream, began: 0, notes: Vec::new(), feature: "", quiet: 1 };
        let mut wrong = Vec::new();
        let mut played = Vec::new();
        for feature in crate::FEATURES.iter().copied().flatten() {
            if let Err(why) = stage.try_one(feature, &mut played).await {
                let lines = played.last().map_or(&[][..], |one| &one.client);
                let lines = render(&mut Names::default(), feature.name, None, lines);
                wrong.push(format!("{pair}, {way:?}, {}: {why}\n{lines}", feature.name));
            }
        }
        let crossed = stage.record().all().await;
        if let Some(stray) = stray(&crossed, &played) {
            wrong.push(format!("{pair}, {way:?}: crossed, but no feature has it: {stray}"));
        }
        if !wrong.is_empty() {
            wrong.push(format!("the log of the gateway:\n{}", stage.client.log().text()));
        }
        (transcript(pair, &played, &crossed), wrong)
    }

    async fn try_one(&mut self, feature: &'static Feature, played: &mut Vec<Played>) -> Result<(), String> {
        self.feature = feature.name;
        // IDs are counted from 1, because the previous feature may have taken more or fewer rounds.
        (self.client.topic, self.client.next) = (feature.name, 1);
        self.began = self.record().all().await.len();
        let outcome = caught((feature.run)(self)).await;
        let from = self.began;
        let to = self.record().all().await.len();
        let client = std::mem::take(&mut self.client.record).into_iter();
        let client =
            client.map(|line| Line { side: Side::Client, to_server: line.to_server, what: line.what });
        let client = client.collect();
        played.push(Played { feature, client, from, to, notes: std::mem::take(&mut self.notes) });
        outcome?;
        let mut leftovers = self.client.wire.leftovers();
        // The client need not wait for the end of a task.
        leftovers.retain(|text| !text.contains(r#""method":"notifications/tasks"#));
        if leftovers.is_empty() { Ok(()) } else { Err(format!("nobody asked for {leftovers:?}")) }
    }

    /// The schema of a tool's results in the client's list; null if there is none.
    pub(crate) async fn output_schema(&mut self, tool: &str) -> Value {
        let name = format!("up__{tool}");
        let mut params = json!({});
        loop {
            let page = self.ask_quietly("tools/list", &params).await;
            let mut tools = page["result"]["tools"].as_array().into_iter().flatten();
            if let Some(tool) = tools.find(|tool| tool["name"] == name.as_str()) {
                return tool["outputSchema"].clone();
            }
            let cursor = &page["result"]["nextCursor"];
            assert!(cursor.is_string(), "{name} is not listed: {page}");
            params = json!({"cursor": cursor});
        }
    }

    /// The upstream's record.
    pub(crate) fn record(&mut self) -> &mut Record {
        &mut self.upstream.record
    }

    /// The reason why this feature is impossible for this pair.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        cells::reason(self.feature, self.pair)
    }

    /// Returns true if this feature is possible for this pair.
    pub(crate) fn possible(&self) -> bool {
        self.reason().is_none()
    }

    /// The messages to and from the upstream since the feature began.
    pub(crate) async fn crossed(&mut self) -> Vec<Crossed> {
        let began = self.began;
        self.record().all().await.split_off(began)
    }

    /// Waits until the upstream has answered a request with this method since the feature began.
    pub(crate) async fn was_answered(&mut self, method: &str) {
        self.was_sent(method).await;
        let crossed = self.crossed().await;
        let id = &crossed.iter().find(|one| one.is_sent(method)).expect("it was sent").message["id"];
        let answers = |one: &Crossed| {
            !one.to_upstream && one.message["id"] == *id && one.message.get("method").is_none()
        };
        self.upstream.record.has(method, self.began, answers).await;
    }

    /// Waits until the upstream has received a message with this method since the feature began.
    pub(crate) async fn was_sent(&self, method: &str) {
        self.upstream.record.has(method, self.began, |one| one.is_sent(method)).await;
    }

    /// Waits until the upstream has sent a result with this text since the feature began.
    pub(crate) async fn said_in_the_end(&self, text: &str) {
        let wanted = |one: &Crossed| !one.to_upstream && one.message.to_string().contains(text);
        self.upstream.record.has(text, self.began, wanted).await;
    }

    /// Waits until the upstream reports this number of cancelled calls.
    pub(crate) async fn gave_up(&mut self, count: u32) {
        let (wanted, counter) = (json!(count.to_string()), json!({"uri": "test://cancelled-count"}));
        loop {
            let answer = self.ask_quietly("resources/read", &counter).await;
            if answer["result"]["contents"][0]["text"] == wanted {
                break;
            }
        }
    }

    /// Records an event at the upstream without a message.
    pub(crate) fn upstream_did(&mut self, what: &str) {
        self.notes.push(Line::upstream_note(what));
    }

    /// Calls a tool of the upstream and waits for its answer.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.client.call(&format!("up__{tool}"), arguments).await
    }

    /// Sends an unrecorded request, and waits for its answer.
    pub(crate) async fn ask_quietly(&mut self, method: &str, params: &Value) -> Value {
        let client = &mut self.client;
        let (lines, next, topic) = (client.record.len(), client.next, client.topic);
        (client.next, client.topic) = (self.quiet, "quiet");
        let answer = client.ask(method, params).await;
        self.quiet = client.next;
        (client.next, client.topic) = (next, topic);
        client.record.truncate(lines);
        answer
    }

    /// Calls a tool and answers the upstream's questions, round after round; returns the questions and the answer.
    pub(crate) async fn converse_with(
        &mut self,
        tool: &str,
        arguments: Value,
        answer: impl Fn(&str, &Value) -> Answer,
    ) -> (Vec<(String, Value)>, Value) {
        let params = json!({"name": format!("up__{tool}"), "arguments": arguments});
        self.client.converse("tools/call", &params, answer).await
    }
}

/// A message that is neither upkeep nor shown in any section.
fn stray(crossed: &[Crossed], played: &[Played]) -> Option<String> {
    let known = |method: &str| {
        UPKEEP.contains(&method) || played.iter().any(|one| one.feature.topics.methods.contains(&method))
    };
    let stray =
        crossed.iter().find(|one| one.message["method"].as_str().is_some_and(|method| !known(method)));
    stray.map(|one| one.message.to_string())
}

fn transcript(pair: Pair, played: &[Played], crossed: &[Crossed]) -> String {
    let mut text = format!(
        "# A client of {} and an upstream of {}\n# C> from the client, C< to it; U< to the upstream, U> from it\n",
        pair.client, pair.upstream
    );
    let mut names = Names::default();
    for Played { feature, client, from, to, notes } in played {
        let topics = feature.topics;
        let of = if topics.ever { crossed } else { crossed.get(*from..*to).unwrap_or_default() };
        let mut lines = match client.clone() {
            lines if !topics.at_once => lines,
            lines if pair.client.is_stateless() => one_round(lines),
            lines => questions_sorted(lines),
        };
        lines.extend(topics.of(of, pair.upstream.is_stateless()));
        lines.extend_from_slice(notes);
        text.push('\n');
        text.push_str(&render(&mut names, feature.name, cells::reason(feature.name, pair), &lines));
    }
    text
}

/// Runs a scenario to its end; returns the reason if it failed, so that the other scenarios still run.
async fn caught(running: Running<'_>) -> Result<(), String> {
    let mut running = pin!(running);
    let run = std::future::poll_fn(move |context| {
        let polled = catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context)));
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(())) => Poll::Ready(Ok(())),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Poll::Ready(Err(text.unwrap_or_default()))
            }
        }
    });
    tokio::time::timeout(DEADLINE, run).await.unwrap_or_else(|_| Err(format!("not within {DEADLINE:?}")))
}
