use dragoman_clients::client_app::{CLIENTS, ClientApp};
use dragoman_clients::connection::{ConnectionRecord, connect, disconnect};
use dragoman_clients::import::{ImportFrom, replaceable};
use dragoman_clients::own_entry::{ApiKey, Reach, Unreachable, own_entry};
use dragoman_clients::settings_text::{put, servers};
use serde_json::{Value, json};

use crate::settings;

const URL: &str = "http://127.0.0.1:8808/mcp";

/// An entry that the client understands.
fn entry_of(client: &ClientApp) -> Value {
    let args = vec!["stdio".to_owned()];
    let program = Reach::Program { program: "/usr/bin/dragoman", args: &args };
    let reach = if client.remote.is_some() { Reach::Url { url: URL, key: None } } else { program };
    own_entry(client, "dragoman", reach).expect("an entry")
}

fn connected(client: &ClientApp, before: Option<&str>, is_only: bool) -> ConnectionRecord {
    let entry = entry_of(client);
    let from = ImportFrom { client, project: None, secrets: "secrets" };
    let replaced = replaceable(from, before.unwrap_or_default()).expect("valid");
    let replaced = if is_only { &replaced[..] } else { &[] };
    connect(client, before, ("dragoman", &entry), replaced)
        .unwrap_or_else(|fault| panic!("{}: {fault:?}", client.name))
}

#[test]
fn every_client_is_connected_and_put_back_byte_for_byte() {
    for client in CLIENTS {
        let before = settings(client);
        for replaces in [false, true] {
            let record = connected(client, Some(&before), replaces);
            let now = servers(client, &record.after).expect("valid");
            assert_eq!(now["dragoman"], entry_of(client), "{}", client.name);
            // Parts of Goose, and servers that only the client can reach, stay.
            let kept: Vec<&String> = now.keys().filter(|name| *name != "dragoman").collect();
            let wanted: &[&str] = match client.name {
                "claude-code" => &["live"],
                "vscode" => &["build"],
                "zed" => &["postgres"],
                "goose" => &["developer"],
                _ => &[],
            };
            assert!(!replaces || kept == wanted, "{}: {kept:?}", client.name);
            assert_eq!(
                disconnect(client, &record.after, &record),
                Ok(Some(before.clone())),
                "{}",
                client.name
            );
        }
        let record = connected(client, None, false);
        assert_eq!(disconnect(client, &record.after, &record), Ok(None));
        assert_eq!(servers(client, &record.after).expect("valid").len(), 1, "{}", record.after);
    }
}

#[test]
fn changes_of_others_survive() {
    for client in CLIENTS {
        let before = settings(client);
        let record = connected(client, Some(&before), true);
        let other = json!({ "command": "other" });
        let now = put(client, &record.after, "other", &other).expect("edited");
        let text = disconnect(client, &now, &record).expect("edited").expect("a file");
        let (old, new) = (servers(client, &before).expect("valid"), servers(client, &text).expect("valid"));
        assert_eq!(new["other"], other);
        assert!(!new.contains_key("dragoman"), "{text}");
        for (name, entry) in &old {
            assert_eq!(new.get(name), Some(entry), "{}: {name}\n{text}", client.name);
        }
        assert_eq!(new.len(), old.len() + 1);
        // Whoever removed the entry by hand gets the rest back.
        let by_hand = dragoman_clients::settings_text::remove(client, &now, "dragoman").expect("edited");
        assert!(disconnect(client, &by_hand, &record).is_ok());
    }
}

#[test]
fn an_entry_of_the_same_name_comes_back() {
    let client = ClientApp::named("cursor").expect("a client");
    let before = "{\"mcpServers\": {\"dragoman\": {\"url\": \"http://127.0.0.1:1/mcp\"}}, \"x\": 1}";
    let record = connected(client, Some(before), false);
    assert_eq!(servers(client, &record.after).expect("valid")["dragoman"]["url"], URL);
    let now = record.after.replace("\"x\": 1", "\"x\": 2");
    let text = disconnect(client, &now, &record).expect("edited").expect("a file");
    assert_eq!(servers(client, &text).expect("valid")["dragoman"]["url"], "http://127.0.0.1:1/mcp");
    assert!(text.contains("\"x\": 2"));
}

#[test]
fn keys_come_from_variables_where_the_client_can() {
    for client in CLIENTS.iter().filter(|client| client.remote.is_some()) {
        let with = |key| own_entry(client, "dragoman", Reach::Url { url: URL, key: Some(key) });
        let by_name = with(ApiKey::Variable("DRAGOMAN_KEY"));
        match client.name {
            "claude-code" | "gemini" => {
                assert_eq!(by_name.expect("an entry")["headers"]["Authorization"], "Bearer ${DRAGOMAN_KEY}");
            }
            "cursor" | "vscode" | "windsurf" => {
                assert_eq!(
                    by_name.expect("an entry")["headers"]["Authorization"],
                    "Bearer ${env:DRAGOMAN_KEY}"
                );
            }
            "codex" => {
                assert_eq!(by_name.expect("an entry")["bearer_token_env_var"], "DRAGOMAN_KEY");
                assert_eq!(with(ApiKey::Literal("dgm_1")), Err(Unreachable::NeedsVariable));
                continue;
            }
            _ => assert_eq!(by_name, Err(Unreachable::NeedsKeyItself), "{}", client.name),
        }
        assert_eq!(
            with(ApiKey::Literal("dgm_1")).expect("an entry")["headers"]["Authorization"],
            "Bearer dgm_1"
        );
    }
    let desktop = ClientApp::named("claude-desktop").expect("a client");
    let reach = Reach::Url { url: URL, key: None };
    assert_eq!(own_entry(desktop, "dragoman", reach), Err(Unreachable::OnlyPrograms));
}
