//! Converts values that name a route to one form, because sites accept several: WordPress also matches a route in
//! capitals (`WP_REST_Server::match_request_to_handler`). This module must not know who needs this form.

use serde_json::Value;

use super::open;
use super::step::Step;
use crate::tools::Values;

/// Arguments for a segment of a route, at a position where other routes of the site have a fixed name.
const NAMES: &[&str] = &["type", "taxonomy"];

/// Converts the values that name routes, types or paths to the form that the steps send and sites read.
pub(crate) fn settled(steps: &[Step], values: &mut Values) {
    for step in steps {
        match step {
            Step::Open(open) => {
                if let Ok((_, route)) = open::wanted(open, values) {
                    values.set(open.route, Value::from(route.to_lowercase()));
                }
            }
            Step::Ask(ask) => {
                for name in NAMES.iter().filter(|name| ask.route.contains(&format!("/{{{name}}}"))) {
                    let small = values.get(name).and_then(Value::as_str).map(str::to_lowercase);
                    if let Some(small) = small {
                        values.set(name, Value::from(small));
                    }
                }
                for name in ask.route.split("{*").skip(1).filter_map(|part| part.split('}').next()) {
                    if let Some(path) = values.get(name).and_then(Value::as_str).map(|text| path(name, text))
                    {
                        values.set(name, Value::from(path));
                    }
                }
            }
            Step::File(_) | Step::Make(..) | Step::Check(_) | Step::Previous(_) | Step::Restore(_) => {}
        }
    }
}

/// The segments, separated by single slashes. In the ID of a template, two slashes precede the last segment: sites
/// write the ID in this form.
fn path(name: &str, text: &str) -> String {
    let mut segments: Vec<&str> = text.split('/').filter(|segment| !segment.is_empty()).collect();
    match segments.pop() {
        Some(last) if name == "id" && !segments.is_empty() => format!("{}//{last}", segments.join("/")),
        Some(last) => {
            segments.push(last);
            segments.join("/")
        }
        None => String::new(),
    }
}
