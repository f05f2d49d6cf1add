//! Arguments that a tool does not have, tested with all rows of all servers.

use serde_json::{Map, Value, json};

use super::routes::{calls, settings, site};
use super::*;
use crate::community::{buddyboss, buddypress};
use crate::site::{Requests, SiteSettings};
use crate::tools::{ArgumentType, ToolArgument};
use crate::woocommerce::{self, ShopSettings};
use crate::{AnswerStyle, Demo, ToolServer, UnknownArguments, heritage, plain, wordpress};

/// Members that n8n's agent and chat add to the arguments of a call.
const ADDED: [(&str, &str); 5] = [
    ("toolCallId", "call_0BCIShth4lxZuYr4coSp4E5E"),
    ("tool", "wordpress"),
    ("sessionId", "bea37d4f"),
    ("action", "sendMessage"),
    ("chatInput", "hello"),
];

/// A server, and its fake site.
type Server = (ToolServer, Arc<Fake>);

/// All servers with all their tools.
fn servers(unknown_arguments: UnknownArguments) -> Vec<Server> {
    let heritage = heritage::Settings { unknown_arguments, no_cache: true, ..heritage::Settings::default() };
    let fake = || Fake::replying(site);
    let other = fake();
    let mut all = vec![
        (plain::server(None, unknown_arguments), fake()),
        (heritage::server(&heritage, other.clone()).unwrap(), other),
    ];
    for (answers, write) in [(AnswerStyle::Compact, true), (AnswerStyle::Plain, false)] {
        let requests = Requests { write, ..Requests::default() };
        let site = SiteSettings { requests, answers, unknown_arguments, ..settings() };
        let sets = wordpress::Sets { extended: true, discover: true };
        let phases = buddyboss::Phases { buddyboss: true, advanced: true, extended: true, discover: true };
        let version = buddypress::Version::Second;
        let (blog, club, group) = (fake(), fake(), fake());
        all.push((wordpress::server(&site, sets, blog.clone()).unwrap(), blog));
        all.push((buddyboss::server(&site, phases, club.clone()).unwrap(), club));
        all.push((buddypress::server(&site, version, true, group.clone()).unwrap(), group));
        let (shop, open) = (fake(), ShopSettings { write: true, personal_data: true });
        all.push((woocommerce::server(&site, open, shop.clone()).unwrap(), shop));
    }
    all
}

/// A call's answer, and the requests that it sent.
fn played((server, fake): &Server, tool: &str, arguments: &Value) -> (Value, Vec<String>) {
    let answer = asked(server, tool, arguments);
    let lines = fake.lines();
    fake.asked.lock().unwrap().clear();
    (answer, lines)
}

/// The message that refused a call because of its arguments.
fn refusal(answer: &Value) -> Option<&str> {
    if answer["result"]["isError"] == true {
        return answer["result"]["content"][0]["text"].as_str();
    }
    let is_unfit = answer["error"]["data"]["condition"] == "invalidArguments";
    answer["error"]["message"].as_str().filter(|_| is_unfit)
}

fn with(call: &Value, more: &[(&str, Value)]) -> Value {
    let mut call = call.as_object().unwrap().clone();
    call.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Value::Object(call)
}

/// The tools' arguments as the list shows them.
fn listed((server, fake): &Server) -> Vec<(String, Map<String, Value>)> {
    let list = request(server, "tools/list", &json!({}), None);
    fake.asked.lock().unwrap().clear();
    let tools = list["result"]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| {
            let name = tool["name"].as_str().unwrap().to_owned();
            (name, tool["inputSchema"].as_object().unwrap().clone())
        })
        .collect()
}

/// A name that no tool would declare, or one that resembles a declared name.
fn strange(tool: &crate::tools::ToolRow, state: &mut u64) -> String {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let names = ["catgories", "acf", "", "toolcallid", "__proto__", "id ", "\u{e4}\"\n", "query_", "TITLE"];
    let at = usize::try_from(*state >> 33).unwrap();
    match tool.arguments.get(at % 7) {
        Some(row) => format!("{}x", row.name),
        None => names[at % names.len()].to_owned(),
    }
}

