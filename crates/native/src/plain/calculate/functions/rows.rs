//! Vectors and statistics.

use super::super::value::{FormulaFault, FormulaResult, Value};
use super::{Function, between, exactly, numbers};

pub(super) const FUNCTIONS: &[Function] = &[
    exactly("dot", 2, "(dot [a ...] [b ...])", |v| Value::float(dot(&v[0], &v[1])?)),
    exactly("norm", 1, "(norm [a ...])", |v| Value::float(dot(&v[0], &v[0])?.sqrt())),
    exactly("cross", 2, "(cross [a b c] [d e f])", cross),
    exactly("vec+", 2, "(vec+ [a ...] [b ...])", |v| zipped(&v[0], &v[1], "+")),
    exactly("vec-", 2, "(vec- [a ...] [b ...])", |v| zipped(&v[0], &v[1], "-")),
    exactly("scale", 2, "(scale [a ...] factor)", |v| {
        let factor = v[1].number()?;
        floats(v[0].numbers()?.into_iter().map(|number| number * factor))
    }),
    exactly("sum", 1, "(sum [a ...])", |v| all(&v[0], "+")),
    exactly("product", 1, "(product [a ...])", |v| all(&v[0], "*")),
    exactly("count", 1, "(count [a ...])", |v| {
        Ok(Value::Int(i128::try_from(v[0].vector()?.len()).unwrap_or(i128::MAX)))
    }),
    exactly("mean", 1, "(mean [a ...])", |v| Value::float(mean(&some(&v[0])?))),
    exactly("median", 1, "(median [a ...])", |v| Value::float(quantile(&sorted(&v[0])?, 50.0))),
    between("variance", 1, 1, "(variance [a b ...]), of a sample", |v| Value::float(variance(&v[0])?)),
    exactly("stdev", 1, "(stdev [a b ...]), of a sample", |v| Value::float(variance(&v[0])?.sqrt())),
    exactly("range", 1, "(range [a ...]): the largest value minus the smallest", |v| {
        let numbers = sorted(&v[0])?;
        Value::float(numbers[numbers.len() - 1] - numbers[0])
    }),
    exactly("percentile", 2, "(percentile [a ...] p), p from 0 to 100", |v| {
        let percent = v[1].number()?;
        if !(0.0..=100.0).contains(&percent) {
            return Err(FormulaFault::wanted("a percentile from 0 to 100"));
        }
        Value::float(quantile(&sorted(&v[0])?, percent))
    }),
    exactly("sort", 1, "(sort [a ...])", |v| {
        let mut values = v[0].vector()?.to_vec();
        v[0].numbers()?;
        values.sort_by(|a, b| a.number().unwrap_or_default().total_cmp(&b.number().unwrap_or_default()));
        Ok(Value::Vector(values))
    }),
];

/// The numbers of a vector, which must not be empty.
pub(super) fn some(value: &Value) -> Result<Vec<f64>, FormulaFault> {
    let numbers = value.numbers()?;
    if numbers.is_empty() { Err(FormulaFault::arithmetic("the vector is empty")) } else { Ok(numbers) }
}

/// The numbers of two vectors, which must have the same length.
pub(super) fn alike(a: &Value, b: &Value) -> Result<(Vec<f64>, Vec<f64>), FormulaFault> {
    let (a, b) = (some(a)?, some(b)?);
    if a.len() == b.len() { Ok((a, b)) } else { Err(FormulaFault::wanted("two vectors of the same length")) }
}

/// The scalar product of two vectors.
pub(super) fn dot(a: &Value, b: &Value) -> Result<f64, FormulaFault> {
    let (a, b) = alike(a, b)?;
    Ok(a.iter().zip(&b).map(|(a, b)| a * b).sum())
}

/// The result of the function with this name for these values.
fn by_name(name: &str, values: &[Value]) -> FormulaResult {
    let found = numbers::FUNCTIONS.iter().find(|function| function.name == name);
    found.map_or_else(|| Err(FormulaFault::wanted("a function")), |function| (function.run)(values))
}

/// Calls the function with all elements as its arguments. Whole numbers stay exact.
fn all(vector: &Value, name: &str) -> FormulaResult {
    by_name(name, vector.vector()?)
}

fn zipped(a: &Value, b: &Value, name: &str) -> FormulaResult {
    alike(a, b)?;
    let pairs = a.vector()?.iter().zip(b.vector()?);
    let values = pairs.map(|(a, b)| by_name(name, &[a.clone(), b.clone()])).collect::<Result<Vec<_>, _>>()?;
    Ok(Value::Vector(values))
}

/// A vector of these numbers.
pub(super) fn floats(numbers: impl Iterator<Item = f64>) -> FormulaResult {
    Ok(Value::Vector(numbers.map(Value::float).collect::<Result<Vec<_>, _>>()?))
}

fn cross(values: &[Value]) -> FormulaResult {
    match (values[0].numbers()?.as_slice(), values[1].numbers()?.as_slice()) {
        ([a1, a2, a3], [b1, b2, b3]) => {
            floats([a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1].into_iter())
        }
        _ => Err(FormulaFault::wanted("two vectors of three numbers")),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a vector has far fewer than 2^52 elements")]
fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

#[expect(clippy::cast_precision_loss, reason = "a vector has far fewer than 2^52 elements")]
fn variance(vector: &Value) -> Result<f64, FormulaFault> {
    let numbers = some(vector)?;
    if numbers.len() < 2 {
        return Err(FormulaFault::arithmetic("a sample needs at least two numbers"));
    }
    let mean = mean(&numbers);
    Ok(numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / (numbers.len() - 1) as f64)
}

fn sorted(vector: &Value) -> Result<Vec<f64>, FormulaFault> {
    let mut numbers = some(vector)?;
    numbers.sort_by(f64::total_cmp);
    Ok(numbers)
}

/// The quantile by linear interpolation between neighbours.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is an index of a vector"
)]
fn quantile(sorted: &[f64], percent: f64) -> f64 {
    let place = percent / 100.0 * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}
