//! The limits and their current use.

use pages::model::{CapRow, LimitsPage, RateRow};
use pages::page;
use serde_json::Value;

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::count;
use crate::insight::limits::{self, LimitInUse, MemoryInUse, RateInUse};

/// Shows the limits.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let found = limits::limits(&request.shard).await;
    let mut caps: Vec<CapRow> = found.limits.iter().map(cap).collect();
    caps.push(memory(found.memory));
    caps.sort_by_key(|row| {
        std::cmp::Reverse(row.used.map(|(used, most)| used.saturating_mul(1000) / most.max(1)))
    });
    caps.extend(others(&request.standing().config().shown()["limits"], &caps));
    let data = LimitsPage { rates: found.rate_limits.iter().map(rate).collect(), caps };
    page_reply::ok(page::limits(&request.frame(), &data))
}

fn cap(limit: &LimitInUse) -> CapRow {
    CapRow {
        key: limit.key.into(),
        means: limit.about.into(),
        limit: limit.limit.to_string().into(),
        used: Some((count(limit.used), count(limit.limit))),
    }
}

fn memory(memory: MemoryInUse) -> CapRow {
    let used = memory.requests + memory.answers + memory.kept;
    CapRow {
        key: "limits.memory".into(),
        means: "bytes of large messages and kept data".into(),
        limit: format!("{} MiB", memory.total >> 20).into(),
        used: Some((count(used), count(memory.total))),
    }
}

/// Returns the caps that have no current use to show: each applies to a single message, connection or wait.
fn others(shown: &Value, known: &[CapRow]) -> Vec<CapRow> {
    let all = shown.as_object().into_iter().flatten();
    let one = |(key, value): (&String, &Value)| {
        let key = format!("limits.{key}");
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let row = CapRow {
            key: key.as_str().into(),
            means: "applies to each message, connection or wait separately".into(),
            limit: text.into(),
            used: None,
        };
        (!value.is_null() && !known.iter().any(|row| row.key.raw() == key)).then_some(row)
    };
    all.filter_map(one).collect()
}

fn rate(rate: &RateInUse) -> RateRow {
    let patterns = |key: &str| match &rate.rule[key] {
        Value::Array(all) if !all.is_empty() => {
            Some(all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
        }
        Value::String(one) => Some(one.clone()),
        _ => None,
    };
    let mut scope = if rate.rule["methods"] == "all" { "All requests" } else { "Calls" }.to_owned();
    if let Some(tools) = patterns("tools") {
        scope = format!("{scope} of tools that match {tools}");
    }
    if let Some(profiles) = patterns("profiles") {
        scope = format!("{scope} in the profiles {profiles}");
    }
    if rate.rule["enabled"] == false {
        scope = format!("{scope} (switched off)");
    }
    let per = patterns("per").map(|per| per.replace("principal", "caller").replace("ip", "address"));
    RateRow {
        scope: scope.into(),
        quota: rate.rule["rate"].as_str().unwrap_or("unknown").into(),
        per: per.unwrap_or_else(|| "request, from any caller".to_owned()).into(),
        refused: rate.refused,
    }
}
