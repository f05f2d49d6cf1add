//! Trigonometry in radians and degrees, and hyperbolic functions.

use super::super::value::{FormulaResult, Value};
use super::{Function, exactly};

pub(super) const FUNCTIONS: &[Function] = &[
    exactly("sin", 1, "(sin radians)", |v| of(v, f64::sin)),
    exactly("cos", 1, "(cos radians)", |v| of(v, f64::cos)),
    exactly("tan", 1, "(tan radians)", |v| of(v, f64::tan)),
    exactly("asin", 1, "(asin a), a from -1 to 1", |v| of(v, f64::asin)),
    exactly("acos", 1, "(acos a), a from -1 to 1", |v| of(v, f64::acos)),
    exactly("atan", 1, "(atan a)", |v| of(v, f64::atan)),
    exactly("atan2", 2, "(atan2 y x)", |v| Value::float(v[0].number()?.atan2(v[1].number()?))),
    exactly("sin-deg", 1, "(sin-deg degrees)", |v| of(v, |a| a.to_radians().sin())),
    exactly("cos-deg", 1, "(cos-deg degrees)", |v| of(v, |a| a.to_radians().cos())),
    exactly("tan-deg", 1, "(tan-deg degrees)", |v| of(v, |a| a.to_radians().tan())),
    exactly("asin-deg", 1, "(asin-deg a), a from -1 to 1", |v| of(v, |a| a.asin().to_degrees())),
    exactly("acos-deg", 1, "(acos-deg a), a from -1 to 1", |v| of(v, |a| a.acos().to_degrees())),
    exactly("atan-deg", 1, "(atan-deg a)", |v| of(v, |a| a.atan().to_degrees())),
    exactly("deg->rad", 1, "(deg->rad degrees)", |v| of(v, f64::to_radians)),
    exactly("rad->deg", 1, "(rad->deg radians)", |v| of(v, f64::to_degrees)),
    exactly("sinh", 1, "(sinh a)", |v| of(v, f64::sinh)),
    exactly("cosh", 1, "(cosh a)", |v| of(v, f64::cosh)),
    exactly("tanh", 1, "(tanh a)", |v| of(v, f64::tanh)),
    exactly("asinh", 1, "(asinh a)", |v| of(v, f64::asinh)),
    exactly("acosh", 1, "(acosh a), a at least 1", |v| of(v, f64::acosh)),
    exactly("atanh", 1, "(atanh a), a between -1 and 1", |v| of(v, f64::atanh)),
];

fn of(values: &[Value], run: fn(f64) -> f64) -> FormulaResult {
    Value::float(run(values[0].number()?))
}
