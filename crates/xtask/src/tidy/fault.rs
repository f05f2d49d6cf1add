//! One broken rule at one place, and how it is printed. It must not know a rule.

use std::fmt;

use super::Source;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    /// Path from the checkout's top.
    pub(crate) path: String,
    /// Line, from 1.
    pub(crate) line: usize,
    /// The rule's short name.
    pub(crate) rule: &'static str,
    /// What is wrong here.
    pub(crate) what: String,
    /// What to do about it.
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
