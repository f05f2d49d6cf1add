//! The ledger in which an upstream records the calls that it has executed. This module must not know who calls.

use std::collections::HashMap;
use std::fs;

use serde_json::Value;

use super::stage::Upstream;

impl Upstream {
    /// The number of times that the upstream has executed the call with this nonce.
    pub(crate) fn executed(&self, nonce: &str) -> usize {
        self.executions(|_| true).get(nonce).copied().unwrap_or(0)
    }

    /// The number of times that the upstream has executed each call of certain tools, by nonce.
    pub(crate) fn executions(&self, of: impl Fn(&str) -> bool) -> HashMap<String, usize> {
        let ledger = fs::read_to_string(&self.ledger).unwrap_or_default();
        let mut counts = HashMap::new();
        for call in ledger.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if let (Some(tool), Some(nonce)) = (call["tool"].as_str(), call["nonce"].as_str())
                && of(tool)
            {
                *counts.entry(nonce.to_owned()).or_default() += 1;
            }
        }
        counts
    }

    /// The lines of the upstream's ledger.
    pub(crate) fn ledger_lines(&self) -> Vec<String> {
        let ledger = fs::read_to_string(&self.ledger).unwrap_or_default();
        ledger.lines().map(str::to_owned).collect()
    }

    /// The number of times that a text occurs in the upstream's ledger.
    pub(crate) fn recorded(&self, text: &str) -> usize {
        fs::read_to_string(&self.ledger).map_or(0, |ledger| ledger.matches(text).count())
    }

    /// The nonces of calls of these tools that the upstream has executed more than once.
    pub(crate) fn doubled(&self, tools: &[&str]) -> Vec<String> {
        let counts = self.executions(|tool| tools.contains(&tool));
        counts.into_iter().filter(|(_, count)| *count > 1).map(|(nonce, _)| nonce).collect()
    }
}
