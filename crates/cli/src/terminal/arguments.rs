//! A tool's arguments from the command line: either `key=value` words, which are read according to the tool's input
//! schema, or JSON, which stays unchanged.
//!
//! Numbers keep the form in which they were typed.

use config::nearest::nearest;
use proto::json::quote;
use serde_json::Value;
use serde_json::value::RawValue;

use super::parameters::Parameters;
use crate::output::console::one_line;
use crate::output::failure::Failure;
use crate::output::layout::cut;

/// The maximum number of a tool's arguments that one message names.
const MANY: usize = 30;

/// The maximum length of a name in a message, in columns.
const LONGEST: usize = 40;

/// Checks that a text is a JSON object, and returns it.
///
/// # Errors
/// Fails if the text is not a JSON object.
pub(crate) fn of_json(text: &str) -> Result<String, Failure> {
    let help = "write them as an object: '{\"key\": \"value\"}'";
    let raw: &RawValue = serde_json::from_str(text)
        .map_err(|e| Failure::usage(format!("the arguments are not JSON: {e}")).help(help))?;
    if raw.get().starts_with('{') {
        Ok(raw.get().to_owned())
    } else {
        Err(Failure::usage("the arguments are JSON, but not an object").help(help))
    }
}

/// Returns a JSON object made from `key=value` words; `schema` is the tool's input schema, if there is one.
///
/// # Errors
/// Fails if a word is not a pair, if the tool does not have a key, if a value has the wrong type, or if a required key is
/// missing.
pub(crate) fn of_words(words: &[String], schema: Option<&Value>) -> Result<String, Failure> {
    let nothing = Value::Null;
    let schema = schema.unwrap_or(&nothing);
    let mut members: Vec<(String, Vec<&str>)> = Vec::new();
    for word in words {
        let (key, typed) = word.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
            Failure::usage(format!("{word:?} is not key=value"))
                .help("write key=value, or pass all arguments with --args JSON")
        })?;
        check_key(key, schema, words)?;
        match members.iter_mut().find(|(known, _)| known == key) {
            Some((_, all)) => all.push(typed),
            None => members.push((key.to_owned(), vec![typed])),
        }
    }
    check_required(schema, |key| members.iter().any(|(known, _)| known == key))?;
    let mut out = Vec::new();
    for (key, typed) in &members {
        let value = value(key, typed, &schema["properties"][key]).map_err(Failure::usage)?;
        out.push(format!("{}:{value}", quote(key)));
    }
    Ok(format!("{{{}}}", out.join(",")))
}

/// Returns a hint for a failed call if an argument is not listed in the tool's schema.
pub(crate) fn unlisted(arguments: &str, schema: &Value) -> Option<String> {
    let properties = schema["properties"].as_object()?;
    let given: Value = serde_json::from_str(arguments).ok()?;
    let (stray, _) = given.as_object()?.iter().find(|(key, _)| !properties.contains_key(*key))?;
    let near = nearest(stray, properties.keys().map(String::as_str));
    let meant = near.map_or_else(String::new, |near| format!("; did you mean {:?}?", one_line(near)));
    Some(format!("the tool lists no argument {:?}{meant}", cut(stray, LONGEST)))
}

/// Returns a JSON object whose values are strings: the arguments of a prompt.
///
/// # Errors
/// Fails if a word is not a pair, or a key is repeated.
pub(crate) fn of_texts(words: &[String]) -> Result<String, Failure> {
    let mut out = Vec::new();
    for word in words {
        let (key, value) =
            word.split_once('=').ok_or_else(|| Failure::usage(format!("{word:?} is not key=value")))?;
        out.push(format!("{}:{}", quote(key), quote(value)));
    }
    Ok(format!("{{{}}}", out.join(",")))
}

