//! Arithmetic, powers, rounding, comparison. Whole numbers stay exact while they fit into 128 bits.

use super::super::value::{FormulaFault, FormulaResult, Value};
use super::{Function, between, exactly};

const ANY: usize = usize::MAX;

pub(super) const FUNCTIONS: &[Function] = &[
    between("+", 0, ANY, "(+ a b ...)", |v| folded(v, 0, i128::checked_add, |a, b| a + b)),
    between("*", 0, ANY, "(* a b ...)", |v| folded(v, 1, i128::checked_mul, |a, b| a * b)),
    between("-", 1, ANY, "(- a b ...)", subtract),
    between("/", 1, ANY, "(/ a b ...)", divide),
    exactly("quot", 2, "(quot a b)", |v| whole2(v, i128::checked_div)),
    exactly("rem", 2, "(rem a b)", |v| whole2(v, i128::checked_rem)),
    exactly("mod", 2, "(mod a b)", modulo),
    exactly("inc", 1, "(inc a)", |v| pair(&v[0], &Value::Int(1), i128::checked_add, |a, b| a + b)),
    exactly("dec", 1, "(dec a)", |v| pair(&v[0], &Value::Int(1), i128::checked_sub, |a, b| a - b)),
    exactly("neg", 1, "(neg a)", |v| pair(&Value::Int(0), &v[0], i128::checked_sub, |a, b| a - b)),
    exactly("abs", 1, "(abs a)", |v| match &v[0] {
        Value::Int(number) if *number != i128::MIN => Ok(Value::Int(number.abs())),
        other => Value::float(other.number()?.abs()),
    }),
    between("min", 1, ANY, "(min a b ...)", |v| extreme(v, |a, b| a < b)),
    between("max", 1, ANY, "(max a b ...)", |v| extreme(v, |a, b| a > b)),
    exactly("gcd", 2, "(gcd a b)", |v| Ok(Value::Int(gcd(v[0].whole()?, v[1].whole()?)?))),
    exactly("lcm", 2, "(lcm a b)", lcm),
    exactly("factorial", 1, "(factorial n), n up to 33", factorial),
    exactly("pow", 2, "(pow base exponent)", power),
    exactly("square", 1, "(square a)", |v| pair(&v[0], &v[0], i128::checked_mul, |a, b| a * b)),
    exactly("cube", 1, "(cube a)", |v| power(&[v[0].clone(), Value::Int(3)])),
    exactly("sqrt", 1, "(sqrt a), a not negative", |v| Value::float(v[0].number()?.sqrt())),
    exactly("cbrt", 1, "(cbrt a)", |v| Value::float(v[0].number()?.cbrt())),
    exactly("root", 2, "(root a n)", |v| Value::float(v[0].number()?.powf(1.0 / v[1].number()?))),
    exactly("hypot", 2, "(hypot a b)", |v| Value::float(v[0].number()?.hypot(v[1].number()?))),
    exactly("exp", 1, "(exp a)", |v| Value::float(v[0].number()?.exp())),
    exactly("ln", 1, "(ln a), a positive", |v| Value::float(v[0].number()?.ln())),
    between("log", 1, 2, "(log a) or (log a base), a positive", |v| match v.get(1) {
        None => Value::float(v[0].number()?.ln()),
        Some(base) => Value::float(v[0].number()?.log(base.number()?)),
    }),
    exactly("log2", 1, "(log2 a), a positive", |v| Value::float(v[0].number()?.log2())),
    exactly("log10", 1, "(log10 a), a positive", |v| Value::float(v[0].number()?.log10())),
    exactly("round", 1, "(round a)", |v| rounded(&v[0], f64::round)),
    exactly("floor", 1, "(floor a)", |v| rounded(&v[0], f64::floor)),
    exactly("ceil", 1, "(ceil a)", |v| rounded(&v[0], f64::ceil)),
    exactly("trunc", 1, "(trunc a)", |v| rounded(&v[0], f64::trunc)),
    exactly("sign", 1, "(sign a): -1, 0 or 1", |v| {
        let number = v[0].number()?;
        Ok(Value::Int(i128::from(number > 0.0) - i128::from(number < 0.0)))
    }),
    exactly("round-to", 2, "(round-to a decimals), 0 to 15 decimals", |v| {
        Value::float(round_to(v[0].number()?, &v[1])?)
    }),
];

