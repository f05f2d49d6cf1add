//! The limits of a tool whose calls become tasks: the size of the outcome, the time, and the number of running tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::library::{lines, link, open, overrides, uri};
use crate::support::*;

const CAP: &str = "maxResult: 8KiB";

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A server whose calls become tasks if the client wants that. The tasks end when the test says so.
struct Workshop {
    puppet: Puppet,
    is_done: Arc<AtomicBool>,
}

impl Workshop {
    async fn start(kind: Speaks, is_done: bool) -> Self {
        let is_done = Arc::new(AtomicBool::new(is_done));
        let (done, cancelled) = (is_done.clone(), AtomicBool::new(false));
        let puppet = Puppet::start(move |number, request| {
            if request.method() == "tasks/cancel" {
                cancelled.store(true, Ordering::SeqCst);
            }
            let status = match (cancelled.load(Ordering::SeqCst), done.load(Ordering::SeqCst)) {
                (true, _) => "cancelled",
                (false, true) => "completed",
                (false, false) => "working",
            };
            match answer(kind, (number, request), status) {
                Some(mut result) => {
                    if kind == Speaks::Stateless && result.get("resultType").is_none() {
                        result["resultType"] = json!("complete");
                    }
                    Said::Result(result, String::new())
                }
                None if kind == Speaks::Stateless => {
                    let error = json!({ "code": -32601, "message": "there is no such method" });
                    let body = json!({ "jsonrpc": "2.0", "id": request.body["id"], "error": error });
                    Said::Status(404, "application/json", body.to_string())
                }
                None => Said::Proper,
            }
        })
        .await;
        Self { puppet, is_done }
    }

    fn finish(&self) {
        self.is_done.store(true, Ordering::SeqCst);
    }
}

fn answer(kind: Speaks, (number, request): (usize, &Received), status: &str) -> Option<Value> {
    let params = &request.body["params"];
    let outcome = || json!({ "content": [{ "type": "text", "text": lines(900) }] });
    Some(match (request.method(), kind) {
        ("initialize", Speaks::Handshake) => json!({
            "protocolVersion": LEGACY, "serverInfo": { "name": "workshop", "version": "1" },
            "capabilities": { "tools": {}, "tasks": { "cancel": {}, "requests": { "tools": { "call": {} } } } },
        }),
        ("server/discover", Speaks::Stateless) => json!({
            "supportedVersions": [MODERN], "capabilities": { "tools": {}, "extensions": { EXTENSION: {} } },
            "ttlMs": 60_000, "cacheScope": "public",
        }),
        ("tools/list", _) => json!({ "ttlMs": 60_000, "cacheScope": "public", "tools": [
            { "name": "make", "inputSchema": { "type": "object" }, "execution": { "taskSupport": "optional" } },
            { "name": "quick", "inputSchema": { "type": "object" }, "execution": { "taskSupport": "optional" } },
        ] }),
        ("tools/call", Speaks::Handshake) if params.get("task").is_some() => {
            json!({ "task": task(kind, &format!("task-{number}"), "working") })
        }
        ("tools/call", Speaks::Stateless) if declares_tasks(params) && params["name"] == "make" => {
            let mut task = task(kind, &format!("task-{number}"), "working");
            task["resultType"] = json!("task");
            task
        }
        ("tools/call" | "tasks/result", _) => outcome(),
        ("tasks/get" | "tasks/cancel", _) => {
            let mut task = task(kind, params["taskId"].as_str()?, status);
            if kind == Speaks::Stateless && status == "completed" {
                task["result"] = outcome();
            }
            task
        }
        _ => return None,
    })
}

fn declares_tasks(params: &Value) -> bool {
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"].get(EXTENSION).is_some()
}

fn task(kind: Speaks, id: &str, status: &str) -> Value {
    let time = "2026-01-01T00:00:00Z";
    let mut task = json!({ "taskId": id, "status": status, "createdAt": time, "lastUpdatedAt": time });
    let [ttl, interval] = match kind {
        Speaks::Handshake => ["ttl", "pollInterval"],
        Speaks::Stateless => ["ttlMs", "pollIntervalMs"],
    };
    (task[ttl], task[interval]) = (json!(60_000), json!(100));
    task
}

/// A client of either lifecycle that wants its calls to become tasks.
enum Client {
    Session(Legacy),
    Stateless(Modern),
}

impl Client {
    async fn both(gateway: &Gateway) -> [Self; 2] {
        let capabilities = json!({ "extensions": { EXTENSION: {} } });
        let stateless = Modern { capabilities, ..Modern::new(gateway.http()) };
        [Self::Session(Legacy::open(gateway.http()).await), Self::Stateless(stateless)]
    }

    async fn call(&self, tool: &str) -> Value {
        match self {
            Self::Session(client) => {
                let params = json!({ "name": tool, "arguments": {}, "task": { "ttl": 60_000 } });
                client.ask("tools/call", &params).await
            }
            Self::Stateless(client) => client.call(tool, &json!({})).await,
        }
    }

    /// Starts a task; returns its id.
    async fn begin(&self, tool: &str) -> String {
        let answer = self.call(tool).await;
        let task =
            if matches!(self, Self::Session(_)) { &answer["result"]["task"] } else { &answer["result"] };
        task["taskId"].as_str().unwrap_or_else(|| panic!("no task: {answer}")).to_owned()
    }

