//! The record of calls, as a page and as a CSV file.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, HeaderValue};
use pages::model::{CallRow, CallsFilter, CallsPage, Outcome, Paging, ROWS, RecordState};
use pages::{csv, page};
use store::audit::{CallOutcome, Query};
use transport::net::Body;

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::{call, call_rows, server_rows, texts};
use crate::insight::calls;
use crate::insight::moment::PointInTime;
use crate::insight::shared_calls::{self, CallOfGateway};
use gateway::changes::Refusal;

/// The number of calls that are read in one batch for a CSV file.
const PART: u32 = 1000;
/// The length of a day, in milliseconds.
const DAY_MS: u64 = 86_400_000;
/// The maximum number of calls in one file.
const MOST: usize = 1_000_000;

fn filter(request: &PageRequest) -> CallsFilter {
    let query = &request.query;
    CallsFilter {
        since: query.shown("since"),
        until: query.shown("until"),
        q: query.shown("q"),
        tool: query.shown("tool"),
        principal: query.shown("principal"),
        client: query.shown("client"),
        profile: query.shown("profile"),
        server: query.shown("server"),
        outcome: Outcome::from_name(query.text("outcome")),
        of_clients: match query.text("entries") {
            "calls" => Some(true),
            "changes" => Some(false),
            _ => None,
        },
        captured: query.text("captured") == "yes",
        of_all: query.text("gateways") == "all",
    }
}

/// Returns a filter as a query of the record.
fn query(filter: &CallsFilter) -> Result<Query, String> {
    let own = |text: &pages::model::ForeignText| Some(text.raw().to_owned()).filter(|text| !text.is_empty());
    Ok(Query {
        since_ms: moment(filter.since.raw())?,
        until_ms: moment(filter.until.raw())?,
        text: own(&filter.q),
        tool: own(&filter.tool),
        principal: own(&filter.principal),
        client: own(&filter.client),
        profile: own(&filter.profile),
        upstream: own(&filter.server),
        of_clients: filter.of_clients,
        outcome: filter.outcome.and_then(|outcome| outcome.name().parse::<CallOutcome>().ok()),
        ..Query::default()
    })
}

/// Reads a time: a duration before now, or a time in UTC.
fn moment(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() || text == "now" {
        return Ok(None);
    }
    if let Some(days) =
        [("today", 0), ("yesterday", 1)].iter().find_map(|(word, days)| (*word == text).then_some(*days))
    {
        let today = PointInTime::now().0 / DAY_MS * DAY_MS;
        return Ok(Some(today.saturating_sub(days * DAY_MS)));
    }
    if let Some(ago) = duration(text) {
        return Ok(Some(PointInTime::before(ago).0));
    }
    let at = text.parse::<jiff::Timestamp>().ok();
    let at = at.or_else(|| {
        text.parse::<jiff::civil::DateTime>()
            .ok()?
            .to_zoned(jiff::tz::TimeZone::UTC)
            .ok()
            .map(|at| at.timestamp())
    });
    let at = at.and_then(|at| u64::try_from(at.as_millisecond()).ok());
    at.map(Some).ok_or_else(|| format!("{text:?} is not a time. Write today, yesterday, a duration before now such as 1h or 7d, or a time such as 2026-11-24T08:00:00Z (UTC)."))
}

/// Reads a duration such as `90s`, `15m`, `1h`, `7d`, `4w`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    Some(Duration::from_secs(number.checked_mul(seconds)?))
}

/// Shows the calls.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let filter = filter(request);
    let mut data = CallsPage {
        record: record(request),
        servers: texts(server_rows::names(&request.shard)),
        profiles: texts(request.standing().config().profiles.keys()),
        is_shared: shared_calls::are_shared(&request.shard),
        capture: call::capture_now(&request.shard),
        ..CallsPage::default()
    };
    match query(&filter) {
        Err(fault) => data.fault = Some(fault.into()),
        Ok(query) if filter.of_all => show_all(request, query, &mut data).await,
        Ok(query) => {
            let before = request.query.text("at").parse().ok();
            let query = if filter.captured { of_captured(request, query) } else { query };
            let limit = u32::try_from(ROWS).unwrap_or(u32::MAX);
            let page = calls::calls(&request.shard, Query { before, limit, ..query }).await?;
            data.rows = call_rows::rows(&request.shard, page.calls).await;
            data.rows.retain(|row| row.captured || !filter.captured);
            let previous = before.map(|_| String::new());
            data.paging = Paging {
                next: page.older.map(|id| id.to_string()),
                // The way back leads to the newest calls.
                previous,
                ..Paging::default()
            };
        }
    }
    data.filter = filter;
    page_reply::ok(page::calls(&request.frame(), &data))
}