pub(super) const COMPARISONS: &[Function] = &[
    between("=", 2, ANY, "(= a b ...)", |v| {
        Ok(Value::Flag(v.windows(2).all(|pair| equal(&pair[0], &pair[1]))))
    }),
    exactly("not=", 2, "(not= a b)", |v| Ok(Value::Flag(!equal(&v[0], &v[1])))),
    between("<", 2, ANY, "(< a b ...)", |v| ordered(v, |a, b| a < b)),
    between("<=", 2, ANY, "(<= a b ...)", |v| ordered(v, |a, b| a <= b)),
    between(">", 2, ANY, "(> a b ...)", |v| ordered(v, |a, b| a > b)),
    between(">=", 2, ANY, "(>= a b ...)", |v| ordered(v, |a, b| a >= b)),
    exactly("zero?", 1, "(zero? a)", |v| Ok(Value::Flag(v[0].number()? == 0.0))),
    exactly("pos?", 1, "(pos? a)", |v| Ok(Value::Flag(v[0].number()? > 0.0))),
    exactly("neg?", 1, "(neg? a)", |v| Ok(Value::Flag(v[0].number()? < 0.0))),
    exactly("even?", 1, "(even? a)", |v| Ok(Value::Flag(v[0].whole()? % 2 == 0))),
    exactly("odd?", 1, "(odd? a)", |v| Ok(Value::Flag(v[0].whole()? % 2 != 0))),
];

/// An operation on two numbers: exact while both are whole and the result fits.
fn pair(
    a: &Value,
    b: &Value,
    exact: fn(i128, i128) -> Option<i128>,
    float: fn(f64, f64) -> f64,
) -> FormulaResult {
    if let (Value::Int(a), Value::Int(b)) = (a, b)
        && let Some(number) = exact(*a, *b)
    {
        return Ok(Value::Int(number));
    }
    Value::float(float(a.number()?, b.number()?))
}

fn folded(
    values: &[Value],
    start: i128,
    exact: fn(i128, i128) -> Option<i128>,
    float: fn(f64, f64) -> f64,
) -> FormulaResult {
    values.iter().try_fold(Value::Int(start), |sum, value| pair(&sum, value, exact, float))
}

fn subtract(values: &[Value]) -> FormulaResult {
    match values {
        [one] => pair(&Value::Int(0), one, i128::checked_sub, |a, b| a - b),
        [first, rest @ ..] => rest
            .iter()
            .try_fold(first.clone(), |left, value| pair(&left, value, i128::checked_sub, |a, b| a - b)),
        [] => Err(FormulaFault::wanted("a number")),
    }
}

fn divide(values: &[Value]) -> FormulaResult {
    let over = |a: &Value, b: &Value| {
        if b.number()? == 0.0 {
            return Err(FormulaFault::arithmetic("division by zero is undefined"));
        }
        let whole = |a: i128, b: i128| (a.checked_rem(b) == Some(0)).then(|| a.checked_div(b)).flatten();
        pair(a, b, whole, |a, b| a / b)
    };
    match values {
        [one] => over(&Value::Int(1), one),
        [first, rest @ ..] => rest.iter().try_fold(first.clone(), |left, value| over(&left, value)),
        [] => Err(FormulaFault::wanted("a number")),
    }
}

fn whole2(values: &[Value], run: fn(i128, i128) -> Option<i128>) -> FormulaResult {
    let (a, b) = (values[0].whole()?, values[1].whole()?);
    run(a, b).map(Value::Int).ok_or_else(|| FormulaFault::arithmetic("division by zero is undefined"))
}

