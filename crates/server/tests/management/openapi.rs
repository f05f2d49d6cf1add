//! The `OpenAPI` document: every operation is called on a real gateway, and its request and its answer fit the document.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::place::{Answer, Place};
use crate::socket::{ask_local, socket_of};
use crate::support::*;

/// The gateway, its document, and the operations that were called.
struct Caller {
    place: Place,
    document: Value,
    called: BTreeSet<String>,
    /// The requests and answers that do not match the document.
    faults: RefCell<Vec<String>>,
}

/// The names of all operations in a document, each with its method and its path.
fn operations(document: &Value) -> Vec<(String, String, String)> {
    let paths = document["paths"].as_object().expect("paths");
    let of_path = |(path, methods): (&String, &Value)| {
        let methods = methods.as_object().expect("methods").clone();
        let path = path.clone();
        methods.into_iter().map(move |(method, operation)| {
            let id = operation["operationId"].as_str().expect("a name").to_owned();
            (id, method.to_uppercase(), path.clone())
        })
    };
    paths.iter().flat_map(of_path).collect()
}

/// Forbids members that the schema does not name, so that nothing is left undescribed.
fn strict(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(strict);
            let is_open = ["allOf", "anyOf", "oneOf", "$ref", "additionalProperties"];
            let is_plain = !is_open.iter().any(|key| members.contains_key(*key));
            if is_plain && members.get("properties").is_some_and(Value::is_object) {
                members.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strict),
        _ => {}
    }
}

impl Caller {
    async fn new() -> Self {
        let rest = "management: { rate: 10000/1m }\nadmin: true\naudit: true\naccess: [ { deny: '*delete*' } ]\n\
                    rateLimits: [ { rate: 1000/1m } ]\n";
        let place = Place::with(rest).await;
        socket_of(place.state.path()).await;
        let document = place.get("/api/openapi.json").await;
        Self { place, document, called: BTreeSet::new(), faults: RefCell::default() }
    }

    /// Checks a value against a schema of the document; each member has to be described.
    fn check(&self, schema: &Value, value: &Value, what: &str) {
        let (mut whole, mut components) = (schema.clone(), self.document["components"].clone());
        strict(&mut whole);
        strict(&mut components);
        self.fits(whole, components, value, what);
    }

    fn fits(&self, mut whole: Value, components: Value, value: &Value, what: &str) {
        if whole == true {
            return; // any value fits
        }
        whole["components"] = components;
        let validator = jsonschema::validator_for(&whole).unwrap_or_else(|e| panic!("{what}: {e}"));
        let faults = validator.iter_errors(value).map(|e| format!("{what}: {}: {e}", e.instance_path()));
        self.faults.borrow_mut().extend(faults);
    }

    /// Calls an operation over the control socket; each `{name}` in its path is replaced in turn.
    async fn call(&mut self, id: &str, path: &[&str], query: &str, body: &Value) -> Answer {
        let all = operations(&self.document);
        let (_, method, template) =
            all.iter().find(|(known, ..)| known == id).unwrap_or_else(|| panic!("no {id}"));
        let operation = self.document["paths"][template][method.to_lowercase()].clone();
        let mut values = path.iter();
        let steps = template.split('/').map(|step| {
            if step.starts_with('{') { *values.next().expect("a value for each parameter") } else { step }
        });
        let url = format!("{}{query}", steps.collect::<Vec<_>>().join("/"));
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(schema.is_null(), body.is_null(), "{id}: a body is described if and only if it is needed");
        if !body.is_null() {
            self.check(schema, body, &format!("the request of {id}"));
        }
        let answer = ask_local(self.place.state.path(), method, &url, body).await;
        let status = answer.status.to_string();
        let described = operation["responses"].as_object().expect("responses");
        let response = described.get(&status).unwrap_or(&described["default"]);
        let schema = &response["content"]["application/json"]["schema"];
        if schema.is_null() {
            assert!(answer.body.is_null(), "{id}: {}", answer.body);
        } else {
            self.check(schema, &answer.body, &format!("the answer of {id} ({status})"));
        }
        self.called.insert(id.to_owned());
        answer
    }