#[test]
fn every_tool_refuses_what_it_does_not_have() {
    let mut state = 1;
    for server in servers(UnknownArguments::Reject) {
        for tool in server.0.rows() {
            for call in calls(tool) {
                let name = strange(tool, &mut state);
                let (answer, requests) = played(&server, tool.name, &with(&call, &[(&name, Value::Null)]));
                let words =
                    refusal(&answer).unwrap_or_else(|| panic!("{} took {name:?}: {answer}", tool.name));
                assert!(words.contains(&format!("unknown argument {name:?}")), "{}: {words}", tool.name);
                let takes = words.rsplit_once(" takes ").unwrap().1;
                assert!(tool.arguments.iter().all(|row| takes.contains(row.name)), "{}: {words}", tool.name);
                assert!(requests.is_empty(), "{}: {requests:?}", tool.name);
                // A caller that asks before a call gets the same message.
                let call = with(&call, &[(&name, Value::Null)]).to_string();
                let told = server.0.unknown_arguments(tool.name, call.as_bytes());
                assert!(words.ends_with(&told.unwrap()), "{}: {words}", tool.name);
            }
        }
    }
}

#[test]
fn every_declared_argument_passes_and_so_does_what_clients_add() {
    for server in servers(UnknownArguments::Reject) {
        let built = &server.0;
        for (tool, schema) in listed(&server) {
            assert_eq!(schema["additionalProperties"], false, "{tool}");
            let row = built.rows().iter().find(|row| row.name == tool).unwrap();
            let known = schema["properties"].as_object().unwrap();
            let more = known.keys().filter(|name| !row.arguments.iter().any(|row| row.name == *name));
            let more: Vec<(&str, Value)> = more.map(|name| (name.as_str(), json!(false))).collect();
            let added = ADDED.iter().filter(|(name, _)| !known.contains_key(*name));
            let added: Vec<(&str, Value)> = added.map(|(name, value)| (*name, json!(value))).collect();
            for call in calls(row) {
                let call = with(&call, &more);
                let (answer, requests) = played(&server, &tool, &call);
                let words = refusal(&answer).unwrap_or_default();
                assert!(!words.contains("unknown"), "{tool} {call}: {words}");
                let call = with(&call, &added);
                let (other, others) = played(&server, &tool, &call);
                assert_eq!((other, others), (answer, requests), "{tool} {call}");
                assert_eq!(server.0.unknown_arguments(&tool, call.to_string().as_bytes()), None, "{tool}");
            }
        }
    }
}