/// Refuses a key that the tool does not have. Even if the schema permits further keys, a key that resembles one of the tool's own
/// is refused as a probable mistake, unless the tool's own key is given as well.
fn check_key(key: &str, schema: &Value, words: &[String]) -> Result<(), Failure> {
    let Some(properties) = schema["properties"].as_object() else { return Ok(()) };
    if properties.contains_key(key) {
        return Ok(());
    }
    let is_given =
        |name: &str| words.iter().any(|word| word.split_once('=').is_some_and(|(key, _)| key == name));
    let is_closed = schema["additionalProperties"] == Value::Bool(false);
    let others = properties.keys().map(String::as_str).filter(|name| !is_given(name));
    let near = nearest(key, others);
    if near.is_none() && !is_closed {
        return Ok(());
    }
    let known: Vec<String> = properties.keys().take(MANY).map(|name| cut(&one_line(name), LONGEST)).collect();
    let more = if properties.len() > MANY { ", …" } else { "" };
    let known = if known.is_empty() {
        "the tool takes no arguments".to_owned()
    } else {
        format!("the tool takes {}{more}", known.join(", "))
    };
    let help = match near {
        Some(near) if is_closed => format!("did you mean {:?}? {known}", one_line(near)),
        Some(near) => format!("did you mean {:?}? {known}; --args sends any other argument", one_line(near)),
        None => known,
    };
    Err(Failure::usage(format!("the tool has no argument {key:?}")).help(help))
}

/// Refuses a call without the arguments that the tool requires.
fn check_required(schema: &Value, is_given: impl Fn(&str) -> bool) -> Result<(), Failure> {
    let parameters = Parameters::of_schema(schema);
    let missing: Vec<String> = parameters
        .required()
        .filter(|one| !is_given(&one.name))
        .map(|one| format!("{} ({})", one.shown_name(), one.kind))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (s, are) = if missing.len() == 1 { ("", "is") } else { ("s", "are") };
    let message = format!("the argument{s} {} {are} missing", missing.join(", "));
    Err(Failure::usage(message).help("write key=value; `dragoman list TARGET TOOL` shows all arguments"))
}

/// Returns the JSON text of one argument.
fn value(key: &str, typed: &[&str], schema: &Value) -> Result<String, String> {
    let allowed = types(schema);
    let wants = |name: &str| allowed.iter().any(|one| one == name);
    let as_json = typed.len() == 1 && json(typed[0]).is_some_and(|text| text.starts_with('['));
    if wants("array") && !wants("string") && !as_json {
        let items: Result<Vec<String>, String> =
            typed.iter().map(|one| value(key, &[one], &schema["items"])).collect();
        return Ok(format!("[{}]", items?.join(",")));
    }
    let [one] = typed else { return Err(format!("{key} is given {} times, but is not a list", typed.len())) };
    let spelled = json(one);
    if let Some(text) = &spelled {
        let fits = match text.as_bytes()[0] {
            b'{' => wants("object"),
            b'[' => wants("array"),
            b't' | b'f' => wants("boolean"),
            b'n' => wants("null"),
            b'"' => false,
            _ => wants("number") || (wants("integer") && is_integer(text)),
        };
        if fits || (allowed.is_empty() && !text.starts_with('"')) {
            return Ok(text.clone());
        }
    }
    if allowed.is_empty() || wants("string") {
        return Ok(quote(one));
    }
    let names: Vec<&str> = allowed.iter().map(String::as_str).collect();
    Err(format!("{key}={one} is invalid: its type must be {}", names.join(" or ")))
}

/// Returns the typed text if it is JSON.
fn json(typed: &str) -> Option<String> {
    serde_json::from_str::<&RawValue>(typed).ok().map(|raw| raw.get().to_owned())
}

/// Returns true if a JSON number has no fraction; `1.0` and `1e2` have none either.
fn is_integer(number: &str) -> bool {
    number.bytes().all(|byte| matches!(byte, b'-' | b'0'..=b'9'))
        || number.parse::<f64>().is_ok_and(|value| value.fract() == 0.0)
}

