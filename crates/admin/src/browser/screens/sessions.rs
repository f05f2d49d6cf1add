//! The page of sessions, event streams, parked calls and queues.

use std::sync::Arc;
use std::time::Instant;

use engine::session::QuestionText;
use pages::model::{
    CallNowRow, CallNowStage, Caller, ConfirmPage, ForeignText, ParkedRow, QueueRow, SessionRow,
    SessionsPage, StreamRow,
};
use pages::{page, route};

use super::super::page_reply::{self, PageResult, done};
use super::super::page_request::{PageRequest, Subject};
use super::paging::{contains, part};
use super::{caller, count, text};
use crate::insight::in_progress::{self, ASKING, CallNow};
use crate::insight::keys::key_names;
use crate::insight::moment::PointInTime;
use crate::insight::sessions::{self, ListedSession, SessionQuery};
use gateway::changes::Refusal;
use gateway::key_names::KeyNames;
use gateway::process::Shard;

/// Shows the sessions.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let (shard, q) = (&request.shard, request.query.shown("q"));
    let all = SessionQuery { profile: None, principal: None, offset: 0, limit: u64::MAX };
    let rows = sessions::sessions(shard, all).await.sessions.into_iter().map(row);
    let is_chosen = |row: &SessionRow| {
        let address = row.address.as_ref().map_or("", pages::model::ForeignText::raw);
        let [id, key] = row.principal.words();
        contains(&[id, key, row.client.raw(), row.profile.raw(), address], q.raw())
    };
    let (sessions, paging) = part(request, rows.filter(is_chosen).collect());
    let names = key_names(shard).await;
    let data = SessionsPage {
        q,
        sessions,
        paging,
        streams: streams(shard, &names),
        calls: calls(shard, &names),
        parked: parked(shard, &names),
        queues: queues(shard),
        limit: count(shard.gateway.snapshot.limits.sessions),
    };
    page_reply::ok(page::sessions(&request.frame(), &data))
}

fn row(session: ListedSession) -> SessionRow {
    let now = PointInTime::now().0;
    SessionRow {
        id: session.id,
        principal: Caller::new(session.principal, session.principal_name),
        client: session.client.unwrap_or_else(|| "unknown client".to_owned()).into(),
        era: session.era.unwrap_or("dialect").into(),
        transport: session.kind.into(),
        profile: session.profile.into(),
        address: text(session.address),
        opened: session.opened.0,
        used: now.saturating_sub(session.idle_seconds.saturating_mul(1000)),
        streams: u64::from(session.has_stream),
        calls: count(session.running),
        questions: count(session.questions),
        capabilities: super::texts(session.capabilities),
    }
}

fn streams(shard: &Shard, names: &KeyNames) -> Vec<StreamRow> {
    let open: Vec<_> = shard.session.state.holders.open.lock().values().cloned().collect();
    let mut rows: Vec<StreamRow> = open
        .iter()
        .map(|held| StreamRow {
            principal: caller(names, &held.principal.id),
            client: held.program.as_deref().unwrap_or("unknown client").into(),
            purpose: held.purpose.into(),
            opened: PointInTime::at(held.opened).0,
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.opened));
    rows
}

fn calls(shard: &Shard, names: &KeyNames) -> Vec<CallNowRow> {
    let all = in_progress::calls(shard, names).calls.into_iter();
    all.map(|call| CallNowRow {
        target: call.tool.unwrap_or(call.method).into(),
        server: call.server.into(),
        principal: Caller::new(call.principal, call.principal_name),
        client: text(call.client),
        since: call.since.0,
        stage: match call.state {
            "waiting" => CallNowStage::Waits,
            ASKING => CallNowStage::Asks,
            _ => CallNowStage::Runs,
        },
    })
    .collect()
}

/// Returns the only call of a caller that waits for its client and fulfils a condition; `None` if there are several.
fn only_asking<'c>(
    calls: &'c [CallNow],
    principal: &str,
    is_it: impl Fn(&CallNow) -> bool,
) -> Option<&'c CallNow> {
    let mut those =
        calls.iter().filter(|call| call.state == ASKING && call.principal == principal && is_it(call));
    those.next().filter(|_| those.next().is_none())
}

