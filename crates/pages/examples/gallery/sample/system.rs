//! The configuration, and the checks.

use super::{Sample, ago};
use dragoman_pages::model::{
    ChangeRow, CheckGroup, CheckRow, ConfigFault, ConfigurationPage, DiffLine, DiffMark, DoctorPage, LogRow,
    Severity,
};
use dragoman_pages::route;

const TEXT: &str = "listen: 127.0.0.1:8808\nauth:\n  keys: true\naudit:\n  arguments: true\n  keep: 30d\nmcpServers:\n  files:\n    command: npx\n    args: [-y, \"@modelcontextprotocol/server-filesystem\", \".\"]\n  github:\n    url: https://api.githubcopilot.com/mcp\n    headers:\n      Authorization: \"***\"\nprofiles:\n  office:\n    servers: [files, github]\n    tools:\n      mode: hybrid\n      direct: [github__search_code]\n";

/// The configuration.
pub(crate) fn configuration(s: &Sample) -> ConfigurationPage {
    let line = |(mark, text): (DiffMark, &str)| DiffLine { mark, text: s.t(text) };
    let difference = [
        (DiffMark::Same, "mcpServers:"),
        (DiffMark::Removed, "  files: { disabled: true }"),
        (DiffMark::Added, "  files: { disabled: false }"),
        (DiffMark::Added, "  linear: { url: https://mcp.linear.example/mcp }"),
    ];
    ConfigurationPage {
        path: s.t("/etc/dragoman/dragoman.yaml"),
        loaded: ago(5_400),
        etag: "\"9f2c\"".to_owned(),
        faults: Vec::new(),
        failed: None,
        needs_restart: s.list(&["tls", "stateFolder"]),
        effective: s.t(TEXT),
        difference: if s.rows > 0 { difference.map(line).into() } else { Vec::new() },
        changes: s.rows(|number| ChangeRow {
            at: ago(300 * (number as u64 + 1)),
            by: s.t(["user:ann", "file", "user:bob"][number % 3]),
            what: s.t([
                "added: server linear",
                "reloaded; changed: profile office",
                "POST /api/mcp-servers: the name is taken",
            ][number % 3]),
            done: number % 3 != 2,
        }),
    }
}

/// The configuration after a reload that failed.
pub(crate) fn broken(s: &Sample) -> ConfigurationPage {
    ConfigurationPage {
        faults: s.few(20, |number| ConfigFault {
            line: Some(12 + 7 * number as u64),
            column: Some(5),
            text: s.t([
                "unknown key `comand` in the server `files`",
                "the profile `office` names the server `gitub`, which does not exist",
            ][number % 2]),
            help: Some(s.t(["write `command`", "did you mean `github`?"][number % 2])),
            excerpt: Some(s.t(["    comand: npx", "    servers: [files, gitub]"][number % 2])),
        }),
        failed: Some(ago(20)),
        ..configuration(s)
    }
}

/// The last lines of the gateway's log.
fn log_rows(s: &Sample) -> Vec<LogRow> {
    s.rows(|number| LogRow {
        at: ago(7 * (number as u64 + 1)),
        severity: [Severity::Note, Severity::Warning, Severity::Bad][number % 3],
        level: ["info", "warn", "error"][number % 3],
        server: (number % 3 > 0).then(|| (s.t("github"), route::server("github"))),
        text: s.t([
            "the configuration was read again: nothing has changed",
            "backing_off after 2m of ready: exited 3 times in 10 s: GITHUB_TOKEN is not set",
            "unreachable after 3s of ready, tools: 7: the connection was refused",
        ][number % 3]),
    })
}

/// The checks.
pub(crate) fn doctor(s: &Sample) -> DoctorPage {
    let check = |severity, text: &str, advice: Option<&str>, href: Option<String>| CheckRow {
        severity,
        text: s.t(text),
        advice: advice.map(|advice| s.t(advice)),
        href,
    };
    if s.rows == 0 {
        return DoctorPage::default();
    }
    DoctorPage {
        ran: Some(ago(95)),
        log_level: "",
        log: log_rows(s),
        groups: vec![
            CheckGroup {
                title: "Configuration",
                checks: vec![
                    check(Severity::Good, "dragoman.yaml has no errors.", None, None),
                    check(
                        Severity::Warning,
                        "dragoman.yaml contains a secret, and other users can read the file.",
                        Some("Run chmod 600 on the file, or move the secret to an environment variable."),
                        Some(route::CONFIGURATION.to_owned()),
                    ),
                ],
            },
            CheckGroup {
                title: "Servers",
                checks: s.rows(|number| match number % 3 {
                    0 => check(Severity::Good, &format!("files-{number} answered in 12 ms."), None, None),
                    1 => check(
                        Severity::Bad,
                        "postgres does not start: password authentication failed for user \"reports\".",
                        Some("Check PGPASSWORD in its env."),
                        Some(route::server("postgres")),
                    ),
                    _ => check(
                        Severity::Note,
                        "playwright rests, and was not started for this check.",
                        None,
                        None,
                    ),
                }),
            },
            CheckGroup {
                title: "Clock",
                checks: vec![check(
                    Severity::Good,
                    "The clock differs from that of 4 servers by at most 0.3 s.",
                    None,
                    None,
                )],
            },
        ],
    }
}
