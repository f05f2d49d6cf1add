//! Formulas in prefix notation: `(+ 1 (* 2 3))`. A formula can name only the functions of a fixed table. It cannot bind
//! names, loop, access anything outside or run for long: its work is counted, and its size and depth are bounded.
//!
//! | file | is for |
//! |---|---|
//! | `value` | numbers, booleans, texts, vectors; faults of a formula |
//! | `parse` | parses a text into a tree |
//! | `eval` | evaluates the tree |
//! | `functions` | the table, one file per family |

mod eval;
mod functions;
mod parse;
mod value;

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use value::{FormulaFault, FormulaFaultKind};

/// The description of the calculator for models.
pub(super) const ABOUT: &str = "Evaluates a formula in prefix notation, such as (+ 1 (* 2 3)), (mean [1 2 3]) or \
(compound-interest 1000 5 12 10), and returns JSON with value and type, or with error, type and suggestion. Rates are in \
percent, angles in radians unless the function name ends in -deg, times in seconds since 1970 or as \"YYYY-MM-DD\". Functions: \
arithmetic + - * / quot rem mod inc dec abs neg min max gcd lcm factorial; \
powers pow square cube sqrt cbrt root hypot exp ln log log2 log10; \
trigonometry sin cos tan asin acos atan atan2 sin-deg cos-deg tan-deg asin-deg acos-deg atan-deg deg->rad rad->deg sinh cosh \
tanh asinh acosh atanh; \
rounding round floor ceil trunc sign round-to; \
comparison = not= < <= > >= zero? pos? neg? even? odd?; \
vectors dot norm cross vec+ vec- scale; \
statistics sum product count mean median variance stdev range percentile sort; \
formatting format-commas format-round format-scientific format-percent; \
finance percent-of percent-change roi simple-interest compound-interest future-value present-value cagr market-share; \
dates unix->date date->unix days-between add-days lock-end lock-remaining lock-progress; \
units wei->ether ether->wei wei->gwei gwei->wei gwei->ether ether->gwei sats->btc btc->sats units->token token->units; \
markets apr->apy apy->apr staking-rewards impermanent-loss slippage liquidation-price gas-cost gas-cost-in convert unit-price \
portfolio-value portfolio-weights weighted-mean. \
Constants: pi e tau phi minute hour day week year (in seconds) ether-decimals btc-decimals usdc-decimals true false.";

/// The longest formula, in bytes.
const LONGEST: usize = 16 * 1024;

/// The answer to a formula: JSON text, or its base64 form.
///
/// # Errors
/// Returns the fault, as JSON text with `error`, `type` (validation, decode, timeout, arithmetic) and `suggestion`.
pub(super) fn calculate(formula: &str, from_base64: bool, to_base64: bool) -> Result<String, String> {
    let answer = answered(formula, from_base64).map_err(|fault| fault.json())?;
    Ok(if to_base64 { BASE64_STANDARD.encode(answer) } else { answer })
}

fn answered(formula: &str, from_base64: bool) -> Result<String, FormulaFault> {
    let too_long = || {
        let words = format!("the formula is longer than {LONGEST} bytes");
        FormulaFault::new(FormulaFaultKind::Validation, words, "calculate it in parts")
    };
    if formula.len() > LONGEST * 2 {
        return Err(too_long());
    }
    let decoded = if from_base64 { decoded(formula)? } else { formula.to_owned() };
    if decoded.len() > LONGEST {
        return Err(too_long());
    }
    let tree = parse::parse(&decoded)?;
    let value = eval::evaluated(&tree)?;
    Ok(value.json())
}

fn decoded(formula: &str) -> Result<String, FormulaFault> {
    let no = || {
        let help = "send plain text with input-base64 false, or base64 of UTF-8 text";
        FormulaFault::new(FormulaFaultKind::Decode, "the formula is not valid base64 of UTF-8 text", help)
    };
    let bytes = BASE64_STANDARD.decode(formula.trim()).map_err(|_| no())?;
    String::from_utf8(bytes).map_err(|_| no())
}
