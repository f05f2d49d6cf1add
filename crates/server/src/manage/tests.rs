//! What changes make of a configuration.

use engine::config::{Config, Link, Lookup, load};
use serde_json::{Value, json};

use super::*;

fn config(text: &str) -> Config {
    let nothing = Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
    load(text, "test", &nothing).unwrap_or_else(|faults| panic!("{faults}")).config
}

fn standing(text: &str) -> Standing {
    Standing::new(config(text), Changes::default()).unwrap()
}

fn code<T>(outcome: Result<T, Refusal>) -> &'static str {
    outcome.map(drop).unwrap_err().code
}

const TWO: &str =
    "mcpServers: { a: { command: a, env: { KEY: secret-a } }, b: { url: 'http://b.example/mcp' } }\n";

#[test]
fn what_was_not_changed_is_as_the_file_has_it() {
    let before = standing(&format!("{TWO}profiles: {{ one: {{ servers: [b], instructions: hear }} }}\n"));
    let (id, then) = add_server(
        &before,
        &json!({"name": "C", "type": "external", "config": {"command": "c", "env": {"X": "${Y}"}}}),
    )
    .unwrap();
    assert_eq!(id, "c");
    let Link::Stdio(link) = &then.config().mcp_servers["c"].link else { panic!("no command") };
    assert_eq!(link.env["X"].expose(), "${Y}");
    assert_eq!(then.config().profiles["default"].servers, ["a", "b", "c"]);
    assert_eq!(then.config().profiles["one"], before.config().profiles["one"]);
    let then = add_server_to_profile(&then, "one", &json!({"mcpServerId": "c", "order": 0})).unwrap();
    let one = &then.config().profiles["one"];
    assert_eq!(one.servers, ["c", "b"]);
    assert_eq!(one.instructions.as_ref().map(engine::config::Text::expose), Some("hear"));
    // The same over another file.
    let other = then.over(config("mcpServers: { b: { command: other } }\n")).unwrap();
    assert_eq!(other.config().profiles["one"].servers, ["c", "b"]);
    let Link::Stdio(link) = &other.config().mcp_servers["b"].link else { panic!("no command") };
    assert_eq!(link.command.expose(), "other");
}

#[test]
fn changes_are_read_as_they_were_written() {
    let then = standing(TWO);
    let (_, then) =
        add_profile(&then, &json!({"slug": "one", "name": "One", "servers": ["b", "a"]})).unwrap();
    let tools = json!([{"toolName": "t", "isEnabled": false, "customDescription": "d"}]);
    let then = set_profile_tools(&then, "one", "a", &tools).unwrap();
    let then = toggle_profile_server(&then, "one", "b").unwrap();
    let text = then.changes().text().unwrap();
    assert_eq!(&Changes::parse(&text).unwrap(), then.changes());
    assert!(Changes::parse("{\"servers\": {}, \"who\": 1}").is_err());
    let set = then.config().profiles["one"].tool_settings.of("a", "t").unwrap();
    assert!(set.disabled && set.description.as_deref() == Some("d"));
    assert_eq!(then.config().profiles["one"].servers, ["a"]);
    let then = remove_server_from_profile(&then, "one", "a").unwrap();
    assert!(then.config().profiles["one"].tool_settings.of("a", "t").is_none());
}

#[test]
fn secrets_go_in_and_do_not_come_out() {
    let before = standing(TWO);
    let shown = servers(&before).to_string();
    assert!(shown.contains("KEY") && !shown.contains("secret-a"), "{shown}");
    // What is written in the file alone is not known here.
    let hidden = json!({"config": {"command": "a", "env": {"KEY": "***"}}});
    assert_eq!(code(change_server(&before, "a", &hidden)), "INVALID_CONFIG");
    let open = json!({"config": {"command": "a", "env": {"KEY": "new-secret"}}});
    let then = change_server(&before, "a", &open).unwrap();
    let then = change_server(&then, "a", &hidden).unwrap();
    let env = |standing: &Standing| match &standing.config().mcp_servers["a"].link {
        Link::Stdio(link) => link.env.get("KEY").map(|text| text.expose().to_owned()),
        _ => None,
    };
    assert_eq!(env(&then).as_deref(), Some("new-secret"));
    let then = change_server(&then, "a", &json!({"config": {"command": "b"}})).unwrap();
    assert_eq!(env(&then).as_deref(), Some("new-secret"), "left out, it stays");
    let then = change_server(&then, "a", &json!({"config": {"command": "b", "env": null}})).unwrap();
    assert_eq!(env(&then), None);
}

#[test]
fn a_stream_is_where_it_is_said_to_be() {
    let url = |config: Value| {
        let (id, then) =
            add_server(&standing(TWO), &json!({"name": "s", "type": "remote_sse", "config": config}))
                .unwrap();
        match &then.config().mcp_servers[&id].link {
            Link::Http(link) => link.url.expose().to_owned(),
            _ => panic!("no URL"),
        }
    };
    assert_eq!(url(json!({"url": "http://h"})), "http://h/sse");
    assert_eq!(url(json!({"url": "http://h/"})), "http://h/sse");
    assert_eq!(url(json!({"url": "http://h/x/events"})), "http://h/x/events");
    assert_eq!(url(json!({"url": "http://h/x/", "sseEndpoint": "/stream"})), "http://h/x/stream");
}

#[test]
fn names_become_ids_that_a_configuration_takes() {
    let mut then = standing(TWO);
    let mut id = |name: &str| {
        let body = json!({"name": name, "type": "builtin", "config": {"native": "plain"}});
        add_server(&then, &body).map(|(id, next)| {
            then = next;
            id
        })
    };
    for (name, want) in [
        ("My Files", "my-files"),
        ("My  Files", "my-files-2"),
        ("a__b", "a_b"),
        ("--x--", "x"),
        ("Größe", "gr-e"),
        ("batch-status", "batch-status-2"),
    ] {
        assert_eq!(id(name).as_deref(), Ok(want), "{name}");
    }
    let long = id(&"y".repeat(80)).unwrap();
    assert_eq!(long.len(), engine::config::MAX_SERVER_NAME);
    assert_ne!(id(&"y".repeat(80)).unwrap(), long);
    assert_eq!(code(id("!!!")), "INVALID_CONFIG");
}

#[test]
fn what_is_in_use_stays() {
    let then =
        standing(&format!("{TWO}profiles: {{ default: {{ servers: [a] }}, one: {{ servers: [b] }} }}\n"));
    assert_eq!(code(remove_server(&then, "a")), "SERVER_IN_USE");
    assert_eq!(code(remove_server(&then, "b")), "SERVER_IN_USE");
    let then = remove_profile(&then, "one").unwrap();
    let then = remove_server(&then, "b").unwrap();
    assert_eq!(then.config().mcp_servers.keys().collect::<Vec<_>>(), ["a"]);
    // Nobody chose the servers of this default profile.
    remove_server(&standing(TWO), "a").unwrap();
}
