//! The tools of a catalogue that families of clients refuse, and the reasons. This information is only for people: no decision
//! depends on it. This module must not know where it is shown.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{ListKind, UpstreamCatalogue};
use crate::schema_family::{SchemaFamily, SchemaFinding, lint, lint_name};

/// The maximum number of refused tools that are named per family.
const MOST_NAMED: usize = 20;

/// The maximum number of reasons that are given for a tool.
const MOST_REASONS: usize = 5;

/// The maximum number of tools that a sentence names.
const TOLD: usize = 3;

/// A tool that a family refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedTool {
    /// The server's own name for the tool.
    pub name: String,
    /// The reasons for the refusal.
    pub findings: Vec<SchemaFinding>,
}

/// The tools of one server that a family refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusals {
    /// The family.
    pub family: &'static SchemaFamily,
    /// The number of refused tools.
    pub count: usize,
    /// The first refused tools.
    pub tools: Vec<RefusedTool>,
}

impl Refusals {
    /// The maximum number of a server's tools that are examined.
    pub const MOST_TOOLS: usize = 5_000;

    /// The refusals of each family that refuses any of the server's first 5 000 tools.
    pub fn of(catalogue: &UpstreamCatalogue) -> Vec<Self> {
        let mut all: Vec<Self> =
            SchemaFamily::ALL.map(|family| Self { family, count: 0, tools: Vec::new() }).into();
        for tool in catalogue.list(ListKind::Tools).iter().take(Self::MOST_TOOLS) {
            let schema = tool.member("inputSchema");
            for one in &mut all {
                let most = if one.tools.len() < MOST_NAMED { MOST_REASONS } else { 1 };
                let mut findings = lint_name(one.family, &tool.key);
                findings.extend(schema.iter().flat_map(|schema| lint(one.family, schema, false, most)));
                findings.truncate(most);
                one.count += usize::from(!findings.is_empty());
                if !findings.is_empty() && one.tools.len() < MOST_NAMED {
                    one.tools.push(RefusedTool { name: tool.key.clone(), findings });
                }
            }
        }
        all.retain(|one| one.count > 0);
        all
    }

    /// The settings that make the tools acceptable to these families, as text for people. The portable form does
    /// not help Cursor, because it contains `anyOf`, which Cursor refuses.
    pub fn remedy(all: &[Self]) -> &'static str {
        let is_cursor = |one: &Self| one.family.name == "cursor";
        match (all.iter().any(is_cursor), all.iter().all(is_cursor)) {
            (false, _) => "`tools: { schemas: portable }`",
            (true, true) => "`tools: { schemas: cursor }`",
            (true, false) => "`tools: { schemas: portable }`, or `cursor` in a profile for Cursor",
        }
    }

    /// The refusals as JSON: each family with its refused tools, and for each tool the broken rules with their
    /// positions.
    pub fn listed(all: &[Self]) -> Value {
        let reason = |found: &SchemaFinding| json!({ "path": found.path, "rule": found.rule.id(), "message": found.rule.sentence() });
        let tool = |tool: &RefusedTool| json!({ "name": tool.name, "reasons": tool.findings.iter().map(reason).collect::<Vec<_>>() });
        let one = |one: &Self| {
            let tools: Vec<Value> = one.tools.iter().map(tool).collect();
            json!({ "family": one.family.name, "count": one.count, "tools": tools })
        };
        all.iter().map(one).collect()
    }
}

impl UpstreamCatalogue {
    /// The tools that families of clients refuse. The first call takes milliseconds for hundreds of tools, so make
    /// it on the blocking pool.
    pub fn refusals(&self) -> Arc<[Refusals]> {
        self.refusals.get(|| Refusals::of(self))
    }

    /// Returns true if the refusals have already been computed.
    pub fn has_refusals(&self) -> bool {
        self.refusals.is_known()
    }
}

/// A sentence for people, with the first reason: `3 tools do not suit gemini: a (/const: …), b, c`.
impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tools, verb) = if self.count == 1 { ("tool", "does") } else { ("tools", "do") };
        write!(f, "{} {tools} {verb} not suit {}: ", self.count, self.family.name)?;
        for (at, tool) in self.tools.iter().take(TOLD).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{}", tool.name)?;
            if let Some(finding) = tool.findings.first().filter(|_| at == 0) {
                let place = if finding.path.is_empty() { "/" } else { &finding.path };
                write!(f, " ({place}: {})", finding.rule.sentence())?;
            }
        }
        if self.count > TOLD { write!(f, ", …") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_to_use_a_form_that_they_refuse() {
        let family = |name: &str| SchemaFamily::ALL.into_iter().find(|family| family.name == name).unwrap();
        let remedy = |names: &[&str]| {
            let one = |name: &&str| Refusals { family: family(name), count: 1, tools: Vec::new() };
            Refusals::remedy(&names.iter().map(one).collect::<Vec<_>>())
        };
        assert_eq!(remedy(&["gemini", "vscode"]), "`tools: { schemas: portable }`");
        assert_eq!(remedy(&["cursor"]), "`tools: { schemas: cursor }`");
        assert!(remedy(&["gemini", "cursor"]).ends_with("or `cursor` in a profile for Cursor"));
    }
}
