//! The live traffic: the latest calls, and the form in which an event is shown.

use pages::model::{ForeignText, LiveEvent as ShownEvent, LiveEventKind, LivePage, Outcome, Severity};
use pages::{page, route};
use store::audit::Query;

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::super::page_stream::PageStream;
use super::call;
use super::call_rows;
use super::paging::contains;
use crate::insight::live::{LiveEvent, LiveEvents, LiveState};
use crate::insight::moment::PointInTime;
use gateway::admission::audit::WatchedShare;
use gateway::changes::Refusal;

/// The number of events that the page begins with.
const LATEST: u32 = 50;

/// The MCP methods without a slash in their names. An entry with any other method without a slash is a change that
/// a person made.
const MCP: [&str; 3] = ["initialize", "ping", "server/discover"];

/// An operator's filter for events.
struct LiveFilter {
    q: ForeignText,
    kind: Option<LiveEventKind>,
}

impl LiveFilter {
    fn of(request: &PageRequest) -> Self {
        Self { q: request.query.shown("q"), kind: LiveEventKind::from_name(request.query.text("kind")) }
    }

    fn takes(&self, event: &ShownEvent) -> bool {
        let [id, key] = event.who.words();
        self.kind.is_none_or(|kind| event.kind == kind)
            && contains(&[id, key, event.what.raw(), event.text.raw()], self.q.raw())
    }
}

/// Shows the page.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let wanted = LiveFilter::of(request);
    let rows = call_rows::newest(&request.shard, Query { limit: LATEST, ..Query::default() }).await;
    let events = rows.into_iter().map(of_call).filter(|event| wanted.takes(event)).collect();
    let data =
        LivePage { events, q: wanted.q, kind: wanted.kind, capture: call::capture_now(&request.shard) };
    page_reply::ok(page::live(&request.frame(), &data))
}

/// Streams events as they happen.
pub(in super::super) async fn events(request: &PageRequest) -> PageResult {
    let (stream, response) = PageStream::open(request)?;
    let mut events = LiveEvents::start(&stream.thread, WatchedShare::Readable).ok_or_else(|| {
        Refusal::new(429, "TOO_MANY_READERS", "too many readers of events are open; close some")
    })?;
    let wanted = LiveFilter::of(request);
    let mut frame = request.frame_without_notice();
    transport::task::spawn(async move {
        let send = async {
            let mut number = 0_u64;
            while let Some(event) = events.next().await {
                let Some(row) = row(event, number + 1).filter(|row| wanted.takes(row)) else {
                    continue;
                };
                number += 1;
                frame.now = row.at;
                stream.send("prepend", Some(&number.to_string()), page::live_row(&frame, &row));
            }
        };
        tokio::select! { () = send => {}, () = stream.over() => {} }
    });
    Ok(response)
}

/// Returns an event as the page shows it; `None` if the page does not show such events.
fn row(event: LiveEvent, id: u64) -> Option<ShownEvent> {
    match event {
        LiveEvent::Call(call) => Some(ShownEvent { id, ..of_call(call_rows::row(*call.call)) }),
        LiveEvent::State(state) => Some(ShownEvent { id, ..of_state(&state) }),
        LiveEvent::Dropped(dropped) => Some(ShownEvent {
            id,
            at: PointInTime::now().0,
            kind: LiveEventKind::Call,
            severity: Severity::Note,
            who: "Dragoman".into(),
            what: format!("{} calls", dropped.number).into(),
            text: "too many to show one by one".into(),
            href: None,
        }),
        LiveEvent::Figures(_) => None,
    }
}

fn of_state(state: &LiveState) -> ShownEvent {
    ShownEvent {
        id: 0,
        at: state.since.0,
        kind: LiveEventKind::Server,
        severity: match state.state {
            "ready" | "resting" | "per_caller" => Severity::Good,
            "degraded" | "auth_required" => Severity::Warning,
            "backing_off" | "unreachable" => Severity::Bad,
            _ => Severity::Note,
        },
        who: state.server.as_str().into(),
        what: state.state.into(),
        text: state.reason.clone().unwrap_or_default().into(),
        href: Some(route::server(&state.server)),
    }
}

fn of_call(row: pages::model::CallRow) -> ShownEvent {
    let is_change =
        !row.method.raw().contains('/') && !MCP.contains(&row.method.raw()) || row.method.raw().contains(' ');
    let mut text = format!("{} in {}", row.outcome.name(), in_words(row.duration_us));
    if let Some(reason) = &row.reason {
        text = format!("{text}: {}", reason.raw());
    }
    ShownEvent {
        id: row.id,
        at: row.at,
        kind: if is_change { LiveEventKind::Change } else { LiveEventKind::Call },
        severity: match row.outcome {
            Outcome::Ok => Severity::Good,
            Outcome::Error => Severity::Bad,
            Outcome::Denied | Outcome::Unknown => Severity::Warning,
        },
        who: row.principal,
        what: row.tool,
        text: text.into(),
        href: (row.id > 0).then(|| route::call(row.id)),
    }
}

fn in_words(us: u64) -> String {
    match us {
        0..1000 => format!("{us} µs"),
        1000..1_000_000 => format!("{} ms", us / 1000),
        _ => format!("{}.{} s", us / 1_000_000, us % 1_000_000 / 100_000),
    }
}
