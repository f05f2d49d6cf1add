//! Tests of the configurations that result from changes.

use config::{Config, Link, Lookup, load};
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
    assert_eq!(one.instructions.as_ref().map(config::Text::expose), Some("hear"));
    // The same changes applied to another file.
    let other = then.over(config("mcpServers: { b: { command: other } }\n")).unwrap();
    assert_eq!(other.config().profiles["one"].servers, ["c", "b"]);
    let Link::Stdio(link) = &other.config().mcp_servers["b"].link else { panic!("no command") };
    assert_eq!(link.command.expose(), "other");
}

#[test]
fn a_default_profile_that_names_all_servers_is_chosen() {
    let before = standing(&format!("{TWO}profiles: {{ default: {{ servers: [a, b] }} }}\n"));
    assert_eq!(code(remove_server(&before, "a")), "SERVER_IN_USE");
    let server = json!({"name": "C", "type": "external", "config": {"command": "c"}});
    let (_, then) = add_server(&before, &server).unwrap();
    assert_eq!(then.config().profiles["default"].servers, ["a", "b"]);
    // A profile whose servers were chosen through the API counts as chosen as well.
    let then = add_server_to_profile(
        &standing("mcpServers: { a: { command: a } }\n"),
        "default",
        &json!({"mcpServerId": "a"}),
    );
    assert_eq!(code(then), "ALREADY_ADDED");
    let then = toggle_profile_server(&standing(TWO), "default", "b").unwrap();
    let (_, then) = add_server(&then, &server).unwrap();
    assert_eq!(then.config().profiles["default"].servers, ["a"]);
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
    // The value is only in the file, so it cannot be revealed here.
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
    let then = change_server(&then, "a", &json!({"config": {"command": "a", "args": ["x"]}})).unwrap();
    assert_eq!(env(&then).as_deref(), Some("new-secret"), "left out, it stays");
    let other = json!({"config": {"command": "b", "env": {"KEY": "***"}}});
    assert_eq!(code(change_server(&then, "a", &other)), "INVALID_CONFIG", "another program does not get it");
    let then = change_server(&then, "a", &json!({"config": {"command": "b"}})).unwrap();
    assert_eq!(env(&then), None);
}

#[test]
fn headers_are_for_one_origin() {
    let headers = json!({"X-Key": "secret-key"});
    let far = json!({"name": "far", "type": "remote_http", "config": {"url": "https://h.example/mcp", "headers": headers}});
    let (_, before) = add_server(&standing(TWO), &far).unwrap();
    let sent = |standing: &Standing| match &standing.config().mcp_servers["far"].link {
        Link::Http(link) => link.headers.get("x-key").map(|text| text.expose().to_owned()),
        _ => None,
    };
    for url in ["https://h.example/other", "https://H.example:443/mcp"] {
        for config in [json!({"url": url}), json!({"url": url, "headers": {"x-key": "***"}})] {
            let then = change_server(&before, "far", &json!({"config": config})).unwrap();
            assert_eq!(sent(&then).as_deref(), Some("secret-key"), "{url}");
        }
    }
    for url in [
        "https://evil.example/mcp",
        "http://h.example/mcp",
        "https://h.example:444/mcp",
        "https://h.example.evil.example/mcp",
    ] {
        for kind in ["remote_http", "remote_sse"] {
            let hidden =
                json!({"type": kind, "config": {"url": url, "headers": {"x-key": "***", "x-other": "y"}}});
            let refused = change_server(&before, "far", &hidden).unwrap_err();
            assert_eq!(refused.code, "INVALID_CONFIG");
            assert!(refused.message.contains("x-key"), "{refused}");
            let then = change_server(&before, "far", &json!({"type": kind, "config": {"url": url}})).unwrap();
            assert_eq!(sent(&then), None, "{url}");
        }
    }
}

