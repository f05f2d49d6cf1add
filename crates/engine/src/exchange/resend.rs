//! The rules and timing for sending a failed request again. This module must not know links, or how a failure is
//! detected.

use std::time::{Duration, Instant};

use config::ResendRule;
use proto::mcp::Method;

use crate::catalogue::ToolEntry;

/// The first pause; each further pause is twice as long, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The longest pause before a request is sent again.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The state of a failed request's execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// The server has certainly not acted on the request.
    NotExecuted,
    /// The server may have acted on the request.
    Unknown,
}

impl Execution {
    /// The name of this state in an error's `data`.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotExecuted => "no",
            Self::Unknown => "maybe",
        }
    }

    /// The description of this state for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::NotExecuted => "the request was not executed",
            Self::Unknown => "the request may have been executed",
        }
    }
}

/// The rules for sending one request again. A request that was certainly not executed waits for its server to come
/// back. A request that may have been executed waits only if it can be repeated without further effect.
#[derive(Debug, Clone, Copy)]
pub struct ResendPolicy {
    /// True if executing the request twice has the same effect as executing it once.
    repeatable: bool,
    /// True if the client has received a message or a question about the request, which a second attempt would repeat.
    spoken: bool,
    tries: u32,
    /// The maximum time for which the request waits for its server to become available again.
    patience: Duration,
    /// True if the request has already waited once after the server rejected it because of too many requests.
    has_slowed: bool,
    /// The end of the request's waiting time, counted from its first failure.
    until: Option<Instant>,
    /// The most that is known about the execution of all attempts so far that failed and were repeated.
    earlier: Execution,
}

impl ResendPolicy {
    /// The policy for a request. The hints of a called tool determine whether the call can be repeated (2025-03-26, schema
    /// `ToolAnnotations`), unless the configuration has a rule. A server that gives false hints harms only its own
    /// data.
    pub fn new(method: &str, tool: Option<&ToolEntry>, rule: ResendRule, patience: Duration) -> Self {
        let repeatable = match (rule, Method::from_name(method), tool) {
            (ResendRule::Never, ..) | (_, None, _) => false,
            (ResendRule::Always, Some(Method::ToolsCall), _) => true,
            (ResendRule::Auto, Some(Method::ToolsCall), Some(tool)) => {
                tool.annotations.read_only || tool.annotations.idempotent
            }
            (_, Some(method), _) => method.is_repeatable(),
        };
        Self {
            repeatable,
            spoken: false,
            tries: 0,
            patience,
            has_slowed: false,
            until: None,
            earlier: Execution::NotExecuted,
        }
    }

    /// From now on, allows the request to be sent again only if it was not executed, because each execution has a lasting
    /// effect, such as a new task.
    pub fn only_unexecuted(&mut self) {
        self.repeatable = false;
    }

    /// Returns what is known about the execution of all attempts, if the last attempt ended with `execution`.
    pub fn overall(&self, execution: Execution) -> Execution {
        if self.earlier == Execution::Unknown { Execution::Unknown } else { execution }
    }

    /// Returns true if the client can safely send the request again after a failure.
    pub fn is_harmless(&self, execution: Execution) -> bool {
        self.repeatable || execution == Execution::NotExecuted
    }

    /// Returns true if the request may be sent again even after it may have been executed.
    pub fn is_repeatable(&self) -> bool {
        self.repeatable && !self.spoken
    }

    /// Returns true if the request has failed before.
    pub fn has_waited(&self) -> bool {
        self.tries > 0
    }

    /// Records that the client has received a message or a question about the request.
    pub fn speak(&mut self) {
        self.spoken = true;
    }

    /// The pause before the request is sent again; `None` if it is not sent again. `deadline` is the request's own
    /// deadline, and `spread` is a random number that spreads many requests over time. Nothing is sent before `earliest`.
    pub fn after(
        &mut self,
        execution: Execution,
        (now, deadline): (Instant, Instant),
        earliest: Option<Instant>,
        spread: u64,
    ) -> Option<Duration> {
        if execution == Execution::Unknown && !self.is_repeatable() {
            return None;
        }
        self.earlier = self.overall(execution);
        let patience = self.patience.min(deadline.saturating_duration_since(now) / 2);
        let until = *self.until.get_or_insert(now + patience);
        let pause = (FIRST_PAUSE * 2_u32.saturating_pow(self.tries.min(8))).min(LONGEST_PAUSE);
        // The pause varies between 80 and 120 %.
        let pause = pause * u32::try_from(80 + spread % 41).unwrap_or(100) / 100;
        self.tries += 1;
        let Some(earliest) = earliest.filter(|earliest| *earliest > now) else {
            // The last attempt comes at the end of the waiting time.
            return (now < until).then(|| pause.min(until - now));
        };
        // The request is sent shortly after `earliest`. Many requests are spread over time.
        let soon = FIRST_PAUSE * u32::try_from(spread % 41).unwrap_or(40) / 40;
        (earliest <= until).then(|| (earliest - now + soon).min(until - now).max(earliest - now))
    }

