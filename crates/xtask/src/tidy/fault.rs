//! One violation of a rule, and its display. This module must not know any rule.

use std::fmt;

use super::Source;

/// One violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    /// The path, relative to the top of the checkout.
    pub(crate) path: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The rule's short name.
    pub(crate) rule: &'static str,
    /// The problem.
    pub(crate) what: String,
    /// The suggested fix.
    pub(crate) help: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, what, help } = self;
        write!(f, "{path}:{line}: {rule}: {what}. Help: {help}.")
    }
}

impl Fault {
    /// A fault at an offset of a source.
    pub(super) fn at(
        source: &Source,
        at: usize,
        rule: &'static str,
        what: String,
        help: &'static str,
    ) -> Self {
        Self { path: source.path.clone(), line: source.line(at), rule, what, help }
    }
}
