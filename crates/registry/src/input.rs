//! The values that a document asks for: fixed, with a default, or to be given by the user. This module must not know what a value is for.

use serde_json::Value;

use super::offer::Variable;

/// A value of an entry, with the variables that the user sets.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FilledValue {
    pieces: Vec<Piece>,
    pub(crate) variables: Vec<Variable>,
}

/// A piece of a value.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    /// Text of the document; it may look like a variable, but is not one.
    Text(String),
    /// The name of a variable.
    Variable(String),
}

impl FilledValue {
    fn of_text(text: String) -> Self {
        Self { pieces: vec![Piece::Text(text)], variables: Vec::new() }
    }

    fn add(&mut self, other: Self) {
        self.variables.extend(other.variables);
        for piece in other.pieces {
            match (self.pieces.last_mut(), piece) {
                // Two harmless texts may form a variable together, so they are joined and then escaped as one text.
                (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
                (_, piece) => self.pieces.push(piece),
            }
        }
    }

    /// The text for the configuration; variables are `${NAME}`.
    pub(crate) fn text(&self) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => literal(text),
            Piece::Variable(name) => format!("${{{name}}}"),
        };
        self.pieces.iter().map(text).collect()
    }
}

/// The value of an input (`value`, `default`, `isRequired`, `isSecret`, `variables`); `None` if it is optional and
/// has no value. `name` is the variable for a value that the user gives; `prefix` precedes the names of variables
/// inside a template.
pub(crate) fn filled(input: &Value, name: &str, prefix: &str) -> Option<FilledValue> {
    if let Some(template) = input["value"].as_str().filter(|text| !text.is_empty()) {
        return Some(template_filled(template, &input["variables"], prefix));
    }
    let is_secret = input["isSecret"].as_bool().unwrap_or_default();
    match text_of(&input["default"]) {
        Some(default) if !is_secret => Some(FilledValue::of_text(default)),
        _ if input["isRequired"].as_bool().unwrap_or_default() => Some(asked(input, name)),
        _ => None,
    }
}

/// The value of a template. Each `{name}` in it stands for a variable of the document; a name that the document
/// does not describe is part of the text.
pub(crate) fn template_filled(template: &str, variables: &Value, prefix: &str) -> FilledValue {
    let mut filled = FilledValue::default();
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let Some(length) = rest[start..].find('}') else { break };
        let name = &rest[start + 1..start + length];
        filled.add(FilledValue::of_text(rest[..start].to_owned()));
        match variables.get(name).filter(|variable| variable.is_object()) {
            Some(variable) => {
                let asked_name = format!("{prefix}{}", variable_name(name));
                filled.add(
                    self::filled(variable, &asked_name, prefix)
                        .unwrap_or_else(|| asked(variable, &asked_name)),
                );
            }
            None => filled.add(FilledValue::of_text(rest[start..=start + length].to_owned())),
        }
        rest = &rest[start + length + 1..];
    }
    filled.add(FilledValue::of_text(rest.to_owned()));
    filled
}

/// A value that the user gives as an environment variable.
fn asked(input: &Value, name: &str) -> FilledValue {
    let about = input["description"].as_str().unwrap_or_default().to_owned();
    let variable =
        Variable { name: name.to_owned(), about, is_secret: input["isSecret"].as_bool().unwrap_or_default() };
    FilledValue { pieces: vec![Piece::Variable(name.to_owned())], variables: vec![variable] }
}

/// The name of an environment variable for a name in a document.
pub(crate) fn variable_name(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' })
        .collect();
    if name.starts_with(|char: char| char.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// A text of the document, escaped for a configuration, because it must not refer to variables or files of this machine.
pub(crate) fn literal(text: &str) -> String {
    text.replace("${", "$${")
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{filled, template_filled};
    use serde_json::json;

    #[test]
    fn a_value_is_fixed_or_a_default_or_asked() {
        let text = |input| filled(&input, "KEY", "X_").map(|filled| filled.text());
        assert_eq!(text(json!({ "value": "a" })).as_deref(), Some("a"));
        assert_eq!(text(json!({ "default": 3 })).as_deref(), Some("3"));
        assert_eq!(text(json!({ "isRequired": true })).as_deref(), Some("${KEY}"));
        assert_eq!(
            text(json!({ "isRequired": true, "isSecret": true, "default": "s" })).as_deref(),
            Some("${KEY}")
        );
        assert_eq!(text(json!({ "description": "optional" })), None);
    }

    #[test]
    fn documents_cannot_reach_variables_or_files_of_this_machine() {
        let evil = "${file:/etc/shadow} ${HOME} {a}";
        let variables = json!({ "a": { "default": "${AWS_SECRET_ACCESS_KEY}" } });
        assert_eq!(
            template_filled(evil, &variables, "X_").text(),
            "$${file:/etc/shadow} $${HOME} $${AWS_SECRET_ACCESS_KEY}"
        );
        let split = template_filled("${a}", &json!({ "a": { "value": "{HOME}" } }), "X_");
        assert_eq!(split.text(), "$${HOME}");
    }

    #[test]
    fn templates_ask_for_prefixed_variables() {
        let filled = template_filled(
            "Bearer {token}",
            &json!({ "token": { "isSecret": true, "description": "d" } }),
            "ACME_",
        );
        assert_eq!(filled.text(), "Bearer ${ACME_TOKEN}");
        assert!(filled.variables[0].is_secret && filled.variables[0].about == "d");
    }
}
