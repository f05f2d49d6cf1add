//! The functions and constants that a formula may name, one row each.
//!
//! | file | is for |
//! |---|---|
//! | `numbers` | arithmetic, powers, rounding, comparison |
//! | `angles` | trigonometry, hyperbolic functions |
//! | `rows` | vectors, statistics |
//! | `money` | finance, formatting |
//! | `dates` | days and times |
//! | `markets` | units of currencies, interest, trades |

mod angles;
mod dates;
mod markets;
mod money;
mod numbers;
mod rows;

use super::value::{Outcome, Value};

/// A function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Function {
    pub(super) name: &'static str,
    /// How few arguments it takes.
    pub(super) least: usize,
    /// How many.
    pub(super) most: usize,
    /// How it is written.
    pub(super) usage: &'static str,
    pub(super) run: fn(&[Value]) -> Outcome,
}

/// All functions.
pub(super) const FAMILIES: &[&[Function]] = &[
    numbers::FUNCTIONS,
    numbers::COMPARISONS,
    angles::FUNCTIONS,
    rows::FUNCTIONS,
    money::FUNCTIONS,
    dates::FUNCTIONS,
    markets::FUNCTIONS,
];

/// A function with a fixed number of arguments.
const fn exactly(
    name: &'static str,
    count: usize,
    usage: &'static str,
    run: fn(&[Value]) -> Outcome,
) -> Function {
    Function { name, least: count, most: count, usage, run }
}

/// A function with some of its arguments left to the caller.
const fn between(
    name: &'static str,
    least: usize,
    most: usize,
    usage: &'static str,
    run: fn(&[Value]) -> Outcome,
) -> Function {
    Function { name, least, most, usage, run }
}

/// The value of a constant.
pub(super) fn constant(name: &str) -> Option<Value> {
    use std::f64::consts::{E, PI, TAU};
    Some(match name {
        "pi" => Value::Float(PI),
        "e" => Value::Float(E),
        "tau" => Value::Float(TAU),
        "phi" => Value::Float(1.618_033_988_749_895),
        "minute" => Value::Int(60),
        "hour" => Value::Int(3600),
        "day" => Value::Int(86_400),
        "week" => Value::Int(604_800),
        "year" => Value::Int(31_536_000),
        "ether-decimals" => Value::Int(18),
        "btc-decimals" => Value::Int(8),
        "usdc-decimals" => Value::Int(6),
        _ => return None,
    })
}
