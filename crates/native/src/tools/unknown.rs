//! Arguments that a tool does not have: a misspelt one would otherwise be left out without a word. It must not know what a tool
//! does.

use serde_json::{Map, Value};

use super::argument::Argument;
use super::trouble::Trouble;

/// What n8n's tool for MCP adds to the arguments of each call: the name of its tool and the item that started its workflow
/// (n8n-io/n8n#21500, #22787). The first and the last show that it is n8n that calls.
const OF_N8N: [&str; 5] = ["toolCallId", "tool", "sessionId", "action", "chatInput"];

/// Names that the client adds to every call, seen by what is there; a tool may have one of them itself.
pub(crate) fn injected(is_there: impl Fn(&str) -> bool) -> &'static [&'static str] {
    if is_there(OF_N8N[0]) || is_there(OF_N8N[4]) { &OF_N8N } else { &[] }
}

/// Refuses a call with arguments that are none of `known`, and names the nearest one for each.
///
/// # Errors
/// The unknown names, all in one text.
pub(super) fn refuse_unknown<'k>(
    given: &Map<String, Value>,
    known: impl Iterator<Item = &'k Argument>,
) -> Result<(), Trouble> {
    let known: Vec<&str> = known.map(|argument| argument.name).collect();
    let injected = injected(|name| given.contains_key(name));
    let unknown = given.iter().filter(|(name, value)| {
        !value.is_null() && !known.contains(&name.as_str()) && !injected.contains(&name.as_str())
    });
    let faults: Vec<String> = unknown.map(|(name, _)| described(name, &known)).collect();
    if faults.is_empty() { Ok(()) } else { Err(Trouble::arguments(faults.join("; "))) }
}

/// The fault of one name.
pub(crate) fn described(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!("there is no argument {name:?}; did you mean {near:?}?"),
        None if known.is_empty() => format!("there is no argument {name:?}; this tool takes none"),
        None => format!("there is no argument {name:?}; this tool takes {}", known.join(", ")),
    }
}

/// The known name that was most likely meant: at most every third character is wrong.
fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = |name: &str| name.replace(['-', '_'], "").to_lowercase();
    let wanted = plain(name);
    let near = |known: &&'k str| {
        let distance = strsim::osa_distance(&wanted, &plain(known));
        (distance * 3 <= wanted.chars().count().min(known.chars().count())).then_some((distance, *known))
    };
    // A longer name takes long to compare, and nobody mistyped one.
    if wanted.len() > 64 {
        return None;
    }
    known.iter().filter_map(near).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::argument::{int, text};
    use serde_json::json;

    const KNOWN: [Argument; 3] = [text("title", ""), text("categories", ""), int("per_page", "")];

    fn refused(given: &Value) -> String {
        let outcome = refuse_unknown(given.as_object().unwrap(), KNOWN.iter());
        outcome.map_or_else(|trouble| trouble.message, |()| String::new())
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        for (name, near) in [("catgories", "categories"), ("perPage", "per_page"), ("Title", "title")] {
            let words = refused(&json!({name: 1, "title": "a"}));
            assert_eq!(words, format!("there is no argument {name:?}; did you mean {near:?}?"));
        }
        let words = refused(&json!({"acf": {}, "x".repeat(100_000): 1}));
        assert!(words.contains("\"acf\"; this tool takes title, categories, per_page"), "{words}");
        assert_eq!(refused(&json!({"title": "a", "categories": "b", "per_page": 1, "acf": null})), "");
    }

    #[test]
    fn what_n8n_adds_is_dropped_and_nothing_else() {
        let added = json!({"toolCallId": "call_1", "tool": "T", "sessionId": "s", "action": "sendMessage", "chatInput": "Hi"});
        assert_eq!(refused(&added), "");
        assert!(refused(&json!({"toolCallId": "call_1", "acf": 1})).contains("acf"));
        assert!(refused(&json!({"action": "go"})).contains("action"), "n8n did not call");
    }
}