#[test]
fn objects_with_known_members_refuse_others() {
    let objects = |row: &&ToolArgument| matches!(row.kind, ArgumentType::Object | ArgumentType::Objects);
    let mut seen = 0;
    for server in servers(UnknownArguments::Reject) {
        let built = &server.0;
        for (tool, schema) in listed(&server) {
            let row = built.rows().iter().find(|row| row.name == tool).unwrap();
            for object in row.arguments.iter().filter(objects) {
                let property = &schema["properties"][object.name];
                let inner = property.get("items").unwrap_or(property);
                let (call, one) = (&calls(row)[0], json!({"strange": 1}));
                let value = if object.kind == ArgumentType::Objects { json!([{}, one]) } else { one };
                // Models also write objects as texts.
                for value in [value.clone(), Value::from(value.to_string())] {
                    let (answer, requests) = played(&server, &tool, &with(call, &[(object.name, value)]));
                    let words = refusal(&answer).unwrap_or_default();
                    if object.members.is_empty() {
                        assert!(!words.contains("unknown"), "{tool}: {words}");
                        assert_eq!(inner.get("additionalProperties"), None, "{tool}");
                        continue;
                    }
                    seen += 1;
                    let wanted = format!(
                        "unknown member \"strange\"; the argument {:?} takes {}",
                        object.name,
                        object.members.join(", ")
                    );
                    assert!(words.contains(&wanted) && requests.is_empty(), "{tool}: {words}");
                    assert_eq!(inner["additionalProperties"], false, "{tool}");
                    assert_eq!(inner["properties"].as_object().unwrap().len(), object.members.len());
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// The systems that the presets replace ignore unknown arguments, too.
#[test]
fn where_they_are_ignored_nothing_changes() {
    let mut state = 2;
    for server in servers(UnknownArguments::Ignore) {
        let built = &server.0;
        for (tool, schema) in listed(&server) {
            assert!(!json!(schema).to_string().contains("additionalProperties"), "{tool}");
            let row = built.rows().iter().find(|row| row.name == tool).unwrap();
            for call in calls(row) {
                let name = strange(row, &mut state);
                let more = [(name.as_str(), json!("x")), ("toolCallId", json!("y"))];
                let with_more = with(&call, &more).to_string();
                assert_eq!(server.0.unknown_arguments(&tool, with_more.as_bytes()), None, "{tool}");
                assert_eq!(
                    played(&server, &tool, &with(&call, &more)),
                    played(&server, &tool, &call),
                    "{tool}"
                );
            }
        }
    }
}

#[test]
fn the_refusal_has_the_form_of_other_unfit_arguments() {
    let call = json!({"title": "T", "content": "C", "catgories": [3]});
    let says = "unknown argument \"catgories\": did you mean \"categories\"? The tool takes title, content, ";
    let fake = Fake::replying(site);
    let server = wordpress::server(&settings(), wordpress::Sets::default(), fake.clone()).unwrap();
    let (code, words, condition) = refused(&asked(&server, "wp_create_post", &call));
    assert_eq!((code, condition.as_str()), (-32602, "invalidArguments"));
    assert!(words.starts_with(says), "{words}");
    let two = refused(&asked(&server, "wp_create_post", &json!({"titel": "T", "content": "C"}))).1;
    let says = "the argument \"title\" is missing; unknown argument \"titel\": did you mean \"title\"? The tool takes";
    assert!(two.starts_with(says), "{two}");
    let results = SiteSettings { failures_as_results: Some(true), ..settings() };
    let sets = wordpress::Sets { discover: true, ..wordpress::Sets::default() };
    let server = wordpress::server(&results, sets, fake.clone()).unwrap();
    let call = json!({"route": "/wp/v2/posts", "query": {"per_page": 1}});
    let said = "Error: unknown argument \"query\": did you mean \"parameters\"? The tool takes method, route, parameters, full";
    assert_eq!(content(&asked(&server, "site_request", &call)), (said.to_owned(), true));
    let club = buddyboss::server(&settings(), buddyboss::Phases::default(), fake.clone()).unwrap();
    let (words, is_error) = content(&asked(&club, "buddyboss_get_member", &json!({"member_id": 3})));
    let said = "Validation error: Missing required parameter: id; unknown argument \"member_id\": did you mean \"id\"? The tool takes id";
    assert!(is_error && words.starts_with(said), "{words}");
    assert!(fake.lines().is_empty());
}

#[test]
fn the_demo_does_alike() {
    let ask = |call: Value| asked(&Demo, "echo", &call);
    let added: Vec<(&str, Value)> = ADDED.iter().map(|(name, value)| (*name, json!(value))).collect();
    assert_eq!(content(&ask(with(&json!({"text": "a"}), &added))), ("a".to_owned(), false));
    let (words, is_error) = content(&ask(json!({"text": "a", "txt": "b"})));
    let said = "echo: unknown argument \"txt\": did you mean \"text\"? The tool takes text";
    assert_eq!((words.as_str(), is_error), (said, true));
}
