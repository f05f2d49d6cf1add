//! `cargo xtask routes INDEX.json`: the index of a WordPress site's REST API as a small table, one line per
//! endpoint: `METHODS ROUTE PARAMETER…`. The rows of tools are checked against such tables
//! (`native/src/rest/tests/routes`).
//!
//! A parameter is `name:types`, preceded by `*` if it is required, and followed by `=a|b` if it has few values.
//! Types are `s`tring, `i`nteger, `n`umber, `b`oolean, `o`bject, `a`rray (with the type of its items in brackets),
//! `z` for null, `t` for an object that may also be sent as JSON text, `?` for anything. This module must not know
//! tools.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

/// The maximum number of values that are printed. A longer list is assumed to be specific to one site, and is left out.
const FEW: usize = 20;

/// Prints the table.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let [path] = args else { return Err("which file? cargo xtask routes INDEX.json".to_owned()) };
    let text = fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let index: Value = serde_json::from_str(&text).map_err(|e| format!("{path}: {e}"))?;
    let routes = index.get("routes").and_then(Value::as_object).ok_or("there are no routes in it")?;
    println!("# Made by: cargo xtask routes INDEX.json, of a site's own /wp-json/?context=help");
    for (route, about) in routes {
        for endpoint in about.get("endpoints").and_then(Value::as_array).into_iter().flatten() {
            println!("{}", line(&plain(route), endpoint));
        }
    }
    Ok(true)
}

fn line(route: &str, endpoint: &Value) -> String {
    let methods: Vec<&str> =
        endpoint["methods"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut line = format!("{} {route}", methods.join(","));
    // An endpoint without parameters has an empty list here.
    for (name, schema) in endpoint["args"].as_object().into_iter().flatten() {
        let required = if schema["required"] == Value::Bool(true) { "*" } else { "" };
        let _ = write!(line, " {required}{name}:{}{}", types(schema), values(schema));
    }
    line
}

fn types(schema: &Value) -> String {
    let names: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return "?".to_owned(),
    };
    let mut out = String::new();
    for name in names {
        match name {
            "array" => {
                let items = schema.get("items").map_or_else(|| "?".to_owned(), types);
                let _ = write!(out, "a({items})");
            }
            // Titles and contents are objects that may be given as their text.
            "object" if schema["properties"].get("raw").is_some() => out.push('t'),
            "null" => out.push('z'),
            other => out.push_str(&other[..1]),
        }
    }
    out
}

fn values(schema: &Value) -> String {
    let lists = [&schema["enum"], &schema["items"]["enum"]];
    let Some(list) = lists.into_iter().find_map(Value::as_array) else { return String::new() };
    let words: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
    let words = words.filter(|words| words.len() <= FEW && words.iter().all(|w| !w.contains([' ', '|'])));
    words.map(|words| format!("={}", words.join("|"))).unwrap_or_default()
}

/// A route with `{name}` in place of `(?P<name>PATTERN)`, or `{*name}` if the pattern can match several
/// segments.
fn plain(route: &str) -> String {
    let mut out = String::new();
    let mut rest = route;
    while let Some((before, behind)) = rest.split_once("(?P<") {
        out.push_str(before);
        let (name, pattern) = behind.split_once('>').unwrap_or((behind, ""));
        let (mut depth, mut escaped, mut class) = (1, false, false);
        let end = pattern.char_indices().find(|(_, c)| {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => class = true,
                ']' => class = false,
                '(' if !class => depth += 1,
                ')' if !class => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let (pattern, behind) = end.map_or((pattern, ""), |(at, _)| (&pattern[..at], &pattern[at + 1..]));
        let several = if has_slashes(pattern) { "*" } else { "" };
        let _ = write!(out, "{{{several}{name}}}");
        rest = behind;
    }
    out + rest
}

/// Returns true if text that matches a pattern may contain slashes: the pattern has one outside of negated
/// classes.
fn has_slashes(pattern: &str) -> bool {
    let mut parts = pattern.split("[^");
    let first = parts.next().unwrap_or_default();
    first.contains('/') || parts.any(|part| part.split_once(']').is_some_and(|(_, rest)| rest.contains('/')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn endpoints_become_lines() {
        assert_eq!(plain("/a/(?P<id>[\\d)]+)/b/(?P<n>(?:x|y)+?)/c"), "/a/{id}/b/{n}/c");
        assert_eq!(plain("/a/(?P<f>[^.\\/]+(?:\\/[^.\\/]+)?)"), "/a/{*f}");
        let endpoint = json!({"methods": ["POST", "PUT"], "args": {
            "id": {"type": "integer", "required": true},
            "title": {"type": ["object", "string"], "properties": {"raw": {}}},
            "status": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "date": {"type": ["string", "null"]}, "x": {}
        }});
        assert_eq!(line("/p/{id}", &endpoint), "POST,PUT /p/{id} *id:i title:ts status:a(s)=a|b date:sz x:?");
        assert_eq!(line("/p", &json!({"methods": ["GET"], "args": []})), "GET /p");
    }
}
