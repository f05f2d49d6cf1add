//! Blocks that people paste from the settings of other clients.

use std::time::Duration;

use dragoman_config::{HttpTransport, Link, Text};

use crate::{faults_in_short, loaded, notes_in_short, same};

#[test]
fn claude_desktop() {
    let text = r#"{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"],
      "env": { "DEBUG": "", "LEVEL": 3 }
    }
  }
}"#;
    let config = loaded(text).config;
    let Link::Stdio(files) = &config.mcp_servers["filesystem"].link else { panic!("a command") };
    assert_eq!(files.env["LEVEL"].expose(), "3");
    let note = "2:3 globalShortcut [\"globalShortcut\"] `globalShortcut` is not used by Dragoman => no change needed; you can \
                keep it";
    same(text, &notes_in_short(text), &[note]);
}

#[test]
fn names_of_other_gateways_lead_to_the_own_key() {
    for (key, near) in [
        ("concurrency", "concurrentCalls"),
        ("maxConcurrency", "concurrentCalls"),
        ("max_concurrent_requests", "concurrentCalls"),
        ("queueSize", "waitingCalls"),
        ("rateLimit", "rateLimits"),
    ] {
        let text = format!("mcpServers: {{ files: {{ command: x, {key}: 4 }} }}");
        let notes = notes_in_short(&text).join(" ");
        assert!(notes.contains(&format!("did you mean `{near}`?")), "{key}: {notes}");
    }
}

#[test]
fn claude_code() {
    let text = r#"{
  "mcpServers": {
    "api": {
      "type": "http",
      "url": "${API_BASE_URL:-https://api.example.com}/mcp",
      "headers": { "X-Team": "${SECRET}" },
      "oauth": { "clientId": "x", "callbackPort": 8080 },
      "alwaysLoad": true,
      "timeout": 600000
    }
  }
}"#;
    let config = loaded(text).config;
    let Link::Http(api) = &config.mcp_servers["api"].link else { panic!("a URL") };
    assert_eq!((api.url.expose(), api.transport), ("https://api.example.com/mcp", HttpTransport::Streamable));
    assert_eq!(config.mcp_servers["api"].timeout, Some(Duration::from_mins(10)));
    let notes = notes_in_short(text);
    assert_eq!(notes.len(), 3, "{notes:#?}");
    assert!(notes[0].contains("mcpServers.api.oauth.callbackPort"), "{notes:#?}");
    let client = api.oauth.as_ref().and_then(|oauth| oauth.client_id.as_ref());
    assert_eq!(client.map(Text::expose), Some("x"));
    assert!(
        notes[2].ends_with("read as milliseconds, as in some clients => write `10m` to be explicit"),
        "{notes:#?}"
    );
}

#[test]
fn cursor_and_its_kin() {
    let text = r#"{
  "mcpServers": {
    "cursor":   { "command": "uvx", "args": ["mcp-server-git"], "env": { "K": "${env:SECRET}" }, "envFile": ".env" },
    "cline":    { "command": "node", "disabled": false, "autoApprove": ["read"], "alwaysAllow": [], "timeout": 60 },
    "cline-2":  { "type": "streamableHttp", "url": "https://h/mcp", "trust": true },
    "windsurf": { "serverUrl": "https://h/sse", "disabledTools": ["rm"] },
    "gemini":   { "httpUrl": "https://h/mcp", "includeTools": ["a"], "excludeTools": ["b"] },
    "off":      { "command": "x", "enabled": false, "somethingNew": { "deep": [1, 2] } }
  }
}"#;
    let config = loaded(text).config;
    let transport = |name: &str| match &config.mcp_servers[name].link {
        Link::Http(link) => link.transport,
        other => panic!("{name} is {other:?}"),
    };
    assert_eq!(transport("cline-2"), HttpTransport::Streamable);
    assert_eq!(transport("windsurf"), HttpTransport::Auto);
    assert_eq!(transport("gemini"), HttpTransport::Streamable);
    assert!(config.mcp_servers["off"].disabled);
    assert_eq!(config.mcp_servers["cline"].timeout, Some(Duration::from_mins(1)));
    let notes = loaded(text).notes;
    let paths: Vec<&str> = notes.iter().map(|note| note.path.trim_start_matches("mcpServers.")).collect();
    assert_eq!(
        paths,
        ["cursor.envFile", "cline.autoApprove", "cline.alwaysAllow", "cline-2.trust", "off.somethingNew",]
    );
    let served = |server: &str, tool: &str| config.mcp_servers[server].tools.admits(tool);
    assert_eq!([served("windsurf", "rm"), served("windsurf", "ls")], [false, true]);
    assert_eq!([served("gemini", "a"), served("gemini", "b"), served("gemini", "c")], [true, false, false]);
}

