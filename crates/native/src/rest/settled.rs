//! Values that name a place, in the one way in which a site takes them, however a call writes them: WordPress knows a route
//! in capitals, too (`WP_REST_Server::match_request_to_handler`). It must not know who wants that.

use serde_json::Value;

use super::open;
use super::step::Step;
use crate::tools::Values;

/// Arguments that stand in a route where others have a name of the site's own there.
const NAMES: &[&str] = &["type", "taxonomy"];

/// Writes the routes and the paths of several segments among the values as the steps send them, and as sites read them.
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
            Step::File(_) | Step::Make(..) | Step::Check(_) => {}
        }
    }
}

/// The segments behind single slashes. The ids of templates have two before the last, which sites put there themselves.
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
