//! The cost estimate of schemas: what is let through is checked within a fixed number of looks at a value for each step,
//! and a larger budget lets no less through.

use jsonschema::PatternOptions;
use schema::arguments::ArgumentValue;
use schema::cost::SchemaCost;
use serde_json::Value;

use super::counted::{Counted, Counting, looks};

/// The steps that the gateway allows a check.
pub const STEPS: u64 = 1 << 18;

/// The steps that it allows for what does not fit to be told.
pub const STEPS_TOLD: u64 = 1 << 12;

/// The looks that a step may cost: a subschema that says little looks at its value once for each of its keywords, and a
/// step stands for a few words of them.
pub const LOOKS: u64 = 16;

/// The fuzzer's entry: a schema, and arguments behind an empty line.
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

/// Makes texts and names long, as far as there is room: what a long text costs does not show with short ones.
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
            // The first stays, for what is said of it by name.
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

/// The smallest budget that lets arguments through, where there is one.
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

/// Any schema and arguments.
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
        // What does not fit is found once more at each level that it lies in.
        let (_, cost) = looks(|| validator.iter_errors(Counted(&value)).take(5).count());
        assert!(cost <= LOOKS * STEPS_TOLD * 8, "{cost} looks to tell, {least} steps: {schema} {arguments}");
    }
}