/// The keys that each client writes for a server, and which of the tools a, b and c are then served.
#[test]
fn tools_are_chosen_as_each_client_says_it() {
    for (written, served) in [
        ("excludeTools: [a, b]", "c"),
        ("excludeTools: a", "bc"),
        ("includeTools: [a, 'b(--flag)']", "ab"),
        ("includeTools: [a, b], excludeTools: [b]", "a"),
        ("disabledTools: ['a(x)']", "bc"),
        ("disabledTools: [], excludeTools: null", "abc"),
        ("enabledTools: [c]", "c"),
        ("allowedTools: [c], disabledTools: [c]", ""),
        ("enabled_tools: [a, c], disabled_tools: [c]", "a"),
        ("tools: ['*']", "abc"),
        ("tools: []", ""),
        ("tools: ['?'], excludeTools: [b]", "ac"),
        (
            "tools: { a: { enabled: false, description: x }, s-b: { enabled: false }, c: { enabled: true } }",
            "c",
        ),
        ("tools: { a: false, b: true, c: { disabled: true } }", "b"),
    ] {
        let config = loaded(&format!("mcpServers: {{ s: {{ command: x, {written} }} }}")).config;
        let tools = &config.mcp_servers["s"].tools;
        let kept: String = ["a", "b", "c"].into_iter().filter(|name| tools.admits(name)).collect();
        assert_eq!(kept, served, "{written}");
    }
    let note = "1:29 mcpServers.s.tools [tools] no tool of this server is served => list tools, or remove the key to serve all";
    let text = "mcpServers: { s: { command: x, tools: [] } }";
    same(text, &notes_in_short(text), &[&note.replace("1:29", "1:32")]);
}

#[test]
fn what_looks_like_a_choice_of_tools_and_is_not_known_is_refused() {
    for (key, help) in [
        ("excludedTools", "did you mean `excludeTools`?"),
        ("exclude_tools", "did you mean `excludeTools`?"),
        ("exclude-tools", "did you mean `excludeTools`?"),
        ("allowed_tools", "did you mean `allowedTools`?"),
        ("DisabledTools", "did you mean `disabledTools`?"),
        ("denyTools", "write `excludeTools` or"),
        ("tool_filter", "write `excludeTools` or"),
        ("toolsToInclude", "write `excludeTools` or"),
        ("blockedToolNames", "write `excludeTools` or"),
    ] {
        let text = format!("mcpServers: {{ s: {{ command: x, {key}: [a] }} }}");
        let faults = faults_in_short(&text);
        assert_eq!(faults.len(), 1, "{faults:#?}");
        let place = format!("1:32 mcpServers.s.{key} [{key}] `{key}` looks like a selection of tools");
        assert!(faults[0].starts_with(&place) && faults[0].contains(help), "{faults:#?}");
    }
    let deep = faults_in_short(
        "mcpServers: { s: { command: x, options: { toolFilter: { mode: block, list: [a] } } } }",
    );
    assert!(deep.len() == 1 && deep[0].contains("mcpServers.s.options.toolFilter"), "{deep:#?}");
    let both = faults_in_short("mcpServers: { s: { command: x, tools: [a], allowedTools: [b] } }");
    assert!(both.len() == 1 && both[0].contains("keep one of the two"), "{both:#?}");
    for other in ["alwaysAllow", "autoApprove", "toolRetries", "allowInsecure", "somethingNew"] {
        let text = format!("mcpServers: {{ s: {{ command: x, {other}: [a] }} }}");
        assert_eq!(notes_in_short(&text).len(), 1, "{other}");
    }
}

#[test]
fn vs_code_with_its_comments() {
    let text = r#"// .vscode/mcp.json
{
	/* asked for once */
	"inputs": [
		{ "type": "promptString", "id": "key", "description": "https://example.com // not a comment", "password": true },
	],
	"servers": {
		"github": { "type": "http", "url": "https://api.example.com/mcp/" }, // remote
		"play\u0077right": { "command": "npx", "args": ["-y", "@playwright/mcp@latest", "a//b", "\"/*"], "dev": {} },
	},
}
"#;
    let config = loaded(text).config;
    assert_eq!(config.mcp_servers.keys().collect::<Vec<_>>(), ["github", "playwright"]);
    let Link::Stdio(play) = &config.mcp_servers["playwright"].link else { panic!("a command") };
    let args: Vec<&str> = play.args.iter().map(Text::expose).collect();
    assert_eq!(args, ["-y", "@playwright/mcp@latest", "a//b", "\"/*"]);
    let notes = loaded(text).notes;
    let places: Vec<(usize, usize, &str)> =
        notes.iter().map(|note| (note.line, note.column, note.path.as_str())).collect();
    assert_eq!(places, [(4, 2, "inputs"), (9, 100, "servers.playwright.dev")]);
}

#[test]
fn comments_are_only_taken_out_of_json() {
    let config = loaded("mcpServers:\n  a: { command: x, args: [http://h, a //b, /*c] }\n").config;
    let Link::Stdio(a) = &config.mcp_servers["a"].link else { panic!("a command") };
    let args: Vec<&str> = a.args.iter().map(Text::expose).collect();
    assert_eq!(args, ["http://h", "a //b", "/*c"]);
}

#[test]
fn a_command_line_in_one_piece_is_noted() {
    let text = "mcpServers: { a: { command: npx -y thing }, b: { command: '/opt/my tools/x' } }";
    let notes = notes_in_short(text);
    let wanted = "1:29 mcpServers.a.command [npx -y thing] no shell interprets this text: all of it is used as the name \
                  of one program => if the text contains arguments, write them separately: command: npx, args: [-y, package]";
    same(text, &notes, &[wanted]);
}
