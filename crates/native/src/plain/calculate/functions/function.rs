//! A function that a formula may name, as a row. It must not know any.

use crate::plain::calculate::value::{Outcome, Value};

/// A function.
#[derive(Debug, Clone, Copy)]
pub(in crate::plain::calculate) struct Function {
    pub(in crate::plain::calculate) name: &'static str,
    /// How few arguments it takes.
    pub(in crate::plain::calculate) least: usize,
    /// How many.
    pub(in crate::plain::calculate) most: usize,
    /// How it is written.
    pub(in crate::plain::calculate) usage: &'static str,
    pub(in crate::plain::calculate) run: fn(&[Value]) -> Outcome,
}

/// A function with a fixed number of arguments.
pub(super) const fn exactly(
    name: &'static str,
    count: usize,
    usage: &'static str,
    run: fn(&[Value]) -> Outcome,
) -> Function {
    Function { name, least: count, most: count, usage, run }
}

/// A function with some of its arguments left to the caller.
pub(super) const fn between(
    name: &'static str,
    least: usize,
    most: usize,
    usage: &'static str,
    run: fn(&[Value]) -> Outcome,
) -> Function {
    Function { name, least, most, usage, run }
}