    /// Calls an operation, which must succeed.
    async fn make(&mut self, id: &str, path: &[&str], query: &str, body: &Value) -> Value {
        let answer = self.call(id, path, query, body).await;
        assert!((200..300).contains(&answer.status), "{id}: {} {}", answer.status, answer.body);
        answer.body
    }

    /// Calls an operation without a body, which must succeed.
    async fn get(&mut self, id: &str, path: &[&str], query: &str) -> Value {
        self.make(id, path, query, &Value::Null).await
    }

    /// Calls an operation, which must be refused with this code.
    async fn refused(&mut self, id: &str, path: &[&str], body: &Value, code: &str) {
        let answer = self.call(id, path, "", body).await;
        assert_eq!(answer.refusal().1, code, "{id}");
    }
}

async fn servers(caller: &mut Caller) {
    let sums = json!({"name": "sums", "type": "builtin", "config": {"native": "plain"}, "isActive": true});
    assert_eq!(caller.make("addServer", &[], "", &sums).await["id"], "sums");
    assert_eq!(caller.get("listServers", &[], "").await["servers"].as_array().map(Vec::len), Some(2));
    caller.get("getServer", &["good"], "").await;
    let set = json!({"settings": {"timeout": "7s", "concurrentCalls": 3}});
    assert_eq!(caller.make("changeServer", &["sums"], "", &set).await["settings"]["concurrentCalls"], 3);
    let renamed = json!({"description": "Adds up."});
    assert_eq!(caller.make("changeServer", &["sums"], "", &renamed).await["description"], "Adds up.");
    let far = json!({"name": "far", "type": "remote_http", "config": {"url": "http://127.0.0.1:1/mcp"}});
    caller.make("addServer", &[], "", &far).await;
    let key = json!({"key": "secret-of-the-server", "headerName": "X-Key", "prefix": ""});
    let keyed = caller.make("setServerApiKey", &["far"], "", &key).await;
    assert_eq!(keyed["config"]["headers"]["x-key"], "***");
    caller.get("listServerTools", &["good"], "?refresh=true").await;
    caller.get("refreshServer", &["sums"], "").await;
    let status = caller.get("getServerStatus", &["good"], "").await;
    assert_eq!((&status["state"], &status["transport"]), (&json!("ready"), &json!("http")));
    assert_eq!(
        caller.get("getServerStatuses", &[], "?ids=good,sums").await["statuses"].as_array().map(Vec::len),
        Some(2)
    );
    let statuses = caller.get("getServerStatuses", &[], "?ids=good").await;
    assert!(statuses["statuses"][0]["stderrTimes"].is_array(), "{statuses}");
    let history = caller.get("getServerHistory", &["good"], "").await;
    assert_eq!(history["changes"][0]["to"], "ready", "the newest comes first: {history}");
    let links = caller.get("getServerConnections", &["good"], "").await;
    assert!(links["total"].as_u64().is_some_and(|total| total > 0), "{links}");
    assert_eq!(caller.get("restartServer", &["good"], "").await["state"], "ready");
    let items = caller.get("listItems", &[], "?server=good&search=ECHO&limit=5").await;
    assert!(items["items"].as_array().is_some_and(|items| !items.is_empty() && items.len() <= 5), "{items}");
    for kind in ["prompts", "resources", "templates"] {
        assert!(
            caller.get("listItems", &[], &format!("?kind={kind}")).await["total"].as_u64() > Some(0),
            "{kind}"
        );
    }
    let refused = caller.call("listItems", &[], "?limit=0", &Value::Null).await;
    assert_eq!(refused.refusal(), (400, "INVALID_REQUEST"));
    caller.get("listChangedServers", &[], "").await;
    assert_eq!(caller.get("getToolHistory", &["good"], "").await, json!({"id": "good", "changes": []}));
    caller.get("reviewDefinitions", &["good"], "?full=true").await;
    caller
        .refused("approveDefinitions", &["good"], &json!({"tools": ["no-such-tool"]}), "NOTHING_TO_APPROVE")
        .await;
}