/// Returns the query for the same calls, as far as their messages are kept.
fn of_captured(request: &PageRequest, query: Query) -> Query {
    let marks = request.shard.call.state.capture.marks();
    Query { times_ms: Some(marks.iter().map(|mark| mark.at_ms).collect()), ..query }
}

/// Reads the calls of all gateways. A failure is shown on the page, because the filter leads back to this gateway's own calls.
async fn show_all(request: &PageRequest, query: Query, data: &mut CallsPage) {
    let before = Some(request.query.text("at")).filter(|at| !at.is_empty());
    let limit = u32::try_from(ROWS).unwrap_or(u32::MAX);
    match shared_calls::calls(&request.shard, Query { limit, ..query }, before).await {
        Err(refusal) => data.fault = Some(refusal.to_string().into()),
        Ok(page) => {
            let row = |one: CallOfGateway| CallRow {
                gateway: Some(one.gateway.into()),
                ..call_rows::row(one.call)
            };
            data.rows = page.calls.into_iter().map(row).collect();
            data.missing = page.missing;
            data.paging =
                Paging { next: page.older, previous: before.map(|_| String::new()), ..Paging::default() };
        }
    }
}

fn record(request: &PageRequest) -> RecordState {
    let standing = request.standing();
    let Some(audit) = &standing.config().audit else { return RecordState::default() };
    RecordState {
        on: request.shard.gateway.process.folder.is_some(),
        arguments: audit.arguments,
        keep: kept_for(audit.keep).into(),
        entries: None,
        lost: request.shard.call.state.audit.lost(),
    }
}

fn kept_for(keep: Duration) -> String {
    let hours = keep.as_secs() / 3600;
    if hours.is_multiple_of(24) { format!("{}d", hours / 24) } else { format!("{hours}h") }
}

/// Returns the calls that the filter selects as a CSV file.
pub(in super::super) async fn csv(request: &PageRequest) -> PageResult {
    let filter = filter(request);
    let query = query(&filter).map_err(|fault| Refusal::new(422, "INVALID_FILTER", fault))?;
    let query = if filter.captured { of_captured(request, query) } else { query };
    let (sender, body) = Body::channel(8);
    let shard = request.shard.clone();
    // The first part is read before the answer begins, so that a failure can still be reported with an error page.
    let mut page = calls::calls(&shard, Query { limit: PART, ..query.clone() }).await?;
    // The task ends with the last call, or when the browser is gone.
    transport::task::spawn(async move {
        let mut text = csv::HEAD.to_owned();
        let mut sent = 0;
        loop {
            sent += page.calls.len();
            for call in page.calls {
                text.push_str(&csv::call_line(&call_rows::row(call)));
            }
            if sender.send(Bytes::from(std::mem::take(&mut text))).await.is_err() || sent >= MOST {
                return;
            }
            let Some(before) = page.older else { return };
            let next = Query { before: Some(before), limit: PART, ..query.clone() };
            match calls::calls(&shard, next).await {
                Ok(older) => page = older,
                // Half a file must not look like a complete one.
                Err(_) => return sender.abort("the record could not be read").await,
            }
        }
    });
    let mut response = page_reply::typed(StatusCode::OK, Bytes::new(), "text/csv; charset=utf-8");
    *response.body_mut() = body;
    let name = HeaderValue::from_static("attachment; filename=\"calls.csv\"");
    response.headers_mut().insert(CONTENT_DISPOSITION, name);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_durations_before_now_or_dates() {
        let now = PointInTime::now().0;
        let ago = moment("1h").unwrap().unwrap();
        assert!((3_599_000..3_602_000).contains(&(now - ago)), "{ago}");
        assert_eq!(moment("2026-11-24T08:00:00Z"), Ok(Some(1_795_507_200_000)));
        assert_eq!(moment("2026-11-24T08:00"), Ok(Some(1_795_507_200_000)));
        assert_eq!((moment(""), moment("now")), (Ok(None), Ok(None)));
        let (today, yesterday) = (moment("today").unwrap().unwrap(), moment("yesterday").unwrap().unwrap());
        assert_eq!((today % DAY_MS, today - yesterday), (0, DAY_MS));
        assert!(today <= now && now - today < 2 * DAY_MS);
        for wrong in ["h", "1x", "tomorrow", "99999999999999999999d", "-1h", "é"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            (kept_for(Duration::from_hours(720)), kept_for(Duration::from_hours(5))),
            ("30d".to_owned(), "5h".to_owned())
        );
    }
}
