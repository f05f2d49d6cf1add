//! Currency units, interest on deposits, trades, portfolios. Rates are in percent.

use super::super::value::{FormulaFault, FormulaResult, Value};
use super::rows::{alike, dot, floats};
use super::{Function, between, exactly};

pub(super) const FUNCTIONS: &[Function] = &[
    exactly("wei->ether", 1, "(wei->ether wei)", |v| down(&v[0], 18)),
    exactly("ether->wei", 1, "(ether->wei ether)", |v| up(&v[0], 18)),
    exactly("wei->gwei", 1, "(wei->gwei wei)", |v| down(&v[0], 9)),
    exactly("gwei->wei", 1, "(gwei->wei gwei)", |v| up(&v[0], 9)),
    exactly("gwei->ether", 1, "(gwei->ether gwei)", |v| down(&v[0], 9)),
    exactly("ether->gwei", 1, "(ether->gwei ether)", |v| up(&v[0], 9)),
    exactly("sats->btc", 1, "(sats->btc sats)", |v| down(&v[0], 8)),
    exactly("btc->sats", 1, "(btc->sats btc)", |v| up(&v[0], 8)),
    exactly("units->token", 2, "(units->token units decimals)", |v| down(&v[0], decimals(&v[1])?)),
    exactly("token->units", 2, "(token->units amount decimals)", |v| up(&v[0], decimals(&v[1])?)),
    between("apr->apy", 1, 2, "(apr->apy apr) or (apr->apy apr times-a-year)", |v| {
        let times = times(v.get(1))?;
        Value::float(((1.0 + v[0].number()? / 100.0 / times).powf(times) - 1.0) * 100.0)
    }),
    between("apy->apr", 1, 2, "(apy->apr apy) or (apy->apr apy times-a-year)", |v| {
        let times = times(v.get(1))?;
        Value::float(((1.0 + v[0].number()? / 100.0).powf(1.0 / times) - 1.0) * times * 100.0)
    }),
    exactly("staking-rewards", 3, "(staking-rewards amount apr days)", |v| {
        Value::float(v[0].number()? * v[1].number()? / 100.0 * v[2].number()? / 365.0)
    }),
    exactly("impermanent-loss", 1, "(impermanent-loss price-ratio), in percent, negative", |v| {
        let ratio = v[0].number()?;
        if ratio <= 0.0 {
            return Err(FormulaFault::arithmetic("the ratio of the prices must be positive"));
        }
        Value::float((2.0 * ratio.sqrt() / (1.0 + ratio) - 1.0) * 100.0)
    }),
    exactly("slippage", 2, "(slippage expected-price paid-price), in percent", |v| {
        let (expected, paid) = (v[0].number()?, v[1].number()?);
        if expected == 0.0 {
            return Err(FormulaFault::arithmetic("the expected price must not be zero"));
        }
        Value::float((paid - expected) / expected * 100.0)
    }),
    between(
        "liquidation-price",
        2,
        3,
        "(liquidation-price entry leverage) or (liquidation-price entry leverage maintenance-percent), of a long position",
        |v| {
            let (entry, leverage) = (v[0].number()?, v[1].number()?);
            let maintenance = v.get(2).map_or(Ok(0.0), Value::number)? / 100.0;
            if leverage < 1.0 {
                return Err(FormulaFault::arithmetic("the leverage must be at least 1"));
            }
            Value::float(entry * (1.0 - 1.0 / leverage + maintenance))
        },
    ),
    exactly("gas-cost", 2, "(gas-cost gas gwei), in ether", |v| {
        Value::float(v[0].number()? * v[1].number()? / 1.0e9)
    }),
    exactly("gas-cost-in", 3, "(gas-cost-in gas gwei ether-price)", |v| {
        Value::float(v[0].number()? * v[1].number()? / 1.0e9 * v[2].number()?)
    }),
    exactly("convert", 2, "(convert amount rate)", |v| Value::float(v[0].number()? * v[1].number()?)),
    exactly("unit-price", 2, "(unit-price total quantity)", |v| {
        let quantity = v[1].number()?;
        if quantity == 0.0 {
            return Err(FormulaFault::arithmetic("the quantity must not be zero"));
        }
        Value::float(v[0].number()? / quantity)
    }),
    exactly("portfolio-value", 2, "(portfolio-value [amounts] [prices])", |v| {
        Value::float(dot(&v[0], &v[1])?)
    }),
    exactly("portfolio-weights", 2, "(portfolio-weights [amounts] [prices]), in percent", |v| {
        let whole = dot(&v[0], &v[1])?;
        if whole == 0.0 {
            return Err(FormulaFault::arithmetic("the portfolio is worth nothing"));
        }
        let (amounts, prices) = alike(&v[0], &v[1])?;
        floats(amounts.iter().zip(&prices).map(|(amount, price)| amount * price / whole * 100.0))
    }),
    exactly("weighted-mean", 2, "(weighted-mean [values] [weights])", |v| {
        let (_, weights) = alike(&v[0], &v[1])?;
        let whole: f64 = weights.iter().sum();
        if whole == 0.0 {
            return Err(FormulaFault::arithmetic("the weights must not add up to zero"));
        }
        Value::float(dot(&v[0], &v[1])? / whole)
    }),
];

fn decimals(value: &Value) -> Result<u32, FormulaFault> {
    let number = u32::try_from(value.whole()?).ok().filter(|number| *number <= 36);
    number.ok_or_else(|| FormulaFault::wanted("an integer from 0 to 36 (the number of decimal places)"))
}

/// Converts small units to large ones: exact if there is no remainder.
fn down(value: &Value, decimals: u32) -> FormulaResult {
    let scale = 10_i128.pow(decimals);
    match value {
        Value::Int(number) if number % scale == 0 => Ok(Value::Int(number / scale)),
        other => Value::float(other.number()? / power_of_ten(decimals)),
    }
}

/// Converts large units to small ones: exact for whole numbers.
fn up(value: &Value, decimals: u32) -> FormulaResult {
    if let Value::Int(number) = value
        && let Some(number) = number.checked_mul(10_i128.pow(decimals))
    {
        return Ok(Value::Int(number));
    }
    Value::float(value.number()? * power_of_ten(decimals))
}

fn power_of_ten(decimals: u32) -> f64 {
    10_f64.powi(i32::try_from(decimals).unwrap_or_default())
}

/// The number of interest payments per year; daily by default.
fn times(value: Option<&Value>) -> Result<f64, FormulaFault> {
    let times = value.map_or(Ok(365.0), Value::number)?;
    if times > 0.0 {
        Ok(times)
    } else {
        Err(FormulaFault::arithmetic("the number of interest payments per year must be above 0"))
    }
}
