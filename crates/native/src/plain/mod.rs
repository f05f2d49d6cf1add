//! The plain tools: a greeting, an echo, a sum, joined texts, and a calculator. None of them runs code.
//!
//! | file | is for |
//! |---|---|
//! | `calculate` | the calculator: formulas in prefix notation |

mod calculate;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::tools::{
    CallFailure, Channel, Condition, Family, Policy, ToolRow, ToolServer, Values, flag, list, local, number,
    text,
};
use crate::unknown::UnknownArguments;

const FAMILY: Family = Family {
    name: "dragoman-plain",
    title: "Dragoman plain tools",
    titles: &[],
    instructions: "Small tools without side effects: they greet, echo a message, add numbers, join texts, and evaluate formulas in prefix notation.",
    policy: Policy::Exact,
    failed: "",
    unfit: "",
};

const TOOLS: &[ToolRow] = &[
    local("hello", "Returns a greeting message", &[text("name", "Name to greet").required()], |values| {
        Ok(format!("{}, {}!", values.text("greeting"), values.text("name")))
    }),
    local(
        "echo",
        "Returns the given message unchanged.",
        &[text("message", "Message to return.").required()],
        |values| Ok(values.text("message").to_owned()),
    ),
    local(
        "add",
        "Adds two numbers and returns the sum.",
        &[number("a", "First number.").required(), number("b", "Second number.").required()],
        add,
    ),
    local(
        "concat",
        "Joins texts and returns the result.",
        &[
            list("strings", "Texts to join, in order.").required(),
            text("separator", "Separator between the texts. Default: none.").or_text(""),
        ],
        concat,
    ),
    local(
        "calculate",
        calculate::ABOUT,
        &[
            text("expr", "Formula, such as (+ 1 (* 2 3)).").required(),
            flag("input-base64", "Read the formula as base64.").or_flag(false),
            flag("output-base64", "Return the result in base64.").or_flag(false),
        ],
        |values| {
            calculate::calculate(
                values.text("expr"),
                values.flag("input-base64"),
                values.flag("output-base64"),
            )
            .map_err(|error| CallFailure::new(Condition::ToolFailed, error))
        },
    ),
];

/// The plain tools; `greeting` is the first word of the answer of `hello`, or "Hello" if `None`.
pub fn server(greeting: Option<&str>, unknown: UnknownArguments) -> ToolServer {
    let word = greeting.map(str::trim).filter(|word| !word.is_empty()).unwrap_or("Hello");
    let mut settings = Map::new();
    settings.insert("greeting".to_owned(), Value::from(word));
    ToolServer::new(&FAMILY, (Channel::Results, unknown), TOOLS.iter().collect(), settings, None)
}

/// The sum of two JSON numbers: exact for 64-bit integers, otherwise as double-precision numbers.
fn add(values: &Values) -> Result<String, CallFailure> {
    let exact = |name| {
        values.get(name).and_then(|value| value.as_i64().map(i128::from).or(value.as_u64().map(i128::from)))
    };
    if let (Some(a), Some(b)) = (exact("a"), exact("b")) {
        return Ok((a + b).to_string());
    }
    let sum = values.number("a").unwrap_or(f64::NAN) + values.number("b").unwrap_or(f64::NAN);
    if sum.is_finite() {
        return Ok(sum.to_string());
    }
    Err(CallFailure::new(
        Condition::ToolFailed,
        "the sum is too large for a double-precision number (about 1.8e308)",
    ))
}

fn concat(values: &Values) -> Result<String, CallFailure> {
    let none = Vec::new();
    let parts = values.get("strings").and_then(Value::as_array).unwrap_or(&none);
    let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
    let separator = values.text("separator");
    // A separator between many empty texts makes the result many times larger than the input.
    let size = parts.iter().map(|part| part.len()).sum::<usize>() + separator.len() * parts.len();
    if size > LONGEST_TEXT {
        let words = format!("the joined text would be longer than {LONGEST_TEXT} bytes");
        return Err(CallFailure::new(Condition::ToolFailed, words));
    }
    Ok(parts.join(separator))
}

/// The longest joined text, in bytes.
const LONGEST_TEXT: usize = 4 << 20;
