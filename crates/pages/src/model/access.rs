//! The access check: the decision whether a caller may use a tool, and the rule behind the decision.

use super::ForeignText;

/// The access check.
#[derive(Debug, Clone, Default)]
pub struct AccessPage {
    /// The question.
    pub form: AccessForm,
    /// Callers to choose from: keys, users, and callers of the last few days.
    pub callers: Vec<ForeignText>,
    /// The profiles.
    pub profiles: Vec<ForeignText>,
    /// Tools to choose from, at most 500.
    pub tools: Vec<ForeignText>,
    /// The answer; `None` if nothing was asked.
    pub verdict: Option<AccessVerdict>,
    /// The tools that the caller may use, if the question names a caller and no tool.
    pub reach: Option<AccessReach>,
    /// All access rules, in the order of the file.
    pub rules: Vec<AccessRuleRow>,
    /// The reason why the question cannot be answered.
    pub fault: Option<ForeignText>,
}

/// The question. The query parameters have the names of the fields.
#[derive(Debug, Clone, Default)]
pub struct AccessForm {
    /// The caller: the name of a key, or an id as in the record of calls (`key:dgm_…`, `user:ann`, `anyone`).
    pub caller: ForeignText,
    /// The address of the client, for rules with `ip`.
    pub address: ForeignText,
    /// The profile.
    pub profile: ForeignText,
    /// The tool by the name that clients see.
    pub tool: ForeignText,
    /// The arguments as JSON, for rules with `when`.
    pub arguments: ForeignText,
}

/// The answer.
#[derive(Debug, Clone, Default)]
pub struct AccessVerdict {
    /// True if the call would be forwarded.
    pub allowed: bool,
    /// One sentence with the reason.
    pub reason: ForeignText,
    /// The checks in their order, up to the one that decided.
    pub steps: Vec<AccessStep>,
}

/// The tools of a profile that a caller may use.
#[derive(Debug, Clone, Default)]
pub struct AccessReach {
    /// The tools that the caller may call with some arguments.
    pub allowed: Vec<ForeignText>,
    /// The other tools.
    pub denied: Vec<ForeignText>,
    /// The reason why the caller may not even use the profile.
    pub refusal: Option<ForeignText>,
}

/// A check.
#[derive(Debug, Clone, Default)]
pub struct AccessStep {
    /// The check: `key is valid for the profile`, `rule 2: deny *delete*`.
    pub check: ForeignText,
    /// The result of the check for the caller.
    pub effect: RuleEffect,
    /// The reason.
    pub why: ForeignText,
    /// The line of the configuration file with the rule.
    pub line: Option<u64>,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RuleEffect {
    /// The check allows the call.
    Allows,
    /// The check denies the call.
    Denies,
    /// The check does not apply.
    #[default]
    Skipped,
    /// The check applies, but another one decides.
    Overruled,
}

/// An access rule.
#[derive(Debug, Clone, Default)]
pub struct AccessRuleRow {
    /// The number in the file, from 1.
    pub number: u64,
    /// True for `allow`, false for `deny`.
    pub allows: bool,
    /// The patterns.
    pub patterns: ForeignText,
    /// The conditions on callers, servers, profiles and arguments, as a sentence; empty if the rule always applies.
    pub conditions: ForeignText,
}