    async fn about(&self, method: &str, id: &str) -> Value {
        match self {
            Self::Session(client) => client.ask(method, &json!({ "taskId": id })).await,
            Self::Stateless(client) => {
                let params = json!({ "taskId": id, "_meta": meta(&client.capabilities) });
                let headers: Headers<'_> =
                    &[("MCP-Protocol-Version", MODERN), ("Mcp-Method", method), ("Mcp-Name", id)];
                let body = request("t", method, &params).to_string();
                client.http.post(&client.path, headers, &body).await.response().await
            }
        }
    }

    /// The outcome of a task that has ended, as an answer.
    async fn outcome(&self, id: &str) -> Value {
        match self {
            Self::Session(_) => self.about("tasks/result", id).await,
            Self::Stateless(_) => json!({ "result": self.about("tasks/get", id).await["result"]["result"] }),
        }
    }

    async fn read(&self, name: &str) -> Value {
        match self {
            Self::Session(client) => client.ask("resources/read", &uri(name)).await,
            Self::Stateless(client) => client.ask("resources/read", &uri(name)).await,
        }
    }
}

/// The beginning of a shortened text.
fn beginning(outcome: &Value) -> &str {
    let bytes = outcome["result"].to_string().len();
    assert!(bytes <= 8 << 10, "{bytes} bytes: {outcome}");
    let shown =
        outcome["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {outcome}"));
    shown.split_once("\n\n[Shortened by the gateway: ").expect("a notice").0
}

#[tokio::test]
async fn the_outcome_of_a_task_is_shortened_in_every_form() {
    for kind in [Speaks::Handshake, Speaks::Stateless] {
        let workshop = Workshop::start(kind, true).await;
        // With two servers, clients see other ids than the servers'.
        for more in ["", ", up2: { native: demo }"] {
            let url = quoted(&workshop.puppet.url());
            let gateway =
                Gateway::start(&format!("mcpServers: {{ up: {{ url: {url}, {CAP} }}{more} }}\n")).await;
            for client in Client::both(&gateway).await {
                let id = client.begin("up__make").await;
                let outcome = client.outcome(&id).await;
                let rest = client.read(&link(&outcome)).await;
                let rest = rest["result"]["contents"][0]["text"].as_str().expect("a text").to_owned();
                assert_eq!(format!("{}{rest}", beginning(&outcome)), lines(900));
            }
        }
    }
}

#[tokio::test]
async fn an_outcome_that_is_there_at_once_is_shortened_too() {
    let workshop = Workshop::start(Speaks::Stateless, true).await;
    let gateway = Gateway::start(&open(&workshop.puppet, CAP, "")).await;
    let [session, _] = Client::both(&gateway).await;
    let id = session.begin("up__quick").await;
    let outcome = session.outcome(&id).await;
    let rest = session.read(&link(&outcome)).await;
    let rest = rest["result"]["contents"][0]["text"].as_str().expect("a text").to_owned();
    assert_eq!(format!("{}{rest}", beginning(&outcome)), lines(900));
}

#[tokio::test]
async fn the_rest_of_an_unknown_task_is_not_kept() {
    let workshop = Workshop::start(Speaks::Handshake, true).await;
    let gateway = Gateway::start(&open(&workshop.puppet, &format!("{CAP}, affinity: session"), "")).await;
    let [session, _] = Client::both(&gateway).await;
    // Nobody started this task through this gateway; a restart has the same effect.
    let outcome = session.outcome("task-99").await;
    assert!(lines(900).starts_with(beginning(&outcome)));
    assert!(outcome.to_string().contains("The rest was not kept"), "{outcome}");
    assert!(!outcome.to_string().contains("dragoman://"), "{outcome}");
}

#[tokio::test]
async fn a_task_counts_until_it_has_ended() {
    for kind in [Speaks::Handshake, Speaks::Stateless] {
        for number in [0, 1] {
            let workshop = Workshop::start(kind, false).await;
            let config = open(&workshop.puppet, "", &overrides("up__make: { atOnce: 1 }"));
            let gateway = Gateway::start(&config).await;
            let client = &Client::both(&gateway).await[number];
            client.begin("up__make").await;
            // The gateway itself asks about the task.
            workshop.puppet.was_sent("tasks/get", 2).await;
            let refused = client.call("up__make").await;
            assert!(
                error_message(&refused).contains("allows 1 call of tool \"up__make\" at once"),
                "{refused}"
            );
            workshop.finish();
            soon("the next call", async {
                // The gateway learns of the end when it asks again, and no event tells the client.
                while client.call("up__make").await.get("error").is_some() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_task_is_cancelled_at_its_deadline() {
    for kind in [Speaks::Handshake, Speaks::Stateless] {
        for number in [0, 1] {
            let workshop = Workshop::start(kind, false).await;
            let config = open(&workshop.puppet, "", &overrides("up__make: { timeout: 300ms }"));
            let gateway = Gateway::start(&config).await;
            let client = &Client::both(&gateway).await[number];
            let id = client.begin("up__make").await;
            workshop.puppet.was_sent("tasks/cancel", 1).await;
            let task = client.about("tasks/get", &id).await;
            assert_eq!(task["result"]["status"], "cancelled", "{task}");
        }
    }
}
