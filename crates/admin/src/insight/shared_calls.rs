//! The recorded calls of all gateways of the cluster, read from the journal that they share. This module must not know HTTP.

use std::collections::HashSet;
use std::sync::Arc;

use cluster::{Cluster, JournalPosition};
use config::Glob;
use schemars::JsonSchema;
use serde::Serialize;
use store::audit::{AuditEntry, Query};

use super::calls::RecordedCall;
use super::keys::key_names;
use gateway::admission::audit::CallBatch;
use gateway::changes::Refusal;
use gateway::process::Shard;

/// The number of entries of the journal that are read in one exchange.
const PART: usize = 100;

/// The maximum number of entries of the journal that one request examines.
const MOST_EXAMINED: usize = 2000;

/// The maximum difference between the clocks of a gateway and of the store, in milliseconds.
const CLOCKS: u64 = 60_000;

/// The recorded calls of all gateways on one page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SharedCallPage {
    /// True if this gateway shares its own calls (`audit` with `share` in the configuration).
    pub(crate) is_shared: bool,
    pub(crate) calls: Vec<CallOfGateway>,
    /// The number of calls in the examined period that are missing, because a gateway could not send them to the store in time.
    pub(crate) missing: u64,
    /// The text to send as `before` for the next page of older calls; `null` if there are none.
    pub(crate) older: Option<String>,
}

/// A recorded call of one of the gateways.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallOfGateway {
    /// The name of the gateway that recorded the call.
    pub(crate) gateway: String,
    /// The call, without its arguments. Its `id` is 0, because each gateway has numbers of its own.
    pub(crate) call: RecordedCall,
}

/// Returns true if this gateway shares its calls.
pub(crate) fn are_shared(shard: &Shard) -> bool {
    let is_shared = shard.gateway.standing.config().audit.as_ref().is_some_and(|audit| audit.share);
    is_shared && shard.session.state.cluster.get().is_some()
}

/// A position in the list of calls: an entry of the journal, and the number of its calls before the position.
type Position = (JournalPosition, usize);

/// Reads a position that [`SharedCallPage::older`] has named.
fn position(text: &str) -> Option<Position> {
    let (id, skip) = text.split_once('.')?;
    Some((JournalPosition::at(id)?, skip.parse().ok()?))
}

/// Returns the newest calls that the query selects, before a position if there is one.
///
/// # Errors
/// Fails if this gateway works alone, if the position is invalid, or if the store cannot be read.
pub(crate) async fn calls(
    shard: &Arc<Shard>,
    query: Query,
    before: Option<&str>,
) -> Result<SharedCallPage, Refusal> {
    let Some(cluster) = shard.session.state.cluster.get() else {
        return Err(Refusal::new(
            404,
            "NO_CLUSTER",
            "This gateway works alone: `cluster` is not configured.",
        ));
    };
    let from = match before {
        None => (JournalPosition::Newest, 0),
        Some(text) => position(text).ok_or_else(|| {
            Refusal::new(
                422,
                "INVALID_POSITION",
                "`before` must be a text that an earlier page has named as `older`",
            )
        })?,
    };
    let names = key_names(shard).await;
    let filter = CallFilter::new(names.widened(query));
    let mut search = Search { filter, found: Vec::new(), seen: HashSet::new(), missing: 0 };
    let older = search.run(cluster, from).await?;
    let mut found = search.found;
    // Gateways send their calls a little later, and not at the same time.
    found.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.at_ms));
    let calls = found
        .into_iter()
        .map(|(gateway, entry)| CallOfGateway { gateway, call: RecordedCall::of_entry(&names, entry) });
    Ok(SharedCallPage {
        is_shared: are_shared(shard),
        calls: calls.collect(),
        missing: search.missing,
        older,
    })
}

/// A search in the journal.
struct Search {
    filter: CallFilter,
    found: Vec<(String, AuditEntry)>,
    /// The batches that were read: whoever can write to the store can copy a batch.
    seen: HashSet<(String, u64)>,
    missing: u64,
}

