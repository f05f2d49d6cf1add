//! The record of calls. This module must not know how calls are recorded.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use store::audit::{CallFigures, CallOutcome, Log, Query, ReasonKind, Recorded, RecordedReason};

use super::keys::key_names;
use super::moment::PointInTime;
use gateway::changes::Refusal;
use gateway::key_names::KeyNames;
use gateway::process::Shard;

/// The recorded calls on one page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallPage {
    /// True if calls are recorded (`audit` in the configuration).
    pub(crate) is_recorded: bool,
    pub(crate) calls: Vec<RecordedCall>,
    /// The number to send as `before` for the next page of older calls; `null` if there are none.
    pub(crate) older: Option<i64>,
}

/// A recorded call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordedCall {
    pub(crate) id: i64,
    pub(crate) at: PointInTime,
    pub(crate) principal: String,
    /// The name of the principal's API key, looked up now; `null` for other principals.
    pub(crate) principal_name: Option<String>,
    pub(crate) profile: String,
    pub(crate) server: Option<String>,
    /// The name that was called, as the client sees it.
    pub(crate) tool: Option<String>,
    pub(crate) method: String,
    /// `ok`, `error`, `denied` or `unknown`.
    pub(crate) outcome: &'static str,
    /// The error code, if there was one.
    pub(crate) code: Option<i64>,
    pub(crate) duration_us: u64,
    pub(crate) request_bytes: u64,
    pub(crate) response_bytes: u64,
    /// The number of times that the call was sent to its server.
    pub(crate) tries: u32,
    pub(crate) waited_us: u64,
    /// True if the call was answered with a kept result.
    pub(crate) is_cached: bool,
    pub(crate) address: Option<String>,
    /// The client's name and version, as it states them.
    pub(crate) client: Option<String>,
    /// The arguments as JSON text, without secrets, if they are recorded.
    pub(crate) arguments: Option<String>,
    /// The kind of the reason why the call did not succeed; `null` if it succeeded, and for calls that were recorded by older
    /// versions.
    #[serde(serialize_with = "as_word")]
    #[schemars(schema_with = "words")]
    pub(crate) reason: Option<ReasonKind>,
    /// The beginning of the error text, at most 200 characters, without secrets.
    pub(crate) reason_text: Option<String>,
}

#[expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference to the field"
)]
fn as_word<S: serde::Serializer>(kind: &Option<ReasonKind>, to: S) -> Result<S::Ok, S::Error> {
    kind.map(ReasonKind::as_str).serialize(to)
}

fn words(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let words: Vec<Option<&str>> =
        ReasonKind::ALL.into_iter().map(|kind| Some(kind.as_str())).chain([None]).collect();
    schemars::json_schema!({ "type": ["string", "null"], "enum": words })
}

impl RecordedCall {
    fn of(names: &KeyNames, Recorded { id, entry }: Recorded) -> Self {
        let text = |text: Option<Arc<str>>| text.map(|text| text.to_string());
        Self {
            id,
            at: PointInTime(entry.at_ms),
            principal_name: names.name_of(&entry.principal).map(str::to_owned),
            principal: entry.principal.to_string(),
            profile: entry.profile.to_string(),
            server: text(entry.upstream),
            tool: text(entry.tool),
            method: entry.method.into_owned(),
            outcome: entry.outcome.as_str(),
            code: entry.code,
            duration_us: entry.duration_us,
            request_bytes: entry.request_bytes,
            response_bytes: entry.response_bytes,
            tries: entry.tries,
            waited_us: entry.waited_us,
            is_cached: entry.cached,
            address: text(entry.address),
            client: text(entry.client),
            arguments: entry.arguments,
            reason: entry.reason.as_ref().map(|reason| reason.kind),
            reason_text: entry.reason.map(|reason| String::from(reason.text)).filter(|text| !text.is_empty()),
        }
    }

