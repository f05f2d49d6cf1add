//! The limits and their current use.

use config::Limits;
use pages::model::{CapRow, LimitsPage, RateRow};
use pages::page;
use serde_json::Value;

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::count;
use crate::insight::limits::{self, LimitInUse, MemoryInUse, RateInUse, ServerCalls};

/// Shows the limits.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let found = limits::limits(&request.shard).await;
    let mut caps: Vec<CapRow> = found.limits.iter().map(cap).collect();
    caps.push(memory(found.memory));
    caps.extend(found.servers.iter().flat_map(of_server));
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
        means: meaning(limit.key).unwrap_or(limit.about).into(),
        limit: limit.limit.to_string().into(),
        used: Some((count(limit.used), count(limit.limit))),
    }
}

fn memory(memory: MemoryInUse) -> CapRow {
    let used = memory.requests + memory.answers + memory.kept;
    CapRow {
        key: "limits.memory".into(),
        means: meaning("limits.memory").unwrap_or_default().into(),
        limit: format!("{} MiB", memory.total >> 20).into(),
        used: Some((count(used), count(memory.total))),
    }
}

/// Returns the meaning of a limit, as the documentation has it.
fn meaning(key: &str) -> Option<&'static str> {
    Limits::meaning(key.strip_prefix("limits.")?)
}

/// Returns the limits of a server's calls; none if the server has no limit.
fn of_server(calls: &ServerCalls) -> Vec<CapRow> {
    if calls.limit == u64::MAX {
        return Vec::new();
    }
    let row = |key: &str, means: String, used, limit: u64| CapRow {
        key: format!("{}: {key}", calls.server).into(),
        means: means.into(),
        limit: limit.to_string().into(),
        used: Some((used, limit)),
    };
    let own = calls.waiting_of_one_caller;
    vec![
        row(
            "concurrentCalls",
            "The maximum number of calls that run at the same time".to_owned(),
            calls.running,
            calls.limit,
        ),
        row(
            "waitingCalls",
            format!("The maximum number of calls that wait for their turn; at most {own} of one caller"),
            calls.waiting,
            calls.waiting_limit,
        ),
    ]
}

/// Returns the caps without a count that could be shown.
fn others(shown: &Value, known: &[CapRow]) -> Vec<CapRow> {
    let all = shown.as_object().into_iter().flatten();
    let one = |(key, value): (&String, &Value)| {
        let key = format!("limits.{key}");
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let row = CapRow {
            key: key.as_str().into(),
            means: meaning(&key).unwrap_or_default().into(),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_limit_is_described_by_what_it_limits() {
        let rows = others(&json!({ "keptResults": 1000, "drainTimeout": "10s" }), &[]);
        let means: Vec<&str> = rows.iter().map(|row| row.means.raw()).collect();
        assert!(means[1].starts_with("The maximum time for running calls to finish"), "{means:?}");
        assert!(means[0].starts_with("The maximum number of kept results"), "{means:?}");
        let calls = ServerCalls {
            server: "blog".to_owned(),
            running: 1,
            waiting: 2,
            limit: 1,
            waiting_limit: 3,
            waiting_of_one_caller: 1,
        };
        let rows = of_server(&calls);
        assert_eq!((rows[1].key.raw(), rows[1].used), ("blog: waitingCalls", Some((2, 3))));
        assert!(of_server(&ServerCalls { limit: u64::MAX, ..calls }).is_empty());
    }
}