/// A configuration with secrets in values that the API shows only in part.
fn hiding() -> Standing {
    let text = "mcpServers:
  far: { url: 'https://h.example/mcp?key=abcdef', headers: { X-Key: secret-key } }
  run: { command: run, args: ['--token=${TOKEN}', plain], cwd: '/srv/${TOKEN}', env: { A: b }, disabled: true }
";
    let lookup = Lookup {
        env: &|name| (name == "TOKEN").then(|| "the-token".to_owned()),
        file: &|_| Err("no files".to_owned()),
    };
    let config = load(text, "test", &lookup).unwrap_or_else(|faults| panic!("{faults}")).config;
    Standing::new(config, Changes::default()).unwrap()
}

#[test]
fn what_is_not_sent_stays_as_it_is_though_it_is_not_shown() {
    let before = hiding();
    for id in ["far", "run"] {
        let shown = server(&before, id).unwrap();
        assert!(!shown.to_string().contains("the-token") && !shown.to_string().contains("abcdef"), "{shown}");
        let old = &before.config().mcp_servers[id];
        for change in [
            json!({"description": "new"}),
            json!({"description": "new", "type": shown["type"], "config": shown["config"]}),
        ] {
            let then = change_server(&before, id, &change).unwrap();
            let new = &then.config().mcp_servers[id];
            assert_eq!((&new.link, new.disabled), (&old.link, old.disabled), "{change}");
            assert_eq!(new.description.as_ref().map(config::Text::expose), Some("new"));
            assert_eq!(server(&then, id).unwrap()["source"], "file");
            assert_eq!(code(set_api_key(&then, id, &json!({"key": "k"}))), "INVALID_CONFIG");
            assert!(!then.changes().text().unwrap().contains("the-token"));
            // The file remains in force, even without the server.
            assert!(!then.over(config(TWO)).unwrap().config().mcp_servers.contains_key(id));
        }
    }
    // The same holds for a server that was created through the API.
    let url = "https://h.example/mcp?key=abcdef";
    let own = json!({"name": "own", "type": "remote_http", "description": "old", "config": {"url": url}});
    let (_, then) = add_server(&before, &own).unwrap();
    let then = change_server(&then, "own", &json!({"isActive": false})).unwrap();
    let Link::Http(link) = &then.config().mcp_servers["own"].link else { panic!("no URL") };
    assert_eq!(link.url.expose(), url);
    let shown = server(&then, "own").unwrap();
    assert_eq!((&shown["description"], &shown["isActive"]), (&json!("old"), &json!(false)));
}

#[test]
fn what_is_sent_as_it_is_shown_stands_for_what_it_hides() {
    let before = hiding();
    let shown = server(&before, "run").unwrap()["config"].clone();
    let (token, cwd) = (&shown["args"][0], &shown["cwd"]);
    let config = json!({"command": "run", "args": ["more", token], "cwd": cwd});
    let then = change_server(&before, "run", &json!({"config": config})).unwrap();
    let Link::Stdio(link) = &then.config().mcp_servers["run"].link else { panic!("no command") };
    let args: Vec<&str> = link.args.iter().map(config::Text::expose).collect();
    assert_eq!(args, ["more", "--token=the-token"]);
    assert_eq!(link.cwd.as_ref().map(config::Text::expose), Some("/srv/the-token"));
    for config in [json!({"command": "evil", "args": [token]}), json!({"command": "evil", "cwd": cwd})] {
        assert_eq!(code(change_server(&before, "run", &json!({"config": config}))), "INVALID_CONFIG");
    }
    let url = server(&before, "far").unwrap()["config"]["url"].clone();
    let change = json!({"config": {"url": url, "headers": {"X-Other": "y"}}});
    let then = change_server(&before, "far", &change).unwrap();
    let Link::Http(link) = &then.config().mcp_servers["far"].link else { panic!("no URL") };
    assert_eq!(link.url.expose(), "https://h.example/mcp?key=abcdef");
    let other = json!({"config": {"url": "https://evil.example/mcp?***"}});
    assert_eq!(code(change_server(&before, "far", &other)), "INVALID_CONFIG");
}