    /// Returns the recorded reason for people; `None` if none was recorded.
    pub(crate) fn reason_in_words(&self) -> Option<String> {
        let text = self.reason_text.clone().unwrap_or_default().into();
        self.reason.map(|kind| RecordedReason { kind, text }.in_words())
    }

    /// Returns an entry that has not been written yet.
    pub(super) fn of_entry(names: &KeyNames, entry: store::audit::AuditEntry) -> Self {
        Self::of(names, Recorded { id: 0, entry })
    }
}

/// Figures about recorded calls, by one of their properties.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallSummary {
    pub(crate) is_recorded: bool,
    /// The beginning of the examined period.
    pub(crate) since: PointInTime,
    /// The number of examined calls; only the newest 100 000 are examined.
    pub(crate) examined: usize,
    pub(crate) groups: Vec<CallGroup>,
    /// The number of calls in groups that are not listed.
    pub(crate) rest: u64,
}

/// Figures about the calls with the same property.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallGroup {
    pub(crate) key: String,
    /// The name of the API key, if the calls are grouped by principal.
    pub(crate) name: Option<String>,
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) denied: u64,
    pub(crate) p50_us: u64,
    pub(crate) p95_us: u64,
    pub(crate) max_us: u64,
}

/// The properties by which calls can be grouped.
pub(crate) const GROUPS: &[&str] = &["server", "tool", "principal", "profile", "client", "hour"];

/// The maximum number of groups that are listed.
const MOST_GROUPS: usize = 200;

/// The maximum number of groups that are kept while calls are examined.
const MOST_KEPT: usize = 10_000;

/// Returns true if calls are recorded.
pub(crate) fn are_recorded(shard: &Shard) -> bool {
    file(shard).is_some()
}

/// Returns the file of the record; `None` if calls are not recorded.
pub(super) fn file(shard: &Shard) -> Option<PathBuf> {
    let audit = shard.gateway.standing.config().audit.as_ref()?;
    Some(shard.gateway.process.folder.as_ref()?.join(audit.file.expose()))
}

pub(super) async fn read<T: Send + 'static>(
    shard: &Shard,
    work: impl FnOnce(&Log) -> Result<T, store::Error> + Send + 'static,
) -> Result<Option<T>, Refusal> {
    let Some(file) = file(shard) else { return Ok(None) };
    let read = transport::task::spawn_blocking(move || {
        let log = Log::open_existing(&file)?;
        log.map(|log| work(&log)).transpose()
    });
    let read = read.await.map_err(|e| Refusal::internal(e.to_string()))?;
    read.map_err(|e| Refusal::internal(format!("{e}; {}", e.help())))
}

/// Returns the newest calls that the query selects. The query's pattern for callers also matches the names of API
/// keys.
///
/// # Errors
/// Fails if the record cannot be read.
pub(crate) async fn calls(shard: &Arc<Shard>, query: Query) -> Result<CallPage, Refusal> {
    let is_recorded = are_recorded(shard);
    // One more is read, to find out whether there are older ones.
    let most = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let names = key_names(shard).await;
    let query = names.widened(Query { limit: query.limit.saturating_add(1), ..query });
    let found = read(shard, move |log| log.query(&query)).await?.unwrap_or_default();
    let is_more = found.len() > most;
    let calls: Vec<RecordedCall> =
        found.into_iter().take(most).map(|one| RecordedCall::of(&names, one)).collect();
    let older = calls.last().map(|call| call.id).filter(|_| is_more);
    Ok(CallPage { is_recorded, calls, older })
}

/// Returns one call.
///
/// # Errors
/// Fails if there is no such call, or if the record cannot be read.
pub(crate) async fn call(shard: &Arc<Shard>, id: i64) -> Result<RecordedCall, Refusal> {
    let query = Query { before: Some(id.saturating_add(1)), limit: 1, ..Query::default() };
    let found = read(shard, move |log| log.query(&query)).await?.unwrap_or_default();
    let found = found.into_iter().find(|call| call.id == id);
    let missing = || {
        Refusal::new(404, "CALL_NOT_FOUND", "there is no such call; it may have been pruned (`audit.keep`)")
    };
    let names = key_names(shard).await;
    found.map(|one| RecordedCall::of(&names, one)).ok_or_else(missing)
}

