//! The form of a question (elicitation): its fields, their prompts, and the valid input.
//!
//! This file is pure: it does not read the lines itself. Field schemas are those of MCP: strings, numbers,
//! booleans, the choice of one value (`enum`, `oneOf`) and the choice of several (an `array` of these).

use serde_json::{Number, Value};

use crate::output::console;
use crate::output::layout::cut;

/// The maximum number of fields, and of choices, that are shown.
const MOST: usize = 200;

/// The maximum length of a foreign text in the form, in columns.
const LONGEST: usize = 600;

/// Returns a foreign text on one line, cut if it is long.
fn one_line(text: &str) -> String {
    let kept = &text[..text.floor_char_boundary(LONGEST * 4)];
    cut(&console::one_line(kept), LONGEST)
}

/// One field of a form.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// The name of the field's property.
    pub(super) name: String,
    title: String,
    description: String,
    required: bool,
    default: Option<Value>,
    kind: FieldType,
}

#[derive(Debug, Clone)]
enum FieldType {
    Text { least: u64, most: u64 },
    Number { integer: bool, least: f64, most: f64 },
    Boolean,
    One(Vec<Choice>),
    Several(Vec<Choice>),
}

#[derive(Debug, Clone)]
struct Choice {
    value: String,
    title: String,
}

/// The result of reading a line that the user typed for a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FieldInput {
    /// The value of the field.
    Value(Value),
    /// No value: the field is left out.
    Nothing,
}

/// Returns the fields of a form, in the order of its schema.
pub(super) fn fields(schema: &Value) -> Vec<Field> {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema["properties"].as_object();
    let field = |(name, schema): (&String, &Value)| Field {
        name: name.clone(),
        title: one_line(schema["title"].as_str().unwrap_or(name)),
        description: one_line(schema["description"].as_str().unwrap_or_default()),
        required: is_required(name),
        default: schema.get("default").cloned(),
        kind: kind(schema),
    };
    properties.into_iter().flatten().take(MOST).map(field).collect()
}

fn kind(schema: &Value) -> FieldType {
    let number = |key: &str, otherwise| schema[key].as_f64().unwrap_or(otherwise);
    let length = |key: &str, otherwise| schema[key].as_u64().unwrap_or(otherwise);
    match schema["type"].as_str() {
        Some("array") => FieldType::Several(choices(&schema["items"])),
        Some("boolean") => FieldType::Boolean,
        Some(name @ ("number" | "integer")) => FieldType::Number {
            integer: name == "integer",
            least: number("minimum", f64::NEG_INFINITY),
            most: number("maximum", f64::INFINITY),
        },
        _ => match choices(schema) {
            none if none.is_empty() => {
                FieldType::Text { least: length("minLength", 0), most: length("maxLength", u64::MAX) }
            }
            some => FieldType::One(some),
        },
    }
}

/// Returns the choices of a schema: `enum` (with `enumNames`), or `oneOf`/`anyOf` with titled constants.
fn choices(schema: &Value) -> Vec<Choice> {
    let mut found = Vec::new();
    let titled = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    for one in titled.into_iter().flatten() {
        let value = one["const"].as_str().unwrap_or_default().to_owned();
        found.push(Choice { title: one_line(one["title"].as_str().unwrap_or(&value)), value });
    }
    for (index, one) in schema["enum"].as_array().into_iter().flatten().enumerate() {
        let value = one.as_str().unwrap_or_default().to_owned();
        found.push(Choice { title: one_line(schema["enumNames"][index].as_str().unwrap_or(&value)), value });
    }
    found.truncate(MOST);
    found
}

impl Field {
    /// Returns the lines to show above the prompt.
    pub(super) fn about(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.description.is_empty() {
            lines.push(format!("  {}", self.description));
        }
        if let FieldType::One(choices) | FieldType::Several(choices) = &self.kind {
            lines.extend(
                choices.iter().enumerate().map(|(index, one)| format!("    {}. {}", index + 1, one.title)),
            );
        }
        lines
    }

