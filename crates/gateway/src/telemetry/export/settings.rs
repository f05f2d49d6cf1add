//! The environment variables of OpenTelemetry that every signal has. This module must not know where variables come from.

use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::ResourceAttributes;

/// A kind of telemetry.
#[derive(Debug)]
pub(in crate::telemetry) struct Signal {
    /// The signal's name in variables.
    pub(in crate::telemetry) name: &'static str,
    /// The signal's path below a common endpoint.
    pub(in crate::telemetry) path: &'static str,
    /// The prefix of the variables that configure the batches of the signal.
    pub(in crate::telemetry) batches: &'static str,
    /// The default for the maximum time that an item waits for further items, in milliseconds.
    pub(in crate::telemetry) delay: u64,
    /// True if the signal is exported once an endpoint is set; otherwise, it is exported only with
    /// `OTEL_…_EXPORTER=otlp`.
    pub(in crate::telemetry) is_on: bool,
    /// The word for the signal's items in messages.
    pub(in crate::telemetry) items: &'static str,
}

/// The settings of the export of one signal.
#[derive(Debug, Clone)]
pub(crate) struct ExporterSettings {
    pub(super) signal: &'static Signal,
    /// The address to which items are posted.
    pub(in crate::telemetry) endpoint: Uri,
    /// Additional headers of each request; they may contain credentials.
    pub(in crate::telemetry) headers: HeaderMap,
    /// The time limit of one attempt.
    pub(in crate::telemetry) timeout: Duration,
    /// True if request bodies are compressed.
    pub(super) gzip: bool,
    /// The attributes of this program in every request.
    pub(super) resource: Arc<ResourceAttributes>,
    /// The maximum number of items that wait to be sent.
    pub(in crate::telemetry) queue: usize,
    /// The maximum number of items in one request.
    pub(in crate::telemetry) batch: usize,
    /// The maximum time that an item waits for further items.
    pub(in crate::telemetry) delay: Duration,
}

/// The environment variables, and the errors found in them.
pub(in crate::telemetry) struct Variables<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    /// The errors in unusable variables.
    pub(in crate::telemetry) complaints: Vec<String>,
}

impl<'a> Variables<'a> {
    /// Creates a view of the environment, without any errors; `lookup` returns the value of a variable.
    pub(in crate::telemetry) fn new(lookup: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { lookup, complaints: Vec::new() }
    }

