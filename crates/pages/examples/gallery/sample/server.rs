//! One server.

use super::{Sample, ago};
use crate::sample::catalogue::{change, server_row};
use crate::sample::traffic::call_row;
use dragoman_pages::model::{
    ConnectionCounts, DefinedIn, DefinitionState, ProcessRow, ServerConfig, ServerLogin, ServerPage,
    ServerRow, ServerState, StateChange, StderrLine, ToolEventRow,
};

/// A server whose process exits again and again, with changed definitions.
pub(crate) fn server(s: &Sample) -> ServerPage {
    let states = [
        ServerState::BackingOff,
        ServerState::Starting,
        ServerState::Ready,
        ServerState::Listing,
        ServerState::Starting,
    ];
    let lines = [
        "reports-mcp 2.4.1 starting",
        "connecting to db.internal:5432 as reports",
        "FATAL: password authentication failed for user \"reports\"",
        "at Connection.parseE (/app/node_modules/pg-protocol/src/parser.ts:369:69)",
    ];
    let mut second = change(s);
    second.state = DefinitionState::New;
    second.tool = s.t("merge_pull_request");
    ServerPage {
        row: ServerRow { origin: DefinedIn::Api, tools: 6, tokens: 1_840, calls: 942, errors: 131, ..server_row(s, 0) },
        destination: s.t("npx -y @example/mcp-postgres --schema public"),
        prompts: 2,
        resources: 14,
        freshness: s.t("stale: connection lost"),
        login: None,
        connections: ConnectionCounts { shared: 1, dedicated: 2, waiting: 3, running: 1, moves: 0 },
        processes: s.few(3, |number| ProcessRow {
            pid: [41_207, 41_390, 41_391][number % 3],
            role: s.t(if number == 0 { "shared" } else { "dedicated" }),
            started: ago(140 + number as u64),
            memory: 84_123_000 + 1_000_000 * number as u64,
            children: 2,
        }),
        history: s.few(50, |number| StateChange {
            at: ago(30 + 45 * number as u64 * number as u64),
            state: states[number % states.len()],
            reason: (number % 5 == 0).then(|| s.t("the process exited 3 times in 10 s: code 1: FATAL: password authentication failed for user \"reports\"")),
        }),
        tool_events: s.few(50, |number| ToolEventRow {
            at: ago(700 + 5_400 * number as u64),
            tool: s.t(["create_pull_request", "merge_pull_request", "run_query"][number % 3]),
            state: [DefinitionState::Changed, DefinitionState::New, DefinitionState::Vanished][number % 3],
        }),
        stderr: s.few(200, |number| StderrLine { at: Some(ago(90 - number.min(80) as u64)), text: s.t(lines[number % lines.len()]) }),
        policy: s.t("hold"),
        changes: if s.rows > 0 { vec![change(s), second] } else { Vec::new() },
        revision: "r1".to_owned(),
        refusals: s.list(&["1 tool does not suit gemini: run_query (/properties/params/items: there is no `type`)"]),
        failures: s.few(6, |number| call_row(s, number * 6 + 3)),
        config: ServerConfig {
            text: s.t("{\n  \"command\": \"npx\",\n  \"args\": [\"-y\", \"@example/mcp-postgres\", \"--schema\", \"public\"],\n  \"env\": { \"PGUSER\": \"reports\", \"PGPASSWORD\": \"***\" }\n}"),
            whole: s.t("{\n  \"command\": \"npx\",\n  \"definitions\": \"warn\",\n  \"concurrentCalls\": 8,\n  \"timeout\": \"60s\"\n}"),
            etag: "\"e1\"".to_owned(),
            faults: if s.hostile.is_some() { vec![s.t("")] } else { Vec::new() },
            profiles: Vec::new(),
        },
    }
}

/// A remote server that needs a login.
pub(crate) fn remote(s: &Sample) -> ServerPage {
    ServerPage {
        row: server_row(s, 2),
        destination: s.t("https://mcp.notion.example/mcp"),
        login: Some(ServerLogin {
            valid: s.rows == 1,
            issuer: s.t("https://id.notion.example"),
            expires: (s.rows > 0).then(|| ago(0) + 3_600_000),
            callers: s.rows as u64,
            can_start: true,
        }),
        policy: s.t("warn"),
        config: ServerConfig {
            text: s.t("{\n  \"url\": \"https://mcp.notion.example/mcp\"\n}"),
            profiles: s.list(&["default", "office"]),
            ..ServerConfig::default()
        },
        ..server(&Sample { rows: 0, ..s.clone() })
    }
}
