//! A value in the notation of its surroundings: YAML in blocks, YAML in flow style, or JSON. This module must not know where
//! the text is inserted.

use serde_json::{Map, Value};

/// The number of columns of one level, in a file that shows no other indentation.
pub(super) const STEP: usize = 2;

/// The maximum length of a list on one line, in bytes.
const LONGEST: usize = 100;

/// Returns a member of a mapping as YAML lines, each with a line break at its end. `newline` is the file's line break.
pub(super) fn block_member(key: &str, value: &Value, indent: usize, newline: &str) -> String {
    let mut out = String::new();
    member(&mut out, key, value, indent, newline);
    out
}

fn member(out: &mut String, key: &str, value: &Value, indent: usize, newline: &str) {
    let pad = " ".repeat(indent);
    let key = scalar(key);
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.extend([&pad, &key, ":", newline]);
            for (key, value) in members {
                member(out, key, value, indent + STEP, newline);
            }
        }
        Value::Array(items) if !items.is_empty() && flow(value).len() > LONGEST => {
            out.extend([&pad, &key, ":", newline]);
            for item in items {
                out.extend([&pad, "  - ", &flow(item), newline]);
            }
        }
        Value::String(text) => out.extend([&pad, &key, ": ", &scalar(text), newline]),
        other => out.extend([&pad, &key, ": ", &flow(other), newline]),
    }
}

/// Returns a value in the flow style of YAML: on one line, with quotes only where they are needed.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let all: Vec<String> = members.iter().map(|(key, value)| flow_member(key, value)).collect();
            format!("{{ {} }}", all.join(", "))
        }
        Value::Array(items) => {
            let all: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", all.join(", "))
        }
        Value::String(text) if is_flow_text(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a member of a mapping in flow style.
pub(super) fn flow_member(key: &str, value: &Value) -> String {
    format!("{}: {}", flow(&Value::from(key)), flow(value))
}

/// Returns a member of an object as JSON. Its first line is not indented; `indent` is the indentation of further lines, which
/// grows by `step` for each level. Short lists stay on one line.
pub(super) fn json_member(key: &str, value: &Value, indent: usize, step: usize, newline: &str) -> String {
    format!("{}: {}", Value::from(key), json(value, indent, step, newline))
}

/// Changes the indentation of a JSON text from one space for each level to `lead`, followed by `step` for each
/// level. The first line is not indented.
pub(super) fn indented(json: &str, lead: &str, step: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    for (number, line) in json.split('\n').enumerate() {
        let bare = line.trim_start_matches(' ');
        if number > 0 {
            out.extend(["\n", lead, &step.repeat(line.len() - bare.len())]);
        }
        out.push_str(bare);
    }
    out
}

fn json(value: &Value, indent: usize, step: usize, newline: &str) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let pad = " ".repeat(indent + step);
            let one = |(key, value): (&String, &Value)| {
                format!("{newline}{pad}{}", json_member(key, value, indent + step, step, newline))
            };
            let all: Vec<String> = Map::iter(members).map(one).collect();
            format!("{{{}{newline}{}}}", all.join(","), " ".repeat(indent))
        }
        Value::Array(items) => {
            let all: Vec<String> = items.iter().map(|item| json(item, indent, step, newline)).collect();
            format!("[{}]", all.join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns a text as a YAML scalar in a block.
fn scalar(text: &str) -> String {
    if is_plain_text(text) { text.to_owned() } else { Value::from(text).to_string() }
}

/// Returns true if a text needs no quotes in a YAML block, because nothing in it has a special meaning.
pub(super) fn is_plain_text(text: &str) -> bool {
    has_plain_form(text) && !means_something_else(text)
}

/// Returns true if a text needs no quotes. This includes options such as `-y`, which a list may contain.
pub(super) fn is_bare_text(text: &str) -> bool {
    let option = text.trim_start_matches('-');
    (has_plain_form(text) || (option.len() < text.len() && has_plain_form(option)))
        && !means_something_else(text)
}

fn has_plain_form(text: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-./:@+=,~^()%$ {}&*!?;'\"<>|\\".contains(c);
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "_/.$".contains(c));
    starts_well
        && text.chars().all(is_safe)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
}

/// Returns true if a text needs no quotes in flow style, where brackets and commas also have a special meaning.
fn is_flow_text(text: &str) -> bool {
    is_bare_text(text) && !text.contains([',', '{', '}', '[', ']'])
}

/// Returns true for texts that a YAML parser may read as a number, a boolean or null.
fn means_something_else(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_word =
        matches!(&*lower, "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n" | "~");
    let is_number = lower.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && lower.chars().all(|c| c.is_ascii_hexdigit() || "xo._:-+".contains(c));
    is_word || is_number || text.parse::<f64>().is_ok()
}