/// Returns the types that a schema allows; none if it does not specify any.
fn types(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    match &schema["type"] {
        Value::String(one) => found.push(one.clone()),
        Value::Array(several) => found.extend(several.iter().filter_map(Value::as_str).map(str::to_owned)),
        _ => {}
    }
    for key in ["anyOf", "oneOf"] {
        found.extend(schema[key].as_array().into_iter().flatten().flat_map(types));
    }
    let values = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
    if found.is_empty() {
        found.extend(values.map(|value| type_of(value).to_owned()));
    }
    found.dedup();
    found
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn typed(words: &[&str]) -> Result<String, String> {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "text": {"type": "string"},
                "count": {"type": "integer"},
                "share": {"type": "number"},
                "on": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "at": {"type": "object"},
                "maybe": {"type": ["integer", "null"]},
                "either": {"anyOf": [{"type": "boolean"}, {"type": "string"}]},
                "mode": {"enum": ["a", "b"]},
                "any": {},
            },
        });
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        of_words(&words, Some(&schema)).map_err(|failure| match failure {
            Failure::Explained { message, .. } => message,
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn words_become_what_the_schema_wants() {
        for (words, want) in [
            (vec!["text=5", "count=5"], r#"{"text":"5","count":5}"#),
            (vec!["text=a=b \"c\""], r#"{"text":"a=b \"c\""}"#),
            (vec!["share=1.2345678901234567890", "on=true"], r#"{"share":1.2345678901234567890,"on":true}"#),
            (vec!["count=9007199254740993", "count_=1"], "the tool has no argument \"count_\""),
            (vec!["tags=a", "tags=2"], r#"{"tags":["a","2"]}"#),
            (vec![r#"tags=["a"]"#, r#"at={"x": 1}"#], r#"{"tags":["a"],"at":{"x": 1}}"#),
            (vec!["maybe=null", "either=true", "mode=a"], r#"{"maybe":null,"either":true,"mode":"a"}"#),
            (vec!["either=truer", "any=1", "text="], r#"{"either":"truer","any":1,"text":""}"#),
            (vec!["any=[1", "maybe=3"], r#"{"any":"[1","maybe":3}"#),
            (vec![], "{}"),
            (vec!["count=1.5"], "count=1.5 is invalid: its type must be integer"),
            (vec!["on=yes"], "on=yes is invalid: its type must be boolean"),
            (vec!["text=a", "text=b"], "text is given 2 times, but is not a list"),
            (vec!["text"], "\"text\" is not key=value"),
            (vec!["=x"], "\"=x\" is not key=value"),
        ] {
            assert_eq!(typed(&words).unwrap_or_else(|message| message), want, "{words:?}");
        }
    }

    fn refused(words: &[&str], schema: &Value) -> Option<(String, String)> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        match of_words(&words, Some(schema)).err()? {
            Failure::Explained { message, help, .. } => Some((message, help.unwrap_or_default())),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_mistyped_key_is_told_which_one_was_meant() {
        let open = json!({"properties": {"timezone": {"type": "string"}, "format": {}}});
        let (message, help) = refused(&["timezon=x"], &open).unwrap();
        assert_eq!(message, "the tool has no argument \"timezon\"");
        assert_eq!(
            help,
            "did you mean \"timezone\"? the tool takes timezone, format; --args sends any other argument"
        );
        assert_eq!(refused(&["timezone=x", "timezon=y"], &open), None, "both are given, so both are meant");
        assert_eq!(refused(&["weight=1"], &open), None, "the schema permits further arguments");
        let closed = json!({"properties": {"timezone": {}}, "additionalProperties": false});
        let (_, help) = refused(&["weight=1"], &closed).unwrap();
        assert_eq!(help, "the tool takes timezone");
        let (_, help) = refused(&["timezon=1"], &closed).unwrap();
        assert_eq!(help, "did you mean \"timezone\"? the tool takes timezone");
    }

    #[test]
    fn missing_keys_are_named_before_the_call() {
        let schema =
            json!({"properties": {"a": {"type": "string"}, "b": {"enum": [1, 2]}}, "required": ["a", "b"]});
        let (message, _) = refused(&["b=1"], &schema).unwrap();
        assert_eq!(message, "the argument a (string) is missing");
        let (message, _) = refused(&[], &schema).unwrap();
        assert_eq!(message, "the arguments a (string), b (1|2) are missing");
        assert_eq!(refused(&["a=", "b=2"], &schema), None);
    }

    #[test]
    fn json_is_taken_as_it_is() {
        assert_eq!(of_json(" {\"a\":1.50} ").unwrap(), "{\"a\":1.50}");
        for text in ["[1]", "5", "", "{"] {
            assert!(of_json(text).is_err(), "{text}");
        }
    }

    #[test]
    fn prompts_take_texts() {
        assert_eq!(of_texts(&["a=1".to_owned(), "b=x=y".to_owned()]).unwrap(), r#"{"a":"1","b":"x=y"}"#);
        assert!(of_texts(&["a".to_owned()]).is_err());
    }
}