    /// The pause before the request is sent again after the server rejected it because of too many requests. This
    /// happens only once.
    pub fn after_refusal(&mut self, wait: Duration, now: Instant, deadline: Instant) -> Option<Duration> {
        let is_first = !std::mem::replace(&mut self.has_slowed, true);
        (is_first && !self.spoken && now + wait < deadline).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn policy(method: &str) -> ResendPolicy {
        ResendPolicy::new(method, None, ResendRule::Auto, PATIENCE)
    }

    #[expect(clippy::disallowed_methods, reason = "a test needs some point in time to count from")]
    fn start() -> Instant {
        Instant::now()
    }

    fn times(
        policy: &mut ResendPolicy,
        execution: Execution,
        deadline: Duration,
        spread: u64,
    ) -> Vec<Duration> {
        let start = start();
        let mut now = start;
        let mut pauses = Vec::new();
        while let Some(pause) = policy.after(execution, (now, start + deadline), None, spread) {
            now += pause;
            pauses.push(pause);
        }
        pauses
    }

    #[test]
    fn pauses_grow_and_end_within_the_patience_and_half_of_the_deadline() {
        let mut policy = policy("tools/call");
        let pauses = times(&mut policy, Execution::NotExecuted, Duration::from_mins(5), 20);
        let millis: Vec<u128> = pauses.iter().take(6).map(Duration::as_millis).collect();
        assert_eq!(millis, [50, 100, 200, 400, 800, 1000]);
        let all: Duration = pauses.iter().sum();
        assert_eq!(all, PATIENCE, "the whole waiting time is used");
        for spread in [0, 7, 40, u64::MAX] {
            let mut policy = super::tests::policy("tools/call");
            let all: Duration =
                times(&mut policy, Execution::NotExecuted, Duration::from_secs(2), spread).iter().sum();
            assert!(all <= Duration::from_secs(1), "{all:?}");
        }
    }

    #[test]
    fn what_may_have_been_executed_is_sent_again_only_where_that_does_no_harm() {
        let tries =
            |method: &str, execution| times(&mut policy(method), execution, Duration::from_mins(1), 20).len();
        assert_eq!(tries("tools/call", Execution::Unknown), 0);
        assert_eq!(tries("unheard/of", Execution::Unknown), 0);
        assert!(tries("tools/call", Execution::NotExecuted) > 0);
        assert!(tries("resources/read", Execution::Unknown) > 0);
    }

    #[test]
    fn an_attempt_that_was_not_executed_does_not_hide_an_earlier_one_that_may_have_been() {
        let now = start();
        let mut policy = policy("resources/read");
        let mut after = |execution| {
            policy.after(execution, (now, now + PATIENCE * 2), None, 0);
            policy.overall(Execution::NotExecuted)
        };
        assert_eq!(after(Execution::NotExecuted), Execution::NotExecuted);
        assert_eq!(after(Execution::Unknown), Execution::Unknown);
        assert_eq!(after(Execution::NotExecuted), Execution::Unknown);
    }

    #[test]
    fn a_client_that_was_told_something_is_told_it_once() {
        let mut policy = policy("resources/read");
        policy.speak();
        let now = start();
        let mut after = |execution| policy.after(execution, (now, now + PATIENCE), None, 0);
        assert_eq!(after(Execution::Unknown), None);
        // The answers to a question go out in a request of their own. If that request did not reach the server, repeating it
        // repeats nothing.
        assert!(after(Execution::NotExecuted).is_some());
        assert!(!policy.is_repeatable());
    }

    #[test]
    fn a_rule_of_the_configuration_decides_over_hints() {
        let now = start();
        let is_sent = |method, rule, execution| {
            let mut policy = ResendPolicy::new(method, None, rule, PATIENCE);
            policy.after(execution, (now, now + PATIENCE * 2), None, 0).is_some()
        };
        assert!(is_sent("tools/call", ResendRule::Always, Execution::Unknown));
        assert!(!is_sent("resources/subscribe", ResendRule::Always, Execution::Unknown));
        assert!(!is_sent("resources/read", ResendRule::Never, Execution::Unknown));
        assert!(is_sent("tools/call", ResendRule::Never, Execution::NotExecuted), "twice is once here");
    }

    #[test]
    fn what_cannot_come_earlier_is_waited_for_and_what_comes_too_late_is_not() {
        let now = start();
        let (within, beyond) = (now + Duration::from_secs(4), now + Duration::from_secs(11));
        let wait = |earliest, spread| {
            policy("tools/call").after(
                Execution::NotExecuted,
                (now, now + 6 * PATIENCE),
                Some(earliest),
                spread,
            )
        };
        for spread in [0, 20, 40, u64::MAX] {
            let pause = wait(within, spread).unwrap_or_default();
            assert!(now + pause >= within && now + pause <= within + FIRST_PAUSE, "{pause:?}");
            assert_eq!(wait(beyond, spread), None);
        }
        let last = now + PATIENCE;
        assert_eq!(wait(last, 40), Some(PATIENCE), "not after the end of its patience");
    }

    #[test]
    fn too_many_requests_are_waited_for_once() {
        let (now, wait) = (start(), Duration::from_secs(2));
        let mut late = policy("tools/call");
        assert_eq!(late.after_refusal(wait, now, now + wait), None, "there is no time left");
        let mut policy = policy("tools/call");
        assert_eq!(policy.after_refusal(wait, now, now + PATIENCE), Some(wait));
        assert_eq!(policy.after_refusal(wait, now, now + PATIENCE), None);
    }
}