    /// Returns a variable that is set and not empty.
    pub(in crate::telemetry) fn text(&self, name: &str) -> Option<String> {
        (self.lookup)(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Returns the value of the signal's own variable or, if that variable is not set, of the variable for all
    /// signals.
    fn of(&self, signal: &Signal, name: &str) -> Option<String> {
        let own = self.text(&format!("OTEL_EXPORTER_OTLP_{}_{name}", signal.name));
        own.or_else(|| self.text(&format!("OTEL_EXPORTER_OTLP_{name}")))
    }

    /// Records that a variable is unusable and has no effect.
    pub(in crate::telemetry) fn complain(&mut self, name: &str, value: &str, help: &str) {
        self.complaints.push(format!("{name}={value:?} is not usable and has no effect; {help}"));
    }

    fn number(&mut self, name: &str, value: Option<String>, default: u64, most: u64) -> u64 {
        let Some(text) = value else { return default };
        if let Ok(number @ 1..) = text.parse() {
            return most.min(number);
        }
        self.complain(name, &text, "write a positive number");
        default
    }
}

impl ExporterSettings {
    /// Reads the variables of a signal; `None` if it is not exported.
    pub(in crate::telemetry) fn read(variables: &mut Variables<'_>, signal: &'static Signal) -> Option<Self> {
        if variables.text("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            return None;
        }
        let exporter = format!("OTEL_{}_EXPORTER", signal.name);
        match variables.text(&exporter).as_deref() {
            None if signal.is_on => {}
            Some("otlp") => {}
            None | Some("none") => return None,
            Some(other) => {
                variables.complain(&exporter, other, "write otlp or none");
                return None;
            }
        }
        let endpoint = endpoint(variables, signal)?;
        if let Some(protocol) =
            variables.of(signal, "PROTOCOL").filter(|protocol| protocol != "http/protobuf")
        {
            let help = "Dragoman sends over http/protobuf only; collectors accept it on port 4318";
            variables.complain("OTEL_EXPORTER_OTLP_PROTOCOL", &protocol, help);
            return None;
        }
        let gzip = variables.of(signal, "COMPRESSION");
        let timeout = variables.of(signal, "TIMEOUT");
        let timeout = variables.number("OTEL_EXPORTER_OTLP_TIMEOUT", timeout, 10_000, 300_000);
        let mut of_batches = |name: &str, default: u64, most: u64| {
            let name = format!("OTEL_{}_{name}", signal.batches);
            let text = variables.text(&name);
            variables.number(&name, text, default, most)
        };
        let delay = of_batches("SCHEDULE_DELAY", signal.delay, 300_000);
        let queue = of_batches("MAX_QUEUE_SIZE", 2048, 65_536);
        let batch = of_batches("MAX_EXPORT_BATCH_SIZE", 512, queue).min(queue);
        Some(Self {
            signal,
            endpoint,
            headers: headers(variables, signal),
            timeout: Duration::from_millis(timeout),
            gzip: gzip.as_deref() == Some("gzip"),
            resource: resource(variables).into(),
            queue: usize::try_from(queue).unwrap_or(usize::MAX),
            batch: usize::try_from(batch).unwrap_or(usize::MAX),
            delay: Duration::from_millis(delay),
        })
    }
}

fn endpoint(variables: &mut Variables<'_>, signal: &Signal) -> Option<Uri> {
    let mut name = format!("OTEL_EXPORTER_OTLP_{}_ENDPOINT", signal.name);
    let mut text = variables.text(&name);
    if text.is_none() {
        "OTEL_EXPORTER_OTLP_ENDPOINT".clone_into(&mut name);
        let common = variables.text(&name);
        text = common.map(|common| format!("{}{}", common.trim_end_matches('/'), signal.path));
    }
    let Some(text) = text else {
        if !signal.is_on {
            let help = "name the collector with OTEL_EXPORTER_OTLP_ENDPOINT";
            variables.complain(&format!("OTEL_{}_EXPORTER", signal.name), "otlp", help);
        }
        return None;
    };
    let url = text.parse::<Uri>().ok().filter(|url| {
        matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some_and(|host| !host.is_empty())
    });
    if url.is_none() {
        // The text may contain a password.
        variables.complain(&name, "…", "write a URL such as http://localhost:4318");
    }
    url
}

/// Returns the pairs of a list `name=value,name=value`, with percent-decoded values.
fn pairs(text: &str) -> impl Iterator<Item = Option<(String, String)>> {
    text.split(',').map(str::trim).filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((name.trim().to_owned(), decoded(value.trim())?))
    })
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(first);
        }
    }
    String::from_utf8(bytes).ok()
}

fn headers(variables: &mut Variables<'_>, signal: &Signal) -> HeaderMap {
    let text = variables.of(signal, "HEADERS").unwrap_or_default();
    let mut headers = HeaderMap::new();
    for pair in pairs(&text) {
        let header = pair.and_then(|(name, value)| {
            let mut value = HeaderValue::from_str(&value).ok()?;
            value.set_sensitive(true);
            Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value))
        });
        match header {
            Some((name, value)) => drop(headers.append(name, value)),
            // The value may be a secret.
            None => variables.complain("OTEL_EXPORTER_OTLP_HEADERS", "…", "write name=value,name=value"),
        }
    }
    headers
}

fn resource(variables: &mut Variables<'_>) -> Vec<(String, String)> {
    let mut attributes = Vec::new();
    let text = variables.text("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    for pair in pairs(&text) {
        match pair {
            Some(pair) => attributes.push(pair),
            None => variables.complain("OTEL_RESOURCE_ATTRIBUTES", &text, "write name=value,name=value"),
        }
    }
    let mut set = |name: &str, value: Option<String>, default: &str| {
        let known = attributes.iter().any(|(known, _)| known == name);
        if let Some(value) = value {
            attributes.retain(|(known, _)| known != name);
            attributes.push((name.to_owned(), value));
        } else if !known {
            attributes.push((name.to_owned(), default.to_owned()));
        }
    };
    set("service.name", variables.text("OTEL_SERVICE_NAME"), "dragoman");
    set("service.version", None, env!("CARGO_PKG_VERSION"));
    attributes
}
