//! Finance, and numbers formatted for people. Rates are in percent.

use super::super::value::{FormulaFault, FormulaResult, Value};
use super::{Function, between, exactly, numbers::round_to};

pub(super) const FUNCTIONS: &[Function] = &[
    exactly("percent-of", 2, "(percent-of percent amount)", |v| {
        Value::float(v[0].number()? / 100.0 * v[1].number()?)
    }),
    exactly("percent-change", 2, "(percent-change from to)", |v| {
        ratio(v[1].number()? - v[0].number()?, v[0].number()?)
    }),
    exactly("roi", 2, "(roi gained cost): return on investment in percent", |v| {
        ratio(v[0].number()? - v[1].number()?, v[1].number()?)
    }),
    exactly("simple-interest", 3, "(simple-interest principal rate years)", |v| {
        Value::float(v[0].number()? * v[1].number()? / 100.0 * v[2].number()?)
    }),
    exactly(
        "compound-interest",
        4,
        "(compound-interest principal rate times-a-year years): the amount at the end",
        |v| {
            let (principal, rate, times, years) =
                (v[0].number()?, v[1].number()? / 100.0, v[2].number()?, v[3].number()?);
            if times <= 0.0 {
                return Err(FormulaFault::arithmetic(
                    "the number of interest payments per year must be above 0",
                ));
            }
            Value::float(principal * (1.0 + rate / times).powf(times * years))
        },
    ),
    exactly("future-value", 3, "(future-value amount rate periods)", |v| {
        Value::float(v[0].number()? * (1.0 + v[1].number()? / 100.0).powf(v[2].number()?))
    }),
    exactly("present-value", 3, "(present-value amount rate periods)", |v| {
        Value::float(v[0].number()? / (1.0 + v[1].number()? / 100.0).powf(v[2].number()?))
    }),
    exactly("cagr", 3, "(cagr from to years): yearly growth in percent", |v| {
        let (from, to, years) = (v[0].number()?, v[1].number()?, v[2].number()?);
        Value::float(((to / from).powf(1.0 / years) - 1.0) * 100.0)
    }),
    exactly("market-share", 2, "(market-share part whole), in percent", |v| {
        ratio(v[0].number()?, v[1].number()?)
    }),
    between("format-commas", 1, 2, "(format-commas a) or (format-commas a decimals)", |v| {
        let text = match v.get(1) {
            Some(decimals) => fixed(&v[0], decimals)?,
            None => plain(&v[0])?,
        };
        Ok(Value::Text(grouped(&text)))
    }),
    exactly("format-round", 2, "(format-round a decimals)", |v| Ok(Value::Text(fixed(&v[0], &v[1])?))),
    between("format-scientific", 1, 2, "(format-scientific a) or (format-scientific a decimals)", |v| {
        let decimals = v.get(1).map_or(Ok(6), places)?;
        Ok(Value::Text(format!("{:.*e}", decimals, v[0].number()?)))
    }),
    between("format-percent", 1, 2, "(format-percent percent) or (format-percent percent decimals)", |v| {
        let decimals = v.get(1).cloned().unwrap_or(Value::Int(2));
        Ok(Value::Text(format!("{}%", fixed(&v[0], &decimals)?)))
    }),
];

/// A part of a whole, in percent.
fn ratio(part: f64, whole: f64) -> FormulaResult {
    if whole == 0.0 {
        return Err(FormulaFault::arithmetic("a percentage of zero is undefined"));
    }
    Value::float(part / whole * 100.0)
}

fn places(decimals: &Value) -> Result<usize, FormulaFault> {
    let number = usize::try_from(decimals.whole()?).ok().filter(|number| *number <= 15);
    number.ok_or_else(|| FormulaFault::wanted("an integer from 0 to 15 (the number of decimal places)"))
}

fn plain(value: &Value) -> Result<String, FormulaFault> {
    match value {
        Value::Int(number) => Ok(number.to_string()),
        other => Ok(other.number()?.to_string()),
    }
}

fn fixed(value: &Value, decimals: &Value) -> Result<String, FormulaFault> {
    let places = places(decimals)?;
    match (value, places) {
        (Value::Int(number), 0) => Ok(number.to_string()),
        _ => Ok(format!("{:.places$}", round_to(value.number()?, decimals)?)),
    }
}

/// Digits in groups of three.
fn grouped(text: &str) -> String {
    let (sign, bare) = text.strip_prefix('-').map_or(("", text), |bare| ("-", bare));
    let (whole, decimals) = bare.find('.').map_or((bare, ""), |at| bare.split_at(at));
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(decimals);
    out
}
