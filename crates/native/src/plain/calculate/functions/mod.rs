//! The functions and constants that a formula may name, one row each.
//!
//! | file | is for |
//! |---|---|
//! | `function` | a row |
//! | `numbers` | arithmetic, powers, rounding, comparison |
//! | `angles` | trigonometry, hyperbolic functions |
//! | `rows` | vectors, statistics |
//! | `money` | finance, formatting |
//! | `dates` | days and times |
//! | `markets` | units of currencies, interest, trades |

mod angles;
mod dates;
mod function;
mod markets;
mod money;
mod numbers;
mod rows;

use super::value::Value;
pub(super) use function::Function;
use function::{between, exactly};

/// All functions, by family.
pub(super) const FAMILIES: &[&[Function]] = &[
    numbers::FUNCTIONS,
    numbers::COMPARISONS,
    angles::FUNCTIONS,
    rows::FUNCTIONS,
    money::FUNCTIONS,
    dates::FUNCTIONS,
    markets::FUNCTIONS,
];

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
