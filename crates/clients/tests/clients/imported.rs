use config::Lookup;
use dragoman_clients::client_app::{CLIENTS, ClientApp};
use dragoman_clients::import::{FoundServer, ImportFrom, found};
use dragoman_clients::settings_text::document;
use serde_json::{Map, Value, json};

use crate::settings;

fn servers(client: &str) -> Vec<FoundServer> {
    let client = ClientApp::named(client).expect("a client");
    let document = document(client, &settings(client)).expect("valid settings");
    found(ImportFrom { client, project: None, secrets: "secrets" }, &document)
}

fn entry(client: &str, name: &str) -> Value {
    let all = servers(client);
    let one = all.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("{name} in {all:?}"));
    one.entry.clone().unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// The reason why a server is not taken.
fn refused(client: &str, name: &str) -> String {
    let all = servers(client);
    all.iter().find(|one| one.name == name).expect("found").entry.clone().expect_err("refused")
}

#[test]
fn the_servers_of_every_client_are_valid_here() {
    for client in CLIENTS {
        let all = servers(client.name);
        let taken: Map<String, Value> =
            all.iter().filter_map(|one| Some((one.name.clone(), one.entry.clone().ok()?))).collect();
        assert!(!taken.is_empty(), "{}", client.name);
        let text = json!({ "mcpServers": taken }).to_string();
        let lookup = Lookup {
            env: &|name| (name != "DOCS_URL").then(|| "a-value".to_owned()),
            file: &|_| Ok("a-secret".to_owned()),
        };
        match config::load(&text, client.name, &lookup) {
            Ok(loaded) => {
                assert!(loaded.notes.is_empty(), "{}: {:?}", client.name, loaded.notes);
                assert!(loaded.literal_secret.is_none(), "{text}");
            }
            Err(faults) => panic!("{}: {faults}\n{text}", client.name),
        }
        for secret in all.iter().flat_map(|one| &one.secrets) {
            assert!(!text.contains(&secret.value) && text.contains(&secret.path), "{text}");
        }
    }
}

#[test]
fn names_and_secrets_of_claude_desktop() {
    let all = servers("claude-desktop");
    let names: Vec<_> = all.iter().map(|one| (one.original.as_str(), one.name.as_str())).collect();
    assert_eq!(names, [("filesystem", "filesystem"), ("GitHub (work)", "GitHub-work")]);
    let wanted = json!({
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-github"],
        "env": {
            "GITHUB_PERSONAL_ACCESS_TOKEN": "${file:secrets/GitHub-work.GITHUB_PERSONAL_ACCESS_TOKEN}",
            "LOG_LEVEL": "info",
        },
    });
    assert_eq!(all[1].entry, Ok(wanted));
    assert_eq!(all[1].secrets[0].value, "ghp_0123456789abcdef");
    assert!(!format!("{all:?}").contains("ghp_"));
}

#[test]
fn claude_code_has_servers_for_projects_and_defaults_of_variables() {
    let url = "${DOCS_URL:-https://docs.example.com/mcp}";
    let wanted =
        json!({ "type": "http", "url": url, "headers": { "Authorization": "Bearer ${DOCS_TOKEN}" } });
    assert_eq!(entry("claude-code", "docs"), wanted);
    assert_eq!(entry("claude-code", "db"), json!({ "command": "uvx", "args": ["mcp-db"], "env": {} }));
    assert!(refused("claude-code", "live").contains("WebSockets"));
}

#[test]
fn secrets_in_urls_headers_and_options_leave_the_entry() {
    let wanted = json!({
        "url": "https://search.example.com/mcp?key=${file:secrets/search.key}",
        "headers": { "X-Workspace": "${file:secrets/search.X-Workspace}" },
    });
    assert_eq!(entry("cursor", "search"), wanted);
    let wanted = json!({ "command": "node", "args": ["${HOME}/notes.js", "--api-key", "${env:NOTES_KEY}"] });
    assert_eq!(entry("cursor", "notes"), wanted);
}