#[test]
fn other_keys_of_an_entry_are_set_on_top_of_the_file() {
    let before = standing("mcpServers: { b: { url: 'http://b.example/mcp', timeout: 5s } }\n");
    let timeout = |standing: &Standing| standing.config().shown()["mcpServers"]["b"]["timeout"].clone();
    let unset = server(&before, "b").unwrap();
    assert!(unset.get("settings").is_none(), "{unset}");
    let set = json!({"settings": {"timeout": "7s", "oauth": {"clientId": "me", "clientSecret": "hush-hush", "issuer": "https://auth.example"}}});
    let then = change_server(&before, "b", &set).unwrap();
    assert_eq!(timeout(&then), "7s");
    let shown = server(&then, "b").unwrap();
    assert!(
        !shown.to_string().contains("hush") && shown["settings"]["oauth"].to_string().contains("***"),
        "{shown}"
    );
    assert_eq!(shown["source"], "file");
    // What is sent as it is shown stays, with what it hides.
    let same = change_server(&then, "b", &shown).unwrap();
    assert!(same.changes().text().unwrap().contains("hush-hush"));
    let mut moved = shown.clone();
    moved["config"]["url"] = "http://other.example/mcp".into();
    assert_eq!(
        code(change_server(&then, "b", &json!({"settings": {"oauth": {"clientSecret": "***"}}}))),
        "INVALID_CONFIG"
    );
    let url = json!({"config": {"url": "http://other.example/mcp"}});
    let elsewhere = change_server(&then, "b", &url).unwrap();
    assert!(!elsewhere.changes().text().unwrap().contains("hush-hush"), "a secret is for one server");
    assert_eq!(timeout(&elsewhere), "7s");
    assert_eq!(code(change_server(&then, "b", &moved)), "INVALID_CONFIG", "nor does a shown secret move");
    // A key that is missing, or null, is the file's again; omitted settings stay.
    assert_eq!(timeout(&change_server(&then, "b", &json!({"settings": {}})).unwrap()), "5s");
    assert_eq!(timeout(&change_server(&then, "b", &json!({"settings": {"timeout": null}})).unwrap()), "5s");
    assert_eq!(timeout(&change_server(&then, "b", &json!({"description": "x"})).unwrap()), "7s");
    for wrong in
        [json!({"url": "http://x.example"}), json!({"disabled": true}), json!({"nosuch": 1}), json!(3)]
    {
        assert!(change_server(&then, "b", &json!({"settings": wrong})).is_err(), "{wrong}");
    }
}

#[test]
fn what_the_file_switches_off_can_be_switched_on() {
    let before = hiding();
    let is_on = |standing: &Standing| !standing.config().mcp_servers["run"].disabled;
    assert!(!is_on(&before));
    let then = change_server(&before, "run", &json!({"isActive": true})).unwrap();
    assert!(is_on(&then));
    let then = change_server(&then, "run", &json!({"description": "on"})).unwrap();
    assert!(is_on(&then), "it stays so");
    assert!(!is_on(&change_server(&then, "run", &json!({"isActive": false})).unwrap()));
    let anew = json!({"isActive": true, "config": {"command": "run", "args": ["x"]}});
    assert!(is_on(&change_server(&before, "run", &anew).unwrap()));
}

#[test]
fn rules_of_the_file_do_not_go_with_a_new_slug() {
    let text = format!("{TWO}profiles: {{ one: {{ servers: [b], tools: {{ deny: ['*'] }} }} }}\n");
    let before = standing(&text);
    let refused = change_profile(&before, "one", &json!({"slug": "two"})).unwrap_err();
    assert_eq!((refused.status, refused.code), (409, "PROFILE_IN_USE"));
    // The same holds after the profile was changed through the API.
    let (_, then) = change_profile(&before, "one", &json!({"name": "One"})).unwrap();
    assert_eq!(code(change_profile(&then, "one", &json!({"slug": "two"}))), "PROFILE_IN_USE");
    let (_, then) = add_profile(&then, &json!({"slug": "own", "servers": ["a"]})).unwrap();
    let (slug, then) = change_profile(&then, "own", &json!({"slug": "two"})).unwrap();
    assert_eq!((&*slug, then.config().profiles.contains_key("own")), ("two", false));
    assert_eq!(then.config().profiles["one"].tools, before.config().profiles["one"].tools);
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
    assert_eq!(long.len(), config::MAX_SERVER_NAME);
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
    // The servers of this default profile were not chosen explicitly.
    remove_server(&standing(TWO), "a").unwrap();
}
