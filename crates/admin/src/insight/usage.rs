//! Figures about the recorded calls of a period: totals, their course over time, and the busiest tools, callers and
//! servers. This module must not know how figures are shown.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use store::audit::{CallFigures, CallOutcome, Examined, ReasonKind};

use super::calls;
use super::moment::PointInTime;
use gateway::changes::Refusal;
use gateway::process::Shard;

/// The number of steps into which a period is divided.
const STEPS: u64 = 60;

/// The maximum number of tools, callers or servers that are counted separately.
const MOST_KEYS: usize = 20_000;

/// A number of calls, with their durations.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallCount {
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) denied: u64,
    /// The number of errors that are the server's own, and not those of a caller: invalid arguments, missing consent, a cancelled call.
    pub(crate) faults: u64,
    /// The duration that half of the calls did not exceed, in microseconds; 0 without calls.
    pub(crate) p50_us: u64,
    /// The duration that 95 % of the calls did not exceed, in microseconds; 0 without calls.
    pub(crate) p95_us: u64,
    durations: Vec<u64>,
}

impl CallCount {
    fn add(&mut self, figures: &CallFigures<'_>) {
        self.calls += 1;
        self.errors += u64::from(figures.outcome == CallOutcome::Error);
        let is_servers = figures.reason.is_none_or(ReasonKind::blames_server);
        self.faults += u64::from(figures.outcome == CallOutcome::Error && is_servers);
        self.denied += u64::from(matches!(figures.outcome, CallOutcome::Denied | CallOutcome::Unknown));
        self.durations.push(figures.duration_us);
    }

    /// The number of calls that returned a result.
    pub(crate) fn ok(&self) -> u64 {
        self.calls.saturating_sub(self.errors + self.denied)
    }

    /// Computes the percentiles, and forgets the individual durations.
    fn finish(&mut self) {
        let mut durations = std::mem::take(&mut self.durations);
        durations.sort_unstable();
        let share = |percent: usize| {
            let at = (durations.len() * percent).div_ceil(100).saturating_sub(1);
            durations.get(at).copied().unwrap_or(0)
        };
        (self.p50_us, self.p95_us) = (share(50), share(95));
    }
}

/// The calls of one step of the period.
#[derive(Debug, Clone, Default)]
pub(crate) struct UsageStep {
    /// The beginning of the step.
    pub(crate) at_ms: u64,
    pub(crate) count: CallCount,
}

/// Figures about a period that ends now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Usage {
    /// The beginning of the counted part of the period, in milliseconds since 1970, if there are too many calls to count all.
    pub(crate) counted_since: Option<u64>,
    pub(crate) total: CallCount,
    /// The preceding period of the same length; `None` if it may not have been examined completely.
    pub(crate) before: Option<CallCount>,
    /// Steps of equal length, the earliest first.
    pub(crate) steps: Vec<UsageStep>,
    servers: HashMap<String, CallCount>,
    /// The figures by server, and by the tool name that the client used.
    tools: HashMap<(String, String), CallCount>,
    /// The figures by tool name alone, because a refused call has no server.
    names: HashMap<String, CallCount>,
    callers: HashMap<String, CallCount>,
}

impl Usage {
    /// Returns the figures of a server.
    pub(crate) fn of_server(&self, server: &str) -> CallCount {
        self.servers.get(server).cloned().unwrap_or_default()
    }

    /// Returns the figures of a caller.
    pub(crate) fn of_caller(&self, principal: &str) -> CallCount {
        self.callers.get(principal).cloned().unwrap_or_default()
    }

    /// Returns the number of calls to a server's tool under any of these names, and the number of these calls that
    /// failed.
    pub(crate) fn of_tool(&self, server: &str, names: &[&str]) -> (u64, u64) {
        let mut seen: Vec<&str> = Vec::with_capacity(names.len());
        let mut sum = (0, 0);
        for name in names {
            if seen.contains(name) {
                continue;
            }
            seen.push(name);
            if let Some(count) = self.tools.get(&(server.to_owned(), (*name).to_owned())) {
                sum = (sum.0 + count.calls, sum.1 + count.errors);
            }
        }
        sum
    }

    /// Returns the tools with the most calls.
    pub(crate) fn busiest_tools(&self, most: usize) -> Vec<(String, CallCount)> {
        busiest(self.names.iter().map(|(tool, count)| (tool.clone(), count.clone())), most)
    }

    /// Returns the callers with the most calls.
    pub(crate) fn busiest_callers(&self, most: usize) -> Vec<(String, CallCount)> {
        busiest(self.callers.iter().map(|(caller, count)| (caller.clone(), count.clone())), most)
    }
}

fn busiest(all: impl Iterator<Item = (String, CallCount)>, most: usize) -> Vec<(String, CallCount)> {
    let mut all: Vec<_> = all.collect();
    all.sort_by(|one, other| (other.1.calls, &one.0).cmp(&(one.1.calls, &other.0)));
    all.truncate(most);
    all
}

/// Returns the figures of the period that has this length and ends now.
///
/// # Errors
/// Fails if the record cannot be read.
pub(crate) async fn usage(shard: &Arc<Shard>, period: Duration) -> Result<Usage, Refusal> {
    let (now, length) = (PointInTime::now().0, u64::try_from(period.as_millis()).unwrap_or(u64::MAX));
    let read = calls::read(shard, move |log| {
        let mut gathering = Gathering::new(now, length);
        let examined =
            log.figures(now.saturating_sub(length.saturating_mul(2)), |figures| gathering.add(figures))?;
        Ok(gathering.finished(examined))
    });
    Ok(read.await?.unwrap_or_else(|| Gathering::new(now, length).finished(Examined::default())))
}