    /// Returns the text before the cursor.
    pub(super) fn prompt(&self) -> String {
        let kind = match &self.kind {
            FieldType::Text { .. } => "text",
            FieldType::Number { integer: true, .. } => "whole number",
            FieldType::Number { .. } => "number",
            FieldType::Boolean => "yes or no",
            FieldType::One(_) => "the number of a choice above",
            FieldType::Several(_) => "numbers of choices above, separated by commas",
        };
        let left_out = if self.required { "" } else { ", optional" };
        let default =
            self.default.as_ref().map(|value| format!(" [{}]", self.shown(value))).unwrap_or_default();
        format!("{} ({kind}{left_out}){default}: ", self.title)
    }

    fn shown(&self, value: &Value) -> String {
        let title = |value: &Value| {
            let text = value.as_str().unwrap_or_default();
            match &self.kind {
                FieldType::One(all) | FieldType::Several(all) => {
                    all.iter().find(|one| one.value == text).map_or(text.to_owned(), |one| one.title.clone())
                }
                _ => text.to_owned(),
            }
        };
        let text = match value {
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            Value::String(_) => title(value),
            Value::Array(values) => values.iter().take(MOST).map(title).collect::<Vec<_>>().join(", "),
            other => other.to_string(),
        };
        one_line(&text)
    }

    /// Interprets a line that the user typed.
    ///
    /// # Errors
    /// Returns the reason why the line is invalid; the caller can then ask again.
    pub(super) fn read(&self, line: &str) -> Result<FieldInput, String> {
        if line.is_empty() {
            return match &self.default {
                Some(value) => Ok(FieldInput::Value(value.clone())),
                None if self.required => Err("a value is required".to_owned()),
                None => Ok(FieldInput::Nothing),
            };
        }
        match &self.kind {
            FieldType::Text { least, most } => {
                let length = line.chars().count() as u64;
                if (*least..=*most).contains(&length) {
                    Ok(FieldInput::Value(line.into()))
                } else if length < *least {
                    Err(format!("at least {least} characters"))
                } else {
                    Err(format!("at most {most} characters"))
                }
            }
            FieldType::Number { integer, least, most } => read_number(line, *integer, *least, *most),
            FieldType::Boolean => match line.to_lowercase().as_str() {
                "y" | "yes" | "true" | "1" => Ok(FieldInput::Value(true.into())),
                "n" | "no" | "false" | "0" => Ok(FieldInput::Value(false.into())),
                _ => Err("answer yes or no".to_owned()),
            },
            FieldType::One(choices) => Ok(FieldInput::Value(pick(choices, line)?.into())),
            FieldType::Several(choices) => {
                let parts = line.split(',').map(str::trim).filter(|part| !part.is_empty());
                let picked: Result<Vec<String>, String> = parts.map(|part| pick(choices, part)).collect();
                Ok(FieldInput::Value(picked?.into()))
            }
        }
    }
}

fn read_number(line: &str, integer: bool, least: f64, most: f64) -> Result<FieldInput, String> {
    let what = if integer { "a whole number" } else { "a number" };
    let number: Number = serde_json::from_str(line).map_err(|_| format!("write {what}"))?;
    let value = number.as_f64().unwrap_or(f64::NAN);
    if integer && !number.is_i64() && !number.is_u64() {
        return Err(format!("write {what}"));
    }
    if value < least {
        return Err(format!("not less than {least}"));
    }
    if value > most {
        return Err(format!("not more than {most}"));
    }
    Ok(FieldInput::Value(Value::Number(number)))
}