fn modulo(values: &[Value]) -> FormulaResult {
    let (a, b) = (&values[0], &values[1]);
    if b.number()? == 0.0 {
        return Err(FormulaFault::arithmetic("division by zero is undefined"));
    }
    let exact = |a: i128, b: i128| {
        a.checked_rem(b).map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
    };
    pair(a, b, exact, |a, b| a - b * (a / b).floor())
}

fn extreme(values: &[Value], better: fn(f64, f64) -> bool) -> FormulaResult {
    // Callers write `(max [1 2 3])` as often as `(max 1 2 3)`.
    let values = match values {
        [Value::Vector(inner)] => inner.as_slice(),
        values => values,
    };
    let mut best = values
        .first()
        .ok_or_else(|| FormulaFault::arithmetic("an empty vector has no minimum and no maximum"))?;
    best.number()?;
    for value in &values[1..] {
        if better(value.number()?, best.number()?) {
            best = value;
        }
    }
    Ok(best.clone())
}

fn gcd(a: i128, b: i128) -> Result<i128, FormulaFault> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).map_err(|_| FormulaFault::arithmetic("the result is too large"))
}

fn lcm(values: &[Value]) -> FormulaResult {
    let (a, b) = (values[0].whole()?, values[1].whole()?);
    let common = gcd(a, b)?;
    if common == 0 {
        return Ok(Value::Int(0));
    }
    let product = (a / common).checked_mul(b).and_then(i128::checked_abs);
    product.map(Value::Int).ok_or_else(|| FormulaFault::arithmetic("the result is too large"))
}

fn factorial(values: &[Value]) -> FormulaResult {
    let number = values[0].whole()?;
    if !(0..=33).contains(&number) {
        return Err(FormulaFault::arithmetic("factorials can be calculated only for numbers from 0 to 33"));
    }
    Ok(Value::Int((1..=number).product()))
}

fn power(values: &[Value]) -> FormulaResult {
    let (base, exponent) = (&values[0], &values[1]);
    if let (Value::Int(base), Value::Int(exponent)) = (base, exponent)
        && let Some(number) = u32::try_from(*exponent).ok().and_then(|exponent| base.checked_pow(exponent))
    {
        return Ok(Value::Int(number));
    }
    Value::float(base.number()?.powf(exponent.number()?))
}

/// A number without its fraction; the result is exact if it fits into 128 bits.
#[expect(clippy::cast_possible_truncation, reason = "the size of the number has been checked before")]
fn rounded(value: &Value, how: fn(f64) -> f64) -> FormulaResult {
    if let Value::Int(number) = value {
        return Ok(Value::Int(*number));
    }
    let number = how(value.number()?);
    if number.abs() < 1.0e37 { Ok(Value::Int(number as i128)) } else { Value::float(number) }
}

/// A number rounded to this many decimals.
pub(super) fn round_to(number: f64, decimals: &Value) -> Result<f64, FormulaFault> {
    let decimals = decimals.whole()?;
    let decimals = i32::try_from(decimals).ok().filter(|d| (0..=15).contains(d));
    let decimals = decimals
        .ok_or_else(|| FormulaFault::wanted("an integer from 0 to 15 (the number of decimal places)"))?;
    let scale = 10_f64.powi(decimals);
    let scaled = number * scale;
    // Beyond this limit, a double has no decimals to remove.
    Ok(if scaled.is_finite() && scaled.abs() < 9.0e15 { scaled.round() / scale } else { number })
}

fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Vector(a), Value::Vector(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Flag(_) | Value::Text(_) | Value::Vector(_), _) => a == b,
        _ => matches!((a.number(), b.number()), (Ok(a), Ok(b)) if a.total_cmp(&b).is_eq() || a - b == 0.0),
    }
}

fn ordered(values: &[Value], before: fn(f64, f64) -> bool) -> FormulaResult {
    let numbers = values.iter().map(Value::number).collect::<Result<Vec<_>, _>>()?;
    Ok(Value::Flag(numbers.windows(2).all(|pair| before(pair[0], pair[1]))))
}