async fn profiles(caller: &mut Caller) {
    let office = json!({"slug": "office", "name": "Office", "servers": ["good"]});
    caller.make("addProfile", &[], "", &office).await;
    caller.get("listProfiles", &[], "").await;
    for id in ["getProfile", "getProfileBySlug", "getProfileByName"] {
        assert_eq!(caller.get(id, &["office"], "").await["name"], "Office");
    }
    caller.make("changeProfile", &["office"], "", &json!({"description": "For the office."})).await;
    assert!(caller.get("getProfileStatus", &["office"], "").await["listed"]["tokens"].as_u64() > Some(0));
    caller.get("listProfileServers", &["office"], "").await;
    caller.make("addProfileServer", &["office"], "", &json!({"mcpServerId": "sums", "order": 0})).await;
    caller.make("changeProfileServer", &["office", "sums"], "", &json!({"order": 1})).await;
    for id in ["toggleProfileServer", "toggleProfileServerByPut", "toggleProfileServerByPatch"] {
        caller.get(id, &["office", "sums"], "").await;
    }
    caller.get("toggleProfileServer", &["office", "sums"], "").await;
    let settings = json!({"tools": [{"toolName": "add", "customName": "sum"}]});
    caller.make("setProfileServerTools", &["office", "sums"], "", &settings).await;
    caller.get("listProfileServerTools", &["office", "sums"], "?refresh=1").await;
    let items = caller.get("listProfileItems", &["office"], "?limit=500").await;
    let sum = items["items"]
        .as_array()
        .expect("items")
        .iter()
        .find(|item| item["ownName"] == "add" && item["server"] == "sums");
    assert!(sum.is_some_and(|sum| sum["name"].as_str().is_some_and(|name| name.contains("sum"))), "{items}");
    caller.get("removeProfileServer", &["office", "sums"], "").await;
    caller.get("removeProfile", &["office"], "").await;
    caller.get("removeServer", &["far"], "").await;
}

async fn clients(caller: &mut Caller) {
    let session = Legacy::open(caller.place.gateway.http()).await;
    session.call("good__echo", &json!({"text": "hi"})).await;
    let listed = caller.get("listSessions", &[], "?profile=default").await;
    let shown = listed["sessions"][0]["id"].as_str().expect("a session").to_owned();
    let secret =
        session.headers().iter().find(|(name, _)| *name == "Mcp-Session-Id").map(|(_, id)| (*id).to_owned());
    assert!(secret.is_some_and(|secret| !listed.to_string().contains(&secret)), "{listed}");
    caller.get("endSession", &[&shown], "").await;
    assert_eq!(session.post(&[], &request(9, "ping", &json!({})).to_string()).await.status, 404);
    let gone = caller.call("endSession", &[&shown], "", &Value::Null).await;
    assert_eq!(gone.refusal(), (404, "SESSION_NOT_FOUND"));
    let key = caller.make("createKey", &[], "", &json!({"name": "ci", "expiresInSeconds": 3600})).await;
    assert!(key["key"].as_str().is_some_and(|key| key.starts_with("dgm_")));
    caller.refused("createKey", &[], &json!({"name": "ci"}), "KEY_EXISTS").await;
    let listed = caller.get("listKeys", &[], "").await;
    assert!(!listed.to_string().contains(key["key"].as_str().expect("a key")));
    let prefix = key["prefix"].as_str().expect("a prefix").to_owned();
    assert_eq!(caller.get("revokeKey", &[&prefix], "").await["state"], "revoked");
    let question =
        json!({"profile": "default", "tool": "good__echo", "caller": {"id": "user:ann", "scheme": "basic"}});
    assert_eq!(caller.make("checkAccess", &[], "", &question).await["allowed"], true);
    caller.get("listConsents", &[], "").await;
    caller.refused("startConsent", &["good"], &Value::Null, "NO_CONSENT_PAGE").await;
    caller.get("revokeConsent", &["good"], "").await;
    // The tests of authentication have a gateway at which people can sign in.
    caller.refused("listSignIns", &[], &Value::Null, "NO_SIGN_IN").await;
    caller.refused("endSignIn", &["someone"], &Value::Null, "NO_SIGN_IN").await;
}