/// Finds a choice by its number, its title or its value.
fn pick(choices: &[Choice], typed: &str) -> Result<String, String> {
    let by_number = typed.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let named = |one: &&Choice| one.title.eq_ignore_ascii_case(typed) || one.value == typed;
    let found = choices.iter().find(named).or(by_number);
    found.map(|one| one.value.clone()).ok_or_else(|| format!("choose one of 1 to {}", choices.len()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form() -> Vec<Field> {
        fields(&json!({
            "type": "object",
            "required": ["name", "color"],
            "properties": {
                "name": {"type": "string", "minLength": 2, "maxLength": 5, "description": "Your name"},
                "age": {"type": "integer", "minimum": 0, "maximum": 150},
                "share": {"type": "number", "default": 0.5},
                "sure": {"type": "boolean", "default": true},
                "color": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"], "default": "g"},
                "tags": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "Alpha"}, {"const": "b", "title": "Beta"}]}},
            },
        }))
    }

    #[test]
    fn fields_are_asked_for() {
        let prompts: Vec<String> = form().iter().map(Field::prompt).collect();
        assert_eq!(
            prompts,
            [
                "name (text): ",
                "age (whole number, optional): ",
                "share (number, optional) [0.5]: ",
                "sure (yes or no, optional) [yes]: ",
                "color (the number of a choice above) [Green]: ",
                "tags (numbers of choices above, separated by commas, optional): ",
            ]
        );
        assert_eq!(form()[0].about(), ["  Your name"]);
        assert_eq!(form()[5].about(), ["    1. Alpha", "    2. Beta"]);
    }

    #[test]
    fn a_hostile_form_stays_small_and_plain() {
        let evil = "\u{1b}[2J\u{9b}31m\u{202e}\u{200b}";
        let long = format!("{evil}{}", "x ".repeat(1 << 19));
        for default in [
            json!(evil),
            json!([evil, long]),
            json!(vec![evil; 100_000]),
            json!({evil: long}),
            json!([[evil]]),
            json!(long),
        ] {
            for mut own in [
                json!({"type": "string"}),
                json!({"type": "number"}),
                json!({"type": "string", "enum": [long, evil]}),
                json!({"type": "array", "items": {"anyOf": [{"const": evil, "title": long}]}}),
            ] {
                own["default"] = default.clone();
                own["title"] = json!(long);
                own["description"] = json!(long);
                let form = fields(&json!({"properties": {evil: own}}));
                let shown = [form[0].about(), vec![form[0].prompt()]].concat().join("\n");
                let bad: Vec<char> = shown.chars().filter(|c| c.is_control() && *c != '\n').collect();
                assert!(bad.is_empty() && !shown.contains(['\u{202e}', '\u{200b}']), "{bad:?}");
                assert!(shown.len() < 10_000, "{}", shown.len());
            }
        }
    }

    #[test]
    fn lines_are_read_or_refused() {
        let form = form();
        let value = |value: Value| Ok(FieldInput::Value(value));
        for (field, line, want) in [
            (0, "Ada", value(json!("Ada"))),
            (0, "A", Err("at least 2 characters".to_owned())),
            (0, "Adalovelace", Err("at most 5 characters".to_owned())),
            (0, "", Err("a value is required".to_owned())),
            (1, "", Ok(FieldInput::Nothing)),
            (1, "36", value(json!(36))),
            (1, "36.5", Err("write a whole number".to_owned())),
            (1, "-1", Err("not less than 0".to_owned())),
            (1, "151", Err("not more than 150".to_owned())),
            (2, "", value(json!(0.5))),
            (2, "x", Err("write a number".to_owned())),
            (3, "No", value(json!(false))),
            (3, "maybe", Err("answer yes or no".to_owned())),
            (4, "1", value(json!("r"))),
            (4, "green", value(json!("g"))),
            (4, "0", Err("choose one of 1 to 2".to_owned())),
            (5, "2, 1", value(json!(["b", "a"]))),
            (5, "3", Err("choose one of 1 to 2".to_owned())),
        ] {
            assert_eq!(form[field].read(line), want, "{line}");
        }
    }
}
