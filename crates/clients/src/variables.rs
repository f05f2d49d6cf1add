//! References to variables in the entries of clients, in the form that Dragoman reads: `${NAME}`. This module must not know what a value is for.

use serde_json::Value;

use crate::foreign_entry::ForeignEntry;

/// Rewrites the references in all texts of an entry. The error is the reason why the server cannot be imported.
pub(crate) fn resolve(entry: &mut ForeignEntry<'_>) -> Result<(), String> {
    let mut asked = Vec::new();
    let project = entry.project;
    for value in entry.members.values_mut() {
        rewrite(value, &mut |name| match name.split_once(':') {
            Some(("input", id)) => {
                let variable = variable_name(id);
                asked.push(variable.clone());
                Ok(format!("${{{variable}}}"))
            }
            Some(("command" | "config", _)) => Err(format!("only the client knows the value of ${{{name}}}")),
            None if name == "userHome" => Ok("${HOME}".to_owned()),
            None if name == "pathSeparator" || name == "/" => Ok("/".to_owned()),
            None if matches!(name, "workspaceFolder" | "workspaceRoot") => project
                .map(str::to_owned)
                .ok_or_else(|| format!("only the client knows the value of ${{{name}}}")),
            _ => Ok(format!("${{{name}}}")),
        })?;
    }
    asked.sort_unstable();
    asked.dedup();
    if !asked.is_empty() {
        entry.notes.push(format!(
            "the client asked for {}; set {} where Dragoman starts",
            count(&asked),
            asked.join(", ")
        ));
    }
    Ok(())
}

fn count(asked: &[String]) -> &'static str {
    if asked.len() == 1 { "a value" } else { "some values" }
}

/// Returns the name of a variable for an input: `api-key` becomes `API_KEY`.
fn variable_name(id: &str) -> String {
    id.chars()
        .map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' })
        .collect()
}

/// Replaces every `${…}` in the texts of a value.
fn rewrite(value: &mut Value, replace: &mut dyn FnMut(&str) -> Result<String, String>) -> Result<(), String> {
    match value {
        Value::String(text) => {
            let mut out = String::with_capacity(text.len());
            let mut rest = text.as_str();
            while let Some((before, behind)) = rest.split_once("${") {
                let Some((name, after)) = behind.split_once('}') else { break };
                out.push_str(before);
                out.push_str(&replace(name)?);
                rest = after;
            }
            out.push_str(rest);
            *text = out;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| rewrite(item, replace)),
        Value::Object(members) => members.values_mut().try_for_each(|member| rewrite(member, replace)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Writes every `$NAME` in the texts of a value as `${NAME}`.
pub(crate) fn brace_plain(value: &mut Value) {
    match value {
        Value::String(text) => *text = braced(text),
        Value::Array(items) => items.iter_mut().for_each(brace_plain),
        Value::Object(members) => members.values_mut().for_each(brace_plain),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn braced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let is_first = |char: char| char.is_ascii_alphabetic() || char == '_';
        let end = behind.find(|char: char| !is_first(char) && !char.is_ascii_digit()).unwrap_or(behind.len());
        if behind.starts_with(is_first) {
            out.push_str("${");
            out.push_str(&behind[..end]);
            out.push('}');
            rest = &behind[end..];
        } else {
            out.push('$');
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_variables_get_braces() {
        for (before, after) in [
            ("$DB", "${DB}"),
            ("a $B_1/c", "a ${B_1}/c"),
            ("${X}", "${X}"),
            ("5$", "5$"),
            ("$$A", "$${A}"),
            ("$1", "$1"),
        ] {
            assert_eq!(braced(before), after);
        }
    }

    #[test]
    fn inputs_become_variables() {
        assert_eq!(variable_name("perplexity-key"), "PERPLEXITY_KEY");
    }
}