impl Search {
    /// Reads the journal until enough calls are found. Returns the position of the next call.
    async fn run(&mut self, cluster: &Cluster, from: Position) -> Result<Option<String>, Refusal> {
        let (mut from, mut skip) = from;
        for _ in 0..MOST_EXAMINED / PART {
            let page = cluster.journal(&from, PART).await.map_err(|error| {
                Refusal::new(503, "NO_STORE", format!("the calls of all gateways cannot be read: {error}"))
            })?;
            for (id, text) in page.entries {
                if self.filter.is_older(&id) {
                    return Ok(None);
                }
                if let Some(rest) = self.take(&id, &text, std::mem::take(&mut skip)) {
                    return Ok(Some(rest));
                }
            }
            let Some(last) = page.last else { return Ok(None) };
            from = JournalPosition::Before(last);
        }
        Ok(match from {
            JournalPosition::Before(last) => Some(format!("{last}.{}", usize::MAX)),
            _ => None,
        })
    }

    /// Takes the calls of a batch that the filter selects, the newest first. Returns the position at which the page is full.
    fn take(&mut self, id: &str, text: &[u8], skip: usize) -> Option<String> {
        let batch: CallBatch = serde_json::from_slice(text).ok()?;
        if !self.seen.insert((batch.process, batch.number)) {
            return None;
        }
        self.missing = self.missing.saturating_add(batch.lost);
        for (place, call) in batch.calls.into_iter().rev().enumerate().skip(skip) {
            let Some(entry) = call.entry().filter(|entry| self.filter.selects(entry)) else { continue };
            if self.found.len() >= self.filter.most {
                return Some(format!("{id}.{place}"));
            }
            self.found.push((batch.gateway.clone(), entry));
        }
        None
    }
}

/// The conditions of a query, compiled.
struct CallFilter {
    query: Query,
    principals: Vec<Glob>,
    /// The patterns for the other texts, in the order of `texts`.
    patterns: [Option<Glob>; 5],
    /// The patterns for the method, one of which must match; empty for all methods.
    methods: Vec<Glob>,
    most: usize,
}

impl CallFilter {
    fn new(query: Query) -> Self {
        // A text that is no pattern selects nothing.
        let glob = |text: &String| {
            Glob::parse(text).unwrap_or_else(|_| Glob::parse("\u{0}").unwrap_or_else(|_| Glob::any()))
        };
        let patterns = [&query.profile, &query.upstream, &query.tool, &query.client, &query.address];
        Self {
            principals: query.principal.iter().chain(&query.principals).map(glob).collect(),
            patterns: patterns.map(|text| text.as_ref().map(glob)),
            methods: query.methods.iter().map(glob).collect(),
            most: usize::try_from(query.limit).unwrap_or(usize::MAX),
            query,
        }
    }

    /// Returns true if all calls in the entry of the journal, and in all earlier ones, are older than the filter allows.
    fn is_older(&self, id: &str) -> bool {
        let written = id.split_once('-').and_then(|(time, _)| time.parse::<u64>().ok());
        written
            .zip(self.query.since_ms)
            .is_some_and(|(written, since)| written.saturating_add(CLOCKS) < since)
    }