/// The figures of one group while calls are examined.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) errors: u64,
    pub(crate) denied: u64,
    pub(crate) durations: Vec<u64>,
}

/// Returns figures about the calls since a point in time, grouped by one of [`GROUPS`].
///
/// # Errors
/// Fails if the record cannot be read.
pub(crate) async fn summary(
    shard: &Arc<Shard>,
    since: PointInTime,
    by: &str,
) -> Result<CallSummary, Refusal> {
    let (is_recorded, by, is_by_caller) = (file(shard).is_some(), by.to_owned(), by == "principal");
    let gathered = read(shard, move |log| {
        let mut groups = BTreeMap::<String, Gathered>::new();
        let mut rest = 0;
        let examined: usize = log
            .figures(since.0, |figures| {
                let key = key_of(&by, figures);
                if groups.len() >= MOST_KEPT && !groups.contains_key(&key) {
                    rest += 1;
                    return;
                }
                let group = groups.entry(key).or_default();
                group.errors += u64::from(figures.outcome == CallOutcome::Error);
                group.denied += u64::from(figures.outcome == CallOutcome::Denied);
                group.durations.push(figures.duration_us);
            })?
            .calls;
        Ok((examined, groups, rest))
    });
    let (examined, groups, mut rest) = gathered.await?.unwrap_or_default();
    let mut groups: Vec<CallGroup> = groups.into_iter().map(|(key, group)| finished(key, group)).collect();
    groups.sort_by_key(|group| std::cmp::Reverse((group.calls, group.errors)));
    rest += groups.iter().skip(MOST_GROUPS).map(|group| group.calls).sum::<u64>();
    groups.truncate(MOST_GROUPS);
    if is_by_caller {
        let names = key_names(shard).await;
        for group in &mut groups {
            group.name = names.name_of(&group.key).map(str::to_owned);
        }
    }
    Ok(CallSummary { is_recorded, since, examined, groups, rest })
}

fn key_of(by: &str, figures: &CallFigures<'_>) -> String {
    const HOUR: u64 = 60 * 60 * 1000;
    match by {
        "tool" => figures.tool.unwrap_or_default().to_owned(),
        "principal" => figures.principal.to_owned(),
        "profile" => figures.profile.to_owned(),
        "client" => figures.client.unwrap_or_default().to_owned(),
        "hour" => {
            let hour = serde_json::to_value(PointInTime(figures.at_ms / HOUR * HOUR));
            hour.ok().and_then(|hour| hour.as_str().map(str::to_owned)).unwrap_or_default()
        }
        _ => figures.upstream.unwrap_or_default().to_owned(),
    }
}

fn finished(key: String, group: Gathered) -> CallGroup {
    let Gathered { errors, denied, mut durations } = group;
    durations.sort_unstable();
    let share = |percent: usize| durations.get((durations.len() * percent / 100).min(durations.len() - 1));
    CallGroup {
        key,
        name: None,
        calls: durations.len() as u64,
        errors,
        denied,
        p50_us: share(50).copied().unwrap_or(0),
        p95_us: share(95).copied().unwrap_or(0),
        max_us: durations.last().copied().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_group_are_those_of_its_calls() {
        let durations: Vec<u64> = (1..=100).rev().collect();
        let group = finished("x".to_owned(), Gathered { errors: 3, denied: 2, durations });
        assert_eq!((group.calls, group.errors, group.denied), (100, 3, 2));
        assert_eq!((group.p50_us, group.p95_us, group.max_us), (51, 96, 100));
        let one = finished("y".to_owned(), Gathered { durations: vec![7], ..Gathered::default() });
        assert_eq!((one.p50_us, one.p95_us, one.max_us), (7, 7, 7));
    }
}
