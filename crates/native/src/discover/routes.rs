//! A site's index as an answer: the namespaces, the routes of one namespace, or the parameters of one route.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::tools::Values;

/// The largest number of routes in one answer.
const MOST: usize = 200;
/// The largest number of components of one namespace in an answer.
const MOST_COMPONENTS: usize = 100;

/// The part of the index that a call asks for.
pub(super) fn shown(index: &Value, values: &Values) -> Value {
    let empty = Map::new();
    let routes = index.get("routes").and_then(Value::as_object).unwrap_or(&empty);
    if let Some(wanted) = values.get("route").and_then(Value::as_str) {
        return match found(routes, wanted) {
            Some((route, about)) => json!({"route": plain(route), "endpoints": endpoints(about)}),
            None => json!({"route": wanted, "endpoints": [], "note": "the site has no such route"}),
        };
    }
    let (namespace, search) = (values.text("namespace").trim_matches('/'), values.text("search"));
    if namespace.is_empty() && search.is_empty() {
        return namespaces(index, routes);
    }
    let fits = |route: &str, about: &Value| {
        (namespace.is_empty() || about.get("namespace").and_then(Value::as_str) == Some(namespace))
            && route.to_lowercase().contains(&search.to_lowercase())
    };
    let found: Vec<Value> = routes
        .iter()
        .filter(|(route, about)| fits(route, about))
        .map(|(route, about)| json!({"route": plain(route), "methods": about.get("methods")}))
        .collect();
    json!({"count": found.len().min(MOST), "total": found.len(), "routes": found.get(..MOST).unwrap_or(&found)})
}

/// The route in the index that a call names. The call can write the route as in the index (a pattern), as in answers, or as in a
/// request.
fn found<'i>(routes: &'i Map<String, Value>, wanted: &str) -> Option<(&'i String, &'i Value)> {
    let bare = wanted.trim().trim_matches('/');
    let bare = bare.strip_prefix("wp-json/").unwrap_or(bare);
    let segments: Vec<&str> = bare.split('/').collect();
    let fits = |route: &str| {
        let route = route.trim_matches('/');
        route.split('/').count() == segments.len()
            && route.split('/').zip(&segments).all(|(own, segment)| {
                (own.contains('{') && !segment.is_empty()) || own.eq_ignore_ascii_case(segment)
            })
    };
    let exact = routes.iter().find(|(route, _)| *route == wanted || plain(route).trim_matches('/') == bare);
    exact.or_else(|| routes.iter().find(|(route, _)| fits(&plain(route))))
}

/// The namespaces of the site with their versions and components. All of these components are active: an inactive component has no
/// routes.
fn namespaces(index: &Value, routes: &Map<String, Value>) -> Value {
    let mut counts: BTreeMap<&str, (usize, BTreeSet<String>)> = BTreeMap::new();
    for (route, about) in routes {
        let namespace = about.get("namespace").and_then(Value::as_str).unwrap_or_default();
        let (count, components) = counts.entry(namespace).or_default();
        *count += 1;
        components.extend(component(&plain(route), namespace));
    }
    let listed = index.get("namespaces").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<Value> = listed
        .filter_map(Value::as_str)
        .map(|name| {
            let (count, components) = counts.remove(name).unwrap_or_default();
            let components: Vec<String> = components.into_iter().take(MOST_COMPONENTS).collect();
            json!({"namespace": name, "version": version(name), "routes": count, "components": components})
        })
        .collect();
    json!({"name": index.get("name"), "url": index.get("url"), "namespaces": names})
}

/// The part of a plugin that a route belongs to: the segment after the namespace.
fn component(route: &str, namespace: &str) -> Option<String> {
    let behind = route.strip_prefix('/')?.strip_prefix(namespace)?.strip_prefix('/')?;
    let first = behind.split('/').next().unwrap_or_default();
    (!first.is_empty() && !first.contains('{')).then(|| first.to_owned())
}

/// The version of the API that a namespace ends with, such as `v2`.
fn version(namespace: &str) -> Option<&str> {
    let last = namespace.rsplit('/').next()?;
    let number = last.strip_prefix('v')?;
    number.starts_with(|c: char| c.is_ascii_digit()).then_some(last)
}

/// The methods of a route, each with a summary of its parameters.
fn endpoints(about: &Value) -> Vec<Value> {
    let all = about.get("endpoints").and_then(Value::as_array).into_iter().flatten();
    all.map(|endpoint| {
        // PHP writes an empty set of parameters as an empty list.
        let parameters: Map<String, Value> = endpoint
            .get("args")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.clone(), in_short(schema)))
            .collect();
        json!({"methods": endpoint.get("methods"), "parameters": parameters})
    })
    .collect()
}

fn in_short(schema: &Value) -> Value {
    let kept = ["type", "description", "required", "default", "enum", "minimum", "maximum", "format"];
    let members = kept.iter().filter_map(|key| Some(((*key).to_owned(), schema.get(*key)?.clone())));
    Value::Object(members.collect())
}

/// A route with `{name}` in place of each pattern of the index.
pub(super) fn plain(route: &str) -> String {
    let mut out = String::new();
    let mut rest = route;
    while let Some((before, behind)) = rest.split_once("(?P<") {
        let (name, pattern) = behind.split_once('>').unwrap_or((behind, ""));
        out.push_str(before);
        out.push('{');
        out.push_str(name);
        out.push('}');
        rest = &pattern[pattern_end(pattern)..];
    }
    out + rest
}

/// Returns the offset after the closing bracket of a group. The opening bracket has already been consumed.
fn pattern_end(pattern: &str) -> usize {
    let (mut depth, mut escaped, mut class) = (1, false, false);
    for (at, c) in pattern.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '(' if !class => depth += 1,
            ')' if !class => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    pattern.len()
}
