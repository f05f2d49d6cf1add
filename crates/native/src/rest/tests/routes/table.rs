//! Route tables in the format of `cargo xtask routes`, and the comparison of requests with them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::port::HttpRequest;

/// One endpoint of a table.
#[derive(Debug)]
pub(super) struct Endpoint<'t> {
    methods: Vec<&'t str>,
    segments: Vec<&'t str>,
    parameters: Vec<Parameter<'t>>,
}

#[derive(Debug)]
pub(super) struct Parameter<'t> {
    name: &'t str,
    required: bool,
    types: &'t str,
    values: Vec<&'t str>,
}

pub(super) fn table(text: &str) -> Vec<Endpoint<'_>> {
    text.lines().filter(|line| !line.starts_with('#')).map(endpoint).collect()
}

fn endpoint(line: &str) -> Endpoint<'_> {
    let mut words = line.split(' ');
    let (methods, route) = (words.next().unwrap(), words.next().unwrap());
    let parameters = words.map(|word| {
        let (name, about) = word.split_once(':').unwrap();
        let (types, values) = about.split_once('=').unwrap_or((about, ""));
        let values = if about.contains('=') { values.split('|').collect() } else { Vec::new() };
        let bare = name.trim_start_matches('*');
        Parameter { name: bare, required: bare != name, types, values }
    });
    Endpoint {
        methods: methods.split(',').collect(),
        segments: segments(route),
        parameters: parameters.collect(),
    }
}

fn segments(path: &str) -> Vec<&str> {
    path.split('/').filter(|segment| !segment.is_empty()).collect()
}

/// The number of equal segments, if the path matches the route; a starred placeholder may take several segments.
fn fits(route: &[&str], path: &[&str]) -> Option<usize> {
    match (route, path) {
        ([], []) => Some(0),
        ([place, rest @ ..], [_, _, ..]) if place.starts_with("{*") => {
            let taken = 1..=path.len().min(3);
            taken.filter_map(|count| fits(rest, &path[count..])).max()
        }
        ([place, rest @ ..], [_, behind @ ..]) if place.starts_with('{') => fits(rest, behind),
        ([name, rest @ ..], [found, behind @ ..]) if name == found => fits(rest, behind).map(|same| same + 1),
        _ => None,
    }
}

impl Endpoint<'_> {
    fn title(&self) -> String {
        format!("{} /{}", self.methods.join(","), self.segments.join("/"))
    }

    fn has_place(&self, name: &str) -> bool {
        self.segments.iter().any(|segment| segment.trim_matches(['{', '*', '}']) == name)
    }
}

/// The endpoint that a request goes to.
fn found<'t>(table: &'t [Endpoint<'t>], method: &str, path: &str) -> Result<&'t Endpoint<'t>, String> {
    let path = segments(path);
    let routes: Vec<_> =
        table.iter().filter_map(|e| fits(&e.segments, &path).map(|same| (same, e))).collect();
    let best = routes.iter().map(|(same, _)| *same).max().ok_or("no such route")?;
    let mut best = routes.into_iter().filter(|(same, _)| *same == best).map(|(_, endpoint)| endpoint);
    best.find(|endpoint| endpoint.methods.contains(&method)).ok_or("no such method".to_owned())
}

impl Parameter<'_> {
    fn takes(&self, types: &str) -> bool {
        self.types.contains('?') || self.types.chars().any(|t| types.contains(t))
    }

    fn allows(&self, text: &str) -> bool {
        self.values.is_empty() || self.values.contains(&text)
    }

    /// Returns true if the parameter accepts this value in a query.
    fn takes_text(&self, text: &str) -> bool {
        if self.types.contains(['a', 's']) || self.takes("ot") {
            let listed = self.types.starts_with("a(") || self.types.contains("a(");
            let whole = self.types.contains("a(i)") && !self.types.starts_with('o');
            let fits = |part: &str| self.allows(part) && (!whole || part.parse::<i64>().is_ok());
            return if listed { text.split(',').all(fits) } else { self.allows(text) };
        }
        match text {
            "true" | "false" => self.takes("b"),
            _ if text.parse::<i64>().is_ok() => self.takes("inb"),
            _ if text.parse::<f64>().is_ok() => self.takes("n"),
            _ => self.takes("?"),
        }
    }

    /// Returns true if the parameter accepts this value in a body.
    fn takes_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.takes("st") && self.allows(text),
            Value::Number(number) if number.is_i64() => self.takes("inb"),
            Value::Number(_) => self.takes("n"),
            Value::Bool(_) => self.takes("b"),
            Value::Object(_) => self.takes("ot"),
            Value::Null => self.takes("z"),
            Value::Array(items) => {
                let inside = self.types.split_once("a(").map(|(_, inside)| inside.trim_end_matches(')'));
                let kind = |item: &Value| match item {
                    Value::String(_) => "st",
                    Value::Number(_) => "in",
                    Value::Object(_) => "ot",
                    _ => "ab",
                };
                let fits = |inside: &str, item: &Value| {
                    inside.contains('?')
                        || inside.is_empty()
                        || kind(item).chars().any(|t| inside.contains(t))
                };
                self.types == "?" || inside.is_some_and(|inside| items.iter().all(|item| fits(inside, item)))
            }
        }
    }
}

