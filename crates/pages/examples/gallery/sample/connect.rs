//! Snippets and the self-test.

use super::{NOW, Sample, ago};
use dragoman_pages::model::{ClientSnippet, ConnectPage, SelfTest, SelfTestEvent, SelfTestState, Severity};

const JSON: &str = "{\n  \"mcpServers\": {\n    \"dragoman\": {\n      \"url\": \"http://127.0.0.1:8808/mcp/office\",\n      \"headers\": { \"Authorization\": \"Bearer YOUR_KEY\" }\n    }\n  }\n}";
const CLAUDE: &str = "claude mcp add --transport http dragoman http://127.0.0.1:8808/mcp/office --header \"Authorization: Bearer YOUR_KEY\"";

/// The snippets.
pub(crate) fn connect(s: &Sample) -> ConnectPage {
    let clients = [
        ("claude-code", "Claude Code", "a terminal", CLAUDE, "Then run /mcp in Claude Code."),
        ("cursor", "Cursor", "~/.cursor/mcp.json", JSON, "Then restart Cursor."),
        ("vscode", "VS Code", ".vscode/mcp.json", JSON, "Then run “MCP: List Servers”."),
        (
            "claude-desktop",
            "Claude Desktop",
            "claude_desktop_config.json",
            JSON,
            "Then restart Claude Desktop.",
        ),
        ("gemini", "Gemini CLI", "~/.gemini/settings.json", JSON, ""),
        ("other", "Other clients", "the client's settings", JSON, ""),
    ];
    ConnectPage {
        profiles: s.list(&["default", "office", "research"]),
        profile: s.t("office"),
        unknown: (s.rows == 1 || s.hostile.is_some()).then(|| s.t("ofice")),
        url: s.t("http://127.0.0.1:8808/mcp/office"),
        header: (s.rows > 0).then(|| (s.t("Authorization"), s.t("Bearer YOUR_KEY"))),
        notes: s.list(&["This address can be reached from this machine only. To let other machines in, set listen and publicUrl."]),
        clients: clients.iter().take(s.rows).map(|&(id, name, place, text, then)| ClientSnippet { id, name, place, text: s.t(text), then }).collect(),
        client: "cursor".to_owned(),
        test: None,
    }
}

/// The self-test of a client that uses a wrong key.
pub(crate) fn testing(s: &Sample) -> ConnectPage {
    let event = |seconds, severity, text: &str, advice: Option<&str>| SelfTestEvent {
        at: ago(seconds),
        severity,
        text: s.t(text),
        advice: advice.map(|advice| s.t(advice)),
    };
    ConnectPage {
        test: Some(SelfTest {
            id: "t1".to_owned(),
            state: if s.rows > 0 { SelfTestState::Fails } else { SelfTestState::Waiting },
            until: NOW + 240_000,
            events: if s.rows == 0 {
                Vec::new()
            } else {
                vec![
                    event(9, Severity::Good, "cursor 1.7.4 sent POST /mcp/office from 127.0.0.1.", None),
                    event(
                        9,
                        Severity::Bad,
                        "The key dgm_BgTMSuBe… has a mistyped character, so the request was refused with 401.",
                        Some("Copy the key again, without spaces."),
                    ),
                ]
            },
        }),
        ..connect(s)
    }
}
