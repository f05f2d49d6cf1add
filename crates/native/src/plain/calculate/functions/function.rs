//! A function that a formula may name, as a row. This module must not know any particular function.

use crate::plain::calculate::value::{FormulaResult, Value};

/// A function that formulas can call.
#[derive(Debug, Clone, Copy)]
pub(in crate::plain::calculate) struct Function {
    pub(in crate::plain::calculate) name: &'static str,
    /// The smallest number of arguments.
    pub(in crate::plain::calculate) least: usize,
    /// The largest number of arguments.
    pub(in crate::plain::calculate) most: usize,
    /// An example of a call.
    pub(in crate::plain::calculate) usage: &'static str,
    pub(in crate::plain::calculate) run: fn(&[Value]) -> FormulaResult,
}

/// A function with a fixed number of arguments.
pub(super) const fn exactly(
    name: &'static str,
    count: usize,
    usage: &'static str,
    run: fn(&[Value]) -> FormulaResult,
) -> Function {
    Function { name, least: count, most: count, usage, run }
}

/// A function with optional arguments.
pub(super) const fn between(
    name: &'static str,
    least: usize,
    most: usize,
    usage: &'static str,
    run: fn(&[Value]) -> FormulaResult,
) -> Function {
    Function { name, least, most, usage, run }
}