async fn records(caller: &mut Caller) {
    let recorded = async {
        loop {
            let page =
                caller.get("listCalls", &[], "?tool=good__*&limit=1&outcome=ok&sinceSeconds=600").await;
            if let Some(call) = page["calls"].get(0) {
                break call.clone();
            }
        }
    };
    let call = soon("a recorded call", recorded).await;
    assert_eq!((&call["tool"], &call["server"]), (&json!("good__echo"), &json!("good")));
    assert_eq!(caller.get("getCall", &[&call["id"].to_string()], "").await, call);
    assert_eq!(caller.get("listRunningCalls", &[], "").await, json!({"total": 0, "calls": []}));
    caller.refused("getCall", &["999999"], &Value::Null, "CALL_NOT_FOUND").await;
    let summary = caller.get("summarizeCalls", &[], "?by=tool").await;
    assert!(
        summary["groups"].as_array().is_some_and(|all| all.iter().any(|one| one["key"] == "good__echo")),
        "{summary}"
    );
    events(caller).await;
}

async fn events(caller: &mut Caller) {
    let http = caller.place.gateway.http();
    let mut stream = http.get("/api/events?kinds=call,figures", &[]).await;
    assert!(stream.is_stream());
    let schema = caller.document["paths"]["/api/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["schema"].clone();
    let mut seen = BTreeSet::new();
    Modern::new(http).call("good__echo", &json!({"text": "watched"})).await;
    while seen.len() < 2 {
        let event: Value = serde_json::from_str(&stream.data().await.expect("an event")).expect("JSON");
        // The form of an event is the one of its content, with its name added, so it cannot be checked strictly.
        caller.fits(schema.clone(), caller.document["components"].clone(), &event, "an event");
        assert!(!event.to_string().contains("watched"), "arguments are not shown: {event}");
        seen.insert(event["event"].as_str().expect("a name").to_owned());
    }
    assert!(seen.contains("call") && seen.contains("figures"), "{seen:?}");
    caller.called.insert("streamEvents".to_owned());
}

async fn gateway(caller: &mut Caller) {
    let health = caller.get("getHealth", &[], "").await;
    assert_eq!(health["pid"], caller.place.gateway.pid());
    let log = caller.get("listLogLines", &[], "?limit=500&level=info").await;
    let lines = log["lines"].as_array().expect("lines");
    let is_state = |line: &Value| line["server"] == "good" && line["target"] == "dragoman::state";
    assert!(lines.iter().any(is_state), "{log}");
    assert_eq!(lines.last().map(|line| &line["number"]), Some(&log["last"]), "{log}");
    let last = &log["last"];
    let newer = caller.get("listLogLines", &[], &format!("?after={last}&server=good")).await;
    assert!(newer["lines"].as_array().is_some_and(|lines| lines.iter().all(is_state)), "{newer}");
    let limits = caller.get("getLimits", &[], "").await;
    assert!(limits["memory"]["resident"].as_u64() > Some(1 << 20), "{limits}");
    caller.refused("listReplicas", &[], &Value::Null, "NO_CLUSTER").await;
    caller.refused("listCallsOfAllGateways", &[], &Value::Null, "NO_CLUSTER").await;
    let configuration = caller.get("getConfiguration", &[], "").await;
    assert_eq!(configuration["configuration"]["mcpServers"]["sums"]["native"], "plain");
    let changes = caller.get("listRuntimeChanges", &[], "").await;
    assert_eq!(
        (&changes["servers"][0]["name"], &changes["servers"][0]["inFile"]),
        (&json!("sums"), &Value::Null)
    );
    assert_eq!(caller.get("reloadConfiguration", &[], "").await["error"], Value::Null);
    caller.get("getOpenApi", &[], "").await;
    let link = caller.get("createAdminLink", &[], "").await;
    assert!(link["url"].as_str().is_some_and(|url| url.contains("/admin/enter/")), "{link}");
    let over = caller.place.ask("POST", "/api/admin/links", &Value::Null).await;
    assert_eq!(over.refusal(), (404, "NOT_FOUND"), "over the network, nobody makes links");
}

#[tokio::test]
async fn every_operation_is_as_the_document_describes_it() {
    let mut caller = Caller::new().await;
    servers(&mut caller).await;
    profiles(&mut caller).await;
    clients(&mut caller).await;
    records(&mut caller).await;
    gateway(&mut caller).await;
    let faults = caller.faults.borrow();
    assert!(faults.is_empty(), "{faults:#?}");
    let all: BTreeSet<String> = operations(&caller.document).into_iter().map(|(id, ..)| id).collect();
    let missing: Vec<&String> = all.difference(&caller.called).collect();
    assert!(missing.is_empty(), "not called: {missing:?}");
}
