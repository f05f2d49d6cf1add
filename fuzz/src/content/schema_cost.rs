//! The cost estimate of schemas: if arguments fit a budget, their check looks at values at most a fixed number of times
//! per step, and they fit every larger budget, too.

use jsonschema::PatternOptions;
use schema::arguments::ArgumentValue;
use schema::cost::SchemaCost;
use serde_json::Value;

use super::counted::{Counted, Counting, looks};

/// The number of steps that the gateway allows for a check.
pub const STEPS: u64 = 1 << 18;

/// The number of steps that it allows for describing why arguments do not fit.
pub const STEPS_TOLD: u64 = 1 << 12;

/// The number of looks that a step may cost. A small subschema looks at its value once for each of its keywords, and a
/// step stands for a few keywords.
pub const LOOKS: u64 = 16;

/// The fuzzer's entry: a line with a schema, and then the arguments.
pub fn fuzz(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (schema, arguments) = text.split_once('\n').unwrap_or((&text, "{}"));
    let Ok(schema) = serde_json::from_str(schema) else { return };
    check(&schema, arguments);
    if let Ok(mut value) = serde_json::from_str(arguments) {
        let mut room = 1 << 18;
        lengthen(&mut value, &mut room);
        check(&schema, &value.to_string());
    }
}

/// Makes texts and names longer, as far as `room` permits, because short texts do not show the cost of long ones.
pub fn lengthen(value: &mut Value, room: &mut usize) {
    let mut long = |text: &str| {
        let times = (*room / 4 / text.len().max(1)).min(20_000);
        *room -= times * text.len();
        text.repeat(times.max(1))
    };
    match value {
        Value::String(text) => *text = long(text),
        Value::Array(items) => items.iter_mut().for_each(|item| lengthen(item, room)),
        Value::Object(members) => {
            // The first name stays, because the schema may name it.
            let before = std::mem::take(members);
            for (at, (name, mut value)) in before.into_iter().enumerate() {
                let name = if at == 0 { name } else { long(&name) };
                members.insert(name, value.take());
            }
            members.values_mut().for_each(|value| lengthen(value, room));
        }
        _ => {}
    }
}

/// Returns the smallest budget that the arguments fit, if there is one.
pub fn least(cost: &SchemaCost, arguments: &str) -> Option<u64> {
    let value = ArgumentValue::read(arguments.as_bytes())?;
    let within = |budget| cost.is_within(budget, arguments.as_bytes(), &value);
    if !within(STEPS) {
        return None;
    }
    let (mut too_little, mut enough) = (0, STEPS);
    while too_little + 1 < enough {
        let middle = u64::midpoint(too_little, enough);
        if within(middle) { enough = middle } else { too_little = middle }
    }
    for more in [enough + 1, enough * 2, STEPS, u64::MAX] {
        assert!(more < enough || within(more), "{enough} steps are enough, and {more} are not");
    }
    Some(enough)
}

/// Checks any schema and arguments.
pub fn check(schema: &Value, arguments: &str) {
    let Some(cost) = SchemaCost::of(schema) else { return };
    let Some(least) = least(&cost, arguments) else { return };
    let Ok(value) = serde_json::from_str::<Value>(arguments) else { return };
    let patterns =
        PatternOptions::fancy_regex().backtrack_limit(4000).size_limit(1 << 16).dfa_size_limit(1 << 16);
    let options = jsonschema::options_for::<Counting>().with_pattern_options(patterns);
    let Ok(validator) = options.build(schema) else { return };
    let (fits, cost) = looks(|| validator.is_valid(Counted(&value)));
    assert!(cost <= LOOKS * (least + 1), "{cost} looks for {least} steps: {schema} {arguments}");
    if !fits && least <= STEPS_TOLD {
        // Arguments that do not fit are checked once more at each level of their nesting.
        let (_, cost) = looks(|| validator.iter_errors(Counted(&value)).take(5).count());
        assert!(cost <= LOOKS * STEPS_TOLD * 8, "{cost} looks to tell, {least} steps: {schema} {arguments}");
    }
}