#[test]
fn vs_code_asks_for_values_and_knows_folders() {
    let one = &servers("vscode")[0];
    let entry = one.entry.clone().expect("taken");
    assert_eq!(entry["env"], json!({ "PERPLEXITY_API_KEY": "${PERPLEXITY_KEY}" }));
    assert!(one.notes.iter().any(|note| note.contains("set PERPLEXITY_KEY")), "{:?}", one.notes);
    assert!(one.notes.iter().any(|note| note.contains("sandbox")), "{:?}", one.notes);
    assert!(refused("vscode", "build").contains("${workspaceFolder}"));
    let client = ClientApp::named("vscode").expect("a client");
    let document = document(client, &settings(client)).expect("valid");
    let from = ImportFrom { client, project: Some("/srv/ann/shop"), secrets: "secrets" };
    let entry = found(from, &document)[1].entry.clone().expect("taken");
    assert_eq!(entry, json!({ "command": "/srv/ann/shop/build.sh" }));
}

#[test]
fn each_client_has_its_words() {
    let wanted = json!({
        "command": "mcp-database", "env": { "DATABASE_URL": "${DB}" }, "timeout": 30, "excludeTools": ["drop_table"],
    });
    assert_eq!(entry("gemini", "database"), wanted);
    assert_eq!(entry("gemini", "events"), json!({ "url": "https://events.example.com/sse", "type": "sse" }));
    assert_eq!(entry("gemini", "paused")["disabled"], true);
    let wanted = json!({
        "command": "npx", "args": ["-y", "@upstash/context7-mcp"], "disabled_tools": ["purge"],
        "env": { "CONTEXT7_KEY": "${CONTEXT7_KEY}" }, "timeout": 90,
    });
    assert_eq!(entry("codex", "context7"), wanted);
    let headers =
        json!({ "X-Region": "${file:secrets/figma.X-Region}", "Authorization": "Bearer ${FIGMA_TOKEN}" });
    assert_eq!(
        entry("codex", "figma"),
        json!({ "url": "https://figma.example.com/mcp", "headers": headers })
    );
    assert_eq!(entry("zed", "old"), json!({ "command": "node", "args": ["old.js"] }));
    assert_eq!(entry("zed", "local")["enabled"], false);
    assert!(refused("zed", "postgres").contains("extension"));
    let wanted =
        json!({ "type": "http", "url": "https://remote.example.com/mcp", "disabled": true, "timeout": 60 });
    assert_eq!(entry("cline", "remote"), wanted);
    let wanted = json!({
        "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"], "enabled": true, "timeout": 300,
        "env": { "MEMORY_TOKEN": "${MEMORY_TOKEN}" },
    });
    assert_eq!(entry("goose", "memory"), wanted);
    assert!(refused("goose", "developer").contains("part of Goose"));
    assert_eq!(entry("windsurf", "figma")["disabledTools"], json!(["delete_file"]));
}

#[test]
fn secrets_are_found_by_name_by_form_and_in_addresses() {
    let client = ClientApp::named("cursor").expect("a client");
    let document = json!({ "mcpServers": { "a": {
        "command": "npx",
        "args": [
            "mcp-remote", "https://x.example.com/mcp?api_key=s3cret1&page=2", "--header", "Authorization: Bearer s3cret2",
            "postgres://ann:s3cret3@db.example.com/shop", "--port", "8080",
        ],
        "env": {
            "OPENAI_KEY": "s3cret4", "GITHUB": "ghp_s3cret5", "DATABASE_URL": "postgres://ann:s3cret6@db/shop", "MODE": "fast",
            "PROXY": "http://proxy:3128", "KEY": "${KEY}",
        },
    } } });
    let all = found(ImportFrom { client, project: None, secrets: "secrets" }, &document);
    let entry = all[0].entry.clone().expect("taken");
    assert!(!entry.to_string().contains("s3cret"), "{entry}");
    assert_eq!(all[0].secrets.len(), 6, "{:?}", all[0].secrets);
    for (name, value) in [("MODE", "fast"), ("PROXY", "http://proxy:3128"), ("KEY", "${KEY}")] {
        assert_eq!(entry["env"][name], value);
    }
    assert_eq!(entry["args"][1], "https://x.example.com/mcp?api_key=${file:secrets/a.api_key}&page=2");
}
