//! Constraints in words: a constraint that a family cannot express moves into the description. This module must not know any
//! family.

use serde_json::Value;

/// The maximum length of a description to which phrases have been added, in bytes.
const LONGEST: usize = 1024;

/// The maximum length of a phrase, in bytes.
const LONGEST_PHRASE: usize = 200;

/// The maximum number of values that a phrase lists.
const MOST_VALUES: usize = 20;

/// A description with phrases in parentheses at its end; `None` if both are empty. Phrases that the description already
/// contains, or that would make it too long, are left out.
pub(super) fn described(description: Option<&str>, phrases: &[String]) -> Option<String> {
    let description = description.unwrap_or_default().trim_end();
    let mut room = LONGEST.saturating_sub(description.len() + 3);
    let mut fitting: Vec<&str> = Vec::new();
    for phrase in phrases {
        if phrase.len() + 2 <= room && !description.contains(phrase.as_str()) {
            room -= phrase.len() + 2;
            fitting.push(phrase);
        }
    }
    let words = if fitting.is_empty() { String::new() } else { format!("({})", fitting.join("; ")) };
    let space = if description.is_empty() || words.is_empty() { "" } else { " " };
    Some(format!("{description}{space}{words}")).filter(|text| !text.is_empty())
}

/// Two descriptions of the same value, joined.
pub(super) fn joined(outer: &str, own: Option<&str>) -> String {
    match own {
        Some(own) if !outer.contains(own) && outer.len() + own.len() < LONGEST => format!("{outer} {own}"),
        _ => outer.to_owned(),
    }
}

/// A list of values: `one of: 1, 2, 4`.
pub(super) fn values(label: &str, values: &[Value]) -> Option<String> {
    let mut words = String::new();
    for value in values.iter().take(MOST_VALUES) {
        let text = value.to_string();
        if label.len() + words.len() + text.len() + 4 > LONGEST_PHRASE {
            break;
        }
        words.push_str(if words.is_empty() { "" } else { ", " });
        words.push_str(&text);
    }
    (!words.is_empty()).then(|| format!("{label}: {words}"))
}

/// The arguments that cannot be shown, because their names are refused: `also takes: user-agent`.
pub(super) fn unnamed<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<Value> = names.take(MOST_VALUES).map(Value::from).collect();
    values("also takes", &names)
}

/// A keyword's value in words: `format: uri`; `None` if the value is neither a short text nor a number.
pub(super) fn labelled(label: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        _ => return None,
    };
    (text.len() + label.len() < LONGEST_PHRASE).then(|| format!("{label} {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_follow_the_description_and_stay_short() {
        let phrases = ["format: uri".to_owned(), "x".repeat(2000), "one of: 1".to_owned()];
        assert_eq!(described(Some("A link. "), &phrases).unwrap(), "A link. (format: uri; one of: 1)");
        assert_eq!(described(Some("A link (format: uri)."), &phrases[..1]).unwrap(), "A link (format: uri).");
        assert_eq!(described(None, &phrases[..1]).unwrap(), "(format: uri)");
        assert_eq!(described(None, &[]), None);
        let many: Vec<Value> = (0..100).map(|n| json!(n)).collect();
        assert_eq!(values("one of", &many).unwrap().matches(',').count(), MOST_VALUES - 1);
    }
}
