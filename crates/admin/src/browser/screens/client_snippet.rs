//! The instructions for clients: one row each. This module must not know the gateway.

use pages::model::ClientSnippet;
use serde_json::{Value, json};

/// The values that a snippet contains.
struct SnippetValues<'v> {
    /// The name of the server in the client's configuration.
    name: String,
    url: &'v str,
    header: Option<(&'v str, &'v str)>,
}

impl SnippetValues<'_> {
    fn headers(&self) -> Option<Value> {
        self.header.map(|(name, value)| json!({ name: value }))
    }

    /// Returns an entry with these members, and the headers if there are some.
    fn entry(&self, mut members: Value) -> Value {
        if let Some(headers) = self.headers() {
            members["headers"] = headers;
        }
        members
    }

    /// Returns a file that contains one entry below this key.
    fn file(&self, key: &str, members: Value) -> String {
        let file = json!({ key: { self.name.as_str(): self.entry(members) } });
        serde_json::to_string_pretty(&file).unwrap_or_default()
    }
}

/// One client: where the user inserts the snippet, the text of the snippet, and the next step.
struct ClientRow {
    id: &'static str,
    name: &'static str,
    place: &'static str,
    text: fn(&SnippetValues<'_>) -> String,
    then: &'static str,
}

const CLIENTS: &[ClientRow] = &[
    ClientRow {
        id: "claude-code",
        name: "Claude Code",
        place: "a terminal",
        text: |v| {
            let header = v.header.map(|(name, value)| format!(" \\\n  --header \"{name}: {value}\""));
            format!("claude mcp add --transport http {} {}{}", v.name, v.url, header.unwrap_or_default())
        },
        then: "Type /mcp in Claude Code to see the server.",
    },
    ClientRow {
        id: "claude-desktop",
        name: "Claude Desktop",
        place: "claude_desktop_config.json (Settings, Developer, Edit Config)",
        text: |v| {
            let mut args = vec!["-y".to_owned(), "mcp-remote".to_owned(), v.url.to_owned()];
            if let Some((name, value)) = v.header {
                args.extend(["--header".to_owned(), format!("{name}:{value}")]);
            }
            let file = json!({ "mcpServers": { v.name.as_str(): { "command": "npx", "args": args } } });
            serde_json::to_string_pretty(&file).unwrap_or_default()
        },
        then: "Quit Claude Desktop completely, and start it again.",
    },
    ClientRow {
        id: "cursor",
        name: "Cursor",
        place: "~/.cursor/mcp.json",
        text: |v| v.file("mcpServers", json!({ "url": v.url })),
        then: "Open Cursor's settings, MCP, and enable the server.",
    },
    ClientRow {
        id: "vscode",
        name: "VS Code",
        place: ".vscode/mcp.json",
        text: |v| v.file("servers", json!({ "type": "http", "url": v.url })),
        then: "Select Start above the entry.",
    },
    ClientRow {
        id: "codex",
        name: "Codex",
        place: "~/.codex/config.toml",
        text: |v| {
            let header =
                v.header.map(|(name, value)| format!("http_headers = {{ \"{name}\" = \"{value}\" }}\n"));
            format!("[mcp_servers.{}]\nurl = \"{}\"\n{}", v.name, v.url, header.unwrap_or_default())
        },
        then: "Start Codex again.",
    },
    ClientRow {
        id: "gemini-cli",
        name: "Gemini CLI",
        place: "~/.gemini/settings.json",
        text: |v| v.file("mcpServers", json!({ "httpUrl": v.url })),
        then: "Type /mcp in Gemini CLI to see the tools.",
    },
    ClientRow {
        id: "windsurf",
        name: "Windsurf",
        place: "~/.codeium/windsurf/mcp_config.json",
        text: |v| v.file("mcpServers", json!({ "serverUrl": v.url })),
        then: "Refresh the list of MCP servers in Windsurf.",
    },
    ClientRow {
        id: "zed",
        name: "Zed",
        place: "~/.config/zed/settings.json",
        text: |v| v.file("context_servers", json!({ "url": v.url })),
        then: "The agent panel shows a green dot beside the server.",
    },
    ClientRow {
        id: "cline",
        name: "Cline",
        place: "cline_mcp_settings.json (MCP Servers, Configure)",
        text: |v| v.file("mcpServers", json!({ "type": "streamableHttp", "url": v.url })),
        then: "Cline shows a green dot beside the server.",
    },
    ClientRow {
        id: "goose",
        name: "Goose",
        place: "~/.config/goose/config.yaml",
        text: |v| {
            let header = v.header.map(|(name, value)| format!("    headers:\n      {name}: '{value}'\n"));
            format!(
                "extensions:\n  {0}:\n    type: streamable_http\n    name: {0}\n    enabled: true\n    uri: {1}\n{2}",
                v.name,
                v.url,
                header.unwrap_or_default()
            )
        },
        then: "Start a new session of Goose.",
    },
    ClientRow {
        id: "lm-studio",
        name: "LM Studio",
        place: "~/.lmstudio/mcp.json (Program, Install, Edit mcp.json)",
        text: |v| v.file("mcpServers", json!({ "url": v.url })),
        then: "Switch the server on in the tab Program.",
    },
    ClientRow {
        id: "n8n",
        name: "n8n",
        place: "the node MCP Client Tool, field Endpoint (transport HTTP Streamable)",
        text: |v| {
            let header = v.header.map(|(name, value)| format!("\nHeader Auth, name: {name}\nvalue: {value}"));
            format!("{}{}", v.url, header.unwrap_or_default())
        },
        then: "Execute the workflow once.",
    },
    ClientRow {
        id: "inspector",
        name: "MCP Inspector",
        place: "a terminal",
        text: |v| {
            let header = v.header.map(|(name, value)| format!(" \\\n  --header \"{name}: {value}\""));
            format!(
                "npx @modelcontextprotocol/inspector --cli {} --transport http --method tools/list{}",
                v.url,
                header.unwrap_or_default()
            )
        },
        then: "The terminal lists the tools.",
    },
    ClientRow {
        id: "dragoman",
        name: "dragoman",
        place: "a terminal",
        text: |v| {
            let header = v.header.map(|(name, value)| format!(" --header \"{name}: {value}\""));
            format!("dragoman list {}{}", v.url, header.unwrap_or_default())
        },
        then: "The terminal lists the tools.",
    },
];

/// Returns the snippets for all clients.
pub(super) fn snippets(profile: &str, url: &str, header: Option<(&str, &str)>) -> Vec<ClientSnippet> {
    let name = if profile == "default" { "dragoman".to_owned() } else { format!("dragoman-{profile}") };
    let values = SnippetValues { name, url, header };
    let one = |row: &ClientRow| ClientSnippet {
        id: row.id,
        name: row.name,
        place: row.place,
        text: (row.text)(&values).into(),
        then: row.then,
    };
    CLIENTS.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(id: &str, header: Option<(&str, &str)>) -> String {
        let all = snippets("office", "https://x.example/mcp/office", header);
        all.iter().find(|one| one.id == id).unwrap().text.raw().to_owned()
    }

    #[test]
    fn each_client_gets_its_own_form() {
        let header = Some(("Authorization", "Bearer YOUR_KEY"));
        let cursor: Value = serde_json::from_str(&text("cursor", header)).unwrap();
        assert_eq!(cursor["mcpServers"]["dragoman-office"]["url"], "https://x.example/mcp/office");
        assert_eq!(cursor["mcpServers"]["dragoman-office"]["headers"]["Authorization"], "Bearer YOUR_KEY");
        assert!(text("claude-code", None).ends_with("dragoman-office https://x.example/mcp/office"));
        assert!(text("codex", header).contains("http_headers"));
        for row in CLIENTS {
            for header in [header, None] {
                let own = text(row.id, header);
                assert!(own.contains("https://x.example/mcp/office"), "{}", row.id);
                assert_eq!(own.contains("YOUR_KEY"), header.is_some(), "{}", row.id);
            }
        }
    }
}