fn parked(shard: &Shard, names: &KeyNames) -> Vec<ParkedRow> {
    let calls = in_progress::calls(shard, names).calls;
    let all = shard.gateway.process.parked.listed();
    let mut rows: Vec<ParkedRow> = all
        .into_iter()
        .map(|call| ParkedRow {
            questions: call.questions.iter().map(question).collect(),
            client: only_asking(&calls, &call.principal, |one| {
                one.server == *call.server && one.tool.as_deref() == call.tool.as_deref()
            })
            .and_then(|one| one.client.as_deref())
            .map(Into::into),
            principal: caller(names, &call.principal),
            call: Some((call.tool.as_deref().unwrap_or("–").into(), (&*call.server).into())),
            since: PointInTime::at(call.since).0,
            until: Some(PointInTime::at(call.until).0),
        })
        .collect();
    for session in shard.session.state.sessions.all() {
        let asked = session.asks.lock().listed();
        let label = session.identity.client_label.as_deref();
        let call = only_asking(&calls, session.identity.id(), |one| one.client.as_deref() == label);
        let call = call
            .filter(|_| !asked.is_empty())
            .map(|one| (one.tool.as_deref().unwrap_or(&one.method).into(), one.server.as_str().into()));
        rows.extend(asked.into_iter().map(|(at, end, text)| ParkedRow {
            questions: vec![question(&text)],
            client: session.identity.client_label.as_deref().map(Into::into),
            principal: caller(names, session.identity.id()),
            call: call.clone(),
            since: PointInTime::at(at).0,
            until: Some(PointInTime::at(end).0),
        }));
    }
    rows.sort_by_key(|row| row.since);
    rows
}

fn question(asked: &QuestionText) -> (ForeignText, ForeignText) {
    ((&*asked.method).into(), (&*asked.text).into())
}

fn queues(shard: &Arc<Shard>) -> Vec<QueueRow> {
    let one = |spec: &engine::snapshot::UpstreamSpec| {
        let server = shard.view.state.upstreams.get(spec.id).server.clone();
        let ((running, waiting), health) = (server.concurrency.counts(), server.health.report());
        let limit = Some(server.concurrency.most()).filter(|most| *most < u64::MAX);
        let is_full = limit.is_some_and(|most| running >= most);
        let reason = match Some(health.cause.detail).filter(|_| health.word.is_trouble()) {
            Some(trouble) => Some(trouble),
            None => is_full.then(|| format!("all {running} places are in use (concurrentCalls)")),
        };
        let reason = reason.filter(|_| waiting > 0);
        let (all, own) = server.concurrency.queue_limits();
        (running + waiting > 0).then(|| QueueRow {
            server: (&*spec.name).into(),
            running,
            limit,
            waiting,
            queue: limit.is_some().then(|| (count(all), count(own))),
            reason: text(reason),
        })
    };
    shard.gateway.snapshot.upstreams.iter().filter_map(one).collect()
}

/// Ends a session.
pub(in super::super) async fn end(request: &PageRequest) -> PageResult {
    let id = request.form.text("session");
    let all = SessionQuery { profile: None, principal: None, offset: 0, limit: u64::MAX };
    let session = sessions::sessions(&request.shard, all).await.sessions.into_iter().find(|one| one.id == id);
    let subject = session.map(|one| {
        let caller = one.principal_name.unwrap_or(one.principal);
        format!("{} of {caller}", one.client.as_deref().unwrap_or("unknown client"))
    });
    let ask = ConfirmPage {
        question: "End the session?",
        subject: subject.unwrap_or_default().into(),
        effect: "Its running calls are cancelled. Most clients open a new session by themselves.",
        words: "End the session",
        back: route::SESSIONS.to_owned(),
        ..ConfirmPage::default()
    };
    if let Some(page) = request.unsure(ask) {
        return Ok(page);
    }
    let started = Instant::now();
    let missing = || Refusal::new(404, "SESSION_NOT_FOUND", "There is no such session. It may have ended.");
    let ended = sessions::end(&request.shard, id).await.ok_or_else(missing);
    let what = ended.as_ref().map(|principal| format!("ended a session of {principal}")).unwrap_or_default();
    request.note(Subject::Gateway, started, &ended, &what);
    Ok(done(request, ended, route::SESSIONS, "The session was ended."))
}
