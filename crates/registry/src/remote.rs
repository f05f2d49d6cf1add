//! The offers of servers on the network.

use serde_json::{Map, Value, json};

use super::document::DocumentError;
use super::input::{filled, template_filled, variable_name};
use super::offer::{Offer, OfferOrigin};

/// The offer of a server on the network. `name` is the short name of the server, with which the names of its variables begin.
///
/// # Errors
/// Returns the reason why the server cannot be used.
pub(crate) fn offer(remote: &Value, name: &str) -> Result<Offer, DocumentError> {
    let kind = match remote["type"].as_str() {
        Some("streamable-http") => "http",
        Some("sse") => "sse",
        other => {
            let why = format!("Dragoman does not support the transport {:?}", other.unwrap_or_default());
            return Err(DocumentError::Refused(why));
        }
    };
    let prefix = format!("{}_", variable_name(name));
    let url = remote["url"].as_str().unwrap_or_default();
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return Err(DocumentError::Refused(format!("{url:?} is not a valid address")));
    }
    let address = template_filled(url, &remote["variables"], &prefix);
    let text = address.text();
    let (mut headers, mut variables, mut optional) = (Map::new(), address.variables, Vec::new());
    for header in remote["headers"].as_array().into_iter().flatten() {
        let Some(header_name) = header["name"].as_str() else { continue };
        match filled(header, &format!("{prefix}{}", variable_name(header_name)), &prefix) {
            Some(value) => {
                headers.insert(header_name.to_owned(), value.text().into());
                variables.extend(value.variables);
            }
            None => optional.push(header_name.to_owned()),
        }
    }
    let mut entry = json!({ "type": kind, "url": text });
    if !headers.is_empty() {
        entry["headers"] = Value::Object(headers);
    }
    Ok(Offer {
        origin: OfferOrigin::Remote,
        shown: url.to_owned(),
        entry,
        variables,
        optional,
        download: None,
    })
}
