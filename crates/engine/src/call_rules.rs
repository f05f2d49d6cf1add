//! The rules for requests to one server, compiled from the configuration: the time limits, the number of requests that
//! run at once, and the conditions for sending a request again. This module must not know how a request is sent.

use std::time::Duration;

use config::{Config, Glob, ResendRule, Server};

use crate::catalogue::ToolEntry;
use crate::exchange::Timeouts;

/// The rules for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestRules {
    /// The time limits of the request.
    pub timeouts: Timeouts,
    /// The rule for sending the request again after it may have been executed.
    pub resend: ResendRule,
}

/// The rules for all requests to one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRules {
    /// The rules for requests without a specific rule.
    pub usual: RequestRules,
    /// The maximum time that a request waits for its server to become available again.
    pub resend_wait: Duration,
    /// The maximum number of calls that run at once.
    pub concurrent: usize,
    /// The maximum number of calls that wait for their turn.
    pub waiting: usize,
    /// The maximum size of a tool's result, in bytes; longer results are shortened.
    pub max_result: Option<usize>,
    /// The rules for calls to individual tools; the first pattern that matches a tool's name applies.
    tools: Vec<(Glob, RequestRules)>,
}

impl CallRules {
    /// The rules for a server in a configuration.
    pub fn of(config: &Config, server: &Server) -> Self {
        let limits = &config.limits;
        let idle = server.timeout.unwrap_or(limits.call_idle_timeout);
        let timeouts = timeouts(idle, server.call_timeout, limits.call_timeout);
        let usual = RequestRules { timeouts, resend: server.resend };
        let tools = server.tool_calls.iter().filter_map(|(name, calls)| {
            let idle = calls.timeout.unwrap_or(timeouts.idle);
            let timeouts = self::timeouts(idle, calls.call_timeout, timeouts.overall);
            let rules = RequestRules { timeouts, resend: calls.resend.unwrap_or(server.resend) };
            Some((Glob::parse(name).ok()?, rules))
        });
        let tools = tools.collect();
        let (concurrent, waiting) = (server.concurrent_calls, server.waiting_calls);
        let max_result = server.max_result;
        Self { usual, resend_wait: limits.resend_wait, concurrent, waiting, max_result, tools }
    }

    /// Rules that allow no request to be sent.
    pub fn nothing() -> Self {
        let timeouts = Timeouts::of_server(Duration::ZERO, Duration::ZERO);
        let usual = RequestRules { timeouts, resend: ResendRule::Never };
        Self {
            usual,
            resend_wait: Duration::ZERO,
            concurrent: 0,
            waiting: 0,
            max_result: None,
            tools: Vec::new(),
        }
    }

    /// The rules for a call to `tool`, or for any other request if there is no tool.
    pub fn for_request(&self, tool: Option<&ToolEntry>) -> RequestRules {
        let Some(tool) = tool else { return self.usual };
        let own = if self.tools.is_empty() { None } else { self.of_name(&tool.own_name()) };
        let mut rules = own.unwrap_or(self.usual);
        if let Some(most) = tool.limits().and_then(|limits| limits.timeout) {
            rules.timeouts = rules.timeouts.within(most);
        }
        rules
    }

    fn of_name(&self, tool: &str) -> Option<RequestRules> {
        self.tools.iter().find(|(glob, _)| glob.matches(tool)).map(|(_, rules)| *rules)
    }

    /// The longest time that any request may take.
    pub fn longest(&self) -> Duration {
        let longest = self.tools.iter().map(|(_, rules)| rules.timeouts.overall).max();
        longest.unwrap_or_default().max(self.usual.timeouts.overall)
    }
}

/// The time limits of a request. If a total time is configured for the request itself, that total also limits the idle
/// time; otherwise the total time is at least the idle time.
fn timeouts(idle: Duration, own: Option<Duration>, usual: Duration) -> Timeouts {
    match own {
        Some(overall) => Timeouts::of_server(idle.min(overall), overall),
        None => Timeouts::of_server(idle, usual.max(idle)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Lookup, load};

    fn rules(server: &str) -> CallRules {
        let file = format!(
            "limits: {{ callIdleTimeout: 40s, callTimeout: 5m }}\nmcpServers: {{ x: {{ url: 'http://x/mcp', {server} }} }}"
        );
        let loaded = load(&file, "x.yaml", &Lookup { env: &|_| None, file: &|_| Err(String::new()) });
        let config = loaded.expect("no faults").config;
        CallRules::of(&config, &config.mcp_servers["x"])
    }

    fn seconds(rules: RequestRules) -> (u64, u64) {
        (rules.timeouts.idle.as_secs(), rules.timeouts.overall.as_secs())
    }

    fn of(rules: &CallRules, tool: &str) -> RequestRules {
        rules.of_name(tool).unwrap_or(rules.usual)
    }

    #[test]
    fn a_tool_follows_its_server_which_follows_the_limits() {
        assert_eq!(seconds(rules("").usual), (40, 300));
        assert_eq!(seconds(rules("timeout: 10m").usual), (600, 600), "a default gives way");
        assert_eq!(seconds(rules("callTimeout: 30s").usual), (30, 30), "silence ends with the call");
        let some = rules(
            "timeout: 20s, resend: never, toolCalls: { slow: { timeout: 9m }, \"slow*\": { callTimeout: 1h }, last: { resend: always } }",
        );
        assert_eq!(seconds(some.usual), (20, 300));
        assert_eq!(seconds(of(&some, "slow")), (540, 540), "the first name that fits");
        assert_eq!(seconds(of(&some, "slower")), (20, 3600));
        assert_eq!(seconds(of(&some, "other")), (20, 300));
        assert_eq!(
            (of(&some, "slow").resend, of(&some, "last").resend),
            (ResendRule::Never, ResendRule::Always)
        );
        assert_eq!(some.longest().as_secs(), 3600);
    }
}