struct Gathering {
    start: u64,
    step: u64,
    before: CallCount,
    usage: Usage,
}

impl Gathering {
    fn new(now: u64, length: u64) -> Self {
        let (start, step) = (now.saturating_sub(length), (length / STEPS).max(1));
        let at = |number| UsageStep { at_ms: start + number * step, count: CallCount::default() };
        let steps = (0..STEPS).map(at).collect();
        Self { start, step, before: CallCount::default(), usage: Usage { steps, ..Usage::default() } }
    }

    fn add(&mut self, figures: &CallFigures<'_>) {
        if figures.at_ms < self.start {
            return self.before.add(figures);
        }
        let usage = &mut self.usage;
        usage.total.add(figures);
        let at = usize::try_from((figures.at_ms - self.start) / self.step).unwrap_or(usize::MAX);
        let last = usage.steps.len().saturating_sub(1);
        if let Some(step) = usage.steps.get_mut(at.min(last)) {
            step.count.add(figures);
        }
        let server = figures.upstream.unwrap_or_default();
        count(&mut usage.callers, figures.principal.to_owned(), figures);
        if !server.is_empty() {
            count(&mut usage.servers, server.to_owned(), figures);
        }
        if let Some(tool) = figures.tool {
            count(&mut usage.tools, (server.to_owned(), tool.to_owned()), figures);
            count(&mut usage.names, tool.to_owned(), figures);
        }
    }

    fn finished(mut self, examined: Examined) -> Usage {
        self.before.finish();
        let usage = &mut self.usage;
        usage.total.finish();
        usage.steps.iter_mut().for_each(|step| step.count.finish());
        usage.servers.values_mut().for_each(CallCount::finish);
        usage.tools.values_mut().for_each(CallCount::finish);
        usage.names.values_mut().for_each(CallCount::finish);
        usage.callers.values_mut().for_each(CallCount::finish);
        usage.counted_since = examined.cut_off_ms.filter(|at| *at > self.start);
        usage.before = examined.cut_off_ms.is_none().then_some(self.before);
        self.usage
    }
}

fn count<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, CallCount>, key: K, figures: &CallFigures<'_>) {
    if counts.len() < MOST_KEYS || counts.contains_key(&key) {
        counts.entry(key).or_default().add(figures);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(at_ms: u64, outcome: CallOutcome, duration_us: u64) -> CallFigures<'static> {
        CallFigures {
            at_ms,
            principal: "key:a",
            profile: "default",
            upstream: Some("blog"),
            tool: Some("blog__post"),
            client: None,
            outcome,
            duration_us,
            reason: None,
        }
    }

    #[test]
    fn calls_count_in_their_period_and_step() {
        let mut gathering = Gathering::new(120_000, 60_000);
        gathering.add(&figures(59_999, CallOutcome::Ok, 1));
        for (at, outcome) in
            [(60_000, CallOutcome::Ok), (61_500, CallOutcome::Error), (120_000, CallOutcome::Denied)]
        {
            gathering.add(&figures(at, outcome, at));
        }
        let usage = gathering.finished(Examined { calls: 4, cut_off_ms: None });
        assert_eq!((usage.total.calls, usage.total.errors, usage.total.denied), (3, 1, 1));
        assert_eq!((usage.total.p50_us, usage.total.p95_us), (61_500, 120_000));
        assert_eq!(usage.before.as_ref().map(|before| before.calls), Some(1));
        let full: Vec<u64> =
            usage.steps.iter().filter(|step| step.count.calls > 0).map(|step| step.at_ms).collect();
        assert_eq!(full, [60_000, 61_000, 119_000]);
        assert_eq!(usage.of_tool("blog", &["post", "blog__post", "blog__post"]), (3, 1));
        assert_eq!(usage.of_server("blog").calls, 3);
        assert_eq!(usage.busiest_callers(5)[0].0, "key:a");
        assert_eq!(usage.counted_since, None);
    }

    #[test]
    fn a_server_is_not_blamed_for_its_callers() {
        let mut gathering = Gathering::new(120_000, 60_000);
        for reason in [None, Some(ReasonKind::Timeout), Some(ReasonKind::Request), Some(ReasonKind::Consent)]
        {
            gathering.add(&CallFigures { reason, ..figures(60_000, CallOutcome::Error, 1) });
        }
        let of_server = gathering.finished(Examined { calls: 4, cut_off_ms: None }).of_server("blog");
        assert_eq!((of_server.errors, of_server.faults), (4, 2));
    }

    #[test]
    fn a_refused_call_counts_for_the_same_tool() {
        let mut gathering = Gathering::new(120_000, 60_000);
        gathering.add(&figures(60_000, CallOutcome::Ok, 1));
        gathering.add(&CallFigures { upstream: None, ..figures(60_001, CallOutcome::Denied, 1) });
        let usage = gathering.finished(Examined { calls: 2, cut_off_ms: None });
        let busiest = usage.busiest_tools(5);
        assert_eq!(busiest.len(), 1);
        assert_eq!((busiest[0].0.as_str(), busiest[0].1.calls, busiest[0].1.denied), ("blog__post", 2, 1));
    }

    #[test]
    fn a_period_with_too_many_calls_says_which_part_was_counted() {
        let cut_off = |at| {
            let usage = Gathering::new(120_000, 60_000).finished(Examined { calls: 1, cut_off_ms: Some(at) });
            (usage.counted_since, usage.before.is_some())
        };
        assert_eq!(cut_off(70_000), (Some(70_000), false));
        assert_eq!(cut_off(50_000), (None, false), "the period itself is complete");
    }
}