    fn selects(&self, entry: &AuditEntry) -> bool {
        let Query { since_ms, until_ms, text, outcome, principal, of_clients, .. } = &self.query;
        let method: &str = &entry.method;
        let texts = [
            Some(&*entry.profile),
            entry.upstream.as_deref(),
            entry.tool.as_deref(),
            entry.client.as_deref(),
            entry.address.as_deref(),
        ];
        let fits = |(pattern, text): (&Option<Glob>, Option<&str>)| {
            pattern.as_ref().is_none_or(|pattern| text.is_some_and(|text| pattern.matches(text)))
        };
        let name = entry.tool.as_deref().unwrap_or(method).to_ascii_lowercase();
        since_ms.is_none_or(|since| entry.at_ms >= since)
            && of_clients.is_none_or(|of_clients| (entry.request_bytes > 0) == of_clients)
            && until_ms.is_none_or(|until| entry.at_ms < until)
            && outcome.is_none_or(|outcome| entry.outcome == outcome)
            && text.as_ref().is_none_or(|text| name.contains(&text.to_ascii_lowercase()))
            && (principal.is_none() || self.principals.iter().any(|one| one.matches(&entry.principal)))
            && (self.methods.is_empty() || self.methods.iter().any(|one| one.matches(method)))
            && self.patterns.iter().zip(texts).all(fits)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use store::audit::CallOutcome;

    use super::*;

    fn entry() -> AuditEntry {
        AuditEntry {
            at_ms: 1000,
            principal: "key:dgm_ab".into(),
            profile: "default".into(),
            upstream: Some("blog".into()),
            tool: Some("blog__Post".into()),
            method: Cow::Borrowed("tools/call"),
            outcome: CallOutcome::Ok,
            code: None,
            duration_us: 1,
            request_bytes: 2,
            response_bytes: 3,
            tries: 1,
            waited_us: 0,
            cached: false,
            reason: None,
            arguments: None,
            address: None,
            client: None,
        }
    }

    #[test]
    fn a_filter_selects_the_calls_that_the_record_of_one_gateway_would() {
        let selects = |query: Query| CallFilter::new(query).selects(&entry());
        let some = |text: &str| Some(text.to_owned());
        assert!(selects(Query::default()));
        assert!(selects(Query { since_ms: Some(1000), until_ms: Some(1001), ..Query::default() }));
        assert!(!selects(Query { since_ms: Some(1001), ..Query::default() }));
        assert!(!selects(Query { until_ms: Some(1000), ..Query::default() }));
        assert!(selects(Query { tool: some("blog__*"), text: some("POST"), ..Query::default() }));
        assert!(!selects(Query { tool: some("blog"), ..Query::default() }));
        assert!(!selects(Query { text: some("other"), ..Query::default() }));
        assert!(!selects(Query { address: some("*"), ..Query::default() }), "the address is unknown");
        let by = |principals: &[&str]| Query {
            principal: some("ci-bot"),
            principals: principals.iter().map(|one| (*one).to_owned()).collect(),
            ..Query::default()
        };
        assert!(selects(by(&["key:dgm_ab"])) && !selects(by(&["key:dgm_cd"])));
        assert!(!selects(Query { outcome: Some(CallOutcome::Error), ..Query::default() }));
        let since = CallFilter::new(Query { since_ms: Some(200_000), ..Query::default() });
        assert!(since.is_older("139999-0") && !since.is_older("140000-0") && !since.is_older("x"));
    }

    #[test]
    fn a_page_ends_within_a_batch_and_goes_on_there() {
        let batch = |number: u64| {
            let call = |at: u64| {
                serde_json::json!({ "at": at, "principal": "a", "profile": "b", "method": "m", "outcome": "ok",
                "duration": 0, "request": 0, "response": 0, "tries": 0, "waited": 0, "cached": false })
            };
            let calls: Vec<_> = (0..5).map(|place| call(number * 10 + place)).collect();
            let text = serde_json::json!({ "gateway": "g", "process": "p", "number": number, "lost": 1, "calls": calls });
            text.to_string().into_bytes()
        };
        let search = |limit| Search {
            filter: CallFilter::new(Query { limit, ..Query::default() }),
            found: Vec::new(),
            seen: HashSet::new(),
            missing: 0,
        };
        let at = |search: &Search| search.found.iter().map(|(_, entry)| entry.at_ms).collect::<Vec<_>>();
        let mut first = search(7);
        assert_eq!(first.take("9-0", &batch(9), 0), None);
        assert_eq!(first.take("8-1", &batch(9), 0), None, "a copy");
        assert_eq!(first.take("8-0", b"{}", 0), None, "another form");
        assert_eq!(first.take("7-0", &batch(7), 0).as_deref(), Some("7-0.2"));
        assert_eq!((at(&first), first.missing), (vec![94, 93, 92, 91, 90, 74, 73], 2));
        let mut second = search(7);
        let (from, skip) = position("7-0.2").unwrap();
        assert_eq!(
            (from, second.take("7-0", &batch(7), skip)),
            (JournalPosition::At("7-0".to_owned()), None)
        );
        assert_eq!(at(&second), [72, 71, 70]);
        assert!(["", "7-0", "7-0.", "7.2", "+.1", "7-0.-1"].iter().all(|wrong| position(wrong).is_none()));
    }
}
