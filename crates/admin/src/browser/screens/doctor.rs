//! Checks of the whole installation.

use std::sync::Arc;
use std::time::Instant;

use pages::model::{CheckGroup, CheckRow, DoctorPage, ForeignText, LogRow, ServerState, Severity};
use pages::{page, route};
use tokio::task::JoinSet;

use super::super::page_reply::{self, PageResult, done};
use super::super::page_request::{PageRequest, Subject};
use super::server_rows;
use crate::insight::gateway_log::{self, LogLine, LogQuery};
use crate::insight::health::{HealthFinding, health};
use crate::insight::moment::PointInTime;
use crate::insight::servers;
use gateway::admission::identity::Identity;
use gateway::changes::Refusal;
use gateway::machine::{self, MachineFinding};
use gateway::process::Shard;

/// The number of servers that are checked at the same time.
const AT_ONCE: usize = 16;

/// The number of lines of the log that the page shows.
const LOG_LINES: usize = 100;

/// Shows the results of the last checks.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let checked = request.state.doctor.lock().clone().unwrap_or_default();
    let log_level = match request.query.text("level") {
        "warn" => "warn",
        "error" => "error",
        _ => "",
    };
    let data = DoctorPage { log: log(&request.shard, log_level), log_level, ..checked };
    page_reply::ok(page::doctor(&request.frame(), &data))
}

/// Runs the checks.
pub(in super::super) async fn run(request: &PageRequest) -> PageResult {
    let (shard, started) = (&request.shard, Instant::now());
    let groups = vec![
        CheckGroup { title: "Configuration", checks: configuration(shard) },
        CheckGroup { title: "Servers", checks: servers(shard).await },
        CheckGroup { title: "Machine", checks: machine(shard).await },
    ];
    let data = DoctorPage { ran: Some(PointInTime::now().0), groups, ..DoctorPage::default() };
    *request.state.doctor.lock() = Some(data);
    let outcome: Result<(), Refusal> = Ok(());
    request.note(Subject::Gateway, started, &outcome, "ran the checks");
    Ok(done(request, outcome, route::DOCTOR, "The checks have run."))
}

/// Returns the last lines of the gateway's log, newest first.
fn log(shard: &Arc<Shard>, level: &str) -> Vec<LogRow> {
    let level = Some(level).filter(|word| !word.is_empty());
    let query = LogQuery { after: 0, level, server: None, limit: LOG_LINES };
    let names = server_rows::names(shard);
    let row = |line: LogLine| LogRow {
        at: line.at.0,
        severity: match line.level {
            "error" => Severity::Bad,
            "warn" => Severity::Warning,
            _ => Severity::Note,
        },
        level: line.level,
        server: line.server.filter(|name| names.contains(name)).map(|name| {
            let href = route::server(&name);
            (name.into(), href)
        }),
        text: line.text.into(),
    };
    gateway_log::lines(query).lines.into_iter().rev().map(row).collect()
}

fn good(text: impl Into<String>) -> CheckRow {
    CheckRow { severity: Severity::Good, text: text.into().into(), advice: None, href: None }
}

fn configuration(shard: &Arc<Shard>) -> Vec<CheckRow> {
    let of_servers = |finding: &HealthFinding| finding.subject.starts_with("server ");
    let found = health(shard).findings.into_iter().filter(|finding| !of_servers(finding));
    let mut rows: Vec<CheckRow> = found
        .map(|finding| CheckRow {
            severity: if finding.severity == "error" { Severity::Bad } else { Severity::Warning },
            text: format!("{}: {}", finding.subject, finding.message).into(),
            advice: Some(finding.help.into()),
            href: Some(
                if finding.subject.starts_with("limits") { route::LIMITS } else { route::CONFIGURATION }
                    .to_owned(),
            ),
        })
        .collect();
    if rows.is_empty() {
        rows.push(good("The configuration has no errors, and no limit is nearly used up."));
    }
    rows
}

async fn servers(shard: &Arc<Shard>) -> Vec<CheckRow> {
    let names = server_rows::names(shard);
    if names.is_empty() {
        let row = good("No server is configured.");
        return vec![CheckRow {
            severity: Severity::Warning,
            advice: Some("Add a server.".into()),
            href: Some(route::SERVERS.to_owned()),
            ..row
        }];
    }
    let mut rows = Vec::new();
    for some in names.chunks(AT_ONCE) {
        let mut checks = JoinSet::new();
        for (at, name) in some.iter().enumerate() {
            let (shard, name) = (shard.clone(), name.clone());
            checks.spawn(transport::task::boxed(async move { (at, server(&shard, &name).await) }));
        }
        let mut done = checks.join_all().await;
        done.sort_by_key(|(at, _)| *at);
        rows.extend(done.into_iter().map(|(_, row)| row));
    }
    rows
}

/// Connects to a server, unless it is connected, and fetches its list of tools again.
async fn server(shard: &Arc<Shard>, name: &str) -> CheckRow {
    let identity = Identity::anyone(None);
    let tools = servers::tools(shard, &identity, name, true).await;
    let row = server_rows::row(shard, name, &crate::insight::usage::Usage::default());
    let href = Some(route::server(name));
    match tools {
        Ok(_) if row.state == ServerState::Degraded => CheckRow {
            severity: Severity::Warning,
            text: format!("{name}: {}", row.reason.as_ref().map_or("it is degraded", ForeignText::raw))
                .into(),
            advice: row.advice,
            href,
        },
        Ok(tools) => CheckRow { href, ..good(format!("{name}: connected; it lists {} tools.", tools.len())) },
        Err(_) if row.state == ServerState::Disabled => CheckRow {
            severity: Severity::Note,
            text: format!("{name}: disabled.").into(),
            advice: None,
            href,
        },
        Err(_) if row.state == ServerState::PerCaller => {
            let reason = row.reason.as_ref().map_or("", ForeignText::raw);
            CheckRow { href, ..good(format!("{name}: it answers; {reason}.")) }
        }
        Err(why) => {
            let reason = row.reason.map_or(why, |reason| reason.raw().to_owned());
            CheckRow {
                severity: Severity::Bad,
                text: format!("{name}: {reason}").into(),
                advice: row.advice,
                href,
            }
        }
    }
}

async fn machine(shard: &Arc<Shard>) -> Vec<CheckRow> {
    let (standing, folder) = (shard.gateway.standing.clone(), shard.gateway.process.folder.clone());
    let checked =
        transport::task::spawn_blocking(move || machine::findings(standing.config(), folder.as_deref()))
            .await;
    let row = |finding: MachineFinding| CheckRow {
        severity: match finding.level {
            machine::FindingLevel::Ok => Severity::Good,
            machine::FindingLevel::Warning => Severity::Warning,
            machine::FindingLevel::Error => Severity::Bad,
        },
        text: format!("{}: {}", finding.subject, finding.message).into(),
        advice: super::text(finding.help),
        href: None,
    };
    let rows: Vec<CheckRow> = checked.unwrap_or_default().into_iter().map(row).collect();
    if rows.is_empty() { vec![good("No problems were found.")] } else { rows }
}