/// A parsed request: its path relative to the index; its parameters, with `None` for a value that is not plain text; and
/// the number of parameters in the query.
type SentRequest<'r> = (&'r str, Vec<(String, Option<Value>)>, usize);

fn said(request: &HttpRequest) -> SentRequest<'_> {
    let (path, query) = request.url.split_once('?').unwrap_or((&request.url, ""));
    let path = path.split_once("/wp-json").unwrap().1;
    let mut sent: Vec<(String, Option<Value>)> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap();
        let name = crate::rest::encode::decoded(name);
        let branch = name.contains('[');
        let name = name.split('[').next().unwrap().to_owned();
        let value = crate::rest::encode::decoded(value);
        sent.push((name, (!branch).then(|| Value::from(value))));
    }
    let in_query = sent.len();
    let kind = request.headers.iter().find(|(name, _)| *name == "content-type").map(|(_, kind)| kind);
    if kind.is_some_and(|kind| kind.starts_with("multipart/")) {
        let text = String::from_utf8_lossy(request.body.whole().unwrap());
        let names = text.split("form-data; name=\"").skip(1).filter_map(|part| part.split(['"', '[']).next());
        sent.extend(names.filter(|name| *name != "file").map(|name| (name.to_owned(), None)));
    } else if !request.body.whole().unwrap().is_empty() {
        let body: Map<String, Value> = serde_json::from_slice(request.body.whole().unwrap()).unwrap();
        sent.extend(body.into_iter().map(|(name, value)| (name, Some(value))));
    }
    (path, sent, in_query)
}

/// All endpoints, as `METHODS ROUTE`, each with the names of its parameters that are not part of the route itself.
pub(super) fn all(table: &[Endpoint<'_>]) -> BTreeMap<String, BTreeSet<String>> {
    let names = |endpoint: &Endpoint<'_>| {
        let own = endpoint.parameters.iter().filter(|parameter| !endpoint.has_place(parameter.name));
        own.map(|parameter| parameter.name.to_owned()).collect()
    };
    table.iter().map(|endpoint| (endpoint.title(), names(endpoint))).collect()
}

/// The endpoint that a request reaches: its title, and the names of the parameters sent.
pub(super) fn reached(table: &[Endpoint<'_>], request: &HttpRequest) -> Option<(String, Vec<String>)> {
    let (path, sent, _) = said(request);
    let endpoint = found(table, request.method.name(), path).ok()?;
    Some((endpoint.title(), sent.into_iter().map(|(name, _)| name).collect()))
}

/// The faults of a request, according to the table.
pub(super) fn faults(
    table: &[Endpoint<'_>],
    request: &HttpRequest,
    known: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let (path, sent, in_query) = said(request);
    let endpoint = match found(table, request.method.name(), path) {
        Ok(endpoint) => endpoint,
        Err(why) => return vec![format!("{} {path}: {why}", request.method.name())],
    };
    let mut faults = Vec::new();
    for (at, (name, value)) in sent.iter().enumerate() {
        let Some(parameter) = endpoint.parameters.iter().find(|parameter| parameter.name == name) else {
            if name != "_fields" && !known(name) {
                faults.push(format!("{} {path}: unknown {name:?}", request.method.name()));
            }
            continue;
        };
        let fits = match value {
            None => true,
            Some(Value::String(text)) if at < in_query => parameter.takes_text(text),
            Some(value) => parameter.takes_value(value),
        };
        if !fits && !known(name) {
            faults.push(format!(
                "{} {path}: {name}={value:?} is no {}",
                request.method.name(),
                parameter.types
            ));
        }
    }
    let missing = endpoint.parameters.iter().filter(|parameter| {
        let there = sent.iter().any(|(name, _)| name == parameter.name) || endpoint.has_place(parameter.name);
        parameter.required && !there
    });
    faults.extend(missing.map(|p| format!("{} {path}: {:?} is missing", request.method.name(), p.name)));
    faults
}
