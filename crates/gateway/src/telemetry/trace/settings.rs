//! The environment variables of OpenTelemetry that concern traces. This module must not know where variables come from.

use std::time::Duration;

use http::Uri;
use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::sampler::{Root, Sampler};

/// The path of the collector for traces below a common endpoint.
const PATH: &str = "/v1/traces";

/// The settings of traces.
#[derive(Debug, Clone)]
pub(crate) struct TraceSettings {
    /// The address to which spans are posted.
    pub(super) endpoint: Uri,
    /// Further headers of each post; they may contain credentials.
    pub(super) headers: HeaderMap,
    /// The time limit of one attempt.
    pub(super) timeout: Duration,
    /// True if posts are compressed.
    pub(super) gzip: bool,
    /// The attributes of this program in every post.
    pub(super) resource: Vec<(String, String)>,
    pub(super) sampler: Sampler,
    /// The maximum number of traced requests that wait to be sent.
    pub(super) queue: usize,
    /// The maximum number of traced requests in one post.
    pub(super) batch: usize,
    /// The longest time that a traced request waits for others.
    pub(super) delay: Duration,
}

/// A view of the environment, with the complaints about it.
struct Variables<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    complaints: Vec<String>,
}

impl Variables<'_> {
    fn text(&self, name: &str) -> Option<String> {
        (self.lookup)(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Returns the variable for traces, or else the common one.
    fn of_traces(&self, name: &str) -> Option<String> {
        let own = self.text(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"));
        own.or_else(|| self.text(&format!("OTEL_EXPORTER_OTLP_{name}")))
    }

    fn complain(&mut self, name: &str, value: &str, help: &str) {
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

impl TraceSettings {
    /// Reads the variables; `None` if no endpoint for traces is named. The second value contains complaints about unusable
    /// variables.
    pub(crate) fn read(lookup: &dyn Fn(&str) -> Option<String>) -> (Option<Self>, Vec<String>) {
        let mut variables = Variables { lookup, complaints: Vec::new() };
        let settings = Self::of(&mut variables);
        (settings, variables.complaints)
    }

    fn of(variables: &mut Variables<'_>) -> Option<Self> {
        if variables.text("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            return None;
        }
        let endpoint = endpoint(variables)?;
        match variables.text("OTEL_TRACES_EXPORTER").as_deref() {
            None | Some("otlp") => {}
            Some("none") => return None,
            Some(other) => {
                variables.complain("OTEL_TRACES_EXPORTER", other, "write otlp or none");
                return None;
            }
        }
        if let Some(protocol) = variables.of_traces("PROTOCOL").filter(|protocol| protocol != "http/protobuf")
        {
            let help = "Dragoman sends traces over http/protobuf only; collectors accept it on port 4318";
            variables.complain("OTEL_EXPORTER_OTLP_PROTOCOL", &protocol, help);
            return None;
        }
        let gzip = variables.of_traces("COMPRESSION");
        let (timeout, delay) = (variables.of_traces("TIMEOUT"), variables.text("OTEL_BSP_SCHEDULE_DELAY"));
        let (queue, batch) =
            (variables.text("OTEL_BSP_MAX_QUEUE_SIZE"), variables.text("OTEL_BSP_MAX_EXPORT_BATCH_SIZE"));
        let timeout = variables.number("OTEL_EXPORTER_OTLP_TIMEOUT", timeout, 10_000, 300_000);
        let delay = variables.number("OTEL_BSP_SCHEDULE_DELAY", delay, 5000, 300_000);
        let queue = variables.number("OTEL_BSP_MAX_QUEUE_SIZE", queue, 2048, 65_536);
        let batch = variables.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", batch, 512, queue).min(queue);
        Some(Self {
            endpoint,
            headers: headers(variables),
            timeout: Duration::from_millis(timeout),
            gzip: gzip.as_deref() == Some("gzip"),
            resource: resource(variables),
            sampler: sampler(variables),
            queue: usize::try_from(queue).unwrap_or(usize::MAX),
            batch: usize::try_from(batch).unwrap_or(usize::MAX),
            delay: Duration::from_millis(delay),
        })
    }
}

fn endpoint(variables: &mut Variables<'_>) -> Option<Uri> {
    let own = variables.text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    let name =
        if own.is_some() { "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" } else { "OTEL_EXPORTER_OTLP_ENDPOINT" };
    let common = || {
        let common = variables.text("OTEL_EXPORTER_OTLP_ENDPOINT")?;
        Some(format!("{}{PATH}", common.trim_end_matches('/')))
    };
    let text = own.or_else(common)?;
    let url = text.parse::<Uri>().ok().filter(|url| {
        matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some_and(|host| !host.is_empty())
    });
    if url.is_none() {
        // The text may contain a password.
        variables.complain(name, "…", "write a URL such as http://localhost:4318");
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

fn headers(variables: &mut Variables<'_>) -> HeaderMap {
    let text = variables.of_traces("HEADERS").unwrap_or_default();
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

fn sampler(variables: &mut Variables<'_>) -> Sampler {
    let usual = Sampler { follows_parent: true, root: Root::All };
    let Some(name) = variables.text("OTEL_TRACES_SAMPLER") else { return usual };
    let (follows_parent, root) = match name.strip_prefix("parentbased_") {
        Some(root) => (true, root),
        None => (false, name.as_str()),
    };
    let root = match root {
        "always_on" => Root::All,
        "always_off" => Root::None,
        "traceidratio" => {
            let text = variables.text("OTEL_TRACES_SAMPLER_ARG").unwrap_or_else(|| "1".to_owned());
            match text.parse::<f64>() {
                Ok(ratio) if (0.0..=1.0).contains(&ratio) => Root::ratio(ratio),
                _ => {
                    variables.complain("OTEL_TRACES_SAMPLER_ARG", &text, "write a number from 0 to 1");
                    Root::All
                }
            }
        }
        _ => {
            let help = "write always_on, always_off or traceidratio, each also with parentbased_ in front";
            variables.complain("OTEL_TRACES_SAMPLER", &name, help);
            return usual;
        }
    };
    Sampler { follows_parent, root }
}
